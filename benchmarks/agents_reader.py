"""Reads twenty agents in one of five ways until standard input ends, and reports what that cost.

    agents_reader WAY PANE... --socket PATH [--tmux PATH]

`WAY` is `stream` (a subscriber of the library), `turns` (one without live text), `terminal` (a control client and a
virtual terminal for each pane, nothing else), `polling` (libtmux, `capture-pane` of every pane once a second and a line
diff) or `nothing`. The reader prints `ready` when it would see the next byte, and one line of JSON (`Observation`) at
the end.
"""

import argparse
import asyncio
import os
import select
import sys
import time
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path

import libtmux
import msgspec

import streamrelay
from benchmarks.polling_reader import inserted, stripped
from benchmarks.reading import processor_time
from streamrelay.control import ControlClient, ControlEvent, PaneOutput, Tmux
from streamrelay.events import Live, Text
from streamrelay.panes.snapshot import read_snapshot, snapshot_line
from streamrelay.vt import TmuxScreen

POLL_INTERVAL = 1.0


class Seen(msgspec.Struct, frozen=True, array_like=True):
    """Text of one pane, at the moment (seconds of the monotonic clock) at which the reader had it."""

    at: float
    place: int
    text: str


class Observation(msgspec.Struct):
    """What a reader used between ready and the end, in seconds of processor time, its tmux clients included.

    `shown` are the texts that were read while an answer went on: live text, or new rows of a screen.
    """

    cpu: float
    shown: list[Seen] = []
    texts: int = 0
    """Final text events."""


class Meter:
    """Processor time of this process, of the children that ended and of those that still run."""

    def __init__(self) -> None:
        print("ready", flush=True)
        self._before = self._used()

    def _used(self) -> float:
        return processor_time() + sum(map(ticks, _children()))

    def stop(self) -> Observation:
        """Return an observation without texts."""
        return Observation(self._used() - self._before)


def ticks(pid: int) -> float:
    """Return the seconds of processor time that a process has used; 0 where there is no /proc or no such process."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace").rpartition(") ")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _children() -> list[int]:
    try:
        return [int(pid) for pid in Path(f"/proc/self/task/{os.getpid()}/children").read_text(encoding="ascii").split()]
    except OSError:
        return []


async def _end_of_input() -> None:
    ended = asyncio.Event()
    loop = asyncio.get_running_loop()
    loop.add_reader(sys.stdin, ended.set)
    await ended.wait()
    loop.remove_reader(sys.stdin)


async def by_turns(given: argparse.Namespace) -> Observation:
    """Subscribe to all panes without live text, as a relay, link or gathering does."""
    return await by_stream(given, live=False)


async def by_stream(given: argparse.Namespace, *, live: bool = True) -> Observation:
    """Subscribe to all panes, as a user of the library does."""
    shown: list[Seen] = []
    texts = 0
    places = {pane: place for place, pane in enumerate(given.panes)}
    async with (
        streamrelay.connect(socket_path=given.socket, tmux=given.tmux) as server,
        server.watch(*given.panes, live=live) as stream,
    ):

        async def listen() -> None:
            nonlocal texts
            async for batch in stream.batches():
                now = time.monotonic()
                for part in batch.parts:
                    if isinstance(part, Live):
                        shown.append(Seen(now, places[part.pane], part.text))
                    elif isinstance(part, Text):
                        texts += part.origin == "program"

        # What the first look at a screen costs is no cost of the work that follows.
        await asyncio.sleep(POLL_INTERVAL)
        meter = Meter()
        listening = asyncio.create_task(listen())
        await _end_of_input()
        observation = meter.stop()
        listening.cancel()
    observation.shown, observation.texts = shown, texts
    return observation


async def by_terminal(given: argparse.Namespace) -> Observation:
    """Draw every pane on a terminal of its own, and look at none."""
    screens: dict[str, TmuxScreen] = {}

    def draw(events: Sequence[ControlEvent], at: float) -> None:
        for event in events:
            if isinstance(event, PaneOutput) and event.pane in screens:
                screens[event.pane].feed(event.data)

    async with ControlClient(Tmux(given.tmux, socket_path=given.socket), given.panes[0], draw) as client:
        for pane in given.panes:
            snapshot = read_snapshot([block.lines for block in (await client.command(snapshot_line(pane))).blocks])
            assert snapshot is not None
            screen = TmuxScreen(snapshot.columns, snapshot.lines)
            screen.seed(snapshot)
            screens[pane] = screen
        meter = Meter()
        await _end_of_input()
        return meter.stop()


async def by_nothing(given: argparse.Namespace) -> Observation:
    """Read nothing: what tmux and the programs cost by themselves."""
    meter = Meter()
    await _end_of_input()
    return meter.stop()


async def by_polling(given: argparse.Namespace) -> Observation:
    """Start `capture-pane` for every pane once an interval; rows that a line diff finds inserted were shown."""
    server = libtmux.Server(socket_path=given.socket, tmux_bin=given.tmux)
    panes = [server.panes.get(pane_id=pane) for pane in given.panes]

    def look(place: int) -> list[str]:
        pane = panes[place]
        assert pane is not None
        return stripped(pane.capture_pane())

    before = [look(place) for place in range(len(panes))]
    shown: list[Seen] = []
    meter = Meter()
    due = time.monotonic()
    while True:
        due += POLL_INTERVAL
        if select.select([sys.stdin], [], [], max(0.0, due - time.monotonic()))[0]:
            break
        for place in range(len(panes)):
            rows = look(place)
            now = time.monotonic()
            shown += [Seen(now, place, row) for row in inserted(before[place], rows) if row]
            before[place] = rows
    observation = meter.stop()
    observation.shown = shown
    return observation


WAYS: dict[str, Callable[[argparse.Namespace], Awaitable[Observation]]] = {
    "nothing": by_nothing,
    "polling": by_polling,
    "terminal": by_terminal,
    "turns": by_turns,
    "stream": by_stream,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("way", choices=WAYS)
    parser.add_argument("panes", nargs="+")
    parser.add_argument("--socket", required=True)
    parser.add_argument("--tmux", default="tmux")
    given = parser.parse_args()

    async def read() -> Observation:
        return await WAYS[given.way](given)

    observation = asyncio.run(read())
    with open(sys.stdout.fileno(), "wb", closefd=False) as output:
        output.write(msgspec.json.encode(observation) + b"\n")


if __name__ == "__main__":
    main()
