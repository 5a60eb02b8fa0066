"""Draws an animation as an animated SVG: one file that any browser plays and that a README can show.

    Path("talk.svg").write_text(svg(animate(open_recording(Path("talk.cast"))), title="talk"))

Each row of the terminal is drawn as a strip, like a film: all contents that the row ever has are placed below each
other, a window one row high shows one of them, and CSS moves the strip. So the size of the file grows with the number
of changed rows, not with the number of screens. Viewers without CSS, and people who ask for reduced motion, see the
final screen.

Text of the screen is untrusted: it is escaped, characters that XML forbids are replaced, and the file refers to no
other file. The same animation gives the same bytes.
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
"""Width of a column, in SVG units."""
LINE: Final = 20
"""Height of a row, in SVG units."""
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
_LINE_DRAWING = dict(zip("jklmnqtuvwxa`~", "┘┐┌└┼─├┤┴┬│▒◆·", strict=True))
"""The characters of the line-drawing charset (ACS), by their letters."""
_ARMS = {
    "─": "lr", "│": "ud", "┌": "rd", "┐": "ld", "└": "ru", "┘": "lu", "├": "rud", "┤": "lud", "┬": "lrd", "┴": "lru",
    "┼": "lrud", "╭": "rd", "╮": "ld", "╰": "ru", "╯": "lu", "╴": "l", "╵": "u", "╶": "r", "╷": "d",
    "━": "lr", "┃": "ud", "┏": "rd", "┓": "ld", "┗": "ru", "┛": "lu", "┣": "rud", "┫": "lud", "┳": "lrd", "┻": "lru",
    "╋": "lrud",
}  # fmt: skip
"""Box-drawing characters, which fonts draw with gaps between rows: the directions of the lines from the middle."""
_HEAVY = frozenset("━┃┏┓┗┛┣┫┳┻╋")
_ROUND = frozenset("╭╮╰╯")
_STROKES: Final = {"light": 1.3, "heavy": 2.6}
"""Stroke widths of the box-drawing characters, in SVG units."""
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
    """Return the file as text; it plays in a loop and shows the final screen for `rest` seconds."""
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


_Position = tuple[int, int] | None
"""x and y; None while invisible."""


class _Drawing:
    """Builds the parts of the file; each content of a row and each style is written only once."""

    def __init__(self, animation: Animation, rest: float) -> None:
        self._animation = animation
        self._seconds = animation.screens[-1].t + max(rest, 0.1)
        self._contents: dict[Row, int] = {}
        self._style_classes: dict[str, str] = {}
        self._keyframes: list[str] = []

    def css(self) -> str:
        """Return the style sheet; call this after all other parts."""
        styles = [f".{name}{{{rule}}}" for rule, name in self._style_classes.items()]
        return "".join(
            [
                "text{white-space:pre;font-variant-ligatures:none}",
                *(f".{kind}{{fill:none;stroke:currentColor;stroke-width:{width}}}" for kind, width in _STROKES.items()),
                f".m{{animation:{self._seconds:.3f}s step-end infinite}}",
                "@media(prefers-reduced-motion:reduce){.m{animation:none!important}}",
                *styles,
                *self._keyframes,
            ]
        )

    def definitions(self) -> str:
        """Return the contents of rows; call this after `strips`."""
        return "".join(f'<g id="r{number}">{self._row(row)}</g>' for row, number in self._contents.items() if row)

    def strips(self) -> Iterator[str]:
        """Yield a strip for each row that is not always empty."""
        for y in range(self._animation.lines):
            shown = [(screen.t, screen.rows[y] if y < len(screen.rows) else ()) for screen in self._animation.screens]
            offsets = {row: LINE * index for index, row in enumerate(dict.fromkeys(row for _, row in shown))}
            if any(offsets):
                uses = "".join(self._use(row, offset) for row, offset in offsets.items())
                moves: list[tuple[float, _Position]] = [(t, (0, -offsets[row])) for t, row in shown]
                yield (
                    f'<svg y="{y * LINE}" width="{self._animation.columns * CELL}" height="{LINE}">'
                    f"{self._moving(moves, uses)}</svg>"
                )

    def cursor(self) -> str:
        """Return the moving cursor."""
        moves = [
            (screen.t, screen.cursor and (screen.cursor[0] * CELL, screen.cursor[1] * LINE))
            for screen in self._animation.screens
        ]
        return self._moving(moves, f'<rect width="{CELL}" height="{LINE}" fill-opacity=".55"/>')

    def _use(self, row: Row, y: int) -> str:
        number = self._contents.setdefault(row, len(self._contents))
        return f'<use href="#r{number}"' + (f' y="{y}"/>' if y else "/>") if row else ""

    def _moving(self, moves: Iterable[tuple[float, _Position]], content: str) -> str:
        """Return a group that moves as `moves` says, pairs of time (seconds) and position.

        A viewer that does not animate shows the group at its last position.
        """
        changes = [next(same) for _, same in groupby(moves, key=itemgetter(1))]
        last = changes[-1][1]
        # The last position is an attribute, which every viewer understands.
        position = 'visibility="hidden"' if last is None else f'transform="translate({last[0]} {last[1]})"'
        if len(changes) == 1:
            return f"<g {position}>{content}</g>"
        number = len(self._keyframes)
        hides = any(position is None for _, position in changes)
        frames = (f"{round(100 * t / self._seconds, 3):g}%{{{_css(place, hides=hides)}}}" for t, place in changes)
        self._keyframes.append(f"@keyframes k{number}{{{''.join(frames)}}}.k{number}{{animation-name:k{number}}}")
        return f'<g class="m k{number}" {position}>{content}</g>'

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
        css_class = self._class(style, foreground)
        cells = [_LINE_DRAWING.get(cell, cell) for cell in piece.cells] if style.flags & ACS else piece.cells
        for at, stop in _runs(cells):
            x, run = left + at * width, cells[at:stop]
            kind = _kind(run[0])
            if kind in _STROKES:
                yield f'<path{_classes(kind, css_class)} d="{_lines(run, x)}"/>'
            elif kind == "block":
                yield from (_block(cell, x + width * number, css_class) for number, cell in enumerate(run))
            elif any(not cell.isspace() for cell in run) or _is_lined(style):
                yield _text(run, x, width, css_class, keeps_blanks=_is_lined(style))

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
        return self._style_classes.setdefault(";".join(rules), f"s{len(self._style_classes)}") if rules else ""


def _css(place: _Position, *, hides: bool) -> str:
    if place is None:
        return "visibility:hidden"
    return f"transform:translate({place[0]}px,{place[1]}px)" + (";visibility:visible" if hides else "")


def _classes(*names: str) -> str:
    used = " ".join(filter(None, names))
    return f' class="{used}"' if used else ""


def _kind(cell: str) -> str:
    """Return how a cell is drawn: as a `light` or `heavy` line, a `block`, `text`, or a text of its own (`alone`)."""
    if cell in _ARMS:
        return "heavy" if cell in _HEAVY else "light"
    if cell in _BLOCKS:
        return "block"
    # A symbol that the font lacks comes from another font with other widths, so it is positioned by itself.
    return "text" if cell.isascii() or all(category(character)[0] in "LM" for character in cell) else "alone"


def _runs(cells: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Yield start and end (exclusive) of each run of cells that are drawn together."""
    start = 0
    for at in range(1, len(cells) + 1):
        if at == len(cells) or (kind := _kind(cells[at])) == "alone" or kind != _kind(cells[start]):
            yield start, at
            start = at


