"""The same recording, painted differently: other glyphs, words, boxes, colours, signals, at another pace.

A reader of screens that was built on some recordings may have learned how they look instead of how they behave. So a
recording is rewritten as if its program had been written by another author, and its truth is rewritten alike: what is
heard must be as good as before.

    mutation = MUTATIONS["letters: cyrillic"]
    events = replay(Mutated(open_recording(folder), mutation))
    assert [event.text for event in events ...] == [mutation.text(line) for line in truth]

Glyphs are replaced by glyphs of the same width, wherever they stand: in answers and messages as in borders. So every
cell keeps its place, however a program paints, and the truth stays exact. What needs another layout is for a program
that paints it (`transcript_program`).
"""

import dataclasses
from collections.abc import Iterator, Mapping
from types import MappingProxyType

import regex
from msgspec.structs import replace

from streamrelay.delta.inputs import Began, HandedOver, Input, Output, Pasted, Reseeded
from streamrelay.recordings.model import Recording
from streamrelay.vt.engine import Snapshot
from streamrelay.vt.tokens import Tokenizer, split_run
from streamrelay.vt.widths import unicode14

_TITLE = regex.compile(r"\x1b\][012];")
_STATE = regex.compile(r"\x1b\]7501;")
_COLOUR = regex.compile(r"\x1b\[[0-9;:]*m")
_SYNCHRONIZED = regex.compile(r"\x1b\[\?2026[hl]")
_CURSOR_HIDDEN = regex.compile(r"\x1b\[\?25l")


@dataclasses.dataclass(frozen=True, slots=True)
class Mutation:
    """One way to paint differently; raises ValueError where a glyph would take another number of cells."""

    name: str
    glyphs: Mapping[str, str] = dataclasses.field(default_factory=dict)
    """What stands on the screen for what."""
    titles: Mapping[str, str] = dataclasses.field(default_factory=dict)
    """The same in titles."""
    drops: tuple[regex.Pattern[str], ...] = ()
    """Control strings that the program does not send."""
    pace: float = 1.0
    """By how much everything takes longer."""

    def __post_init__(self) -> None:
        widths = unicode14()
        for old, new in self.glyphs.items():
            if widths.width(old) != widths.width(new):
                raise ValueError(f"{self.name}: {old!r} and {new!r} do not have the same width")

    def text(self, text: str) -> str:
        """Return how a text reads on the mutated screen."""
        return text.translate(_table(self.glyphs))

    def control(self, sequence: str) -> str:
        """Return what the program sends instead of a control string."""
        if any(pattern.match(sequence) for pattern in self.drops):
            return ""
        if self.titles and _TITLE.match(sequence):
            return sequence.translate(_table(self.titles))
        return sequence

    def __or__(self, other: "Mutation") -> "Mutation":
        """Return both at once; where both replace a glyph, `other` decides."""
        return Mutation(
            f"{self.name}, {other.name}",
            {**self.glyphs, **other.glyphs},
            {**self.titles, **other.titles},
            (*self.drops, *other.drops),
            self.pace * other.pace,
        )


class Mutated:
    """A recording with a mutation applied; it is a recording itself."""

    def __init__(self, recording: Recording, mutation: Mutation) -> None:
        self._recording = recording
        self._mutation = mutation
        self._tokenizers: dict[str, Tokenizer] = {}

    @property
    def columns(self) -> int:
        """Width at the beginning, in cells."""
        return self._recording.columns

    @property
    def lines(self) -> int:
        """Height at the beginning, in rows."""
        return self._recording.lines

    def entries(self) -> Iterator[Input]:
        """Yield what happened, by time; raises RecordingError where the file makes no sense."""
        self._tokenizers = {}
        for entry in self._recording.entries():
            yield self._mutated(replace(entry, t=entry.t * self._mutation.pace))

    def _mutated(self, entry: Input) -> Input:
        match entry:
            case Output():
                tokenizer = self._tokenizers.setdefault(entry.pane, Tokenizer())
                return replace(entry, data=self._painted(tokenizer, entry.data))
            case Pasted() | HandedOver():
                return replace(entry, text=self._mutation.text(entry.text))
            case Began() | Reseeded():
                return replace(entry, screen=self._screen(entry.screen))
            case _:
                return entry

    def _screen(self, screen: Snapshot) -> Snapshot:
        def painted(rows: tuple[bytes, ...]) -> tuple[bytes, ...]:
            return tuple(self._painted(Tokenizer(), row) for row in rows)

        return dataclasses.replace(screen, rows=painted(screen.rows), history=painted(screen.history))

    def _painted(self, tokenizer: Tokenizer, data: bytes) -> bytes:
        tokens = tokenizer.split(data)
        for number, token in enumerate(tokens):
            if number % 2:
                tokens[number] = "".join(map(self._mutation.control, split_run(token)))
            else:
                tokens[number] = self._mutation.text(token)
        return "".join(tokens).encode("utf-8", "surrogateescape")


def _table(glyphs: Mapping[str, str]) -> dict[int, str]:
    return {ord(old): new for old, new in glyphs.items()}


