"""Repaints that something pushed down: they leave a copy of what the program painted before above themselves.

A program that repaints a region goes up as many rows as it has painted there. If the terminal has gone down meanwhile,
because it echoed a typed line or `^C`, the program stops short of its first row and paints everything once more below
it. What it painted first sticks out above, and no later repaint reaches it:

    painted   | pushed down | repainted
    alpha     | alpha       | alpha       <- a copy
    bet       | bet^C       | alpha
              |             | beta gamma

A program may also add final rows in front of its region and paint both before it takes those rows out of the region.
For a moment that looks the same. So a copy counts only as long as its words stand below it.
"""

from collections.abc import Sequence
from itertools import accumulate
from typing import NamedTuple

from streamrelay.delta.transcript.echoes import spelling
from streamrelay.delta.transcript.resize_merge import MIN_PASSAGE


class Copy(NamedTuple):
    """Rows that read as what stands below them."""

    rows: range
    """Their numbers."""
    spelled: str

    def is_above(self, below: Sequence[str]) -> bool:
        """Tell whether the rows below begin with the same words, as far as they are painted, or hold all of them.

        The first of those rows may stand there twice, as final rows and still in the region. A copy that was left
        later, or a text that was taken out of the region for a while, may stand in between.
        """
        rows = [spelling(row) for row in below]
        for final in range(len(self.rows) + 1):
            painted = "".join(rows[final:])
            if painted.startswith(self.spelled) or self.spelled.startswith(painted):
                return True
            if not self.spelled.startswith("".join(rows[: final + 1])):
                break
        painted = "".join(rows)
        starts = accumulate(map(len, rows), initial=0)
        return len(self.spelled) >= MIN_PASSAGE and any(painted.startswith(self.spelled, start) for start in starts)


class Region(NamedTuple):
    """The rows that a program painted with one repaint."""

    top: int
    """The number of the first row (`history_total + y`)."""
    rows: Sequence[str]

    def copy_above(self, later: "Region") -> Copy | None:
        """Return the rows of this region that the program left above a later one, and painted there again.

        If the later region goes on with what stands in its place instead, the rows above it are final output.
        """
        pushed, painted_rows = later.top - self.top, later.rows
        # The echo of Enter leaves the cursor in an empty row below what was painted.
        painted_until = max((y for y, row in enumerate(self.rows, 1) if row.strip()), default=0)
        if pushed <= 0 or painted_until > len(later.rows):
            return None
        while pushed < len(self.rows) and painted_rows and painted_rows[0] == self.rows[pushed]:
            # An echo behind the last cell of a row changes how it ends, not what it reads.
            pushed, painted_rows = pushed + 1, painted_rows[1:]
        copy, whole, rest, rest_whole = (
            spelling("".join(rows))
            for rows in (self.rows[:pushed], self.rows[:-1], self.rows[pushed:-1], self.rows[pushed:])
        )
        painted = spelling("".join(painted_rows))
        goes_on = rest or rest_whole
        is_long = len(copy) >= MIN_PASSAGE or (len(whole) >= MIN_PASSAGE and painted.startswith(whole))
        if not (is_long and painted.startswith(copy)) or (goes_on and painted.startswith(goes_on)):
            return None
        return Copy(range(self.top, self.top + min(pushed, len(self.rows))), copy)
