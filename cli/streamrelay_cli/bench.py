"""`streamrelay bench`: measures streamrelay on this machine.

The benchmarks are not part of the installed package: they read the recorded sessions of the tests, compare with
development dependencies, and run as modules of a checkout. So the command searches the checkout of this installation,
and reports an error without one (docs/decisions/0013).
"""

import os
import signal
import sys
from pathlib import Path
from typing import Annotated

import typer

import streamrelay
from streamrelay.children import send_signal, start_child
from streamrelay.errors import UsageError
from streamrelay_cli.command_entry import EXPLORE, command
from streamrelay_cli.options import TmuxBinary
from streamrelay_cli.output import CommandOutput
from streamrelay_cli.runner import run_to_end


def checkout() -> Path:
    """Return the root of the installed checkout; raises UsageError if a package is installed instead."""
    root = Path(streamrelay.__file__).resolve().parents[1]
    if not (root / "benchmarks" / "report.py").is_file():
        raise UsageError(
            "the benchmarks are in the checkout, not in the installed package",
            hint="git clone it, run ./scripts/bootstrap there, then .venv/bin/streamrelay bench",
        )
    return root


@command("bench", panel=EXPLORE, place=50)
def bench(
    parts: Annotated[
        list[str] | None, typer.Argument(metavar="[PART]...", help="What to measure; everything by default.")
    ] = None,
    quick: Annotated[
        bool,
        typer.Option("--quick", help="Use small sizes; without PART measure only throughput, latency and relaying."),
    ] = False,
    output_folder: Annotated[
        Path | None,
        typer.Option("--output", metavar="FOLDER", help="Write the report, plots and all figures here."),
    ] = None,
    document: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Update the figures of the measured parts in this file, such as docs/benchmarks.md."
        ),
    ] = None,
    tmux: TmuxBinary = None,
) -> None:
    """Measure throughput, latency, cost and fidelity on this machine.

    It uses private tmux servers and prints the report (docs/benchmarks.md).
    """
    arguments = [*(parts or []), *(["--quick"] if quick else [])]
    # The benchmarks run from the root of the checkout, whatever the current folder is.
    for option, path in (("--output", output_folder), ("--document", document)):
        arguments += [] if path is None else [option, str(path.resolve())]
    environment = dict(os.environ) if tmux is None else os.environ | {"STREAMRELAY_TMUX": tmux}

    async def main() -> int:
        command = (sys.executable, "-m", "benchmarks.report", *arguments)
        process = await start_child(*command, cwd=checkout(), env=environment)
        try:
            return await process.wait()
        finally:
            if process.returncode is None:
                send_signal(process, signal.SIGTERM)
                await process.wait()

    run_to_end(CommandOutput(), main)
