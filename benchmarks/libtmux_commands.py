"""How long libtmux's commands take, on `libtmux.Server` and on `streamrelay.libtmux.ControlServer`, in the same run.

Each repetition times each command on both servers, one after the other, so that a busy machine slows both. The table
has the medians in milliseconds and how many times as fast ControlServer is: the median of the repetitions with their
middle half, and the ratio of the fastest repetitions, which other programs disturbed least.
"""

import argparse
import statistics
import time
from collections.abc import Callable

import libtmux
import msgspec

from benchmarks import measuring
from benchmarks.measuring import Report, Sample, Table, progress
from streamrelay.libtmux import ControlServer
from streamrelay.testing.tmux import PrivateTmux

CALLS = 10
"""Calls that are timed together."""


class Command(msgspec.Struct, frozen=True):
    """One command on both servers: milliseconds of each, and how many times as fast ControlServer is."""

    name: str
    stock: Sample
    control: Sample
    times: Sample
    middle_half: tuple[float, float]
    fastest: float


def commands(server: libtmux.Server) -> dict[str, Callable[[], object]]:
    """The commands by name."""
    pane = server.panes[0]
    return {
        "capture_pane": pane.capture_pane,
        "send_keys": lambda: pane.send_keys("x", enter=False),
        "list-panes": lambda: server.cmd("list-panes", "-a", "-F", "#{pane_id} #{pane_title}"),
        "server.panes (about 120 formats a pane)": lambda: server.panes,
    }


def timed(call: Callable[[], object]) -> float:
    """The seconds of one call, over a few."""
    began = time.perf_counter()
    for _ in range(CALLS):
        call()
    return (time.perf_counter() - began) / CALLS


def compare(name: str, stock: Callable[[], object], control: Callable[[], object], repetitions: int) -> Command:
    """Time one command on both servers, in turns."""
    pairs = [(timed(stock) * 1000, timed(control) * 1000) for _ in range(repetitions)]
    ratios = [one / other for one, other in pairs]
    low, _, high = statistics.quantiles(ratios, n=4) if repetitions > 1 else ratios * 3
    theirs, ours = (Sample.of(column) for column in zip(*pairs, strict=True))
    return Command(name, theirs, ours, Sample.of(ratios), (low, high), theirs.low / ours.low)


def measure(arguments: argparse.Namespace) -> Report:
    """Time every command."""
    figures = []
    with PrivateTmux() as tmux:
        tmux.new_session("work", ["cat"])
        stock = tmux.libtmux()
        control = ControlServer(socket_path=tmux.socket_path, tmux_bin=stock.tmux_bin)
        try:
            theirs, ours = commands(stock), commands(control)
            for name, call in theirs.items():
                progress(f"libtmux commands: {name}")
                figures.append(compare(name, call, ours[name], arguments.repetitions))
        finally:
            control.close()
        machine = measuring.machine(tmux.binary)
    rows = [
        (
            one.name, f"{one.stock.median:.3f}", f"{one.control.median:.3f}", f"{one.times.median:.1f}",
            f"{one.middle_half[0]:.1f}-{one.middle_half[1]:.1f}", f"{one.fastest:.1f}",
        )
        for one in figures
    ]  # fmt: skip
    head = ("command", "Server, ms", "ControlServer, ms", "times as fast", "middle half", "fastest")
    return Report("libtmux_commands", machine, figures, (Table("Commands of libtmux", head, rows),))


def options() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    return measuring.options(__doc__, repetitions=20)


if __name__ == "__main__":
    raise SystemExit(measuring.run(options(), measure))
