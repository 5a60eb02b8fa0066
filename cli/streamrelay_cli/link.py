"""`streamrelay link`: delivers the output of two programs to each other, within a budget."""

from collections.abc import Set
from typing import Annotated

import msgspec
import typer

from streamrelay.delivery.sending import open_outbox
from streamrelay.errors import UsageError
from streamrelay.links.configured import delivery_policy, link_policy, link_texts
from streamrelay.links.link import BUDGET, Link, LinkPolicy
from streamrelay.links.session import LinkSession
from streamrelay.relay.participants import TypingOptions
from streamrelay.service.interface import Service
from streamrelay_cli.command_entry import TALK, command
from streamrelay_cli.config import settings
from streamrelay_cli.daemon_client import service_if_any
from streamrelay_cli.daemon_commands import budget_left, link_shown
from streamrelay_cli.exchange import Budget, Exchange
from streamrelay_cli.keys import has_terminal
from streamrelay_cli.live_view import LiveView, named, told_in_tmux
from streamrelay_cli.options import (
    AllowShell,
    AsEvents,
    ConnectionAnywhere,
    NoDaemon,
    PrintingOptions,
    given,
    takes_options,
)
from streamrelay_cli.runner import run_to_end
from streamrelay_cli.targets import found, written_out

OPTIONS = {"checkpoints": "--checkpoint"} | {
    name: f"--{name.replace('_', '-')}"
    for name in ("budget", "acknowledgements", "hops", "longest", "per_minute", "start_sessions", "notices")
}
"""The options of a link's policy, by the names of its fields."""
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
    it. Two sessions have one link: if they are linked already, the command says in which state the link is, and refuses
    options that differ from that link's.
    """
    output = printing.output(as_json=as_json)
    configured = settings(context)
    policy = msgspec.structs.replace(
        link_policy(configured.link), budget=budget, start_sessions=start_sessions, notices=notices, **exchange.rules()
    )
    texts = link_texts(configured.link)

    async def main() -> int:
        wanted = connection.is_usual and not no_daemon
        async with service_if_any(connection.server(), wanted=wanted) as service:
            return await (here() if service is None else through(service))

    async def through(service: Service) -> int:
        known = {existing.link_id for existing in await service.links()}
        (name_a, target_a), (name_b, target_b) = map(named, (a, b))
        names = (name_a or "", name_b or "")
        made = await service.create_link(written_out(target_a), written_out(target_b), policy, names, allow_shell)
        if made.link_id in known:
            _check_same(made, policy, given(context), {*filter(None, names)})
            output.made(made.link_id, _already(made), link_shown(made))
        else:
            output.made(made.link_id, f"the daemon links {_titles(made)}", link_shown(made))
        return 0

    async def here() -> int:
        async with (
            connection.connect() as server,
            open_outbox() as outbox,
        ):
            first, second = [(title, await found(server, target)) for title, target in map(named, (a, b))]
            typing = TypingOptions(
                allow_shell=allow_shell, policy=delivery_policy(configured.delivery), outbox=outbox, writer="link"
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


def _titles(link: Link) -> str:
    return " and ".join(party.title for party in link.parties)


def _already(link: Link) -> str:
    """Return the note on a link that existed already, with the command that opens a spent one."""
    opens = f"; open it with: streamrelay extend {link.link_id} {BUDGET}" if link.state == "spent" else ""
    return f"{_titles(link)} are linked already: {link.state}, {budget_left(link)}{opens}"


def _check_same(link: Link, policy: LinkPolicy, options: Set[str], names: Set[str]) -> None:
    """Raise UsageError if the options or names of the command line differ from those of an existing link."""
    differing = [
        option for option in OPTIONS if option in options and getattr(policy, option) != getattr(link.policy, option)
    ]
    others = names - {party.title for party in link.parties}
    if not differing and not others:
        return
    facts = [f"{OPTIONS[option]} is {_written(getattr(link.policy, option))}" for option in differing]
    facts += [f"no side is named {name}" for name in sorted(others)]
    stop = f"streamrelay stop {link.link_id}"
    raise UsageError(
        f"{_titles(link)} are linked already ({link.link_id}: {link.state}, {budget_left(link)}): {', '.join(facts)}",
        hint=f"add deliveries with: streamrelay extend {link.link_id} {policy.budget}"
        if differing == ["budget"] and not others and link.remaining is not None and policy.budget
        else f"end that link first: {stop}",
        data={"link": link.link_id, "state": link.state, "differing": [*differing, *(["name"] if others else [])]},
    )


def _written(value: object) -> str:
    return ", ".join(map(str, value)) or "not set" if isinstance(value, tuple) else str(value).lower()
