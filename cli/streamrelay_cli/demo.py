"""`streamrelay demo`: shows streamrelay at work on a private tmux server."""

import statistics
from typing import TYPE_CHECKING

from streamrelay_cli.command_entry import EXPLORE, command
from streamrelay_cli.options import TmuxBinary
from streamrelay_cli.output import CommandOutput
from streamrelay_cli.runner import run_to_end

if TYPE_CHECKING:
    from streamrelay.demo.stage import Outcome

COLOURS = {"shell": 32, "log": 90, "Ann": 36, "Bob": 35, "Cleo": 34, "Dan": 33, "link": 37}
FAILED = 1


@command("demo", panel=EXPLORE, place=10)
def demo(tmux: TmuxBinary = None) -> None:
    """Let scripted programs talk on a private tmux server, and count their lines."""
    # Imported late: these modules would slow down the start of every other command.
    from streamrelay.demo.stage import perform

    output = CommandOutput()

    def show(speaker: str, text: str) -> None:
        output.labelled(speaker.rjust(5), text, colour=COLOURS.get(speaker))

    async def main() -> int:
        output.note(
            "a private tmux server: a shell, a log writer, Ann and Bob, who hear each other through a relay, and Cleo "
            "and Dan, two agents with screens of their own, who are linked for as long as their budget lasts; then a "
            "gathering of Sage, Rex and Ada"
        )
        outcome = await perform(show, binary=tmux)
        output.lines(["", *_table(outcome)])
        for failure in outcome.failures:
            output.error(failure)
        if not outcome.failures:
            output.lines(["", "As expected: each line was heard once, and nothing else."])
        return FAILED if outcome.failures else 0

    run_to_end(output, main)


def _table(outcome: "Outcome") -> list[str]:
    rows = [
        ("lines out, each once", str(outcome.lines_out)),
        ("echoed lines suppressed", str(outcome.echoes_suppressed)),
        ("quotes kept", str(outcome.quotes_kept)),
        ("deliveries of the link, each with its receipts", str(outcome.proved_deliveries)),
        ("contributions of the gathering, heard by all others", str(outcome.contributions)),
        ("line printed -> stream", _milliseconds(outcome.stream_latencies)),
        ("line printed -> polling capture_pane (libtmux, 1 Hz)", _milliseconds(outcome.polling_latencies)),
        ("heard -> pasted into the listener", _milliseconds(outcome.relay_latencies)),
    ]
    width = max(len(name) for name, _ in rows)
    return [f"{name.ljust(width)}  {value}" for name, value in rows]


def _milliseconds(seconds: list[float]) -> str:
    if not seconds:
        return "-"
    ordered = sorted(seconds)
    worst = ordered[min(len(ordered) - 1, int(len(ordered) * 0.99))]
    return f"median {1000 * statistics.median(ordered):8.2f} ms   p99 {1000 * worst:8.2f} ms   n={len(ordered)}"
