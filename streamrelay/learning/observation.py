"""Observes a recorded program without a profile: snapshots of its screen, titles, messages and turns.

The turns come from a replay without a profile. A program is *at work* from the Enter after a message to the last change
of the screen before its turn ends, and *at rest* just before a message and after its answers.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from streamrelay.delta.frames import SETTLE
from streamrelay.delta.inputs import Began, HandedOver, Input, Output, Pasted, Ran, Reseeded, Resized, Submitted
from streamrelay.delta.reasons import Reason, Reasons
from streamrelay.events import Event, NeedsHuman, Text, TurnEnded
from streamrelay.recordings.model import Recording
from streamrelay.recordings.replay import Step, steps
from streamrelay.vt import TmuxScreen

MAX_SNAPSHOTS = 20_000


class ObservedScreen(NamedTuple):
    """A snapshot of the idle program: its rows without trailing blanks, and the row of the cursor."""

    t: float
    rows: tuple[str, ...]
    cursor: int


class TerminalReport(NamedTuple):
    """A sequence of the program to its terminal: a title or a state."""

    t: float
    kind: str
    text: str


@dataclass(slots=True)
class ObservedMessage:
    """A message to the program, and the turn that it began."""

    message_id: str
    text: str
    pasted: float
    submitted: float | None = None
    ended: TurnEnded | None = None
    done: float | None = None
    """The last change of the screen before the end of the turn."""


@dataclass(slots=True)
class Observation:
    """The observations of one pane."""

    columns: int
    lines: int
    seconds: float = 0.0
    screens: list[ObservedScreen] = field(default_factory=list)
    reports: list[TerminalReport] = field(default_factory=list)
    pastes: list[tuple[float, bool]] = field(default_factory=list)
    """The times when the program switched bracketed paste on (True) and off."""
    commands: list[tuple[float, str]] = field(default_factory=list)
    messages: list[ObservedMessage] = field(default_factory=list)
    needs: list[NeedsHuman] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)
    reasons: list[Reason] = field(default_factory=list)

    @property
    def said(self) -> list[Text]:
        """Every line with an origin."""
        return [event for event in self.events if isinstance(event, Text)]

    @property
    def works(self) -> list[tuple[float, float]]:
        """The intervals in which it answered; a message during an answer begins its interval after that answer."""
        works: list[tuple[float, float]] = []
        for message in self.messages:
            if message.submitted is not None and message.done is not None:
                start = max(message.submitted, works[-1][1]) if works else message.submitted
                works.append((start, max(start, message.done)))
        return works

    def was_answered(self, message: ObservedMessage) -> bool:
        """Return whether the message's turn has ended and contains text."""
        turn = None if message.ended is None else message.ended.turn
        return any(text.turn == turn and text.origin == "program" for text in self.said)

    def at_work(self, t: float) -> bool:
        """Return whether the program was answering at that time."""
        return any(start < t < stop for start, stop in self.works)

    def resting(self) -> Iterator[ObservedScreen]:
        """Yield the snapshots just before messages, and after answers."""
        for message in self.messages:
            # A message may come while another one is answered.
            if not self.at_work(message.pasted) and (before := self.screen_before(message.pasted)) is not None:
                yield before
        for _, stop in self.works:
            after = self.screen_before(stop + SETTLE)
            if after is not None and not self.at_work(after.t):
                yield after

    def working(self) -> list[ObservedScreen]:
        """Return the snapshots during answers."""
        return [screen for screen in self.screens if self.at_work(screen.t)]

    def screen_before(self, t: float) -> ObservedScreen | None:
        """Return the last snapshot before `t`."""
        return next((screen for screen in reversed(self.screens) if screen.t < t), None)


def observe(recording: Recording) -> Observation:
    """Observe the replay of a recording; of several panes, the one that got the first message, else the first."""
    entries = list(recording.entries())
    spoken = [entry.pane for entry in entries if isinstance(entry, Pasted | HandedOver)]
    pane = spoken[0] if spoken else entries[0].pane if entries else "%0"
    watcher = _Watcher(recording.columns, recording.lines)
    held = _Held(recording.columns, recording.lines, [entry for entry in entries if entry.pane == pane])
    for step in steps(held, (), lambda _pane: watcher.reasons):
        watcher.take(step)
    return watcher.finished()


@dataclass(slots=True)
class _Held:
    columns: int
    lines: int
    held: list[Input]

    def entries(self) -> Iterator[Input]:
        yield from self.held


class _Watcher:
    def __init__(self, columns: int, lines: int) -> None:
        self.reasons = Reasons()
        self._seen = Observation(columns, lines)
        self._screen = TmuxScreen(columns, lines)
        self._last: float | None = None

    def take(self, step: Step) -> None:
        if step.entry is not None:
            self._enter(step.entry)
        self._seen.reasons += self.reasons.taken()
        for event in step.events:
            self._note(event)

    def finished(self) -> Observation:
        self._look()
        return self._seen

    def _enter(self, entry: Input) -> None:
        seen = self._seen
        seen.seconds = max(seen.seconds, entry.t)
        if not isinstance(entry, Output) or (self._last is not None and entry.t - self._last >= SETTLE):
            self._look()
        match entry:
            case Output(t=t, data=data):
                self._screen.feed(data)
                self._hear(t)
                self._last = t
            case Resized(columns=columns, lines=lines):
                self._screen.resize(lines, columns)
            case Began(t=t, screen=screen, command=command, title=title):
                self._screen.seed(screen)
                seen.commands.append((t, command))
                if title:
                    seen.reports.append(TerminalReport(t, "title", title))
                self._last = t
            case Reseeded(t=t, screen=screen):
                self._screen.seed(screen)
                self._last = t
            case Ran(t=t, command=command):
                seen.commands.append((t, command))
            case Pasted(t=t, message_id=message_id, text=text):
                seen.messages.append(ObservedMessage(message_id, text, t))
            case HandedOver(t=t, message_id=message_id, text=text):
                seen.messages.append(ObservedMessage(message_id, text, t, submitted=t))
            case Submitted(t=t, message_id=message_id):
                for message in seen.messages:
                    if message.message_id == message_id:
                        message.submitted = t
            case _:
                pass

    def _hear(self, t: float) -> None:
        for event in self._screen.take().events:
            match event.kind:
                case "title" | "agent_state":
                    self._seen.reports.append(TerminalReport(t, event.kind, event.payload))
                case "bracketed_paste_on" | "bracketed_paste_off":
                    self._seen.pastes.append((t, event.kind == "bracketed_paste_on"))
                case _:
                    pass

    def _look(self) -> None:
        if self._last is None or len(self._seen.screens) >= MAX_SNAPSHOTS:
            return
        rows = tuple(row.rstrip() for row in self._screen.text())
        if not self._seen.screens or self._seen.screens[-1].rows != rows:
            self._seen.screens.append(ObservedScreen(self._last, rows, self._screen.cursor.y))
        self._last = None

    def _note(self, event: Event) -> None:
        seen = self._seen
        seen.events.append(event)
        match event:
            case NeedsHuman():
                seen.needs.append(event)
            case TurnEnded():
                open_turns = [m for m in seen.messages if m.submitted is not None and m.ended is None]
                for message in open_turns[:1]:
                    message.ended = event
                    quiet = [vote.since for vote in event.votes if vote.by == "quiet"]
                    message.done = quiet[0] if quiet else event.t
            case _:
                pass
