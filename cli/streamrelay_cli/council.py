"""`streamrelay council`: models and terminal agents in one conversation with a person."""

import contextlib
import sys
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Annotated

import msgspec
import typer

from streamrelay.council.check import check_members
from streamrelay.council.clients.making import make_client
from streamrelay.council.config import CouncilConfig, default_file, keys_in_environment, read_config, read_pinned
from streamrelay.council.console import Console, Seat
from streamrelay.council.demo import DEMO, demo_client
from streamrelay.council.events import CouncilEvent, Joined
from streamrelay.council.export import export
from streamrelay.council.lock import only_holder
from streamrelay.council.session import ClientFactory, CouncilSession
from streamrelay.council.store import CouncilStore
from streamrelay.council.template import TEMPLATE
from streamrelay.delivery.state import state_folder
from streamrelay.errors import DaemonLost, DaemonMissing, ExtraMissing, UsageError
from streamrelay.installation import needs_extra
from streamrelay.service.api import OpenCouncil
from streamrelay.service.council_seat import ServiceSeat
from streamrelay.service.interface import Service
from streamrelay_cli.command_entry import TALK, command
from streamrelay_cli.command_group import is_group
from streamrelay_cli.council_lines import CouncilLines
from streamrelay_cli.daemon_client import service_if_any
from streamrelay_cli.files import write_private
from streamrelay_cli.options import AsJson, ConnectionAnywhere, NoDaemon, PrintingOptions, takes_options
from streamrelay_cli.output import CommandOutput
from streamrelay_cli.runner import run_to_end

Show = Callable[[Seat, Joined, AsyncIterator[CouncilEvent]], Awaitable[int]]
"""Shows a session to a person until it ends, or they leave; returns the exit code."""
LAST = "last"
"""What names the newest session."""
UNHEALTHY = 1
"""The exit code of `check` when a member cannot be had."""

ConfigFile = Annotated[
    Path | None,
    typer.Option(
        "--config", help="The council's file; council.toml beside your config.toml by default.", metavar="FILE"
    ),
]
Session = Annotated[str, typer.Argument(help="The id of a session; `last` for the newest.", metavar="ID")]


@command("council", panel=TALK, place=50)
@takes_options
def council(
    context: typer.Context,
    connection: ConnectionAnywhere,
    printing: PrintingOptions,
    config: ConfigFile = None,
    resume: Annotated[
        str, typer.Option("--resume", help="Continue a session; `last` for the newest.", metavar="ID")
    ] = "",
    demo: Annotated[bool, typer.Option("--demo", help="Try it with scripted members; needs no key.")] = False,
    no_daemon: NoDaemon = False,
    plain: Annotated[
        bool, typer.Option("--plain", help="Print lines instead of opening the app, as without a terminal.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print events as JSON, one object a line.")] = False,
) -> None:
    """Hold a conversation with several models and terminal agents at once.

    Type a message, and each member answers in turn; /help lists the commands. A session is stored as it goes, so that
    --resume continues it after any end (docs/council.md).
    """
    if is_group(context):
        return
    output = printing.output(as_json=as_json)
    if demo and (resume or config is not None):
        raise UsageError("--demo brings its own members", hint="leave out --config and --resume")
    if resume and config is not None:
        raise UsageError("a resumed session has the members that it began with", hint="leave out --config")

    async def main() -> int:
        async with (
            _opened_store(demo=demo) as store,
            service_if_any(connection.server(), wanted=connection.is_usual and not (demo or no_daemon)) as service,
        ):
            if resume:
                session_id = await _id_of(store, resume)
                held, folder = (await store.resume(session_id))[0], default_file().parent
            else:
                file = (config or default_file()).expanduser()
                session_id, held, folder = "", DEMO if demo else read_config(file), file.parent
            pinned = read_pinned(held, folder)
            is_plain = plain or as_json or not _has_screen()
            if service is not None:
                wanted = OpenCouncil(resume=session_id, config=held, pinned=pinned, keys=keys_in_environment(held))
                return await _join(output, service, wanted, store, plain=is_plain)
            async with _clients(connection, held, demo=demo) as clients:
                if not resume:
                    session_id = await CouncilSession.prepare(store, held, clients)
                with only_holder(store.path.parent, session_id):
                    session = await CouncilSession.resume(store, session_id, clients, pinned=pinned)
                    return await _hold(output, session, store, plain=is_plain, stays=not demo)

    run_to_end(output, main, until_ctrl_c=True)


@command("council check", place=10)
@takes_options
def check(
    connection: ConnectionAnywhere, printing: PrintingOptions, config: ConfigFile = None, as_json: AsJson = False
) -> None:
    """Check the configuration, the keys, and the health of each member.

    Each vendor is asked once whether it accepts the key and has the model; no key is printed. The exit code is 1 if a
    member cannot be had.
    """
    output = printing.output(as_json=as_json)

    async def main() -> int:
        file = (config or default_file()).expanduser()
        read = read_config(file)
        read_pinned(read, file.parent)
        output.note(f"{file} is correct")
        async with _clients(connection, read, demo=False) as clients:
            members = await check_members(read, clients)
        if as_json:
            for member in members:
                output.json(msgspec.to_builtins(member))
        else:
            output.lines(
                f"{member.name:<16} {member.vendor:<10} {member.model or '-':<24} key {member.key:<11} "
                f"{'answers' if member.is_healthy else member.problem}"
                for member in members
            )
            for member in members:
                if member.hint:
                    output.note(f"hint: {member.name}: {member.hint}")
        return 0 if all(member.is_healthy for member in members) else UNHEALTHY

    run_to_end(output, main)


