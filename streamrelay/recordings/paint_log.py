"""Which bytes painted each row, and what the row read over time.

A screen of its own is fed one control sequence or line at a time, so that every change has exact bytes; what a read
left of them is one state of the row. Rows are followed where they go: scrolled as a whole or in a region, into history,
repainted elsewhere on the screen, or wiped and painted again soon after. A row whose text is replaced by another one in
place is the same row (a spinner, a progress bar, a line that grows); one that was erased is gone.
"""

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator

import regex

from streamrelay.delta.layout.rows import painted_row
from streamrelay.delta.printing.echo import squeeze
from streamrelay.recordings.painted_rows import PaintedLine, RowReading, Slot, Span
from streamrelay.vt import TmuxScreen
from streamrelay.vt.engine import Frame, Snapshot

SOON = 1.0
"""Seconds within which a row that was wiped and is painted again is the same row."""
MIN_PREFIX = 4
"""Characters of a row by which it is known again when it has grown elsewhere."""
MAX_ROWS_SEARCHED = 10_000
"""Rows looked at for a line that was joined from several: a hostile program can make the search long."""

_PIECE = regex.compile(rb"\x1b?[^\x1b\n]*\n?")


class PaintLog:
    """Follows the output of one pane."""

    def __init__(self, columns: int, lines: int) -> None:
        self.output = bytearray()
        self._reads: list[Span] = []
        self._times: list[float] = []
        self.lines: list[PaintedLine] = []
        """Every row that ever showed anything, in the order in which they appeared."""
        self._screen = TmuxScreen(columns, lines)
        self._slots = [Slot() for _ in range(lines)]
        self._behind: list[Slot] = []
        self._alternate = False
        self._history: list[PaintedLine] = []
        self._first = 0
        self._numbers: defaultdict[str, list[int]] = defaultdict(list)
        self._committed: list[Slot] = []
        self._wiped: list[Slot] = []
        self._last_with: dict[str, PaintedLine] = {}

    def feed(self, t: float, data: bytes) -> None:
        """Take one read."""
        start = len(self.output)
        self._times.append(t)
        self._reads.append((start, start + len(data)))
        self.output += data
        for piece in _PIECE.findall(data):
            if piece:
                self._screen.feed(piece)
                self._follow(self._screen.take(), (start, start + len(piece)))
                start += len(piece)
        self._close_read(t)

    def resize(self, t: float, columns: int, lines: int) -> None:
        """Go on in another size: rows are known again by what they read."""
        self._screen.resize(lines, columns)
        frame = self._screen.take()
        span = (len(self.output), len(self.output))
        self._wipe(slot.line for slot in self._slots)
        for row in frame.committed:
            self._committed.append(slot := Slot())
            slot.touch(row.text.rstrip(), span)
        self._slots = [Slot() for _ in range(lines)]
        for y, slot in enumerate(self._slots):
            slot.touch(self._text(y), span)
        self._close_read(t)

    def seed(self, t: float, snapshot: Snapshot) -> None:
        """Go on with the screen that tmux held: rows are known again by what they read, and no bytes painted them."""
        self._screen.seed(snapshot)
        self._screen.take()
        self._wipe(slot.line for slot in self._slots)
        self._alternate, self._behind = snapshot.alternate, []
        self._slots = [Slot() for _ in range(snapshot.lines)]
        for y, slot in enumerate(self._slots):
            slot.touch(self._text(y), (len(self.output), len(self.output)))
        self._close_read(t)

    # Where and when things are

    @property
    def screen(self) -> list[PaintedLine]:
        """The rows on the screen now; a blank one has no states."""
        return [slot.line for slot in self._slots]

    def time_of(self, offset: int) -> float:
        """Return the time at which the byte at an offset was read; 0 if none was read."""
        at = max(0, bisect_right(self._reads, (offset, len(self.output))) - 1)
        return self._times[at] if self._times else 0.0

    @property
    def end(self) -> int:
        """The number of the row after the last row of the screen."""
        return self._first + len(self._history) + len(self._slots)

    def find(self, text: str, after: int) -> tuple[list[PaintedLine], int]:
        """Return the rows that read `text`, one or a run that spells it, and the number of the row behind them.

        The first from number `after` on; if there is none, the last one at all, and `after` as it was.
        """
        screen = self._first + len(self._history)
        numbers = self._numbers.get(text, [])
        here = bisect_left(numbers, after)
        if here < len(numbers):
            return [self._history[numbers[here] - self._first]], numbers[here] + 1
        for y in range(max(0, after - screen), len(self._slots)):
            if self._slots[y].line.text == text:
                return [self._slots[y].line], screen + y + 1
        run, number = self._find_run(squeeze(text), max(after, self._first))
        if run:
            return run, number + len(run)
        last = self._last_with.get(text)
        return ([] if last is None else [last]), after

    def _line(self, number: int) -> PaintedLine:
        y = number - self._first
        return self._history[y] if y < len(self._history) else self._slots[y - len(self._history)].line

    def _find_run(self, target: str, after: int) -> tuple[list[PaintedLine], int]:
        """Return the first rows from number `after` on that spell the target, and the number of the first of them."""
        looked, end = 0, self.end
        for first in range(after, end):
            run: list[PaintedLine] = []
            spelled = 0
            for number in range(first, end):
                looked += 1
                line = self._line(number)
                row = squeeze(line.text)
                if not row or not target.startswith(row, spelled):
                    break
                run.append(line)
                spelled += len(row)
                if spelled == len(target):
                    return run, first
            # A run may be longer than that: only the beginnings of others are given up.
            if looked > MAX_ROWS_SEARCHED:
                break
        return [], after

    # A piece

    def _text(self, y: int) -> str:
        row = self._screen.row(y)
        return painted_row(row.text, row.wrapped, self._screen.columns).text

    def _follow(self, frame: Frame, span: Span) -> None:
        if frame.alternate != self._alternate:
            self._switch(alternate=frame.alternate)
        texts = {y: self._text(y) for y in _bits(frame.dirty) if y < len(self._slots)}
        committed = [painted_row(row.text, row.wrapped, self._screen.columns).text for row in frame.committed]
        if frame.scrolled:
            self._slots += (Slot() for _ in range(frame.scrolled))
            leaving, self._slots = self._slots[: frame.scrolled], self._slots[frame.scrolled :]
            self._commit(leaving, committed[-len(leaving) :], span)
        elif len(texts) > 1:
            leaving = self._scroll_region(texts)
            stays = len(committed)
            self._commit(leaving[:stays], committed, span)
            self._wipe(slot.line for slot in leaving[stays:])
        if frame.history_cleared:
            self._wipe(slot.line for slot in self._committed)
            self._wipe(self._history)
            self._first += len(self._history)
            self._committed, self._history = [], []
            self._numbers.clear()
        for y, text in texts.items():
            self._slots[y].touch(text, span)

    def _switch(self, *, alternate: bool) -> None:
        self._alternate = alternate
        if alternate:
            self._behind, self._slots = self._slots, [Slot() for _ in self._slots]
        else:
            self._wipe(slot.line for slot in self._slots)
            self._slots = self._behind or [Slot() for _ in self._slots]

    def _wipe(self, lines: Iterable[PaintedLine]) -> None:
        self._wiped += map(Slot, lines)

    def _commit(self, leaving: list[Slot], texts: list[str], span: Span) -> None:
        leaving += (Slot() for _ in range(len(texts) - len(leaving)))
        for slot, text in zip(leaving, texts, strict=False):
            slot.touch(text, span)
            self._committed.append(slot)

    def _scroll_region(self, texts: dict[int, str]) -> list[Slot]:
        """Move the slots of rows that one piece moved; return those that left."""
        top, bottom = min(texts), max(texts) + 1
        slots = self._slots[top:bottom]
        old, new = [slot.text for slot in slots], [texts.get(y, self._slots[y].text) for y in range(top, bottom)]
        for distance in range(1, bottom - top):
            fresh = [Slot() for _ in range(distance)]
            if any(old[distance:]) and new[:-distance] == old[distance:]:
                self._slots[top:bottom] = slots[distance:] + fresh
                return slots[:distance]
            if any(old[:-distance]) and new[distance:] == old[:-distance]:
                self._slots[top:bottom] = fresh + slots[:-distance]
                return slots[-distance:]
        return []

    # A read

    def _close_read(self, t: float) -> None:
        """Settle which row each place shows now."""
        places = [*self._wiped, *self._committed, *self._slots]
        touched = [slot for slot in places if slot.text != slot.line.text]
        unchanged = {slot.line for slot in places if slot.line.text and slot.text == slot.line.text}
        lost: defaultdict[str, list[PaintedLine]] = defaultdict(list)
        for slot in touched:
            if slot.line.text and slot.line not in unchanged:
                lost[slot.line.text].append(slot.line)
        claimed: dict[PaintedLine, Slot] = {}
        settled: dict[Slot, PaintedLine] = {}
        for exactly in (True, False):
            for slot in touched:
                if slot.text and slot not in settled:
                    line = self._lost_line(slot.text, lost, t, exactly=exactly)
                    if line is not None and line not in claimed:
                        claimed[line], settled[slot] = slot, line
        for slot in touched:
            own = slot.line
            line = settled.get(slot)
            if line is None:
                is_own = bool(slot.text and own.text) and own not in claimed and own not in unchanged
                line = own if is_own else PaintedLine()
            if own.text and own not in claimed and own is not line and own not in unchanged:
                own.gone = t
            if slot.text:
                self._paint(line, t, slot)
            slot.line = line
        for slot in self._committed:
            self._numbers[slot.line.text].append(self._first + len(self._history))
            self._history.append(slot.line)
        self._committed, self._wiped = [], []

    def _paint(self, line: PaintedLine, t: float, slot: Slot) -> None:
        line.gone = None
        if not line.states:
            self.lines.append(line)
        if line.text != slot.text:
            line.states.append(RowReading(t, slot.text, slot.runs))
        self._last_with[slot.text] = line

    def _lost_line(
        self, text: str, lost: dict[str, list[PaintedLine]], t: float, *, exactly: bool
    ) -> PaintedLine | None:
        """Return a row that has just left its place and reads `text`, or the beginning of it."""
        if not exactly:
            known = [old for old in lost if lost[old] and len(old) >= MIN_PREFIX and text.startswith(old)]
            return lost[max(known, key=len)].pop(0) if known else None
        if lost.get(text):
            return lost[text].pop(0)
        last = self._last_with.get(text)
        return last if last is not None and last.gone is not None and t - last.gone <= SOON else None


def _bits(mask: int) -> Iterator[int]:
    y = 0
    while mask:
        if mask & 1:
            yield y
        mask >>= 1
        y += 1
