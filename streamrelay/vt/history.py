"""Rows in order, cheap to take in by the thousand: history, and whatever else only grows below and shrinks above.

A row is either a `Line` that was on the screen, or one of a stretch of rows that are one entry, however many they are:
`Printed` ones that were never read, or `Packed` ones that take less memory so.
"""

from collections import deque
from collections.abc import Iterator, Sequence
from itertools import islice

from streamrelay.vt.lazy_lines import Printed, PrintedRow
from streamrelay.vt.packed import Packed
from streamrelay.vt.rows import Line

StoredRow = Line | PrintedRow


class _Stretch:
    __slots__ = ("printed", "start", "stop")

    def __init__(self, printed: Printed | Packed, start: int, stop: int) -> None:
        self.printed = printed
        self.start = start
        self.stop = stop


class RowQueue:
    """Rows, oldest first."""

    __slots__ = ("_parts", "loose", "size")

    def __init__(self, lines: Sequence[Line] = ()) -> None:
        self._parts: deque[Line | _Stretch] = deque(lines)
        self.size = len(lines)
        """The number of rows."""
        self.loose = self.size
        """How many of the newest entries are lines, at most."""

    def __len__(self) -> int:
        return self.size

    def __iter__(self) -> Iterator[StoredRow]:
        for part in self._parts:
            if isinstance(part, Line):
                yield part
            else:
                yield from part.printed.rows(part.start, part.stop)

    def append(self, line: Line) -> None:
        """Add one row."""
        self._parts.append(line)
        self.size += 1
        self.loose += 1

    def extend(self, printed: Printed | Packed, start: int, stop: int) -> None:
        """Add the rows `start` to `stop` (exclusive) of what was printed at once."""
        if stop <= start:
            return
        self.loose = 0
        last = self._parts[-1] if self._parts else None
        if isinstance(last, _Stretch) and last.printed is printed and last.stop == start:
            last.stop = stop
        else:
            self._parts.append(_Stretch(printed, start, stop))
        self.size += stop - start

    def shift(self, count: int, *others: "RowQueue") -> None:
        """Take the oldest `count` rows out, and add them to `others`."""
        parts = self._parts
        self.size -= count
        while count > 0:
            part = parts[0]
            if isinstance(part, Line):
                parts.popleft()
                count -= 1
                for other in others:
                    other.append(part)
                continue
            stop = min(part.start + count, part.stop)
            for other in others:
                other.extend(part.printed, part.start, stop)
            count -= stop - part.start
            if stop == part.stop:
                parts.popleft()
            else:
                part.start = stop

    def between(self, start: int, stop: int) -> "RowQueue":
        """Return the rows `start` to `stop` (exclusive) as they are now; O(entries)."""
        rows = RowQueue()
        first = 0
        for part in self._parts:
            if first >= stop:
                break
            if isinstance(part, Line):
                if start <= first:
                    rows.append(part.line())
                first += 1
            else:
                past = first + part.stop - part.start
                shift = part.start - first
                rows.extend(part.printed, max(start, first) + shift, min(stop, past) + shift)
                first = past
        return rows

    def add(self, row: StoredRow) -> None:
        """Add one row, whichever it is."""
        if isinstance(row, Line):
            self.append(row)
        else:
            self.extend(row.printed, row.index, row.index + 1)

    def pack(self, *others: "RowQueue") -> None:
        """Pack the newest lines, also in `others` where they are the newest there as well."""
        lines: list[Line] = []
        for part in islice(reversed(self._parts), self.loose):
            if not (isinstance(part, Line) and part.symbols is (lines or [part])[0].symbols):
                break
            lines.append(part)
        self.loose = 0
        if not lines:
            return
        packed = Packed(lines[::-1])
        for queue in (self, *others):
            parts = queue._parts  # noqa: SLF001  # another one of these
            if len(parts) >= len(lines) and parts[-1] is lines[0] and parts[-len(lines)] is lines[-1]:
                for _ in lines:
                    parts.pop()
                parts.append(_Stretch(packed, 0, len(lines)))
                queue.loose = 0

    def take_back(self, count: int) -> list[StoredRow]:
        """Take the newest `count` rows out, and return them, oldest first."""
        rows: list[StoredRow] = []
        self.size -= count
        self.loose = 0
        while count > 0:
            part = self._parts.pop()
            if isinstance(part, Line):
                rows.append(part)
                count -= 1
                continue
            start = max(part.start, part.stop - count)
            rows += reversed(part.printed.rows(start, part.stop))
            count -= part.stop - start
            if start > part.start:
                part.stop = start
                self._parts.append(part)
        return rows[::-1]

    def texts(self) -> list[str] | None:
        """Return the texts of all rows, without blanks at their ends, if none is soft-wrapped."""
        texts: list[str] = []
        for part in self._parts:
            if isinstance(part, Line):
                if part.wrapped:
                    return None
                texts.append(part.text.rstrip(" "))
                continue
            unwrapped = part.printed.unwrapped_texts(part.start, part.stop)
            if unwrapped is None:
                return None
            texts += unwrapped
        return texts

    def unused(self, count: int) -> list[int]:
        """Return which of the newest `count` rows are empty and uncoloured; the newest is 0, the one before it 1."""
        unused: list[int] = []
        seen = 0
        for part in reversed(self._parts):
            if seen >= count:
                break
            if isinstance(part, Line):
                if not (part.cells or part.look):
                    unused.append(seen)
                seen += 1
                continue
            start = max(part.start, part.stop - count + seen)
            if isinstance(part.printed, Packed) or "" in part.printed.texts[start : part.stop]:
                rows: Sequence[StoredRow] = part.printed.rows(start, part.stop)
                unused += [seen + place for place, row in enumerate(reversed(rows)) if not (row.text or row.look)]
            seen += part.stop - start
        return unused

    def row(self, index: int) -> StoredRow:
        """Return one row; O(entries)."""
        for part in self._parts:
            if isinstance(part, Line):
                if index == 0:
                    return part
                index -= 1
            elif index < part.stop - part.start:
                return part.printed.row(part.start + index)
            else:
                index -= part.stop - part.start
        raise IndexError(index)

    @property
    def wrapped(self) -> bool:
        """Whether the newest row goes on in the one that follows."""
        if not self._parts:
            return False
        last = self._parts[-1]
        return last.wrapped if isinstance(last, Line) else last.printed.wraps(last.stop - 1)

    def untie(self) -> None:
        """Forget that the newest row goes on: what was handed out stays as it is."""
        last = self._parts[-1]
        if isinstance(last, Line):
            self._parts[-1] = last.line(wrapped=False)
            return
        (row,) = self.take_back(1)
        self.append(row.line(wrapped=False))

    def clear(self) -> None:
        """Forget all rows."""
        self._parts.clear()
        self.size = self.loose = 0
