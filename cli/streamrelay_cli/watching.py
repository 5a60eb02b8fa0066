"""`streamrelay watch`: the clean stream of panes, as it happens."""

from typing import Annotated

import typer

import streamrelay
from streamrelay.events import Event, Gap, NeedsHuman, PaneClosed, Text
from streamrelay.panes.closing import closing_error
from streamrelay_cli.options import (
    AsJson,
    Quiet,
    SocketName,
    SocketPath,
    TmuxBinary,
    Transport,
    TransportOption,
)
from streamrelay_cli.output import Output
from streamrelay_cli.running import run_to_end


def watch(
    targets: Annotated[
        list[str] | None,
        typer.Argument(
            help="Panes as tmux writes them: %3, name, name:0.1. Default: this pane, inside tmux.", show_default=False
        ),
    ] = None,
    socket_name: SocketName = None,
    socket_path: SocketPath = None,
    tmux: TmuxBinary = None,
    transport: TransportOption = Transport.pipes,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Print each line that the programs in these panes say, once, as it is said; until the panes close or Ctrl-C."""
    output = Output(quiet=quiet, as_json=as_json)

    async def main() -> int:
        closed: list[PaneClosed] = []
        async with (
            streamrelay.connect(
                socket_name=socket_name, socket_path=socket_path, tmux=tmux, transport=transport.value
            ) as server,
            server.watch(*(targets or [])) as stream,
        ):
            output.note(f"watching {', '.join(stream.panes)}; Ctrl-C ends")
            async for events in stream.batches():
                closed += [event for event in events if isinstance(event, PaneClosed)]
                if as_json:
                    output.events(events)
                else:
                    _print_text(output, events, several=len(stream.panes) > 1)
        raise closing_error(closed[-1])

    run_to_end(output, main)


def _print_text(output: Output, events: list[Event], *, several: bool) -> None:
    for event in events:
        label = f"{event.session} {event.pane} | " if several else ""
        if isinstance(event, Text) and event.origin == "program":
            output.line(label + event.text)
        elif isinstance(event, NeedsHuman):
            output.note(f"{label}waits for a person ({event.kind}): {event.text}")
        elif isinstance(event, Gap):
            output.note(f"{label}something may be missing here ({event.reason})")
