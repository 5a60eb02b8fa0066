"""An animated SVG of an animation: one file that any browser plays, and a README shows.

    Path("talk.svg").write_text(svg(animate(open_recording(Path("talk.cast"))), title="talk"))

Each row of the terminal is a strip: its different contents stand below each other, a window one row high shows one of
them, and CSS moves the strip. So the file grows with the rows that change, not with the screens. Without CSS, and for
people who ask for reduced motion, the final screen shows.

Everything on the screen is hostile text: it is escaped, what XML forbids is replaced, and the file refers to nothing
outside of itself. The same animation gives the same bytes.
"""

import html
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from operator import itemgetter
from types import MappingProxyType
from typing import Final
from unicodedata import category

import regex
from pyte import graphics

from streamrelay.recordings.animation import Animation, Piece, Row
from streamrelay.vt.styles import ACS, BOLD, DIM, HIDDEN, ITALIC, OVERLINE, REVERSE, STRIKE, Style

CELL: Final = 10
"""Width of a column, in the units of the picture."""
LINE: Final = 20
"""Height of a row."""
MARGIN: Final = 16
BAR: Final = 36
"""Height of the title bar."""
FOREGROUND, BACKGROUND, BAR_COLOUR, FRAME_COLOUR, TITLE_COLOUR = "#d1d7e0", "#0d1117", "#161b22", "#30363d", "#8b949e"
BUTTONS: Final = ("#ff5f57", "#febc2e", "#28c840")
COLOURS: Final = (
    "#24292f", "#ff7b72", "#3fb950", "#d29922", "#58a6ff", "#bc8cff", "#39c5cf", "#b1bac4",
    "#6e7681", "#ffa198", "#56d364", "#e3b341", "#79c0ff", "#d2a8ff", "#56d4dd", "#f0f6fc",
)  # fmt: skip
"""The sixteen colours of the terminal, legible on its background."""
FONTS: Final = "ui-monospace,SFMono-Regular,'SF Mono',Menlo,Consolas,'DejaVu Sans Mono','Liberation Mono',monospace"

_FORBIDDEN = regex.compile(r"[^\t\n\r\u0020-\uD7FF\uE000-\uFFFD\U00010000-\U0010FFFF]")
_DRAWN = dict(zip("jklmnqtuvwxa`~", "┘┐┌└┼─├┤┴┬│▒◆·", strict=True))
"""What letters of the line-drawing charset stand for."""
_ARMS = {
    "─": "lr", "│": "ud", "┌": "rd", "┐": "ld", "└": "ru", "┘": "lu", "├": "rud", "┤": "lud", "┬": "lrd", "┴": "lru",
    "┼": "lrud", "╭": "rd", "╮": "ld", "╰": "ru", "╯": "lu", "╴": "l", "╵": "u", "╶": "r", "╷": "d",
    "━": "lr", "┃": "ud", "┏": "rd", "┓": "ld", "┗": "ru", "┛": "lu", "┣": "rud", "┫": "lud", "┳": "lrd", "┻": "lru",
    "╋": "lrud",
}  # fmt: skip
"""Lines that fonts draw with gaps between rows: the arms of each character, from its middle."""
_HEAVY = frozenset("━┃┏┓┗┛┣┫┳┻╋")
_ROUND = frozenset("╭╮╰╯")
_STROKES: Final = {"light": 1.3, "heavy": 2.6}
"""Width of the strokes by kind of line."""
_QUARTERS = {"▘": (0, 0), "▝": (4, 0), "▖": (0, 4), "▗": (4, 4)}
_BLOCKS: Final[Mapping[str, tuple[tuple[int, int, int, int], ...]]] = MappingProxyType({
    "█": ((0, 0, 8, 8),), "▀": ((0, 0, 8, 4),), "▄": ((0, 4, 8, 4),), "▌": ((0, 0, 4, 8),), "▐": ((4, 0, 4, 8),),
    **{block: ((0, 8 - eighths, 8, eighths),) for eighths, block in zip((1, 2, 3, 5, 6, 7), "▁▂▃▅▆▇", strict=True)},
    **{block: ((0, 0, eighths, 8),) for eighths, block in zip((7, 6, 5, 3, 2, 1), "▉▊▋▍▎▏", strict=True)},
    **{block: ((*place, 4, 4),) for block, place in _QUARTERS.items()},
    "▚": ((0, 0, 4, 4), (4, 4, 4, 4)), "▞": ((4, 0, 4, 4), (0, 4, 4, 4)),
    "▙": ((0, 0, 4, 8), (4, 4, 4, 4)), "▛": ((0, 0, 4, 8), (4, 0, 4, 4)),
    "▜": ((4, 0, 4, 8), (0, 0, 4, 4)), "▟": ((4, 0, 4, 8), (0, 4, 4, 4)),
})  # fmt: skip
"""Block characters as rectangles: left, top, width and height in eighths of a cell."""


