"""What a program keeps around its transcript: the composer, status lines, spinners.

None of it is known by name. A composer is where the cursor rests, with the borders or rules drawn around it. Status
lines stand below it, or above it without a blank row between, and were seen to stay in place while the rows above them
changed, or are aligned with the end of its border. A spinner is a row whose first glyph changes while the rest stays as
it is, digits aside.
"""

from collections.abc import Sequence
from functools import lru_cache
from operator import ne
from typing import NamedTuple

import regex

from streamrelay.delta.layout.glyphs import CORNERS, MAX_ROWS_KNOWN, SIDE, is_border
from streamrelay.delta.profiles import GENERIC, Profile, matches

_SPINNER = regex.compile(r"\s*(?P<glyph>[^\w\s]|\.{2,3})\s+(?P<label>\S.*)")
_BULLETS = frozenset("●⏺•✦◆▪■◉○*-+")
_DIGITS = regex.compile(r"\d+")

_INTERRUPTIBLE = regex.compile(
    r"(?i)\b(?:esc|escape|ctrl[+-]c|\^c)\b.{0,16}\b(?:interrupt|cancel|stop)\b|\b(?:interrupt|cancel|stop)\b.{0,8}\b(?:esc|ctrl[+-]c)\b"
)

MAX_COMPOSER = 14
"""Rows of a composer with its borders; a taller one is not recognised."""
MAX_STATUS_ROWS, MAX_ROWS_BELOW_RULE = 8, 4
"""Status rows above or below a composer, and below a single rule, which may as well belong to the text."""
MIN_HINT_INDENT, MAX_HINT_MARGIN = 8, 2
"""Columns to the left and to the right of a hint that a program aligns with the end of its composer's border."""
MAX_LABELS = 64
MAX_TURNING = 4
"""Rows of which one may be a spinner that turned. Where more change, the screen scrolls, and an item of a list can
take the place of another one with the same words but another mark."""


def masked(text: str) -> str:
    """Return a row with its digits masked: counters and clocks change nothing about it."""
    return _DIGITS.sub("0", text)


def composer_top(rows: Sequence[str], cursor: int, mark: str = "") -> int:
    """Return the first row of the composer: everything from there to the bottom is not transcript.

    `rows` are those of the screen, `cursor` the row in which the cursor rests; `mark` is the glyph in front of what is
    typed, if it is known: a draft of several rows has it in its first one.
    """
    cursor = min(cursor, len(rows) - 1)
    if rows[cursor].strip() and not is_border(rows[cursor]):
        top = _border_above(rows, cursor)
        if top is not None and any(map(is_border, rows[cursor + 1 : cursor + MAX_COMPOSER])):
            return top
        boxed = _box_above(rows, cursor)
        return _marked_top(rows, _bar_top(rows, cursor), mark) if boxed is None else boxed
    last = cursor
    while last > 0 and not rows[last].strip():
        last -= 1
    for bottom in range(last, max(last - MAX_STATUS_ROWS, 0), -1):
        if is_border(rows[bottom]):
            top = _border_above(rows, bottom - 1)
            if top is not None or last - bottom < MAX_ROWS_BELOW_RULE:
                return bottom if top is None else top
        if not rows[bottom].strip():
            break
    return cursor


def has_bordered_composer(rows: Sequence[str], cursor: int) -> bool:
    """Tell whether the cursor rests in, or right below, a composer with a border above and below."""
    top = composer_top(rows, cursor)
    return is_border(rows[top]) and any(map(is_border, rows[top + 1 : top + MAX_COMPOSER]))


def _box_above(rows: Sequence[str], cursor: int) -> int | None:
    """Return the first row of a box that ends above the hints in whose last row a program leaves its cursor."""
    for bottom in range(cursor - 1, max(cursor - MAX_ROWS_BELOW_RULE, 0), -1):
        if is_border(rows[bottom]):
            return _border_above(rows, bottom - 1) if rows[bottom].lstrip()[0] in CORNERS else None
        if not rows[bottom].strip():
            return None
    return None


def _marked_top(rows: Sequence[str], y: int, mark: str) -> int:
    """Return the row with the mark above row `y`, as far as rows of text lead there; `y` where there is none."""
    for top in range(y, max(y - MAX_COMPOSER, -1), -1):
        if not mark or not rows[top].strip():
            break
        if rows[top].lstrip().startswith(mark):
            return top
    return y


