"""What programs tell of their own state in control strings, which the screen does not show.

A title that begins with a frame of a braille spinner belongs to a program at work; once a program has shown such a
title, another title says that it rests. Other titles are for a profile to know. `OSC 7501` says the state in so many
words.
"""

from typing import Literal, NamedTuple

import regex

from streamrelay.delta.profiles import GENERIC, matches
from streamrelay.vt.engine import TerminalEvent

State = Literal["busy", "idle"]

_BRAILLE = range(0x2800, 0x2900)
_STATE = regex.compile(r"(?:^|[;:])state=(\w+)")
_STATES: dict[str, State] = {"working": "busy", "busy": "busy", "blocked": "busy", "done": "idle", "idle": "idle"}


class Signal(NamedTuple):
    """A witness and its word."""

    by: Literal["title", "agent_state"]
    says: State


class Signals:
    """Reads the state signals of one program."""

    def __init__(self) -> None:
        self.profile = GENERIC
        self._titles_tell = False
        self.tell = False
        """Whether the program has ever told its state."""

    def forget(self) -> None:
        """Another program may follow: nothing is known of it."""
        self._titles_tell = self.tell = False

    def read(self, event: TerminalEvent) -> Signal | None:
        """Return what a terminal event says of the program's state, if anything."""
        if event.kind == "agent_state":
            state = _STATE.search(event.payload)
            says = _STATES.get(state[1]) if state is not None else None
            self.tell = self.tell or says is not None
            return Signal("agent_state", says) if says is not None else None
        if event.kind != "title":
            return None
        if is_busy(event.payload) or matches(self.profile.busy_titles, event.payload):
            self._titles_tell = self.tell = True
            return Signal("title", "busy")
        if self._titles_tell or matches(self.profile.idle_titles, event.payload):
            return Signal("title", "idle")
        return None


def is_busy(title: str) -> bool:
    """Tell whether a title begins with a spinner."""
    return bool(title) and ord(title[0]) in _BRAILLE
