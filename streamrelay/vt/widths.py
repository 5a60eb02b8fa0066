"""How many columns a character takes: a table, because it is a property of the machine tmux runs on.

tmux asks the C library (`wcwidth`), so the same bytes fill different cells on different systems. The table here is
that of glibc 2.36 (Unicode 14); where the running tmux says otherwise, `Widths.replaced` makes a calibrated one.

The tmux rules on top of the library's answer: a code point that is not printable is dropped without a trace, C1
controls included; one of no width joins the cell before it. What newer versions do otherwise is in `Quirks`, which
are tried out as widths are measured, never guessed from a version.
"""

import re
import sys
from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import accumulate, pairwise

from streamrelay.vt.unicode14 import RUNS

STUB = "\uffff"
"""The cell right of a wide character, so that index == column. A noncharacter, which no input can spell."""
JOINER = "\ufffe"
"""Put before a character of no width by `Widths.cells`."""
RAW = "\ufdd0"
"""Put before a character whose code point `CLUSTERS` needs for itself."""
MARKS = JOINER + RAW
ZWJ = "\u200d"
CLUSTERS = range(0xF0000, 0x10FFFE)
"""Code points that stand for what is no single code point of one cell (see symbols.py)."""

VARIATION_SELECTOR = "\ufe0f"
SKIN_TONES = "🏻🏼🏽🏾🏿"
FLAGS = "".join(map(chr, range(0x1F1E6, 0x1F200)))
"""Regional indicators, two of which are a flag."""
_OURS = STUB + MARKS
_RESERVED = _OURS + ZWJ
_EMOJI = range(0x1F000, 0x20000)
_CONTROLS = "".join(map(chr, (*range(0x20), *range(0x7F, 0xA0))))
_DROPPED = frozenset(_CONTROLS)
REPLACEMENT = "\ufffd"
FILLER = "\u3164"
"""The Hangul filler."""
_LETTERS = {"x": -1, "z": 0, "n": 1, "w": 2}
_MARKS = re.compile(f"[{MARKS}]")
_MEMO_LIMIT = 16_384


@dataclass(frozen=True, slots=True)
class Quirks:
    """What tmux 3.5a and 3.8 do otherwise than 3.3a, as seen on the screen."""

    widens: bool = False
    """A variation selector (U+FE0F) or a skin tone makes the cell it joins wide; a joiner waits in its cell."""
    repeats_any: bool = False
    """REP repeats whatever was printed last, not ASCII alone."""
    blanks_halves: bool = False
    """ASCII on the second half of a wide character in the first column blanks the first half."""
    fills_tabs: bool = False
    """A tab over blank cells puts them in use."""
    shows_unprintable: bool = False
    """What is not printable takes one column; C1 controls, which it keeps without a column, are dropped here."""
    replaces_bad_bytes: bool = False
    """Bytes that are no UTF-8 are shown as U+FFFD."""
    keeps_backgrounds: bool = False
    """What remains of a wide character, the other half of which is written over, keeps its background."""


