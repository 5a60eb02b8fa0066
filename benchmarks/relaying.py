"""What a relay adds: one program speaks to 1, 5, 20 others.

    python -m benchmarks.relaying [--listeners 1 5 20] [--lines 20] [--json]

Four moments of each message, from the event with its last line on (but for the last, which begins with the printing):

* `first`, `last`: the command line that pastes it is written, for the first and for the last of the listeners. Both
  contain the 5 ms of quiet that close a burst.
* `pasted`: tmux has said of the last listener that it is done.
* `heard`: the last listener has read it, Enter and all, counted from `write()` in the speaker.
"""

import argparse
import asyncio
import itertools
import sys
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec

import streamrelay
from benchmarks import measuring
from benchmarks.measuring import Report, Sample, Table, progress
from benchmarks.plotting import Panel, bars
from benchmarks.stage import Stage
from streamrelay.events import Event, Receipt, RelayOpened, Text
from streamrelay.testing.waiting import wait_until_async

_MILLI = 1e3


class FanOut(msgspec.Struct, frozen=True):
    """Milliseconds, one value for each message of all runs; see on top."""

    listeners: int
    first: Sample
    last: Sample
    pasted: Sample
    heard: Sample
    messages: int


class _Witness:
    """Hears what the relay tells of one conversation, and when."""

    def __init__(self, listeners: int) -> None:
        self.opened = asyncio.Event()
        self.heard: list[float] = []
        self.pasted: dict[str, list[float]] = {}
        self.submitted = 0
        self._listeners = listeners
        self._loop = asyncio.get_running_loop()

    def hear(self, event: Event) -> None:
        match event:
            case RelayOpened():
                self.opened.set()
            case Text(origin="program") if event.text:
                self.heard.append(self._loop.time())
            case Receipt(state="pasted"):
                self.pasted.setdefault(event.message_id, []).append(self._loop.time())
            case Receipt(state="submitted"):
                self.submitted += 1
            case _:
                pass

    def last_pasted(self) -> list[float]:
        """Return the seconds from each line to the last of its pastes."""
        return [max(moments) - heard for heard, moments in zip(self.heard, self.pasted.values(), strict=True)]


class _Run(NamedTuple):
    """Seconds for each message of one run."""

    first: list[float]
    last: list[float]
    pasted: list[float]
    heard: list[float]


async def _fan_out(stage: Stage, listeners: int, lines: int, interval: float) -> _Run:
    with tempfile.TemporaryDirectory(prefix="streamrelay-") as folder:
        logs = [Path(folder, str(number)) for number in range(listeners)]
        talking = [sys.executable, "-m", "benchmarks.talking"]
        tmux = stage.tmux
        speaker = tmux.new_session(f"speaker{listeners}", [*talking, "speak", str(lines), str(interval)])
        panes = [
            tmux.new_session(f"listener{listeners}-{number}", [*talking, "hear", str(log)])
            for number, log in enumerate(logs)
        ]
        await wait_until_async(lambda: all(log.exists() for log in logs), 60, "a listener does not begin")
        async with streamrelay.connect(socket_path=tmux.socket_path, tmux=stage.binary) as server:
            infos = [await server.find(pane) for pane in (speaker, *panes)]
            relay = streamrelay.RelaySession(server, [(None, info) for info in infos], budget=lines + 1)
            witness = _Witness(listeners)
            running = asyncio.ensure_future(relay.run(witness.hear))
            await witness.opened.wait()
            tmux.run("send-keys", "-t", speaker, "Enter")
            async with asyncio.timeout(60 + lines * (interval + 1)):
                await running
        messages = lines + 1
        if relay.error is not None or relay.counts.deliveries != messages or witness.submitted != messages * listeners:
            raise RuntimeError(f"the relay ended after {relay.counts.deliveries} deliveries: {relay.error}")
        await wait_until_async(
            lambda: all(len(_latencies(log)) == lines for log in logs), 30, "not everything was heard"
        )
        heard = [max(moments) for moments in zip(*map(_latencies, logs), strict=True)]
    # The line that begins is no message that is measured.
    written = list(relay.counts.latencies)[listeners:]
    of_each = [written[start : start + listeners] for start in range(0, len(written), listeners)]
    for pane in (speaker, *panes):
        tmux.run("kill-pane", "-t", pane)
    return _Run([*map(min, of_each)], [*map(max, of_each)], witness.last_pasted()[1:], heard)


def _all_of(listeners: int, runs: Sequence[_Run]) -> FanOut:
    first, last, pasted, heard = (_sample(itertools.chain.from_iterable(values)) for values in zip(*runs, strict=True))
    return FanOut(listeners, first, last, pasted, heard, sum(len(run.heard) for run in runs))


def _latencies(log: Path) -> list[float]:
    return [float(line) for line in log.read_text().split("\n")[:-1]]


def _sample(seconds: Iterable[float]) -> Sample:
    return Sample.of(each * _MILLI for each in seconds)


def measure(arguments: argparse.Namespace) -> Report:
    """Run everything the options ask for."""
    runs: dict[int, list[_Run]] = {listeners: [] for listeners in arguments.listeners}
    with Stage() as stage:
        for number in range(arguments.repetitions):
            for listeners, of_them in runs.items():
                progress(f"relaying: {arguments.lines} messages to {listeners}, {number + 1}")
                of_them.append(asyncio.run(_fan_out(stage, listeners, arguments.lines, arguments.interval)))
        rows = [_all_of(listeners, of_them) for listeners, of_them in runs.items()]
        machine = measuring.machine(stage.binary)
    return Report("relaying", machine, {"fan_out": rows}, (_table(rows),), {"relaying.svg": _plot(rows)})


def _table(rows: Sequence[FanOut]) -> Table:
    return Table(
        "From the event, ms: median (lowest-highest)",
        ("listeners", "first paste written", "last paste written", "last paste done", "printed -> read by the last"),
        [
            (str(row.listeners), *(sample.spread() for sample in (row.first, row.last, row.pasted, row.heard)))
            for row in rows
        ],
    )


def _plot(rows: Sequence[FanOut]) -> str:
    values = [[row.first.median, row.last.median, row.pasted.median] for row in rows]
    panel = Panel("ms, logarithmic", values, lambda value: 100 * measuring.decades(value, 1.0), digits=1)
    kinds = [("first written", "#2b6cb0"), ("last written", "#dd6b20"), ("last done", "#718096")]
    return bars([f"{row.listeners} listeners" for row in rows], kinds, [panel], labels=120, span=250)


def options() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    parser = measuring.options(__doc__, repetitions=5)
    parser.add_argument("--listeners", type=int, nargs="+", default=[1, 5, 20], help="how many (%(default)s)")
    parser.add_argument("--lines", type=int, default=20, help="messages to each number of them (%(default)s)")
    parser.add_argument("--interval", type=float, default=0.6, help="seconds between two messages (%(default)s)")
    return parser


if __name__ == "__main__":
    raise SystemExit(measuring.run(options(), measure))
