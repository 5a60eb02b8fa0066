"""How late a beat is: 1, 5 and 20 gatherings at once, each of four speakers and a harvester in tmux.

    python -m benchmarks.gathering [--gatherings 1 5 20] [--beats 3] [--interval 1.5] [--json]

The members are scripted agents, which answer whatever is typed to them, so everything the others hear is typed and
painted meanwhile. Of each beat:

* `late`: from when it was due, counted from the beginning of its tenure, until it is in the journal;
* `typed`: from there until the paste of its prompt begins, for those that were typed before the next one came.

No beat is skipped, however late, and beats do not add up their lateness.
"""

import argparse
import asyncio
import contextlib
import itertools
import json
import sys
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path

import msgspec

import streamrelay
from benchmarks import measuring
from benchmarks.measuring import Report, Runs, Sample, Table, progress
from benchmarks.stage import Stage
from streamrelay.agents import parse_profile
from streamrelay.config.settings import HistoryTable, SessionsTable
from streamrelay.events import AnyEvent, GatheringClosed, Injected, Piece
from streamrelay.links.link import LinkPolicy
from streamrelay.relay.rules import Rules
from streamrelay.service.api import Gathering, Invited, StartGathering
from streamrelay.service.local import LocalService
from streamrelay.testing.agent import PROFILE

SPEAKERS = 4
_START = f"""
[start]
command = {json.dumps([sys.executable, "-m", "streamrelay.testing.agent"])}
"""
_MILLI = 1e3
_STARTING = 300.0


class Lateness(msgspec.Struct, frozen=True):
    """Milliseconds, of all runs together and of each; see on top."""

    gatherings: int
    late: Sample
    typed: Sample
    late_runs: Runs
    typed_runs: Runs
    beats: int
    superseded: int
    """Beats that were not typed before the next one."""


async def _hold(service: LocalService, folder: Path, name: str, arguments: argparse.Namespace) -> Gathering:
    def invited(number: int) -> Invited:
        who = f"{name}{number}"
        words = ("--log", str(folder / who), "--works", "0.1")
        one = Invited(name=who, number=number, agent="sprite", arguments=words)
        return msgspec.structs.replace(one, role="harvester") if number > SPEAKERS else one

    return await service.start_gathering(
        StartGathering(
            participants=[invited(number) for number in range(1, SPEAKERS + 2)],
            structure="1-1-1",
            beats_per_turn=arguments.beats,
            beat_interval_seconds=arguments.interval,
            last_words_seconds=arguments.interval,
            harvest_seconds=10.0,
            end_sessions=True,
        )
    )


async def _measure(stage: Stage, count: int, arguments: argparse.Namespace) -> tuple[list[float], list[float]]:
    profile = parse_profile("sprite", PROFILE + _START, source="sprite.toml")
    with tempfile.TemporaryDirectory(prefix="streamrelay-") as name:
        folder = Path(name)
        connection = streamrelay.connect(socket_path=stage.tmux.socket_path, tmux=stage.binary, profiles=[profile])
        async with connection as server, LocalService(server, folder=folder / "state") as service:
            service.configure(
                policy=LinkPolicy(), rules=Rules(), retention=HistoryTable(), starting=SessionsTable(most=0)
            )
            async with asyncio.timeout(_STARTING):
                held = [await _hold(service, folder, f"G{number}-", arguments) for number in range(count)]
            tenures = 3 * SPEAKERS * (arguments.beats + 3) * arguments.interval
            async with asyncio.timeout(_STARTING + 2 * tenures):
                events = await _all_of(service, {one.gathering for one in held})
    return _lateness(events, arguments.interval)


async def _all_of(service: LocalService, gatherings: set[str]) -> list[AnyEvent]:
    """Return what happens until they are over."""
    events: list[AnyEvent] = []
    async with contextlib.aclosing(service.batches(0)) as batches:
        async for batch in batches:
            events += [event for event in batch if isinstance(event, Piece | Injected)]
            gatherings -= {event.gathering for event in batch if isinstance(event, GatheringClosed)}
            if not gatherings:
                break
    return events


def _lateness(events: Iterable[AnyEvent], interval: float) -> tuple[list[float], list[float]]:
    """Return the seconds by which each beat was late, and those until each that was typed was."""
    begun: dict[str, float] = {}
    waiting: dict[str, float] = {}
    late: list[float] = []
    typed: list[float] = []
    for event in events:
        at = event.at if isinstance(event.at, float) else 0.0
        match event:
            case Piece(state="begun"):
                begun[event.gathering] = at
            case Piece(state="beat" | "last_words", beat=beat):
                late.append(at - begun[event.gathering] - beat * interval)
                waiting[event.gathering] = at
            case Injected(state="pasting", text=text) if text.startswith(("[Beat ", "Your turn is up.")):
                gathering = event.message_id.rpartition("-")[0]
                if gathering in waiting:
                    typed.append(at - waiting.pop(gathering))
            case _:
                pass
    return late, typed


def _summed_up(gatherings: int, late: Sequence[Sequence[float]], typed: Sequence[Sequence[float]]) -> Lateness:
    """Sum up the runs, each with the milliseconds of its beats."""
    every_late, every_typed = ([*itertools.chain.from_iterable(runs)] for runs in (late, typed))
    return Lateness(
        gatherings,
        Sample.of(every_late),
        Sample.of(every_typed),
        Runs.of(late),
        Runs.of(typed),
        len(every_late),
        len(every_late) - len(every_typed),
    )


def measure(arguments: argparse.Namespace) -> Report:
    """Run everything the options ask for, one number of gatherings after the other, again in each repetition."""
    late: dict[int, list[list[float]]] = {count: [] for count in arguments.gatherings}
    typed: dict[int, list[list[float]]] = {count: [] for count in arguments.gatherings}
    with Stage() as stage:
        for number in range(1, arguments.repetitions + 1):
            for count in arguments.gatherings:
                progress(f"gathering: {count} at once, run {number} of {arguments.repetitions}")
                of_late, of_typed = asyncio.run(_measure(stage, count, arguments))
                late[count].append([seconds * _MILLI for seconds in of_late])
                typed[count].append([seconds * _MILLI for seconds in of_typed])
        rows = [_summed_up(count, late[count], typed[count]) for count in arguments.gatherings]
        machine = measuring.machine(stage.binary)
    return Report("gathering", machine, {"lateness": rows}, (_table(rows),))


def _table(rows: Sequence[Lateness]) -> Table:
    return Table(
        "Beats, ms: median and p99 of the runs (lowest-highest)",
        ("gatherings", "panes", "beats", "late", "p99", "typed after", "p99", "superseded"),
        [
            (
                str(row.gatherings),
                str(row.gatherings * (SPEAKERS + 1)),
                str(row.beats),
                *row.late_runs.spreads(),
                *row.typed_runs.spreads(),
                str(row.superseded),
            )
            for row in rows
        ],
    )


def options() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    parser = measuring.options(__doc__, repetitions=5)
    parser.add_argument("--gatherings", type=int, nargs="+", default=[1, 5, 20], help="how many at once (%(default)s)")
    parser.add_argument("--beats", type=int, default=3, help="of each tenure (%(default)s)")
    parser.add_argument("--interval", type=float, default=1.5, help="seconds between two beats (%(default)s)")
    return parser


if __name__ == "__main__":
    raise SystemExit(measuring.run(options(), measure))
