"""The composer that a program paints, as far as its screen tells: its mark, what it holds, and what of that is a draft.

A composer that is empty can still show something, a placeholder or a hint, at its beginning or its end. What it shows
while nothing is typed is remembered, and is no draft.
"""

from collections.abc import Sequence
from typing import NamedTuple, Self

from streamrelay.delta.layout.glyphs import AROUND, SIDE, is_border, is_mark, marks_around
from streamrelay.delta.pane_state import ComposerView
from streamrelay.vt.engine import Engine

MAX_DRAFT = 12
"""Rows of a composer that are read."""


class Held(NamedTuple):
    """The glyph in front of what is typed, empty where there is none, and the text."""

    mark: str
    text: str


class ComposerReader:
    """The composer of one program, where it was looked at last."""

    def __init__(self) -> None:
        self.empty = Held("", "")
        """What it holds when nothing is typed."""
        self.knows_placeholder = True
        """Whether that is all of it: a placeholder has not been seen where a draft stood from the beginning."""
        self._marks: set[str] = set()
        """The glyphs seen in front of sent messages: a program may show another one in each of its modes."""
        self._around = AROUND
        self._rows: Sequence[str] = ()
        self._top = self._cursor = 0
        self._held: Held | None = None
        """What it holds there, once that was read."""

    def look(self, rows: Sequence[str], top: int, cursor: int) -> Self:
        """Look at the screen's `rows`, in which it begins in row `top`, the cursor in row `cursor`.

        The caller must not change `rows` afterwards. What stands in the same place as before is not read again.
        """
        if rows is not self._rows or (top, cursor) != (self._top, self._cursor):
            stop = max(top, cursor) + MAX_DRAFT
            if (top, cursor) != (self._top, self._cursor) or rows[top:stop] != self._rows[top:stop]:
                self._held = None
            self._rows, self._top, self._cursor = rows, top, cursor
        return self

    def learn_empty(self) -> None:
        """Nothing is typed: what stands there now stands there always."""
        self._around, self._held = AROUND + marks_around(self._inside), None
        self.empty = self.held
        self.knows_placeholder = True

    def learn_draft(self, typed: str) -> str:
        """Return the draft that stands there, of which `typed` is what stands in front of the cursor.

        What else it shows when empty is not known, but for its mark and for the lines below the cursor. A bar beside
        what is typed is no mark, and may not stand there when it is empty.
        """
        self._around, self._held = AROUND, None
        mark, text = self.held
        lines, count = text.split("\n"), typed.count("\n") + 1
        self.empty = Held("" if SIDE.fullmatch(mark) else mark, "\n".join(lines[count:]).strip())
        self.knows_placeholder = False
        return "\n".join(lines[:count]).strip()

    def learn_mark(self) -> None:
        """A message of ours stands in it."""
        self._marks |= {self.held.mark} - {""}

    @property
    def is_shown(self) -> bool:
        """Whether it stands there, as far as its marks tell: one that has no mark is taken for it."""
        return not self.empty.mark or self.held.mark in {self.empty.mark, *self._marks}

    @property
    def held(self) -> Held:
        """What stands in it, its marks and borders left out."""
        if self._held is None:
            inside = self._inside
            # A row of a drawing is full of glyphs: a mark is one.
            is_marked = bool(inside) and is_mark(inside[0][0]) and not is_mark(inside[0][1:2] or " ")
            mark = inside[0][0] if is_marked else ""
            self._held = Held(mark, "\n".join(row.lstrip(mark).strip(self._around) for row in inside).strip())
        return self._held

    @property
    def draft(self) -> str:
        """What is typed into it: what it holds, without the last lines that it holds when empty."""
        text = self.held.text
        if text == self.empty.text:
            return ""
        lines, empty = text.split("\n"), self.empty.text.split("\n")
        while lines and empty and lines[-1] == empty[-1]:
            lines.pop()
            empty.pop()
        return "\n".join(lines).strip()

    @property
    def is_bordered(self) -> bool:
        """Whether a border stands above it."""
        return bool(self._rows) and is_border(self._rows[self._top])

    @property
    def is_enclosed(self) -> bool:
        """Whether a border stands above it, or right below the cursor."""
        return self.is_bordered or any(map(is_border, self._rows[self._cursor + 1 : self._cursor + 2]))

    @property
    def _inside(self) -> list[str]:
        inside: list[str] = []
        first = self._top + self.is_bordered
        for row in self._rows[first : max(self._cursor, self._top) + MAX_DRAFT]:
            if is_border(row) or not row.strip():
                break
            inside.append(row.strip())
        return inside

    def view(self, engine: Engine, column: int) -> ComposerView:
        """Return it as it stands, with the cursor in `column`."""
        rows, top, cursor = self._rows, self._top, self._cursor
        inside = [row for row in rows[top : cursor + 1] if not is_border(row)]
        below = [row for row in rows[cursor + 1 : top + MAX_DRAFT] if not is_border(row)]
        held = self.held
        first = top + self.is_bordered
        last = next((y - 1 for y in range(first, cursor + 1) if is_border(rows[y])), cursor)
        faint = bool(held.text) and all(self._is_faint(engine, y) for y in range(first, last + 1))
        if last == cursor and inside and rows[cursor] == inside[-1] and rows[cursor].strip():
            before = [*inside[:-1], engine.row(cursor).columns(0, column)]
            typed = "\n".join(row.strip().lstrip(held.mark).strip(self._around) for row in before).strip()
        else:
            # The cursor is hidden somewhere else: only what it held when empty tells a placeholder from a draft.
            typed = self.draft if self.empty.text and not faint else ""
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
