"""The composer that a program paints, as far as its screen tells: its mark, what it holds, and what of that is a draft.

A composer that is empty can still show something, a placeholder or a hint, at its beginning or its end. What it shows
while nothing is typed is remembered, and is no draft.
"""

from collections.abc import Sequence
from typing import NamedTuple

from streamrelay.delta.layout.glyphs import AROUND, is_border, is_mark, marks_around
from streamrelay.delta.pane_state import ComposerView
from streamrelay.vt.engine import Engine

MAX_DRAFT = 12
"""Rows of a composer that are read."""


class Held(NamedTuple):
    """The glyph in front of what is typed, empty where there is none, and the text."""

    mark: str
    text: str


class _Reading(NamedTuple):
    """What a composer held, and the arguments with which that was read."""

    rows: Sequence[str]
    top: int
    cursor: int
    around: str
    held: Held


class ComposerReader:
    """The composer of one program. It begins in row `top` of the screen's rows, and the cursor is in row `cursor`.

    `holds` keeps its last result, because it is called several times for each screen. The caller must therefore not
    change `rows` after a call.
    """

    def __init__(self) -> None:
        self.empty = Held("", "")
        """What it holds when nothing is typed."""
        self._marks: set[str] = set()
        """The glyphs that stood in front of messages of ours: a program may show another one in each of its modes."""
        self._around = AROUND
        self._reading = _Reading((), 0, 0, "", Held("", ""))

    def learn_empty(self, rows: Sequence[str], top: int, cursor: int) -> None:
        """Nothing is typed: what stands there now stands there always."""
        self._around = AROUND + marks_around(_inside(rows, top, cursor))
        self.empty = self.holds(rows, top, cursor)

    def learn_mark(self, rows: Sequence[str], top: int, cursor: int) -> None:
        """A message of ours stands in it."""
        self._marks |= {self.holds(rows, top, cursor).mark} - {""}

    def is_shown(self, rows: Sequence[str], top: int, cursor: int) -> bool:
        """Whether it stands there, as far as its marks tell: one that has no mark is taken for it."""
        return not self.empty.mark or self.holds(rows, top, cursor).mark in {self.empty.mark, *self._marks}

    def holds(self, rows: Sequence[str], top: int, cursor: int) -> Held:
        """Return what stands in it, its marks and borders left out."""
        last = self._reading
        if rows is not last.rows or last[1:4] != (top, cursor, self._around):
            self._reading = last = _Reading(rows, top, cursor, self._around, self._hold(rows, top, cursor))
        return last.held

    def _hold(self, rows: Sequence[str], top: int, cursor: int) -> Held:
        inside = _inside(rows, top, cursor)
        if not inside:
            return Held("", "")
        mark = inside[0][0] if is_mark(inside[0][0]) else ""
        return Held(mark, "\n".join(row.lstrip(mark).strip(self._around) for row in inside).strip())

    def draft(self, rows: Sequence[str], top: int, cursor: int) -> str:
        """Return what is typed into it: what it holds, without the last lines that it holds when empty."""
        text = self.holds(rows, top, cursor).text
        if text == self.empty.text:
            return ""
        lines, empty = text.split("\n"), self.empty.text.split("\n")
        while lines and empty and lines[-1] == empty[-1]:
            lines.pop()
            empty.pop()
        return "\n".join(lines).strip()

    def view(self, engine: Engine, rows: Sequence[str], top: int, cursor: int, column: int) -> ComposerView:
        """Return it as it stands, with the cursor in `column`."""
        inside = [row for row in rows[top : cursor + 1] if not is_border(row)]
        below = [row for row in rows[cursor + 1 : top + MAX_DRAFT] if not is_border(row)]
        held = self.holds(rows, top, cursor)
        first = top + is_border(rows[top])
        last = next((y - 1 for y in range(first, cursor + 1) if is_border(rows[y])), cursor)
        faint = bool(held.text) and all(self._is_faint(engine, y) for y in range(first, last + 1))
        if last == cursor and inside and rows[cursor] == inside[-1] and rows[cursor].strip():
            before = [*inside[:-1], engine.row(cursor).columns(0, column)]
            typed = "\n".join(row.strip().lstrip(held.mark).strip(self._around) for row in before).strip()
        else:
            # The cursor is hidden somewhere else: only what it held when empty tells a placeholder from a draft.
            typed = self.draft(rows, top, cursor) if self.empty.text and not faint else ""
        return ComposerView((*inside, *below), held.text, typed, faint)

    def _is_faint(self, engine: Engine, y: int) -> bool:
        """Tell whether what stands in a row behind a mark of one glyph is drawn faint."""
        row = engine.row(y)
        text = row.text.rstrip()
        start = len(text) - len(text.lstrip(self._around))
        if start == len(text):
            return True
        stop = len(text.rstrip(self._around))
        return any(run.start <= start and run.stop >= stop - 1 and "2" in run.style.split(";")[:1] for run in row.runs)


def _inside(rows: Sequence[str], top: int, cursor: int) -> list[str]:
    inside: list[str] = []
    if not rows:
        return inside
    for row in rows[top + 1 if is_border(rows[top]) else top : max(cursor, top) + MAX_DRAFT]:
        if is_border(row) or not row.strip():
            break
        inside.append(row.strip())
    return inside
