"""The stream with its second witness, the agent's own record of what it answered, and without it.

A recording that was made of a live pane has the record as it was read then. Of any other one is made of what the
recorded model streamed: each message where it was entered, each answer when it ended, as agents write them. That one
tells what the comparison of the two witnesses makes of a record that is right, not how agents write theirs.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from benchmarks.fidelity.scoring import Truth
from streamrelay.delta.inputs import HookReported, Input, WitnessOpened, WitnessPassage, WitnessReported
from streamrelay.delta.profiles import Profile
from streamrelay.delta.stream import DeltaStream
from streamrelay.events import Event
from streamrelay.recordings import Recording
from streamrelay.recordings.replay import steps

LAG = 0.5
"""Seconds that the stream waits for the record at the end of a turn."""
_MESSAGE, _ANSWER, _END = range(3)


class _Written(NamedTuple):
    """A line of the record, and when it is there; of one moment the message comes first, the end of the turn last."""

    at: float
    order: int
    passage: WitnessPassage


def record(truth: Truth) -> list[_Written]:
    """Return the record of a session, in the order in which it was written."""
    written: list[_Written] = []
    for injection in truth.injected:
        if injection.text and injection.mode not in {"key", "resize"}:
            at = injection.t if injection.t_enter is None else injection.t_enter
            written.append(_Written(at, _MESSAGE, WitnessPassage("person", injection.text)))
    for answer in truth.truth:
        if answer.text and answer.t1 is not None:
            written.append(_Written(answer.t1, _ANSWER, WitnessPassage("agent", answer.text)))
            if not answer.tool_call:
                written.append(_Written(answer.t1, _END, WitnessPassage("end")))
    return sorted(written, key=lambda one: one[:2])


def has_record(recording: Recording) -> bool:
    """Tell whether the agent's own record was read when the recording was made."""
    return any(isinstance(entry, WitnessOpened) for entry in recording.entries())


class ScreenAlone:
    """A recording without the agent's own record."""

    def __init__(self, recording: Recording) -> None:
        self._recording = recording
        self.columns, self.lines = recording.columns, recording.lines

    def entries(self) -> Iterator[Input]:
        """Yield what happened on the screen, by time."""
        told = (WitnessOpened, WitnessReported, HookReported)
        return (entry for entry in self._recording.entries() if not isinstance(entry, told))


class _Recorded:
    """A recording, and the record made for it; it is read a last time if the recording ends in mid-answer."""

    def __init__(self, recording: Recording, truth: Truth) -> None:
        self._recording = recording
        self.columns, self.lines = recording.columns, recording.lines
        self._program, self._left = truth.agent, record(truth)
        self.stream: DeltaStream | None = None

    def read(self, now: float, pane: str) -> WitnessReported | None:
        """Return what was written since the last reading; None if nothing was."""
        ready = tuple(one.passage for one in self._left if one.at <= now)
        self._left = self._left[len(ready) :]
        return WitnessReported(now, pane, self._program, ready) if ready and self._program else None

    def entries(self) -> Iterator[Input]:
        """Yield what happened, by time."""
        entry: Input | None = None
        for entry in self._recording.entries():
            yield entry
        if entry is not None and self.stream is not None and self.stream.answers:
            reported = self.read(entry.t, entry.pane)
            if reported is not None:
                yield reported


def witnessed(recording: Recording, truth: Truth, profiles: Sequence[Profile]) -> Iterator[Event]:
    """Yield the events of a recording whose stream has the record of its agent, where that kind keeps one."""
    if has_record(recording):
        for step in steps(recording, profiles):
            yield from step.events
        return
    recorded = _Recorded(recording, truth)
    opened: set[str] = set()
    for step in steps(recorded, profiles):
        yield from step.events
        recorded.stream = stream = step.stream
        if truth.agent and step.pane not in opened:
            opened.add(step.pane)
            yield from stream.apply(WitnessOpened(stream.now, step.pane, truth.agent, "transcript", LAG))
        if stream.awaits_witness and (reported := recorded.read(stream.now, step.pane)) is not None:
            yield from stream.apply(reported)