def svg(animation: Animation, *, title: str = "", rest: float = 4.0) -> str:
    """Return the file; it plays for ever, and shows its final screen for `rest` seconds each time."""
    drawing = _Drawing(animation, rest)
    columns, lines = animation.columns * CELL, animation.lines * LINE
    width, height = columns + 2 * MARGIN, lines + BAR + 2 * MARGIN
    moving = "".join(drawing.strips()) + drawing.cursor()
    definitions = drawing.definitions()
    buttons = "".join(
        f'<circle cx="{20 + 20 * at}" cy="{BAR // 2}" r="6" fill="{colour}"/>' for at, colour in enumerate(BUTTONS)
    )
    name = _escaped(title)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" '
        f'role="img" xml:space="preserve" font-family="{FONTS}" font-size="16.6">'
        f"<title>{name}</title><style>{drawing.css()}</style><defs>{definitions}</defs>"
        f'<rect x=".5" y=".5" width="{width - 1}" height="{height - 1}" rx="10" fill="{BACKGROUND}" '
        f'stroke="{FRAME_COLOUR}"/>'
        f'<path d="M1 {BAR}V10.5A9.5 9.5 0 0 1 10.5 1H{width - 10.5}A9.5 9.5 0 0 1 {width - 1} 10.5V{BAR}Z" '
        f'fill="{BAR_COLOUR}"/>{buttons}'
        f'<text x="{width // 2}" y="{BAR // 2 + 5}" text-anchor="middle" font-size="14" fill="{TITLE_COLOUR}">{name}'
        f'</text><svg x="{MARGIN}" y="{BAR + MARGIN}" width="{columns}" height="{lines}" fill="currentColor" '
        f'color="{FOREGROUND}">{moving}</svg></svg>\n'
    )


_Place = tuple[int, int] | None


