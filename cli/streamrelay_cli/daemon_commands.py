"""The commands of the daemon: status, pause, mute, extend and stop."""

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from typing import Annotated

import msgspec
import typer

from streamrelay import counts
from streamrelay.counts import counted
from streamrelay.errors import TargetNotFound
from streamrelay.history.retention import MEGABYTE
from streamrelay.links.link import Link
from streamrelay.service.api import Delivery, Relay, Status
from streamrelay.service.interface import Service
from streamrelay_cli.attention import attention_lines, session_label
from streamrelay_cli.command_entry import CONTROL, command
from streamrelay_cli.daemon_client import service_needed, starting
from streamrelay_cli.options import AsJson, PrintingOptions, ServerOptions, takes_options
from streamrelay_cli.output import CommandOutput
from streamrelay_cli.runner import run_to_end
from streamrelay_cli.targets import written_out

Session = Annotated[str, typer.Argument(help="A session: its id, its title, or a pane as tmux writes it.")]
Id = Annotated[str, typer.Argument(help="The id of a link or relay, as `status` shows it.")]


@command("status", panel=CONTROL, place=10)
@command("daemon status", place=30)
@takes_options
def status(options: ServerOptions, printing: PrintingOptions, as_json: AsJson = False) -> None:
    """Show the daemon, its links, relays and messages.

    After a start it says how many panes the daemon still reads again. It exits with 40 if no daemon runs.
    """
    output = printing.output(as_json=as_json)

    async def ask(service: Service) -> None:
        told, links, relays = await service.status(), await service.links(), await service.relays()
        sessions, waiting = await service.sessions(), await service.list_deliveries()
        if as_json:
            shown = msgspec.to_builtins(told) | {
                "open_links": [*map(link_shown, links)],
                "open_relays": [*map(msgspec.to_builtins, relays)],
                "needs_human": [msgspec.to_builtins(session) for session in sessions if session.advice],
                "waiting": [msgspec.to_builtins(delivery) for delivery in waiting],
            }
            output.json(shown)
        else:
            titles = {session.session: session_label(session) for session in sessions}
            output.lines(
                [
                    *_lines(told, links, relays),
                    *_muted_lines(told.muted, titles),
                    *_waiting_lines(waiting),
                    *attention_lines(sessions),
                ]
            )

    async def main() -> int:
        if (health := await starting(options.server())) is not None:
            # A call would wait until the daemon has opened its files and is connected to tmux.
            if as_json:
                output.json(msgspec.to_builtins(health))
            else:
                output.lines(["the daemon is starting"])
            return 0
        async with service_needed(options.server()) as service:
            await ask(service)
        return 0

    run_to_end(output, main)


@command("pause", panel=CONTROL, place=40)
@takes_options
def pause(
    options: ServerOptions,
    printing: PrintingOptions,
    of: Annotated[str, typer.Argument(help="The id of a link, relay or gathering; all by default.")] = "",
    resume: Annotated[bool, typer.Option("--resume", help="Resume deliveries.")] = False,
) -> None:
    """Pause links, relays and gatherings, all or one, until `--resume`.

    Text that arrives meanwhile waits.
    """
    output = printing.output()

    async def ask(service: Service) -> None:
        await service.pause(not resume, of)
        what = f" of {of}" if of else ""
        output.note(f"deliveries{what} {'resume' if resume else 'are paused'}")

    _ask(output, options, ask)


@command("mute", panel=CONTROL, place=50)
@takes_options
def mute(
    options: ServerOptions,
    printing: PrintingOptions,
    session: Session,
    off: Annotated[bool, typer.Option("--off", help="Unmute the session.")] = False,
) -> None:
    """Deliver nothing that a session says, until `--off`."""
    output = printing.output()

    async def ask(service: Service) -> None:
        await service.mute(written_out(session), not off)
        output.note(f"{session} is {'heard again' if off else 'muted'}")

    _ask(output, options, ask)


@command("extend", panel=CONTROL, place=60)
@takes_options
def extend(
    options: ServerOptions,
    printing: PrintingOptions,
    link: Id,
    deliveries: Annotated[int, typer.Argument(min=1, help="The number of deliveries to add.")],
    as_json: AsJson = False,
) -> None:
    """Add deliveries to a link's budget; reopen a spent link."""
    output = printing.output(as_json=as_json)

    async def ask(service: Service) -> None:
        before = next((known.remaining for known in await service.links() if known.link_id == link), None)
        extended = await service.extend_link(link, deliveries)
        if as_json:
            output.json(link_shown(extended))
        else:
            output.note(f"{link}: {extended_by(deliveries, before, extended.remaining)}")

    _ask(output, options, ask)


