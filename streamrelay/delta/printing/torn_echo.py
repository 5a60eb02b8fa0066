"""The echo of a line that is torn into pieces: the kernel echoes what is typed while the program prints.

    line 325 abc            the row ends where the program's line does; the echo goes on in the next row
    liLine 1 Abc            `li`, and `Line 1 Abc` of the program
    Line 2 Abc              all of it is the program's
    ne 326 abc              the rest of `line 326 abc`

Nothing in one row tells a piece from the program's words, so the rows are held until a row holds the rest of the line.
Then each piece is known, because together they spell the line; before that, all of it may be the program's.
"""

from collections.abc import Iterator
from itertools import takewhile
from typing import Final, NamedTuple

MIN_LINE: Final = 4
"""Characters of a line whose pieces are looked for: those of a shorter one stand in any text."""
MAX_ROWS: Final = 64
"""Rows that are held for one line."""
_MIN_FIRST_PIECE: Final = 2
_MAX_PIECES, _MAX_CHARACTERS, _MAX_WAYS = 4, 200, 50
"""Pieces of a line, characters of a piece, and ways to read the rows so far that are pursued: others can be many."""


class _Way(NamedTuple):
    """One reading of the rows so far: what of them is the program's, and in how many pieces the echo is."""

    said: tuple[str, ...] = ()
    pieces: int = 0

    def with_piece(self, beside: str) -> "_Way":
        """Return the reading with one piece more, and what the program said in the row of it."""
        return _Way((*self.said, beside) if beside else self.said, self.pieces + 1)


class TornEcho:
    """The rows that may hold the pieces of one line."""

    def __init__(self, line: str, *, follows_echo: bool) -> None:
        """Begin with a line that `follows_echo` of another: no program has read it before it is echoed."""
        self.rows: list[str] = []
        self.supposed: tuple[str, ...] = ()
        """What the program said if the rest of the line stands behind its words, which may only end alike.

        That is so where the next line is echoed and no row has held the rest alone.
        """
        self._line = line
        self._follows_echo = follows_echo
        self._ways = {0: _Way()}
        """By how many characters of the line are accounted for."""

    def begins_in(self, row: str) -> bool:
        """Tell whether a row may hold the first piece of the line: behind another echo one character will do."""
        begun = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(row, self._line, strict=False)))
        if not self._follows_echo:
            return begun >= _MIN_FIRST_PIECE
        ends = (*self._pieces(row, self._line), self._line)
        return begun > 0 or any(len(end) >= MIN_LINE and row.endswith(end) for end in ends)

    def take(self, row: str) -> tuple[str, ...] | None:
        """Hold a row; once the rows hold all of the line and its line feed, return what of them the program said."""
        self.rows.append(row)
        ways: dict[int, _Way] = {}
        for at, way in sorted(self._ways.items(), reverse=True):
            rest = self._line[at:]
            if at and row == rest:
                return way.said
            if rest and way.pieces < _MAX_PIECES:
                if row.endswith(rest) and (at or self._follows_echo):
                    said = (*way.said, row[: -len(rest)])
                    if not at:
                        return said
                    self.supposed = self.supposed or said
                if row.startswith(rest):
                    # Its line feed is still to come: it ends a row that holds nothing else.
                    ways.setdefault(len(self._line), way.with_piece(row[len(rest) :]))
                for piece in self._pieces(row, rest):
                    if row.startswith(piece):
                        ways.setdefault(at + len(piece), way.with_piece(row[len(piece) :]))
                    elif row.endswith(piece):
                        ways.setdefault(at + len(piece), way.with_piece(row[: -len(piece)]))
            ways.setdefault(at, way._replace(said=(*way.said, row)))
        self._ways = {at: ways[at] for at in sorted(ways, reverse=True)[:_MAX_WAYS]}
        return None

    @staticmethod
    def _pieces(row: str, rest: str) -> Iterator[str]:
        """Yield the beginnings of the rest that fit in a row, the longest first, and never all of it."""
        for stop in range(min(len(row), len(rest) - 1, _MAX_CHARACTERS), 0, -1):
            yield rest[:stop]
