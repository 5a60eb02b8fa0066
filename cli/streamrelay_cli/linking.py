"""`streamrelay link`: two programs hear each other, within a budget."""

from typing import Annotated

import typer

import streamrelay
from streamrelay.delivery.sending import open_outbox
from streamrelay.links.link import BUDGET, CHECKPOINTS, Policy, Texts
from streamrelay.links.session import LinkSession
from streamrelay.relay.places import Typing
from streamrelay.relay.rules import ACKNOWLEDGEMENTS
from streamrelay_cli.conversing import LiveView, named
from streamrelay_cli.keys import has_terminal
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

Side = Annotated[str, typer.Argument(help="A pane as tmux writes it, with a title if wanted: Ann=%3.")]


def link(
    a: Side,
    b: Side,
    budget: Annotated[int, typer.Option("--budget", min=0, help="How many deliveries; 0 for no end.")] = BUDGET,
    acknowledgements: Annotated[
        int, typer.Option("--acknowledgements", min=0, help="Turns in a row that say nothing new; 0 for any number.")
    ] = ACKNOWLEDGEMENTS,
    longest: Annotated[int, typer.Option("--longest", min=0, help="Characters of one delivery; 0 for any.")] = 0,
    per_minute: Annotated[
        int, typer.Option("--per-minute", min=0, help="Deliveries a minute; more of them wait. 0 for any number.")
    ] = 0,
    checkpoint: Annotated[
        list[str], typer.Option("--checkpoint", help="What begins like this does not cross.", metavar="PREFIX")
    ] = [*CHECKPOINTS],  # noqa: B006  # typer copies it
    no_notices: Annotated[
        bool, typer.Option("--no-notices", help="Tell only you, not the two programs, what becomes of the link.")
    ] = False,
    allow_shell: Annotated[
        bool, typer.Option("--allow-shell", help="Link a shell too: it runs what the other one says.")
    ] = False,
    socket_name: SocketName = None,
    socket_path: SocketPath = None,
    tmux: TmuxBinary = None,
    transport: TransportOption = Transport.pipes,
    no_profiles: NoProfiles = False,
    as_json: AsEvents = False,
    quiet: Quiet = False,
) -> None:
    """Deliver what each of two programs says to the other, as `[From TITLE] ...`, for as long as the budget lasts.

    On a terminal: p pauses and goes on, m and 1 or 2 mutes a side, e extends the budget by as much again, q stops.
    Without one, the link is closed when its budget is spent.
    """
    output = Output(quiet=quiet, as_json=as_json)
    policy = Policy(
        budget=budget,
        acknowledgements=acknowledgements,
        longest=longest,
        per_minute=per_minute,
        checkpoints=tuple(checkpoint),
    )
    texts = Texts(spent="", closed="", ended="") if no_notices else Texts()

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
            first, second = [(title, await server.find(target)) for title, target in map(named, (a, b))]
            typing = Typing(allow_shell=allow_shell, outbox=outbox)
            session = LinkSession(
                server, first, second, policy=policy, texts=texts, typing=typing, attended=has_terminal()
            )
            view = LiveView(output, session, {"e": lambda: session.extend(budget)})
            await view.show(session.run(view.publish))
        if session.error is not None:
            raise session.error
        return 0

    run_to_end(output, main)
