"""`streamrelay gather pulse`: prints the summary that a gathering would begin with."""

from typing import Annotated

import msgspec
import typer

from streamrelay.gathering.library import find_rhythm
from streamrelay.service.api import TakePulse
from streamrelay_cli.command_entry import command
from streamrelay_cli.daemon_client import service_needed
from streamrelay_cli.options import AsJson, PrintingOptions, ServerOptions, takes_options
from streamrelay_cli.runner import run_to_end


@command("gather pulse", place=110)
@takes_options
def pulse(
    options: ServerOptions,
    printing: PrintingOptions,
    words: Annotated[list[str] | None, typer.Argument(help="Further words to search history for.")] = None,
    rhythm: Annotated[
        str, typer.Option("--rhythm", help="The rhythm whose keywords are searched in history.")
    ] = "daily",
    longest: Annotated[int, typer.Option("--longest", min=0, help="Maximum number of characters.")] = 4_000,
    as_json: AsJson = False,
) -> None:
    """Print the summary of the machine that a gathering starts with.

    It covers machine, sessions, repositories, pipelines and earlier messages (docs/pulse.md). Use it to try your own
    pipelines.
    """
    output = printing.output(as_json=as_json)

    async def main() -> int:
        scope = (*find_rhythm(rhythm).keywords, *(words or ()))
        async with service_needed(options.server()) as service:
            taken = await service.pulse(TakePulse(scope=scope))
        if as_json:
            output.json(msgspec.to_builtins(taken))
        else:
            output.lines(taken.text(longest).splitlines())
        return 0

    run_to_end(output, main)