class Widths(dict[int, str]):
    """Maps characters to cells, for `str.translate`; fills itself as characters turn up."""

    def __init__(
        self,
        starts: tuple[int, ...],
        widths: tuple[int, ...],
        replaced: Mapping[str, int],
        quirks: Quirks = Quirks(),
    ) -> None:
        super().__init__()
        self.quirks = quirks
        self._starts = starts
        self._widths = widths
        # Where it has no width (3.6), tmux does not join it, but drops it.
        self._replaced = {one: -1 if one == FILLER and not columns else columns for one, columns in replaced.items()}
        self._unprintable = 1 if quirks.shows_unprintable else -1

    def width(self, character: str) -> int:
        """Return the columns `character` takes: 0, 1 or 2, or -1 where it is dropped."""
        known = self._replaced.get(character)
        if known is not None:
            return known
        width = self._widths[bisect_right(self._starts, ord(character)) - 1]
        return width if width >= 0 or character in _DROPPED else self._unprintable

    @property
    def differing(self) -> dict[str, int]:
        """The characters whose width is not that of the built-in table."""
        return dict(self._replaced)

    def run_ends(self) -> set[int]:
        """Return the first and the last code point of every run of one width."""
        return {code for start in self._starts for code in (start, start - 1) if code >= 0}

    def replaced(self, widths: Mapping[str, int], quirks: Quirks | None = None) -> "Widths":
        """Return a table that differs for the characters in `widths`, and in its quirks if some are given."""
        return Widths(self._starts, self._widths, {**self._replaced, **widths}, quirks or self.quirks)

    @property
    def _special(self) -> str:
        """Characters that never are just shown."""
        return _RESERVED + (VARIATION_SELECTOR + self._modifying if self.quirks.widens else "")

    @cached_property
    def _modifying(self) -> str:
        """Characters of columns of their own that may join the cell before them: two flags do where each is wide."""
        return SKIN_TONES + (FLAGS if self.width(FLAGS[0]) == 2 else "")

    def cells(self, text: str) -> str:
        """Return the cells `text` fills: wide characters with their stub, dropped ones left out.

        What needs the cell before it, or a code point of its own, comes behind a mark (see `marked`). Where every
        character fills one cell as it is, that is `text` itself.
        """
        if self._narrow.fullmatch(text):
            return text
        if self._shown.fullmatch(text):
            return self._wide.sub(_with_stubs, text)
        return text.translate(self)

    def is_plain(self, lines: str) -> bool:
        """Whether lines are shown as they are: every character has columns or joins one that has.

        A line feed alone ends a line. tmux keeps 21 bytes of UTF-8 in a cell, which a character and what may join it
        here never exceed. A variation selector that widens does so in a column that is there: the last column is the
        caller's to see to.
        """
        # Mostly nothing joins, and the pattern for what does takes 20 ms to compile.
        return self._shown.fullmatch(lines.replace("\n", "")) is not None or self._plain.fullmatch(lines) is not None

    @cached_property
    def _plain(self) -> re.Pattern[str]:
        shown, joining = self._ranges(1, 2), self._ranges(0)
        beyond_ascii = f"(?![ -~])[{shown}]"
        join = f"(?:{ZWJ}{beyond_ascii}|[{joining}])"
        widening = f"{VARIATION_SELECTOR}{join}{{0,2}}|" if self.quirks.widens else ""
        # Joining characters are the exception: a turn for each of them takes a third of what one for every line would.
        joined = f"(?<=[^\n])(?:{widening}{join}{{1,2}})"
        # Groups that may fail halfway are greedy: see tokens.py.
        return re.compile(f"[{shown}\n]*+(?:{joined}[{shown}\n]++)*(?:{joined})?")

    def _ranges(self, *widths: int) -> str:
        """Return the characters of those widths as ranges of a regular expression's set."""
        special = self._special
        own = {*map(ord, (*self._replaced, *special, *_DROPPED))}
        cuts = sorted({*self._starts, *own, *(code + 1 for code in own), CLUSTERS.start, CLUSTERS.stop})
        ranges: list[tuple[int, int]] = []
        for start, stop in pairwise((*cuts, sys.maxunicode + 1)):
            character = chr(start)
            if start in CLUSTERS or character in special or self.width(character) not in widths:
                continue
            first = ranges.pop()[0] if ranges and ranges[-1][1] == start else start
            ranges.append((first, stop))
        # `re` looks up the basic plane in a table, then tries the others one by one: emoji first.
        ranges.sort(key=lambda one: one[0] not in _EMOJI)
        return "".join(f"\\U{start:08x}-\\U{stop - 1:08x}" for start, stop in ranges)

    # Looking every character up costs twenty times as much as seeing that all are narrow, and six times as much as
    # putting stubs between those of a run of wide ones.

    @cached_property
    def _narrow(self) -> re.Pattern[str]:
        return re.compile(f"[{self._ranges(1)}]*+")

    @cached_property
    def _shown(self) -> re.Pattern[str]:
        return re.compile(f"[{self._ranges(1, 2)}]*+")

    @cached_property
    def _wide(self) -> re.Pattern[str]:
        return re.compile(f"[{self._ranges(2)}]++")

    def __missing__(self, code: int) -> str:
        character = chr(code)
        width = self.width(character)
        if width < 0:
            cells = ""
        elif width == 0:
            cells = JOINER + character
        elif character in _OURS:
            cells = REPLACEMENT  # it has a meaning of its own in a row
        elif self.quirks.widens and character in self._modifying:
            cells = JOINER + character + STUB * (width - 1)
        else:
            cells = (RAW + character if code in CLUSTERS else character) + STUB * (width - 1)
        if len(self) >= _MEMO_LIMIT:
            self.clear()
        self[code] = cells
        return cells


def marked(cells: str) -> bool:
    """Whether `cells` holds marks, and so must be drawn one by one."""
    return _MARKS.search(cells) is not None


def _with_stubs(run: re.Match[str]) -> str:
    return STUB.join(run[0]) + STUB


@cache
def unicode14() -> Widths:
    """Return the table of glibc 2.36, shared because it only ever remembers what follows from it."""
    runs = re.findall(r"(\d+)([xznw])", RUNS)
    ends = tuple(accumulate(int(count) for count, _ in runs))
    return Widths((0, *ends[:-1]), tuple(_LETTERS[letter] for _, letter in runs), {})
