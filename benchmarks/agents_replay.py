"""Measures the CPU time of reading twenty agents at work, replayed without tmux and without waiting.

Each recording of `benchmarks.agents` goes through a delta stream, and through a terminal whose screen is not read. The
clock is that of the recordings, so the streams detect rest, end turns and report live text as they do live, and every
run does the same work. The replay varies less than the live benchmark, so it serves to compare two versions of the
code. It leaves out reading from tmux, the event loop, and the cold caches of a process that wakes up for each piece.

The digest covers all events: two versions with the same digest report the same events.
"""

import argparse
import hashlib
import heapq
import time
from collections.abc import Callable, Sequence

import msgspec

from benchmarks import measuring
from benchmarks.agents import RECORDINGS, Played, load
from benchmarks.measuring import Report, Sample, Table, progress
from streamrelay.agents import load_profiles
from streamrelay.batch import Batch
from streamrelay.delta.inputs import Input, Output, Waited
from streamrelay.delta.profiles import Profile
from streamrelay.delta.stream import DeltaStream
from streamrelay.events import Event
from streamrelay.vt import TmuxScreen

_SETTLED = 5.0
"""Seconds of the stream until the screen before the first message counts as at rest."""


class Figures(msgspec.Struct, frozen=True):
    """Seconds of processor time of this process, for all agents together."""

    seconds: float
    """How long the agents worked."""
    stream: Sample
    terminal: Sample
    events: int
    digest: str
    """The hash of all events, in order."""


class _Streams:
    """One stream for each agent, and the deadlines that are due next."""

    def __init__(self, agents: Sequence[Played], profiles: Sequence[Profile]) -> None:
        self._batches: list[Batch] = []
        self._streams: list[DeltaStream] = []
        self._due: list[tuple[float, int]] = []
        for place, agent in enumerate(agents):
            stream = DeltaStream(TmuxScreen(agent.columns, agent.lines), pane=f"%{place}", profiles=profiles)
            stream.opened(0.0, command=agent.name.partition("/")[0])
            self._streams.append(stream)
            self.enter(place, Output(0.0, stream.pane, agent.before))
        self.advance(_SETTLED)

    def enter(self, place: int, entry: Input) -> None:
        """Apply an input to a stream, and keep its events and its deadline."""
        stream = self._streams[place]
        before = stream.deadline()
        if batch := stream.apply(entry):
            self._batches.append(batch)
        due = stream.deadline()
        if due is not None and (due != before or isinstance(entry, Waited)):
            heapq.heappush(self._due, (due, place))

    def advance(self, now: float) -> None:
        """Let the deadlines pass that are due at `now` (seconds of the streams)."""
        while self._due and self._due[0][0] <= now:
            due, place = heapq.heappop(self._due)
            stream = self._streams[place]
            if stream.deadline() == due:
                self.enter(place, Waited(due, stream.pane))

    @property
    def events(self) -> list[Event]:
        """All events so far, in order."""
        return [event for batch in self._batches for event in batch]


def _in_order(agents: Sequence[Played]) -> list[tuple[float, int, bytes]]:
    """Return the writes of all agents by time: seconds of the streams, index of the agent, bytes."""
    return list(
        heapq.merge(
            *([(_SETTLED + at, place, data) for at, data in agent.writes] for place, agent in enumerate(agents)),
            key=lambda write: write[:2],
        )
    )


def _timed(work: Callable[[], object]) -> float:
    began = time.process_time()
    work()
    return time.process_time() - began


def measure(arguments: argparse.Namespace) -> Report:
    """Feed the same writes to streams and to terminals, in turns."""
    agents = [load(RECORDINGS[number % len(RECORDINGS)], arguments.seconds) for number in range(arguments.agents)]
    profiles = [profile.reading for profile in load_profiles()]
    writes = _in_order(agents)
    stream_times: list[float] = []
    terminal_times: list[float] = []
    for repetition in range(arguments.repetitions + 1):
        progress(f"agents_replay: run {repetition} of {arguments.repetitions}")
        streams = _Streams(agents, profiles)

        def follow(streams: _Streams = streams) -> None:
            for at, place, data in writes:
                streams.advance(at)
                streams.enter(place, Output(at, f"%{place}", data))

        screens = [TmuxScreen(agent.columns, agent.lines) for agent in agents]
        for screen, agent in zip(screens, agents, strict=True):
            screen.feed(agent.before)

        def draw(screens: Sequence[TmuxScreen] = screens) -> None:
            for _, place, data in writes:
                screens[place].feed(data)

        times = _timed(follow), _timed(draw)
        if repetition:  # the first one fills the caches
            stream_times.append(times[0])
            terminal_times.append(times[1])
    events = streams.events
    digest = hashlib.sha256("".join(map(repr, events)).encode()).hexdigest()[:12]
    figures = Figures(arguments.seconds, Sample.of(stream_times), Sample.of(terminal_times), len(events), digest)
    title = (
        f"{len(agents)} agents at work for {arguments.seconds:g} s, replayed: {figures.events} events, digest "
        f"{figures.digest}; {arguments.repetitions} run(s), median (lowest-highest)"
    )
    rows = [
        (name, times.spread(3), f"{100 * times.median / arguments.seconds:.1f}")
        for name, times in (("terminal", figures.terminal), ("stream", figures.stream))
    ]
    table = Table(title, ("read by", "CPU s", "% of a core in real time"), rows)
    return Report("agents_replay", measuring.machine(), figures, (table,))


def options() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    parser = measuring.options(__doc__, repetitions=5)
    parser.add_argument("--agents", type=int, default=len(RECORDINGS), help="number of agents (%(default)s)")
    parser.add_argument("--seconds", type=float, default=8.0, help="seconds of their work (%(default)s)")
    return parser


if __name__ == "__main__":
    raise SystemExit(measuring.run(options(), measure))
