"""`streamrelay relay`: programs in panes hear each other."""

from typing import Annotated

import typer

import streamrelay
from streamrelay.delivery.sending import open_outbox
from streamrelay.relay.rules import ACKNOWLEDGEMENTS, HOPS, Rules
from streamrelay.relay.session import RelaySession
from streamrelay_cli.conversing import LiveView, named
from streamrelay_cli.options import (
    AsEvents,
    NoProfiles,
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
    hops: Annotated[
        int, typer.Option("--hops", min=0, help="How many times an agent's answer may follow an answer; 0 for no end.")
    ] = HOPS,
    acknowledgements: Annotated[
        int,
        typer.Option(
            "--acknowledgements", min=0, help="Turns of agents in a row that say nothing new; 0 for any number."
        ),
    ] = ACKNOWLEDGEMENTS,
    per_minute: Annotated[
        int, typer.Option("--per-minute", min=0, help="Deliveries a minute; more of them wait. 0 for any number.")
    ] = 0,
    checkpoint: Annotated[
        list[str], typer.Option("--checkpoint", help="What begins like this is not passed on.", metavar="PREFIX")
    ] = [],  # noqa: B006  # typer copies it
    read_timeout: Annotated[
        float,
        typer.Option("--read-timeout", min=1, help="Seconds after which a program that reads nothing is given up."),
    ] = 30.0,
    socket_name: SocketName = None,
    socket_path: SocketPath = None,
    tmux: TmuxBinary = None,
    transport: TransportOption = Transport.pipes,
    no_profiles: NoProfiles = False,
    as_json: AsEvents = False,
    quiet: Quiet = False,
) -> None:
    """Pass on what each program says to all others, as `Name (number):`, until Ctrl-C or fewer than two are left.

    On a terminal: p pauses and goes on, m and a number mutes a participant, q stops.
    """
    output = Output(quiet=quiet, as_json=as_json)
    rules = Rules(
        budget=budget,
        hops=hops,
        acknowledgements=acknowledgements,
        per_minute=per_minute,
        checkpoints=tuple(checkpoint),
    )

    async def main() -> int:
        async with (
            streamrelay.connect(
                socket_name=socket_name,
                socket_path=socket_path,
                tmux=tmux,
                transport=transport.value,
                profiles=() if no_profiles else None,
            ) as server,
            open_outbox() as outbox,
        ):
            pairs = [(name, await server.find(target)) for name, target in map(named, targets)]
            session = RelaySession(
                server, pairs, allow_shell=allow_shell, rules=rules, read_timeout=read_timeout, outbox=outbox
            )
            view = LiveView(output, session)
            await view.show(session.run(view.publish))
        if session.error is not None:
            raise session.error
        output.note("stopped" if session.is_stopped else f"the budget of {budget} deliveries is spent")
        return 0

    run_to_end(output, main)