@command("stop", panel=CONTROL, place=70)
@takes_options
def stop(
    options: ServerOptions,
    printing: PrintingOptions,
    which: Annotated[list[str] | None, typer.Argument(help="Ids of links or relays; all by default.")] = None,
) -> None:
    """End the links and relays that you name, or all of them and all gatherings.

    Such a gathering has no harvest: `streamrelay gather close` ends one with its harvest.

    The daemon keeps running: `streamrelay daemon stop` ends it.
    """
    output = printing.output()

    async def ask(service: Service) -> None:
        if not which:
            output.note(f"ended {counted(await service.stop_all(), 'conversation')}")
            return
        relays = {relay.relay for relay in await service.relays()}
        for one in which:
            try:
                await (service.stop_relay(one) if one in relays else service.close_link(one))
            except TargetNotFound as error:
                hint = "list the links and relays: streamrelay status"
                raise TargetNotFound(f"there is no link or relay {one}", hint=hint, data=error.data) from error
            output.note(f"{one} has ended")

    _ask(output, options, ask)


def _ask(output: CommandOutput, options: ServerOptions, ask: Callable[[Service], Awaitable[None]]) -> None:
    async def main() -> int:
        async with service_needed(options.server()) as service:
            await ask(service)
        return 0

    run_to_end(output, main)


def _lines(told: Status, links: Iterable[Link], relays: Iterable[Relay]) -> Iterable[str]:
    yield f"streamrelay {told.version}, process {told.pid}, for {told.tmux}{', paused' if told.paused else ''}"
    followers = counted(told.subscribers, "follower")
    yield f"{counted(told.sessions, 'session')}, {told.watched} watched; {followers}; last event {told.seq}"
    if told.restoring:
        yield f"{counted(told.restoring, 'pane')} still to be read again; until then links and relays deliver nothing"
    messages = ", ".join(f"{count} {state}" for state, count in told.deliveries.items() if count)
    yield f"messages: {messages or 'none'}"
    limit = f" of {_megabytes(told.journal_most_bytes)}" if told.journal_most_bytes else ", no limit"
    yield f"journal: {_megabytes(told.journal_bytes)}{limit}"
    for link in links:
        a, b = (
            f"{side.title} ({_session(side.session, is_muted=side.session in told.muted)})" for side in link.parties
        )
        yield f"{link.link_id}  {link.state}  {a} and {b}, {budget_left(link)}"
    for relay in relays:
        names = ", ".join(
            f"{member.name} ({_session(member.session, is_muted=member.muted)})"
            for member in relay.members
            if not member.gone
        )
        yield f"{relay.relay}  {'paused' if relay.paused else 'open'}  {names}, {counts.deliveries(relay.deliveries)}"
    for problem in told.problems:
        yield f"problem: {problem}"


def _megabytes(size: int) -> str:
    return f"{size / MEGABYTE:,.1f} MB"


def _session(session: str, *, is_muted: bool) -> str:
    return f"{session}, muted" if is_muted else session


def _muted_lines(muted: Sequence[str], titles: Mapping[str, str]) -> Iterable[str]:
    for session in muted:
        yield f"muted: {titles.get(session, session)}; unmute with: streamrelay mute {session} --off"


def _waiting_lines(waiting: Sequence[Delivery]) -> Iterable[str]:
    if len(waiting) == 1:
        yield f"1 message waits ({waiting[0].message_id}): streamrelay delivery list"
    elif waiting:
        yield f"{len(waiting)} messages wait: streamrelay delivery list"


def budget_left(link: Link) -> str:
    """Describe how many deliveries a link has left."""
    return "no limit" if link.remaining is None else f"{link.remaining} left"


def extended_by(added: int, before: int | None, after: int | None) -> str:
    """Describe the effect of added deliveries, from the rest of the budget before and after.

    Waiting messages go out as soon as the budget grows, so nothing of it may be left.
    """
    if before is None or after is None:
        return "the link has no limit"
    used = max(before, 0) + added - max(after, 0)
    at_once = f", {used} used at once" if used > 0 else ""
    return f"{counts.deliveries(added)} added{at_once}, {max(after, 0)} left"


def link_shown(link: Link) -> dict[str, object]:
    """Return a link in its JSON form."""
    return {
        "link": link.link_id,
        "state": link.state,
        "parties": msgspec.to_builtins(link.parties),
        "deliveries": link.deliveries,
        "remaining": link.remaining,
    }
