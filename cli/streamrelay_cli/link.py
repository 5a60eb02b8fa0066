"""`streamrelay link`: delivers the output of two programs to each other, within a budget."""

from typing import Annotated

import msgspec
import typer

from streamrelay.delivery.sending import open_outbox
from streamrelay.links.configured import link_policy, link_texts
from streamrelay.links.link import BUDGET
from streamrelay.links.session import LinkSession
from streamrelay.relay.participants import TypingOptions
from streamrelay.service.interface import Service
from streamrelay_cli.command_entry import TALK, command
from streamrelay_cli.config import delivery_policy, settings
from streamrelay_cli.daemon_client import service_if_any
from streamrelay_cli.daemon_commands import link_shown
from streamrelay_cli.exchange import Budget, Exchange
from streamrelay_cli.keys import has_terminal
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

Side = Annotated[str, typer.Argument(help="A pane as tmux writes it, optionally with a title: Ann=%3.")]


@command("link", panel=TALK, place=20)
@takes_options
def link(
    context: typer.Context,
    connection: ConnectionAnywhere,
    exchange: Exchange,
    printing: PrintingOptions,
    a: Side,
    b: Side,
    budget: Budget = BUDGET,
    notices: Annotated[
        bool,
        typer.Option("--notices/--no-notices", help="Send notices about the link to the two programs, too."),
    ] = True,
    start_sessions: Annotated[
        bool,
        typer.Option(
            "--start-sessions/--no-start-sessions", help="Allow the two to start sessions while they are linked."
        ),
    ] = True,
    allow_shell: AllowShell = False,
    no_daemon: NoDaemon = False,
    as_json: AsEvents = False,
) -> None:
    """Send each of two programs what the other says, within a budget.

    Each side gets the other's answers as `[From TITLE] ...`, as long as the budget lasts.

    On a terminal: p pauses and goes on, m and 1 or 2 mutes a side, e extends the budget by as much again, q stops.
    Without one, the link is closed when its budget is spent.

    If a daemon runs for that tmux server, the link is made there, and this command ends; `streamrelay stop LINK` closes
    it. Titles, --no-notices and --allow-shell are for links that are run here.
    """
    output = printing.output(as_json=as_json)
    configured = settings(context)
    policy = msgspec.structs.replace(
        link_policy(configured.link), budget=budget, start_sessions=start_sessions, **exchange.rules()
    )
    texts = link_texts(msgspec.structs.replace(configured.link, notices=notices))

    async def main() -> int:
        titled = any(title for title, _ in map(named, (a, b)))
        wanted = connection.is_usual and notices and not (no_daemon or allow_shell or titled)
        async with service_if_any(connection.server(), wanted=wanted) as service:
            return await (here() if service is None else through(service))

    async def through(service: Service) -> int:
        made = await service.create_link(written_out(a), written_out(b), policy)
        titles = " and ".join(party.title for party in made.parties)
        output.made(made.link_id, f"{titles} are linked by the daemon", link_shown(made))
        return 0

    async def here() -> int:
        async with (
            connection.connect() as server,
            open_outbox() as outbox,
        ):
            first, second = [(title, await found(server, target)) for title, target in map(named, (a, b))]
            typing = TypingOptions(
                allow_shell=allow_shell, policy=delivery_policy(configured), outbox=outbox, writer="link"
            )
            session = LinkSession(
                server, first, second, policy=policy, texts=texts, typing=typing, attended=has_terminal()
            )
            labels = {party.pane: party.title for party in session.link.parties}
            async with told_in_tmux(server, labels, wanted=configured.notify) as told:
                view = LiveView(output, session, told, {"e": lambda: session.extend(budget)})
                await view.show(session.run(view.publish))
        if session.error is not None:
            raise session.error
        return 0

    run_to_end(output, main)