def _bar_top(rows: Sequence[str], y: int) -> int:
    """Return the first of the rows beside the same bar as row `y`; that row where there is none."""
    bar = SIDE.match(rows[y])
    while bar is not None and y > 0 and rows[y - 1].startswith(bar[0]):
        y -= 1
    return y


def _border_above(rows: Sequence[str], y: int) -> int | None:
    """Return the nearest border above row `y` with only rows of text, or of a box, between."""
    for top in range(y, max(y - MAX_COMPOSER, -1), -1):
        if is_border(rows[top]):
            return top
        if not rows[top].strip() and not SIDE.match(rows[top]):
            return None
    return None


def _between(rows: Sequence[str], above: str, below: str) -> int | None:
    """Return the first row of the lowest box with these borders."""
    for bottom in range(len(rows) - 1, 0, -1):
        if rows[bottom] == below:
            for top in range(bottom - 1, max(bottom - MAX_COMPOSER, -1), -1):
                if rows[top] == above:
                    return top
    return None


def stays(before: str, after: str) -> bool:
    """Return whether a row is still the same: its text is still there, apart from digits."""
    before, after = masked(before), masked(after)
    if before == after:
        return True
    text = before.strip()
    if not text or len(text) < 4:
        return False
    return after[before.index(text) :].startswith(text)


@lru_cache(maxsize=MAX_ROWS_KNOWN)
def _says_how_to_interrupt(row: str) -> bool:
    return _INTERRUPTIBLE.search(row) is not None


class _Top(NamedTuple):
    """Where the composer begins, and on which screen that was found."""

    rows: Sequence[str]
    cursor: int
    mark: str
    borders: tuple[str, str] | None
    top: int


