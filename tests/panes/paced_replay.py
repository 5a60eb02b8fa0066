"""Replay a recording as a busy reader would have read it: `python -m tests.panes.paced_replay FOLDER [--turns]`.

The real scheduler reads the recorded output at its own pace, in virtual time, while another pane repaints often. So
reads pause, and output comes in other pieces than it was recorded in. Prints the events as JSON Lines, which the judge
of docs/judge.md takes like those of `streamrelay replay --json`.
"""

import argparse
import asyncio
import selectors
import sys
from collections.abc import Sequence
from pathlib import Path

from msgspec.structs import replace

from streamrelay.agents import load_profiles
from streamrelay.batch import Batch
from streamrelay.delta.inputs import Ended, HandedOver, Input, Output, Pasted, Submitted, Waited
from streamrelay.delta.profiles import Profile
from streamrelay.delta.stream import DeltaStream
from streamrelay.events import Event, encode
from streamrelay.panes.inventory import PaneInfo
from streamrelay.panes.live import PaneRuntime
from streamrelay.panes.scheduler import RenderScheduler
from streamrelay.recordings.model import Recording
from streamrelay.recordings.replay import open_recording

NEIGHBOUR = b"\x1b[Hpicture"
EVERY = 0.005
"""Seconds between two repaints of the neighbour."""


class _Clock(selectors.DefaultSelector):
    """A selector that lets virtual time pass instead of waiting."""

    now = 1000.0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        found = super().select(0)
        self.now += 0.0 if found or timeout is None else max(0.0, timeout)
        return found


class _VirtualLoop(asyncio.SelectorEventLoop):
    def __init__(self) -> None:
        self._clock = _Clock()
        super().__init__(self._clock)

    def time(self) -> float:
        return self._clock.now


class _Pane(PaneRuntime):
    """A pane that is watched from the start of its program, as recordings are."""

    def __init__(
        self, recording: Recording, profiles: Sequence[Profile], rendering: RenderScheduler[PaneRuntime]
    ) -> None:
        size = (recording.columns, recording.lines)
        places = ("%0", "$0", "@0", 0, 0, *size, 1, False, False, False, True, False, True, "", "", "", "")
        super().__init__(PaneInfo(*places), profiles, rendering=rendering)
        self.phase = "live"

    def _new_stream(self) -> DeltaStream:
        return DeltaStream(self._screen, pane=self.info.pane, newborn=True, profiles=self._profiles)

    def enter(self, entry: Input) -> None:
        """Take what was recorded besides output; what time made of the recorded reads is made anew."""
        match entry:
            case Pasted():
                self.inject(entry.message_id, entry.text)
            case Submitted():
                self.submit(entry.message_id)
            case HandedOver():
                self.hand_over(entry.message_id, entry.text)
            case Waited():
                pass
            case _:
                self.catch_up()
                self._enter(replace(entry, t=self._now()))


class _Reader:
    """Reads two panes from one pipe, as a control client does: at once, or when the pause is over."""

    def __init__(self, recording: Recording, profiles: Sequence[Profile], *, live: bool) -> None:
        self._loop = asyncio.get_running_loop()
        self._pipe: list[tuple[_Pane, bytes]] = []
        self._timer: asyncio.TimerHandle | None = None
        self._rendering: RenderScheduler[PaneRuntime] = RenderScheduler(
            hold=lambda _: None, failed=self._fail, clock=self._loop.time
        )
        self.events: list[Event] = []
        self.pane = _Pane(recording, profiles, self._rendering)
        self._neighbour = _Pane(recording, (), self._rendering)
        self.pane.add_listener(self._hear, lambda: live)

    @staticmethod
    def _fail(_: PaneRuntime) -> None:
        raise AssertionError("rendering failed")

    def _hear(self, batch: Batch) -> None:
        self.events += batch

    async def repaint(self) -> None:
        """Let the neighbour repaint its screen for ever."""
        self.printed(self._neighbour, b"\x1b[?1049h")
        while True:
            await asyncio.sleep(EVERY)
            self.printed(self._neighbour, NEIGHBOUR)

    def printed(self, pane: _Pane, data: bytes) -> None:
        """Put output into the pipe."""
        self._pipe.append((pane, data))
        if self._timer is None:
            self._timer = self._loop.call_at(max(self._loop.time(), self._rendering.next_read), self._read)

    def has_read(self, pane: _Pane) -> bool:
        """Whether nothing that the pane printed is left in the pipe."""
        return all(printed is not pane for printed, _ in self._pipe)

    def _read(self) -> None:
        self._timer = None
        pipe, self._pipe = self._pipe, []
        for pane, data in pipe:
            pane.output(data, self._loop.time())
        self._rendering.take_turns()


async def _paced(recording: Recording, profiles: Sequence[Profile], *, live: bool) -> list[Event]:
    loop = asyncio.get_running_loop()
    reader = _Reader(recording, profiles, live=live)
    neighbour = loop.create_task(reader.repaint())
    began = loop.time()
    for entry in recording.entries():
        await asyncio.sleep(max(0.0, began + entry.t - loop.time()))
        if isinstance(entry, Output):
            reader.printed(reader.pane, entry.data)
        else:
            reader.pane.enter(entry)
    while not reader.has_read(reader.pane):
        await asyncio.sleep(EVERY)
    while not reader.pane.rests:
        await asyncio.sleep(EVERY)
    neighbour.cancel()
    reader.pane.enter(Ended(0.0, "%0", "recording_ended"))
    return reader.events


def paced(folder: Path, *, live: bool) -> list[Event]:
    """Return the events of a recording that is read among others, its live text followed or not."""
    loop = _VirtualLoop()
    try:
        profiles = [profile.reading for profile in load_profiles()]
        return loop.run_until_complete(_paced(open_recording(folder), profiles, live=live))
    finally:
        loop.close()


def main() -> None:
    """Run the command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--turns", action="store_true", help="follow no live text")
    options = parser.parse_args()
    for number, event in enumerate(paced(options.folder, live=not options.turns), 1):
        event.seq = number
        sys.stdout.buffer.write(encode(event) + b"\n")


if __name__ == "__main__":
    main()