class _Drawing:
    """The parts of the file; each content of a row and each style is written once."""

    def __init__(self, animation: Animation, rest: float) -> None:
        self._animation = animation
        self._seconds = animation.screens[-1].t + max(rest, 0.1)
        self._contents: dict[Row, int] = {}
        self._looks: dict[str, str] = {}
        self._rules: list[str] = []

    def css(self) -> str:
        """Return the style sheet, once everything is drawn."""
        styles = [f".{name}{{{rule}}}" for rule, name in self._looks.items()]
        return "".join(
            [
                "text{white-space:pre;font-variant-ligatures:none}",
                *(f".{kind}{{fill:none;stroke:currentColor;stroke-width:{width}}}" for kind, width in _STROKES.items()),
                f".m{{animation:{self._seconds:.3f}s step-end infinite}}",
                "@media(prefers-reduced-motion:reduce){.m{animation:none!important}}",
                *styles,
                *self._rules,
            ]
        )

    def definitions(self) -> str:
        """Return the contents of rows, once all strips are drawn."""
        return "".join(f'<g id="r{number}">{self._row(row)}</g>' for row, number in self._contents.items() if row)

    def strips(self) -> Iterator[str]:
        """Yield a strip for each row that ever shows anything."""
        for y in range(self._animation.lines):
            shown = [(screen.t, screen.rows[y] if y < len(screen.rows) else ()) for screen in self._animation.screens]
            places = {row: place for place, row in enumerate(dict.fromkeys(row for _, row in shown))}
            if any(places):
                uses = "".join(self._use(row, place * LINE) for row, place in places.items())
                moves: list[tuple[float, _Place]] = [(t, (0, -places[row] * LINE)) for t, row in shown]
                yield (
                    f'<svg y="{y * LINE}" width="{self._animation.columns * CELL}" height="{LINE}">'
                    f"{self._moving(moves, uses)}</svg>"
                )

    def cursor(self) -> str:
        """Return the cursor."""
        moves = [
            (screen.t, screen.cursor and (screen.cursor[0] * CELL, screen.cursor[1] * LINE))
            for screen in self._animation.screens
        ]
        return self._moving(moves, f'<rect width="{CELL}" height="{LINE}" fill-opacity=".55"/>')

    def _use(self, row: Row, y: int) -> str:
        number = self._contents.setdefault(row, len(self._contents))
        return f'<use href="#r{number}"' + (f' y="{y}"/>' if y else "/>") if row else ""

    def _moving(self, moves: Iterable[tuple[float, _Place]], content: str) -> str:
        """Return a group that stands at each time where `moves` says, and without an animation where the last one says.

        A place is x and y; a group whose place is None is not seen.
        """
        changes = [next(same) for _, same in groupby(moves, key=itemgetter(1))]
        last = changes[-1][1]
        # What the last screen shows stands in an attribute, which any viewer understands.
        place = 'visibility="hidden"' if last is None else f'transform="translate({last[0]} {last[1]})"'
        if len(changes) == 1:
            return f"<g {place}>{content}</g>"
        number = len(self._rules)
        hides = any(where is None for _, where in changes)
        frames = (f"{round(100 * t / self._seconds, 3):g}%{{{_css(where, hides=hides)}}}" for t, where in changes)
        self._rules.append(f"@keyframes k{number}{{{''.join(frames)}}}.k{number}{{animation-name:k{number}}}")
        return f'<g class="m k{number}" {place}>{content}</g>'

    # A row

    def _row(self, row: Row) -> str:
        return "".join(part for piece in row for part in self._piece(piece))

    def _piece(self, piece: Piece) -> Iterator[str]:
        style = piece.style
        foreground, background = _colour(style.foreground, bright=bool(style.flags & BOLD)), _colour(style.background)
        if style.flags & REVERSE:
            foreground, background = background or BACKGROUND, foreground or FOREGROUND
        left, width = piece.column * CELL, piece.width * CELL
        if background:
            yield f'<rect x="{left}" width="{width * len(piece.cells)}" height="{LINE}" fill="{background}"/>'
        if style.flags & HIDDEN:
            return
        look = self._class(style, foreground)
        cells = [_DRAWN.get(cell, cell) for cell in piece.cells] if style.flags & ACS else piece.cells
        for at, stop in _stretches(cells):
            x, stretch = left + at * width, cells[at:stop]
            kind = _kind(stretch[0])
            if kind in _STROKES:
                yield f'<path{_classes(kind, look)} d="{_lines(stretch, x)}"/>'
            elif kind == "block":
                yield from (_block(cell, x + width * number, look) for number, cell in enumerate(stretch))
            elif any(not cell.isspace() for cell in stretch) or _is_lined(style):
                yield _text(stretch, x, width, look, keeps_blanks=_is_lined(style))

    def _class(self, style: Style, foreground: str) -> str:
        lines = (
            (style.underline, "underline"),
            (style.flags & STRIKE, "line-through"),
            (style.flags & OVERLINE, "overline"),
        )
        decorations = " ".join(name for wanted, name in lines if wanted)
        rules = [
            rule
            for wanted, rule in (
                (foreground, f"color:{foreground}"),
                (style.flags & BOLD, "font-weight:bold"),
                (style.flags & ITALIC, "font-style:italic"),
                (style.flags & DIM, "opacity:.6"),
                (decorations, f"text-decoration:{decorations}"),
            )
            if wanted
        ]
        return self._looks.setdefault(";".join(rules), f"s{len(self._looks)}") if rules else ""


