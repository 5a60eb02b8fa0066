"""How long libtmux's commands take, on `libtmux.Server` and on `streamrelay.libtmux.ControlServer`, in the same run.

    python -m benchmarks.libtmux_commands [ROUNDS]

Each round times each command on both servers, one after the other, so that a busy machine slows both. Prints the
medians in milliseconds and how many times as fast ControlServer is: the median of the rounds, the ratio of the fastest
rounds, which other programs disturbed least, and the middle half of the rounds.
"""

import statistics
import sys
import time
from collections.abc import Callable

import libtmux

from streamrelay.libtmux import ControlServer
from streamrelay.testing.tmux import PrivateTmux

ROUNDS = 20
CALLS = 10


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


def main(rounds: int) -> None:
    with PrivateTmux() as tmux:
        tmux.new_session("work", ["cat"])
        stock = tmux.libtmux()
        control = ControlServer(socket_path=tmux.socket_path, tmux_bin=stock.tmux_bin)
        theirs, ours = commands(stock), commands(control)
        print(f"{'command':40} {'Server':>8} {'ControlServer':>14} {'times as fast':>14} {'fastest':>8}  middle half")
        for name, call in theirs.items():
            pairs = [(timed(call), timed(ours[name])) for _ in range(rounds)]
            ratios = [one / other for one, other in pairs]
            low, middle, high = statistics.quantiles(ratios, n=4)
            columns = [*zip(*pairs, strict=True)]
            stock_ms, control_ms = (statistics.median(column) * 1000 for column in columns)
            fastest = min(columns[0]) / min(columns[1])
            print(
                f"{name:40} {stock_ms:8.3f} {control_ms:14.3f} {middle:14.1f} {fastest:8.1f}  {low:.1f} to {high:.1f}"
            )
        control.close()


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else ROUNDS)
