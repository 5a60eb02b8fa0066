"""Minutes of a flood with a subscriber that is too slow for it: what memory it takes here and in the tmux server.

A program prints as fast as it may, a subscriber takes a batch of events every half a second. Nobody else is attached,
so tmux has the program wait; then a terminal looks on, which is never made to wait, so tmux pauses the pane instead
when it is some seconds behind. What counts is what grows: the highest memory of the last third of the time against that
of the second. Linux only.
"""

import argparse
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress

import msgspec
import ptyprocess

from benchmarks import measuring
from benchmarks.measuring import ROOT, Report, Table, progress
from benchmarks.memory_reader import Held
from streamrelay.testing.tmux import PrivateTmux, resident

_MEGA = 1 << 20
_FLOOD = ("sh", "-c", "exec seq -f '%010.0f and some more words to fill a row' 1 1000000000000")


class Memory(msgspec.Struct, frozen=True):
    """Bytes of resident memory: the highest of each third of the time; `lost` events were told in gaps."""

    beside: str
    seconds: float
    reader: tuple[int, ...]
    server: tuple[int, ...]
    lines: int
    lost: int

    @property
    def growth(self) -> tuple[float, float]:
        """How many times as much the last third takes as the one before, here and in the server."""
        return self.reader[2] / self.reader[1], self.server[2] / self.server[1]


@contextmanager
def _onlooker(tmux: PrivateTmux) -> Iterator[None]:
    person = ptyprocess.PtyProcess.spawn([*tmux.argv, "attach-session"], env=tmux.environment)

    def look() -> None:
        with suppress(EOFError, OSError, ValueError):
            while person.read(1 << 16):
                pass

    looking = threading.Thread(target=look, daemon=True)
    looking.start()
    try:
        yield
    finally:
        person.close(force=True)
        looking.join(5)


def flooded(seconds: float, *, seen: bool) -> Memory:
    """Let a program flood a slow subscriber, and look at both processes once a second."""
    with PrivateTmux() as tmux:
        pane = tmux.new_session("flood", _FLOOD)
        server = tmux.server_pid
        argv = [sys.executable, "-m", "benchmarks.memory_reader", pane, "--socket", tmux.socket_path]
        with subprocess.Popen(
            [*argv, "--tmux", tmux.binary],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            cwd=ROOT,
            env=tmux.environment,
        ) as reader:
            assert reader.stdin is not None
            assert reader.stdout is not None
            looks: list[tuple[Held, int]] = []
            onlooker = _onlooker(tmux) if seen else nullcontext()
            with onlooker:
                while not looks or looks[-1][0].seconds < seconds:
                    looks.append((msgspec.json.decode(reader.stdout.readline(), type=Held), resident(server)))
            reader.stdin.close()
            reader.wait()
    last = looks[-1][0]
    third = len(looks) // 3
    thirds = [looks[:third], looks[third : 2 * third], looks[2 * third :]]
    return Memory(
        beside=_beside(seen),
        seconds=last.seconds,
        reader=tuple(max(held.memory for held, _ in part) for part in thirds),
        server=tuple(max(memory for _, memory in part) for part in thirds),
        lines=last.lines,
        lost=last.lost,
    )


def measure(arguments: argparse.Namespace) -> Report:
    """Flood alone, then beside somebody."""
    rows = []
    for seen in (False, True):
        progress(f"memory: {arguments.seconds:g} s of flood, {_beside(seen)}")
        rows.append(flooded(arguments.seconds, seen=seen))
    return Report("memory", measuring.machine(PrivateTmux().binary), {"memory": rows}, (_table(rows),))


def _beside(seen: bool) -> str:
    return "a person's client" if seen else "no other client"


def _table(rows: Sequence[Memory]) -> Table:
    return Table(
        "A flood and a subscriber that is too slow: highest resident memory by third of the time, MB",
        ("attached", "seconds", "reader", "tmux server", "last third / second", "lines taken", "events told as lost"),
        [
            (
                row.beside, f"{row.seconds:.0f}",
                *(" ".join(f"{value / _MEGA:.1f}" for value in values) for values in (row.reader, row.server)),
                " ".join(f"{value:.2f}" for value in row.growth), str(row.lines), str(row.lost),
            )
            for row in rows
        ],
    )  # fmt: skip


def options() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    parser = measuring.options(__doc__)
    parser.add_argument("--seconds", type=float, default=200.0, help="of flood, each time (%(default)s)")
    return parser


if __name__ == "__main__":
    raise SystemExit(measuring.run(options(), measure))
