"""What it costs to watch 1, 10, 100, 300 and 1,000 panes: idle, each in a session of its own, and chattering.

Ready is the time from connecting until every screen is seeded. Memory is what the reader, in a process of its own,
grows by until then. Processor time is user and system time in ticks of 10 ms: the reader's and that of its tmux client,
and what the server uses more than it used in as many seconds before, with nobody attached. Linux only: /proc tells.
"""

import argparse
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import msgspec

from benchmarks import measuring
from benchmarks.measuring import ROOT, Report, Sample, Table, progress
from benchmarks.scale_reader import Cost
from streamrelay.testing.tmux import PrivateTmux

_TICK = 0.01
_SETTLE = 7.0
"""Seconds until a reader that is ready has nothing to do any more: programs that printed are looked at for five."""
_AT_ONCE = 50
_IDLE = ("cat", "-")


class Scale(msgspec.Struct, frozen=True):
    """One number of panes; `ready` in seconds, `memory` in KB per pane, processor time in ticks."""

    panes: int
    chattering: bool
    seconds: float
    ready: Sample
    memory: Sample
    reader: Sample
    server: Sample
    """The tmux server's CPU minus its CPU without a reader; negative if the difference is within the noise."""
    lines: Sample
    gaps: int


class _Run(msgspec.Struct, frozen=True):
    ready: float
    memory: float
    reader: float
    server: float
    lines: int
    gaps: int


def _ticks(pid: int) -> int:
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace").rpartition(") ")[2].split()
    return int(fields[11]) + int(fields[12])


@contextmanager
def _panes(number: int, command: Sequence[str]) -> Iterator[tuple[PrivateTmux, list[str]]]:
    with PrivateTmux() as tmux:
        names = [f"s{one}" for one in range(number)]
        for at in range(0, number, _AT_ONCE):
            words = [
                word for name in names[at : at + _AT_ONCE] for word in (";", "new-session", "-d", "-s", name, *command)
            ]
            tmux.run(*words[1:])
        yield tmux, tmux.run("list-panes", "-a", "-F", "#{pane_id}").split()


def _run(tmux: PrivateTmux, panes: Sequence[str], seconds: float, settle: float) -> _Run:
    server = tmux.server_pid
    before = _ticks(server)
    time.sleep(seconds)
    alone = _ticks(server) - before
    argv = [
        sys.executable,
        "-m",
        "benchmarks.scale_reader",
        "--socket",
        tmux.socket_path,
        "--tmux",
        tmux.binary,
        *panes,
    ]
    with subprocess.Popen(
        argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=ROOT, env=tmux.environment
    ) as reader:
        assert reader.stdin is not None
        assert reader.stdout is not None
        ready = msgspec.json.decode(reader.stdout.readline(), type=Cost)
        time.sleep(settle)

        def look() -> tuple[Cost, int, int]:
            assert reader.stdin is not None
            assert reader.stdout is not None
            reader.stdin.write(b"\n")
            reader.stdin.flush()
            cost = msgspec.json.decode(reader.stdout.readline(), type=Cost)
            return cost, _ticks(reader.pid) + _ticks(cost.pid), _ticks(server)

        first, reader_before, server_before = look()
        time.sleep(seconds)
        last, reader_after, server_after = look()
        reader.stdin.close()
        reader.wait()
    return _Run(
        ready.ready,
        ready.memory / 1024 / len(panes),
        reader_after - reader_before,
        server_after - server_before - alone,
        last.lines - first.lines,
        last.gaps,
    )


def _measure(number: int, *, chattering: bool, arguments: argparse.Namespace) -> Scale:
    command = ("sh", "-c", "while :; do echo a line of no importance; sleep 1; done") if chattering else _IDLE
    kind = "chattering" if chattering else "idle"
    with _panes(number, command) as (tmux, panes):
        runs = []
        for repetition in range(1, arguments.repetitions + 1):
            progress(f"scale: {number} {kind} panes, run {repetition} of {arguments.repetitions}")
            runs.append(_run(tmux, panes, arguments.seconds, arguments.settle))
    return Scale(
        panes=number,
        chattering=chattering,
        seconds=arguments.seconds,
        ready=Sample.of(run.ready for run in runs),
        memory=Sample.of(run.memory for run in runs),
        reader=Sample.of(run.reader for run in runs),
        server=Sample.of(run.server for run in runs),
        lines=Sample.of(run.lines for run in runs),
        gaps=sum(run.gaps for run in runs),
    )


def measure(arguments: argparse.Namespace) -> Report:
    """Run everything the options ask for."""
    rows = [_measure(number, chattering=False, arguments=arguments) for number in arguments.idle]
    rows += [_measure(number, chattering=True, arguments=arguments) for number in arguments.chattering]
    table = Table(
        f"What watching costs: median (lowest-highest); ticks of {_TICK * 1000:g} ms in {arguments.seconds:g} s",
        ("panes", "they", "ready s", "KB a pane", "ticks, reader", "ticks, server more", "lines", "gaps", "runs"),
        [
            (
                str(row.panes),
                "chatter" if row.chattering else "rest",
                row.ready.spread(2),
                row.memory.spread(0),
                row.reader.spread(0),
                row.server.spread(0),
                f"{row.lines.median:g}",
                str(row.gaps),
                str(row.ready.n),
            )
            for row in rows
        ],
    )
    return Report("scale", measuring.machine(PrivateTmux().binary), {"scale": rows}, (table,))


def options() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    parser = measuring.options(__doc__, repetitions=5)
    parser.add_argument("--idle", type=int, nargs="*", default=[1, 10, 100, 300, 1000], help="numbers of idle panes")
    parser.add_argument(
        "--chattering", type=int, nargs="*", default=[100], help="numbers of panes with a line a second"
    )
    parser.add_argument("--seconds", type=float, default=10.0, help="how long it is looked on (%(default)s)")
    parser.add_argument("--settle", type=float, default=_SETTLE, help="seconds between ready and that (%(default)s)")
    return parser


if __name__ == "__main__":
    raise SystemExit(measuring.run(options(), measure))
