"""`streamrelay history`: limits the journal's age and size."""

import math
import time
from typing import Annotated

import typer

from streamrelay.config.settings import HistoryTable
from streamrelay.delivery.state import state_home
from streamrelay.history.journal import Journal
from streamrelay.history.retention import journal_files, keep_to
from streamrelay_cli.command_entry import WATCH, command, group
from streamrelay_cli.options import AsJson, PrintingOptions, takes_options
from streamrelay_cli.runner import run_to_end

group("history", "Search the journal of outputs and deliveries, or prune it.", panel=WATCH, place=30)

_DEFAULTS = HistoryTable()
_MAX = 1_000_000_000


def _number(value: float) -> float:
    """Refuse `nan`, which is within any bounds for click."""
    if math.isnan(value):
        raise typer.BadParameter("nan is not a number")
    return value


@command("history prune", place=20)
@takes_options
def prune(
    printing: PrintingOptions,
    keep_days: Annotated[
        float,
        typer.Option(
            "--keep-days",
            min=0,
            max=_MAX,
            help="Delete entries older than this many days; 0 for none.",
            callback=_number,
        ),
    ] = _DEFAULTS.keep_days,
    most_megabytes: Annotated[
        float,
        typer.Option(
            "--most-megabytes",
            min=0,
            max=_MAX,
            callback=_number,
            help="Delete the oldest entries until the journal is no larger; 0 for any size.",
        ),
    ] = _DEFAULTS.most_megabytes,
    as_json: AsJson = False,
) -> None:
    """Delete old events from the journal, and free their space."""
    output = printing.output(as_json=as_json)

    async def main() -> int:
        policy = HistoryTable(keep_days=keep_days, most_megabytes=most_megabytes)
        files = journal_files()
        if not files:
            output.note(f"{state_home()} has no journal: nothing was journaled yet")
        for file in files:
            async with Journal(file) as journal:
                pruned = await keep_to(policy, journal, time.time())
            if as_json:
                output.json({**pruned._asdict(), "file": str(file)})
            else:
                output.line(f"{pruned.forgotten:,} events forgotten; {file} takes {pruned.bytes:,} bytes")
        return 0

    run_to_end(output, main)