@command("council list", place=20)
@takes_options
def list_(printing: PrintingOptions, as_json: AsJson = False) -> None:
    """List the sessions of the council, the newest first."""
    output = printing.output(as_json=as_json)

    async def main() -> int:
        async with _opened_store() as store:
            sessions = await store.sessions()
        if as_json:
            for session in sessions:
                output.json(msgspec.to_builtins(session))
        else:
            output.lines(
                f"{session.id}  {_when(session.created)}  {session.messages:>5} messages  {', '.join(session.members)}"
                f"  {session.title}"
                for session in sessions
            )
        if not sessions:
            output.note("no council has been held yet; hold one: streamrelay council")
        return 0

    run_to_end(output, main)


@command("council export", place=30)
@takes_options
def export_(
    printing: PrintingOptions,
    session: Session,
    file: Annotated[
        Path | None, typer.Argument(help="The file to write; FILE.json for JSON. Standard output by default.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Write a session as Markdown, or as JSON.

    An export holds the messages and their cost, and no key. The command does not replace an existing file.
    """
    output = printing.output(as_json=as_json)

    async def main() -> int:
        async with _opened_store() as store:
            wants_json = as_json or (file is not None and file.suffix == ".json")
            text = await export(store, await _id_of(store, session), as_json=wants_json)
        if file is None:
            output.line(text.rstrip("\n"))
        else:
            _write(file, text)
            output.note(f"written: {file}")
        return 0

    run_to_end(output, main)


@command("council init", place=40)
@takes_options
def init(printing: PrintingOptions, config: ConfigFile = None) -> None:
    """Write a council.toml with every key, to start from.

    Each key has its meaning, and one scripted member makes the file work at once. An existing file is never changed.
    """
    file = (config or default_file()).expanduser()
    if file.exists():
        raise UsageError(
            f"{file} exists already", hint="edit it; `streamrelay council check` says whether it is correct"
        )
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(
            f"cannot create {file.parent}: {error.strerror}", hint="check the permissions of the folder above it"
        ) from error
    _write(file, TEMPLATE)
    printing.output().line(str(file))


async def _hold(
    output: CommandOutput, session: CouncilSession, store: CouncilStore, *, plain: bool, stays: bool
) -> int:
    """Hold a session in this process until it ends; with `stays`, print the command that resumes it."""
    show = _shown_by(output, plain=plain)
    try:
        async with session.watch() as events, session:
            return await show(Console(session, store, _write), session.joined, events)
    finally:
        if stays:
            output.note(f"streamrelay council --resume {session.id} goes on with it")


async def _join(
    output: CommandOutput, service: Service, wanted: OpenCouncil, store: CouncilStore, *, plain: bool
) -> int:
    """Take part in a session that the daemon holds; it outlives this process."""
    show = _shown_by(output, plain=plain)
    council = await service.open_council(wanted)
    try:
        async with contextlib.aclosing(service.follow_council(council.council)) as events:
            joined = await anext(events)
            if not isinstance(joined, Joined):
                raise DaemonLost("the daemon does not say how the session stands", hint="restart the daemon")
            return await show(ServiceSeat(service, council, store, _write), joined, events)
    except DaemonMissing as error:
        # A request that was repeated found no daemon: it ended in between.
        raise DaemonLost("the daemon went away during the session", data=error.data) from error
    finally:
        output.note(f"streamrelay council --resume {council.council} goes on with it")


def _shown_by(output: CommandOutput, *, plain: bool) -> Show:
    """Return what shows a session: the app, or plain lines; lines also where the app's packages are missing."""

    async def lines(seat: Seat, joined: Joined, events: AsyncIterator[CouncilEvent]) -> int:
        return await CouncilLines(output, seat).show(joined, events)

    if plain:
        return lines
    try:
        with needs_extra("council", "the council's app"):
            from streamrelay.council.app.app import run_app  # Textual takes a third of a second to load
    except ExtraMissing as error:
        output.note(f"{error.message}: these are plain lines. To install it: {error.hint}")
        return lines

    async def app(seat: Seat, joined: Joined, events: AsyncIterator[CouncilEvent]) -> int:
        await run_app(seat, joined, events)
        return 0

    return app


@asynccontextmanager
async def _opened_store(*, demo: bool = False) -> AsyncIterator[CouncilStore]:
    """Open the user's store; for a demo one that is deleted afterwards."""
    with contextlib.ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory()) if demo else state_folder()
        async with CouncilStore(Path(folder) / "council.db") as store:
            yield store


@asynccontextmanager
async def _clients(
    connection: ConnectionAnywhere, config: CouncilConfig, *, demo: bool
) -> AsyncIterator[ClientFactory]:
    """Yield what makes the clients; connects to tmux only if a member is in a pane."""
    if demo:
        yield demo_client
    elif any(member.vendor == "pane" for member in config.member):
        async with connection.connect() as server:
            yield partial(make_client, server=server)
    else:
        yield make_client


async def _id_of(store: CouncilStore, session: str) -> str:
    if session != LAST:
        return session
    sessions = await store.sessions()
    if not sessions:
        raise UsageError("no council has been held yet", hint="hold one: streamrelay council")
    return sessions[0].id


def _write(path: Path, text: str) -> None:
    try:
        write_private(path, text, force=False)
    except UsageError as error:
        raise UsageError(error.message, hint="name another file") from error


def _when(at: float) -> str:
    return datetime.fromtimestamp(at).astimezone().strftime("%Y-%m-%d %H:%M")


def _has_screen() -> bool:
    return sys.stdin.isatty() and sys.stdout.isatty()
