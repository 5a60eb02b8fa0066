"""Finding the list of choices that a program has put up: one of them pointed at, and nothing live below.

The pointer alone proves nothing, because the same glyphs are bullets, quotes and old prompts. A list is believed when
it counts (1. 2. 3.), when the hidden cursor stands on the pointer, when a key hint or the end of its box follows, or
when a question stands above it.
"""

from functools import lru_cache
from typing import Literal, NamedTuple

import regex

from streamrelay.delta.layout.dialog_screen import (
    ANY_KEY,
    DECIDING_KEY,
    MAX_ROWS,
    STRONG_POINTERS,
    DialogScreen,
    is_bullet,
    is_hint,
)
from streamrelay.delta.layout.glyphs import MAX_ROWS_KNOWN

_POINTED = regex.compile(rf"^(\s*)([{STRONG_POINTERS}>●◉→‣*])(\s+)((?:[✔✓☑☐☒◯○●◉■□]\s+)?)(?:(\d{{1,3}})[.)]\s+)?\S")
_NUMBERED = regex.compile(r"^\s*(\d{1,3})[.)]\s+\S")

_Ending = Literal["nothing", "border", "hint"]


class _Pointed(NamedTuple):
    """The row with the pointer; `pointer`, `text` and `marked` (behind a check mark) are columns."""

    y: int
    pointer: int
    text: int
    marked: int
    number: int | None
    strong: bool


class Choices(NamedTuple):
    """A list of choices on a screen."""

    pointed: _Pointed
    options: dict[int, str]
    """The words of every choice, by row."""
    end: int
    """The row behind the last."""

    @property
    def begin(self) -> int:
        """The first row."""
        return min(self.options)


def find_choices(screen: DialogScreen) -> Choices | None:
    """Return the lowest list of choices, if it is alive."""
    for y in range(screen.last, -1, -1):
        pointed = _pointed(screen.rows[y], y)
        if pointed is None:
            continue
        choices = _around(screen, pointed)
        ending = _ending(screen, choices)
        if _is_convincing(screen, choices, ending):
            return choices if ending is not None and _is_owned(screen, choices) else None
    return None


@lru_cache(maxsize=MAX_ROWS_KNOWN)
def _pointed(row: str, y: int) -> _Pointed | None:
    found = _POINTED.match(row)
    if found is None:
        return None
    indent, glyph, gap, mark, number = found.groups()
    text = len(indent + glyph + gap)
    return _Pointed(y, len(indent), text, text + len(mark), int(number) if number else None, glyph in STRONG_POINTERS)


def _around(screen: DialogScreen, pointed: _Pointed) -> Choices:
    """Gather the choices above and below: those that count on from the pointed one's number, or stand at its column.

    Rows further right continue a choice. Numbered choices may be one blank row apart.
    """
    options = {pointed.y: screen.rows[pointed.y][pointed.text :].strip()}
    end = pointed.y + 1
    for step in (-1, 1):
        y, number, blanks = pointed.y + step, pointed.number, 0
        while 0 <= y < len(screen.rows) and blanks <= 1:
            row = screen.rows[y]
            indent = len(row) - len(row.lstrip())
            if not row:
                blanks += 1
            elif number is None and indent in {pointed.text, pointed.marked} and not blanks:
                options[y] = row.strip()
            elif number is not None and indent > pointed.pointer and _number(row) == number + step:
                number, blanks = number + step, 0
                options[y] = row.strip()
            elif indent > pointed.text:
                blanks = 0
            else:
                break
            y += step
            if step == 1 and not blanks:
                end = y
    return Choices(pointed, options, end)


def _number(row: str) -> int | None:
    found = _NUMBERED.match(row)
    return int(found[1]) if found else None


def _ending(screen: DialogScreen, choices: Choices) -> _Ending | None:
    """Tell what follows a list, to the end of the screen; None is something that does not belong to a dialog."""
    below = screen.last + 1
    if screen.is_boxed(choices.pointed.y):
        closed = screen.box_end(choices.end)
        if closed is not None and not screen.remarks(closed, below):
            hinted = any(is_hint(row, DECIDING_KEY) for row in screen.rows[choices.end : closed])
            return "hint" if hinted else "border"
    remarks = screen.remarks(choices.end, below)
    if not remarks:
        return "nothing"
    if len(remarks) <= 2 and all(is_hint(row, ANY_KEY) for row in remarks):
        return "hint"
    if screen.cursor == (choices.pointed.pointer, choices.pointed.y) and is_hint(remarks[0], DECIDING_KEY):
        # The cursor points: what stands below the hint is a panel of the program's, such as its list of tasks.
        return "hint"
    if any(map(is_bullet, remarks)):
        return None
    if len(remarks) <= MAX_ROWS and is_hint(remarks[-1], DECIDING_KEY):
        return "hint"
    return "hint" if is_hint(remarks[-1], ANY_KEY) and _is_preview(screen, choices.end) else None


def _is_preview(screen: DialogScreen, begin: int) -> bool:
    """Whether all that stands between the choices and the last row is set off by two rules."""
    rules = [y for y in range(begin, screen.last) if screen.is_border(y)]
    return len(rules) == 2 and not any(map(screen.says, (*range(begin, rules[0]), *range(rules[1], screen.last))))


def _is_convincing(screen: DialogScreen, choices: Choices, ending: _Ending | None) -> bool:
    """Whether a list is a list of choices."""
    pointed = choices.pointed
    if len(choices.options) == 1:
        return False
    if pointed.number is not None or ending == "hint" or screen.cursor == (pointed.pointer, pointed.y):
        return True
    return pointed.strong and (ending == "border" or screen.question_above(choices.begin) is not None)


def _is_owned(screen: DialogScreen, choices: Choices) -> bool:
    """Whether the program keeps the place for itself.

    A program that merely printed a list leaves a visible cursor below it. A draft of several lines can look like a
    list; then the cursor stands in it, right of the pointer, and it is visible or the draft fills a frame.
    """
    x, y = screen.cursor
    if not choices.begin <= y < choices.end:
        return not screen.cursor_visible or choices.begin - MAX_ROWS <= y < choices.begin
    if x <= choices.pointed.pointer:
        return True
    framed = screen.is_border(choices.begin - 1) and screen.is_border(choices.end)
    return not screen.cursor_visible and not framed