_LATIN = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
_ALPHABETS = {
    "none": _LATIN[13:26] + _LATIN[:13] + _LATIN[39:] + _LATIN[26:39],
    "cyrillic": "абцдефгхийклмнопярстувшжызАБЦДЕФГХИЙКЛМНОПЯРСТУВШЖЫЗ",
    "greek": "αβγδεζηθικλμνξοπρστυφχψωςϑΑΒΓΔΕΖΗΘΙΚΛΜΝΞΟΠΡΣΤΥΦΧΨΩϒϴ",
    "arabic": "ابتثجحخدذرزسشصضطظعغفقكلمنهوييةىأإآؤئءپچژگڤڨڪڬڭڮڰڱڲڳڴ",
    "accented": "áƀćđéƒǵĥíĵķĺḿńóṕƍŕśťúṽŵẋýźÁɃĆĐÉƑǴĤÍĴĶĹḾŃÓṔƊŔŚŤÚṼŴẊÝŹ",
}

_BULLETS = "●⏺✦◆▣■◉○"
_MARKS = "❯›>"
_SPINNING = "✶✻✽✢✳" + "".join(map(chr, range(0x2800, 0x2900)))
_BARS = "┃▌▎▍▊▏│▐▕"
_LINES = {"─": "─━═▀▄▁▔╌┄┈", "│": "│┃▏▎▊▕║╹╻", "╭": "╭┌╔┏", "╮": "╮┐╗┓", "╰": "╰└╚┗", "╯": "╯┘╝┛"}
_CROSSINGS = {"┬": "┬╤╦┳", "┴": "┴╧╩┻", "┼": "┼╪╬╋", "├": "├╟╠┣", "┤": "┤╢╣┫"}


def _each(olds: str, news: str) -> dict[str, str]:
    """Replace each glyph by one of `news`, in turn."""
    return {old: news[number % len(news)] for number, old in enumerate(olds)}


def _boxes(news: str) -> dict[str, str]:
    """Draw with the eleven glyphs of `news` for ─│╭╮╰╯┬┴┼├┤."""
    return {old: new for olds, new in zip((*_LINES.values(), *_CROSSINGS.values()), news, strict=True) for old in olds}


def _listed() -> Iterator[Mutation]:
    for name, glyph in {"star": "★", "arrow": "➤", "square": "▪", "pilcrow": "¶", "dot": "∙"}.items():
        yield Mutation(f"bullets: {name}", _each(_BULLETS, glyph) | {"•": "☆"})
    for glyph in "»$λ:▷%⟩":
        yield Mutation(f"prompts: {glyph}", _each(_MARKS, glyph))
    for name, glyphs in {"clock": "◐◓◑◒◴◷◶◵", "ascii": "|/-\\", "blocks": "▖▘▝▗▚▞", "arrows": "←↖↑↗→↘↓↙"}.items():
        yield Mutation(f"spinners: {name}", _each(_SPINNING, glyphs))
    for name, glyphs in {
        "square": "─│┌┐└┘┬┴┼├┤",
        "rounded": "─│╭╮╰╯┬┴┼├┤",
        "heavy": "━┃┏┓┗┛┳┻╋┣┫",
        "double": "═║╔╗╚╝╦╩╬╠╣",
        "dashed": "┄┆╭╮╰╯┬┴┼├┤",
        "ascii": "-|+++++++++",
        "dots": "·:·········",
        "blank": "           ",
    }.items():
        yield Mutation(f"boxes: {name}", _boxes(glyphs))
    for name, glyph in {"left half": "▌", "right half": "▐", "ascii": "|", "shade": "░", "blank": " "}.items():
        yield Mutation(f"bars: {name}", _each(_BARS, glyph))
    yield Mutation("corners: arrow", _each("⎿", "↳"))
    yield Mutation("corners: bracket", _each("⎿", "⌊"))
    yield Mutation("separators: slash", _each("·", "/"))
    yield Mutation("separators: dash", _each("·", "—"))
    yield Mutation("brackets: square", {"(": "[", ")": "]"})
    yield Mutation("ellipsis: tilde", {"…": "~"})
    for name, alphabet in _ALPHABETS.items():
        yield Mutation(f"letters: {name}", dict(zip(_LATIN, alphabet, strict=True)))
    yield Mutation("digits: arabic", dict(zip("0123456789", "٠١٢٣٤٥٦٧٨٩", strict=True)))
    yield Mutation("titles: other frames", titles=_each(_SPINNING + "◇✦", "◐◓◑◒"))
    yield Mutation("titles: none", drops=(_TITLE,))
    yield Mutation("signals: none", drops=(_TITLE, _STATE))
    yield Mutation("colours: none", drops=(_COLOUR,))
    yield Mutation("synchronisation: none", drops=(_SYNCHRONIZED,))
    yield Mutation("cursor: never hidden", drops=(_CURSOR_HIDDEN,))
    yield Mutation("pace: half", pace=2.0)
    yield Mutation("pace: double", pace=0.5)


MUTATIONS: Mapping[str, Mutation] = MappingProxyType({mutation.name: mutation for mutation in _listed()})
"""One at a time, by name: what is replaced, and by what."""
