"""`streamrelay relay`: relays the output of programs in panes to each other."""

from typing import Annotated

import msgspec
import typer

from streamrelay.config.files import load
from streamrelay.counts import deliveries
from streamrelay.delivery.sending import open_outbox
from streamrelay.links.configured import delivery_policy, relay_rules
from streamrelay.relay.session import RelaySession
from streamrelay.service.api import CreateRelay, RelayParticipant
from streamrelay.service.interface import Service
from streamrelay_cli.command_entry import TALK, command
from streamrelay_cli.config import settings
from streamrelay_cli.daemon_client import service_if_any
from streamrelay_cli.exchange import Budget, Exchange
from streamrelay_cli.live_view import LiveView, named, told_in_tmux
from streamrelay_cli.options import (
    AllowShell,
    AsEvents,
    ConnectionAnywhere,
    NoDaemon,
    PrintingOptions,
    takes_options,
)
from streamrelay_cli.runner import run_to_end
from streamrelay_cli.targets import found, written_out

READ_TIMEOUT = 30.0


@command("relay", panel=TALK, place=30)
@takes_options
def relay(
    context: typer.Context,
    connection: ConnectionAnywhere,
    exchange: Exchange,
    printing: PrintingOptions,
    targets: Annotated[
        list[str],
        typer.Argument(
            help="Two or more panes as tmux writes them, each optionally with a name: Ann=%3 Bob=work:0.1.",
            metavar="[NAME=]TARGET...",
        ),
    ],
    allow_shell: AllowShell = False,
    budget: Budget = 0,
    read_timeout: Annotated[
        float,
        typer.Option(
            "--read-timeout", min=1, help="Seconds after which a program that does not read its input counts as lost."
        ),
    ] = READ_TIMEOUT,
    no_daemon: NoDaemon = False,
    as_json: AsEvents = False,
) -> None:
    """Relay the output of two or more programs to each other, until Ctrl-C.

    Each program gets the others' output as `Name (number):`. The relay ends when fewer than two are left.

    On a terminal: p pauses and goes on, m and a number mutes a participant, q stops.

    If a daemon runs for that tmux server, the relay is opened there, and this command ends; `streamrelay stop RELAY`
    ends it. Such a relay has only the budget of the limits.
    """
    output = printing.output(as_json=as_json)
    configured = settings(context)
    rules = msgspec.structs.replace(relay_rules(configured.relay), budget=budget, **exchange.rules())

    async def main() -> int:
        # The daemon reads neither the project's configuration nor this command's options.
        usual = relay_rules(load(project=False).settings.relay)
        limited = rules != msgspec.structs.replace(usual, budget=budget) or read_timeout != READ_TIMEOUT
        wanted = connection.is_usual and not (no_daemon or limited)
        async with service_if_any(connection.server(), wanted=wanted) as service:
            return await (here() if service is None else through(service))

    async def through(service: Service) -> int:
        participants = [
            RelayParticipant(session=written_out(target), name=name or "") for name, target in map(named, targets)
        ]
        opened = await service.create_relay(
            CreateRelay(participants=participants, budget=budget, allow_shell=allow_shell)
        )
        names = " and ".join(member.name for member in opened.members)
        output.made(opened.relay, f"the daemon relays between {names}", msgspec.to_builtins(opened))
        return 0

    async def here() -> int:
        async with (
            connection.connect() as server,
            open_outbox() as outbox,
        ):
            pairs = [(name, await found(server, target)) for name, target in map(named, targets)]
            session = RelaySession(
                server,
                pairs,
                allow_shell=allow_shell,
                rules=rules,
                read_timeout=read_timeout,
                policy=delivery_policy(configured.delivery),
                outbox=outbox,
            )
            labels = {participant.pane: participant.label for participant in session.participants}
            async with told_in_tmux(server, labels, wanted=configured.notify, budget=budget) as told:
                view = LiveView(output, session, told)
                await view.show(session.run(view.publish))
        if session.error is not None:
            raise session.error
        output.note("stopped" if session.is_stopped else f"the budget of {deliveries(budget)} is spent")
        return 0

    run_to_end(output, main)