def _css(place: _Place, *, hides: bool) -> str:
    if place is None:
        return "visibility:hidden"
    return f"transform:translate({place[0]}px,{place[1]}px)" + (";visibility:visible" if hides else "")


def _classes(*names: str) -> str:
    used = " ".join(filter(None, names))
    return f' class="{used}"' if used else ""


def _kind(cell: str) -> str:
    """Return how a cell is drawn: `light` and `heavy` lines, a `block`, `text` that keeps its place, or `alone`."""
    if cell in _ARMS:
        return "heavy" if cell in _HEAVY else "light"
    if cell in _BLOCKS:
        return "block"
    # Fonts take the symbols they lack from others, whose widths differ: each of those is put in its place.
    return "text" if cell.isascii() or all(category(character)[0] in "LM" for character in cell) else "alone"


def _stretches(cells: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Yield where neighbouring cells begin and end that are drawn as one."""
    start = 0
    for at in range(1, len(cells) + 1):
        if at == len(cells) or (kind := _kind(cells[at])) == "alone" or kind != _kind(cells[start]):
            yield start, at
            start = at


def _lines(cells: Sequence[str], left: int) -> str:
    """Return the path of lines that go through neighbouring cells."""
    parts: list[str] = []
    middle = LINE // 2
    for number, cell in enumerate(cells):
        x = left + number * CELL
        centre = x + CELL // 2
        ends = {"l": f"H{x}", "r": f"H{x + CELL}", "u": "V0", "d": f"V{LINE}"}
        if cell in _ROUND:
            vertical, horizontal = (LINE if "d" in _ARMS[cell] else 0), (x + CELL if "r" in _ARMS[cell] else x)
            parts.append(f"M{centre} {vertical}Q{centre} {middle} {horizontal} {middle}")
        elif _ARMS[cell] == "lr" and parts and parts[-1].endswith(f"H{x}"):
            parts[-1] = parts[-1].removesuffix(f"H{x}") + f"H{x + CELL}"
        elif _ARMS[cell] == "lr":
            parts.append(f"M{x} {middle}H{x + CELL}")
        else:
            parts += (f"M{centre} {middle}{ends[arm]}" for arm in _ARMS[cell])
    return "".join(parts)


def _text(cells: Sequence[str], x: int, width: int, look: str, *, keeps_blanks: bool) -> str:
    start, stop = 0, len(cells)
    if not keeps_blanks:
        # Blanks at the ends are laid out by position: not every viewer keeps them.
        start = next(at for at, cell in enumerate(cells) if not cell.isspace())
        stop = next(at for at in range(stop, 0, -1) if not cells[at - 1].isspace())
    return (
        f'<text{_classes(look)} x="{x + start * width}" y="15" textLength="{width * (stop - start)}" '
        f'lengthAdjust="spacingAndGlyphs">{_escaped("".join(cells[start:stop]))}</text>'
    )


def _is_lined(style: Style) -> bool:
    return bool(style.underline or style.flags & (STRIKE | OVERLINE))


def _block(cell: str, x: int, look: str) -> str:
    return "".join(
        f'<rect{_classes(look)} x="{x + left * CELL / 8:g}" y="{top * LINE / 8:g}" width="{width * CELL / 8:g}" '
        f'height="{height * LINE / 8:g}"/>'
        for left, top, width, height in _BLOCKS[cell]
    )


def _colour(parameters: str, *, bright: bool = False) -> str:
    """Return a colour of SGR as CSS writes it; empty for the default one. Bold text takes the `bright` of the first."""
    kind, _, rest = parameters.partition(";")
    if not kind:
        return ""
    if rest:
        mode, *numbers = map(int, rest.split(";"))
        if mode == 5:
            return COLOURS[numbers[0]] if numbers[0] < len(COLOURS) else f"#{graphics.FG_BG_256[numbers[0]]}"
        return "#" + "".join(f"{number:02x}" for number in numbers)
    number = int(kind) % 10 + (8 if int(kind) >= 90 or (bright and int(kind) < 40) else 0)
    return COLOURS[number]


def _escaped(text: str) -> str:
    return html.escape(_FORBIDDEN.sub("\N{REPLACEMENT CHARACTER}", text))