def _lines(cells: Sequence[str], left: int) -> str:
    """Return the SVG path of the lines in neighbouring box-drawing cells."""
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


def _text(cells: Sequence[str], x: int, width: int, css_class: str, *, keeps_blanks: bool) -> str:
    start, stop = 0, len(cells)
    if not keeps_blanks:
        # Blanks at the ends are left out, because some viewers drop them; the position accounts for them.
        start = next(at for at, cell in enumerate(cells) if not cell.isspace())
        stop = next(at for at in range(stop, 0, -1) if not cells[at - 1].isspace())
    return (
        f'<text{_classes(css_class)} x="{x + start * width}" y="15" textLength="{width * (stop - start)}" '
        f'lengthAdjust="spacingAndGlyphs">{_escaped("".join(cells[start:stop]))}</text>'
    )


def _is_lined(style: Style) -> bool:
    return bool(style.underline or style.flags & (STRIKE | OVERLINE))


def _block(cell: str, x: int, css_class: str) -> str:
    return "".join(
        f'<rect{_classes(css_class)} x="{x + left * CELL / 8:g}" y="{top * LINE / 8:g}" width="{width * CELL / 8:g}" '
        f'height="{height * LINE / 8:g}"/>'
        for left, top, width, height in _BLOCKS[cell]
    )


def _colour(parameters: str, *, bright: bool = False) -> str:
    """Return an SGR colour in CSS; empty for the default. `bright` selects the bright variant of the colours 0 to 7."""
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
