"""What became of a delivery whose sender died: read from the marks in its pane, never guessed. Pure.

A pane keeps the mark of what was pasted and entered last (commands.py), and numbers rise with every message. So, while
the server that held the pane lives:

* its mark or a later one stands as entered: it was submitted;
* its mark stands as pasted: its Enter is missing;
* a lower mark, or none, stands as pasted: nothing was typed, and it is sent;
* a later mark stands as pasted: somebody else went on without an account of this one: nobody can tell.
"""

import re
from typing import Literal, NamedTuple

from streamrelay.delivery.commands import DeliveryMark

_NUMBER = re.compile(r"([0-9]{19}) ")
_MOST = 2**62
"""What is above fits in no number of an outbox, and was written by nobody who counts microseconds."""

Fate = Literal["send", "enter", "submitted", "unconfirmed"]


class DeliveryMarks(NamedTuple):
    """What a pane remembers."""

    pasted: str = ""
    entered: str = ""

    @property
    def highest(self) -> int:
        """The larger of their numbers, which one of this pane has to be above; 0 where there is none that can be."""
        found = [int(read[1]) for mark in self if (read := _NUMBER.match(mark))]
        return max((number for number in found if number < _MOST), default=0)


def fate(mark: DeliveryMark, marks: DeliveryMarks) -> Fate:
    """Return what is to be done about a delivery that was not known to be submitted."""
    own = str(mark)
    if marks.entered.startswith(own + " "):
        return "submitted"
    if marks.pasted == own:
        return "enter"
    return "send" if marks.pasted < own else "unconfirmed"
