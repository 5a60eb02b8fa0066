"""`streamrelay relay`: programs in panes hear each other."""

from typing import Annotated

import typer

import streamrelay
from streamrelay.events import Event, RelayDelivered, RelayOpened
from streamrelay.relay.session import RelaySession
from streamrelay_cli.options import (
    AsEvents,
    Quiet,
    SocketName,
    SocketPath,
    TmuxBinary,
    Transport,
    TransportOption,
)
from streamrelay_cli.output import Output
from streamrelay_cli.running import run_to_end


def relay(
    targets: Annotated[
        list[str],
        typer.Argument(
            help="Two or more panes as tmux writes them, each with a name if wanted: Ann=%3 Bob=work:0.1.",
            metavar="[NAME=]TARGET...",
        ),
    ],
    allow_shell: Annotated[
        bool, typer.Option("--allow-shell", help="Let a shell take part: it runs what the others say.")
    ] = False,
    budget: Annotated[int, typer.Option("--budget", min=0, help="End after this many deliveries; 0 for no end.")] = 0,
    read_timeout: Annotated[
        float,
        typer.Option("--read-timeout", min=1, help="Seconds after which a program that reads nothing is given up."),
    ] = 30.0,
    socket_name: SocketName = None,
    socket_path: SocketPath = None,
    tmux: TmuxBinary = None,
    transport: TransportOption = Transport.pipes,
    as_json: AsEvents = False,
    quiet: Quiet = False,
) -> None:
    """Pass on what each program says to all others, as `Name (number):`, until one of them ends or Ctrl-C."""
    output = Output(quiet=quiet, as_json=as_json)

    def publish(event: Event) -> None:
        if as_json:
            output.events([event])
        elif isinstance(event, RelayOpened):
            output.note(f"{' and '.join(event.participants)} hear each other; Ctrl-C ends")
        elif isinstance(event, RelayDelivered):
            output.lines([*event.text.split("\n"), ""])

    async def main() -> int:
        async with streamrelay.connect(
            socket_name=socket_name, socket_path=socket_path, tmux=tmux, transport=transport.value
        ) as server:
            pairs = [(name, await server.find(target)) for name, target in map(_split, targets)]
            session = RelaySession(server, pairs, allow_shell=allow_shell, budget=budget, read_timeout=read_timeout)
            await session.run(publish)
        if session.error is not None:
            raise session.error
        output.note(f"the budget of {budget} deliveries is spent")
        return 0

    run_to_end(output, main)


def _split(target: str) -> tuple[str | None, str]:
    """Split `Ann=%3`; a leading `=` is tmux's own, for an exact name."""
    name, separator, rest = target.partition("=")
    return (name, rest) if separator and name and rest else (None, target)
