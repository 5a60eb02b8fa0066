"""A pane whose program is a script: bytes, injections and rests go in, events come out, and no clock is read.

    pane = ScriptedPane()
    pane.prints("> ")
    pane.rests()
    pane.sends("hello")
    pane.prints("hello\\r\\nHi!\\r\\n")
    pane.ends()
    assert pane.said() == ["Hi!"]

The stream is the real one, advanced to every deadline that falls before what happens next, as replay does it.
"""

import itertools

from streamrelay.delta.inputs import AtWork, Began, Ended, HandedOver, Output, Pasted, Submitted, Waited
from streamrelay.delta.stream import DeltaStream
from streamrelay.events import Event, Origin, Text
from streamrelay.vt import TmuxScreen
from streamrelay.vt.engine import Snapshot

LONG_REST = 5.0
"""Seconds after which every stream has come to rest and every turn that silence can end has ended."""


class ScriptedPane:
    """One pane of `columns` by `lines` cells, shown on `screen`; `events` holds all that came out, `now` is seconds."""

    def __init__(self, columns: int = 80, lines: int = 24, *, pane: str = "%0") -> None:
        self.pane = pane
        self.screen = TmuxScreen(columns, lines)
        self.stream = DeltaStream(self.screen, pane=pane)
        self.events: list[Event] = []
        self.now = 0.0
        self._ids = itertools.count(1)

    def begins(self, screen: Snapshot, title: str = "") -> None:
        """Begin on a screen that is there already, as a pane that is attached to late."""
        self.events += self.stream.apply(Began(self.now, self.pane, "", "", title, screen))

    def prints(self, data: str | bytes, *, read_size: int | None = None) -> None:
        """Let the program print `data`, read at once, or in reads of `read_size` bytes at the same time."""
        data = data.encode() if isinstance(data, str) else data
        for start in range(0, len(data), read_size or max(1, len(data))):
            read = data[start : start + read_size] if read_size else data
            self.events += self.stream.apply(Output(self.now, self.pane, read))

    def pastes(self, text: str, message_id: str | None = None) -> str:
        """Note a paste; return its message id."""
        message_id = message_id or f"m{next(self._ids)}"
        self.events += self.stream.apply(Pasted(self.now, self.pane, message_id, text))
        return message_id

    def submits(self, message_id: str) -> None:
        """Note the Enter after a paste."""
        self.events += self.stream.apply(Submitted(self.now, self.pane, message_id))

    def hands_over(self, text: str) -> str:
        """Note that the program's own API gets a message; return its id."""
        message_id = f"m{next(self._ids)}"
        self.events += self.stream.apply(HandedOver(self.now, self.pane, message_id, text))
        return message_id

    def sends(self, text: str, *, painted: str | bytes = b"", rest: float = 0.1) -> str:
        """Paste, let the program paint what it paints at once, rest, and submit; return the message id."""
        message_id = self.pastes(text)
        self.prints(painted)
        self.rests(rest)
        self.submits(message_id)
        return message_id

    def rests(self, seconds: float = LONG_REST) -> None:
        """Let time pass in which nothing is printed."""
        until = self.now + seconds
        while (deadline := self.stream.deadline()) is not None and deadline <= until:
            self.events += self.stream.apply(Waited(deadline, self.pane))
        self.now = until

    def works(self) -> None:
        """Let the kernel show that the program is at work."""
        self.events += self.stream.apply(AtWork(self.now, self.pane))

    def ends(self) -> None:
        """Let all that is due come to pass, and close the pane."""
        while (deadline := self.stream.deadline()) is not None:
            self.now = max(self.now, deadline)
            self.events += self.stream.apply(Waited(deadline, self.pane))
        self.events += self.stream.apply(Ended(self.now, self.pane, "pane_gone"))

    def texts(self) -> list[Text]:
        """Return the text events so far."""
        return [event for event in self.events if isinstance(event, Text)]

    def said(self, origin: Origin = "program") -> list[str]:
        """Return the lines of one origin so far."""
        return [event.text for event in self.texts() if event.origin == origin]