class Chrome:
    """The chrome of one pane, as learned so far."""

    def __init__(self) -> None:
        self.mark = ""
        """The glyph in front of what is typed."""
        self._idle: tuple[str, ...] = ()
        self._borders: tuple[str, str] | None = None
        self._status_rows = 0
        self._labels: dict[str, None] = {}
        self._glyphs: set[str] = set()
        self._top = _Top((), 0, "", None, 0)

    def composer_top(self, rows: Sequence[str], cursor: int) -> int:
        """Return the first row of the composer.

        Some programs that hide their cursor park it anywhere: one that had a composer with borders still has it. The
        answer is remembered: each frame is asked for it five times. The caller must not change `rows` afterwards.
        """
        last = self._top
        if rows is not last.rows or last[1:4] != (cursor, self.mark, self._borders):
            self._top = last = _Top(rows, cursor, self.mark, self._borders, self._find_composer(rows, cursor))
        return last.top

    def _find_composer(self, rows: Sequence[str], cursor: int) -> int:
        top = composer_top(rows, cursor, self.mark)
        if self._borders is None or _is_like(rows[top], self._borders[0]):
            return top
        return _between(rows, *self._borders) or top

    def rest(self, rows: Sequence[str], cursor: int) -> None:
        """Note how the screen looks while the program waits for input."""
        top = self.composer_top(rows, cursor)
        self.learn_borders(rows, cursor)
        self._idle = _unlike(rows[max(0, top - MAX_STATUS_ROWS) : top])
        self._status_rows = 0

    def learn_borders(self, rows: Sequence[str], cursor: int) -> bool:
        """Note what stands around the composer, where the cursor is in the text of one; return whether that is news."""
        top = _border_above(rows, cursor) if rows[cursor].strip() and not is_border(rows[cursor]) else None
        bottom = next(filter(is_border, rows[cursor + 1 : cursor + MAX_COMPOSER]), None)
        if top is None or bottom is None or self._borders == (rows[top], bottom):
            return False
        self._borders = rows[top], bottom
        return True

    def observe(self, before: Sequence[str], after: Sequence[str], cursor: int) -> None:
        """Note what changed between two snapshots of a working program."""
        top = self.composer_top(after, cursor)
        if any(map(ne, reversed(self._idle), reversed(after[:top]))):
            self._status_rows = max(self._status_rows, self._unmoved_status_rows(after, top))
        changed = [(old, new) for old, new in zip(before, after, strict=False) if old != new]
        if len(changed) <= MAX_TURNING:
            for old, new in changed:
                self._learn_spinner(old, new)

    def bottom_start(self, rows: Sequence[str], cursor: int) -> int:
        """Return the first row of the chrome at the bottom of the screen."""
        top = self.composer_top(rows, cursor)
        status_rows = min(self._status_rows, self._unmoved_status_rows(rows, top))
        return top - (status_rows or _is_hint(rows, top))

    def shows_work(self, rows: Sequence[str], cursor: int, profile: Profile = GENERIC) -> bool:
        """Tell whether the screen says how to interrupt: below the cursor, or in a spinner above the composer.

        A spinner with another label is one at once where its glyphs were seen spinning, or a profile knows it.
        """
        if any(map(_says_how_to_interrupt, rows[cursor + 1 :])):
            return True
        return any(
            _says_how_to_interrupt(row) and (self.is_spinner(row) or self._spins(row) or matches(profile.chrome, row))
            for row in _with_open_brackets_closed(self._rows_above(rows, cursor))
        )

    def has_spinner(self, rows: Sequence[str], cursor: int, profile: Profile = GENERIC) -> bool:
        """Tell whether a spinner stands above the composer, whatever it says."""
        return any(self.is_spinner(row) or matches(profile.chrome, row) for row in self._rows_above(rows, cursor))

    def is_spinner(self, row: str) -> bool:
        """Tell whether a row is one that was seen spinning."""
        spinner = _SPINNER.fullmatch(row)
        return spinner is not None and _label(spinner["label"]) in self._labels

    def _spins(self, row: str) -> bool:
        """Tell whether a row ends in a hint in brackets and begins with a glyph seen spinning that marks no answer."""
        spinner = _SPINNER.fullmatch(row)
        return spinner is not None and row.endswith(")") and spinner["glyph"] in self._glyphs

    def _rows_above(self, rows: Sequence[str], cursor: int) -> Sequence[str]:
        top = self.composer_top(rows, cursor)
        return rows[max(0, top - MAX_STATUS_ROWS) : top]

    def _unmoved_status_rows(self, rows: Sequence[str], top: int) -> int:
        """Return how many rows directly above the composer were already there at rest."""
        count = 0
        for before, after in zip(reversed(self._idle), reversed(rows[:top]), strict=False):
            if not before.strip() or not stays(before, after):
                break
            count += 1
        return count

    def _learn_spinner(self, old: str, new: str) -> None:
        was, now = _SPINNER.fullmatch(old), _SPINNER.fullmatch(new)
        if was is None or now is None or was["glyph"] == now["glyph"]:
            return
        label = _label(now["label"])
        if _label(was["label"]) == label:
            self._labels[label] = None
            self._glyphs |= {was["glyph"], now["glyph"]} - _BULLETS
            if len(self._labels) > MAX_LABELS:
                del self._labels[next(iter(self._labels))]


def _is_hint(rows: Sequence[str], top: int) -> bool:
    """Tell whether the row above the composer's border is aligned with its end: there an answer never stands."""
    if top == 0 or not is_border(rows[top]):
        return False
    row = rows[top - 1].rstrip()
    indent = len(row) - len(row.lstrip())
    return indent >= MIN_HINT_INDENT and 0 <= len(rows[top].rstrip()) - len(row) <= MAX_HINT_MARGIN


def _is_like(row: str, border: str) -> bool:
    """Tell whether a row is the same border, in any width: the screen may have been resized."""
    return row == border or (is_border(row) and row.strip()[:2] == border.strip()[:2])


def _unlike(rows: Sequence[str]) -> tuple[str, ...]:
    """Return the last rows that differ from those next to them, digits aside: rows that are alike are text."""
    texts = [masked(row) for row in rows]
    alike = [y for y in range(1, len(rows)) if texts[y] == texts[y - 1] and texts[y].strip()]
    return tuple(rows[alike[-1] + 1 :] if alike else rows)


def _with_open_brackets_closed(rows: Sequence[str]) -> list[str]:
    """Return rows, those that a bracket was opened in with the row below: on a narrow screen a hint takes two."""
    return [
        f"{row} {below.lstrip(' .')}" if row.count("(") > row.count(")") else row
        for row, below in zip(rows, [*rows[1:], ""], strict=False)
    ]


def _label(text: str) -> str:
    """Return the words of a spinner without its counters."""
    return masked(text).split("(")[0].strip()
