"""Recovery: read from a pane's marks what became of a delivery whose sender died. Pure, and never a guess.

A pane keeps the marks of the last paste and the last Enter (commands.py), and mark numbers rise with every message.
While the server that held the pane lives:

* the message's mark or a later one is the last Enter: the message was submitted;
* the message's mark is the last paste: its Enter is missing;
* the message's mark is the last one handed to the program's own API: that API knows whether it has the message;
* a lower mark, or none, is the last: the message was not sent, so it is sent;
* a later mark is the last: another sender continued without a record of this message, so its fate is unknown.
"""

import re
from typing import Literal, NamedTuple

from streamrelay.delivery.commands import DeliveryMark

_NUMBER = re.compile(r"([0-9]{19}) ")
_MOST = 2**62
"""Marks with a greater number are ignored: outbox numbers count microseconds and cannot exceed this."""

_ATTEMPT = re.compile(r" ([0-9]+)\Z")

Fate = Literal["send", "enter", "handed", "submitted", "unconfirmed"]


class DeliveryMarks(NamedTuple):
    """What a pane remembers."""

    pasted: str = ""
    entered: str = ""
    handed: str = ""

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
    if marks.handed.startswith(own + " "):
        return "handed"
    return "send" if max(marks.pasted, marks.handed) < own else "unconfirmed"


def enters(mark: DeliveryMark, marks: DeliveryMarks) -> int:
    """Return how many Enters the last message that was pasted into a pane got."""
    read = _ATTEMPT.search(marks.entered) if marks.entered.startswith(f"{mark} ") else None
    return 0 if read is None else int(read[1])
