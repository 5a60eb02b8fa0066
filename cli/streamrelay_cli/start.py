"""`streamrelay start` and `end`: starts and ends programs in tmux sessions, with their own ids."""

import asyncio
import secrets
from pathlib import Path
from typing import Annotated

import msgspec
import typer

from streamrelay import Server
from streamrelay.daemon.address import tmux_socket
from streamrelay.delivery.message import DeliveryPolicy
from streamrelay.delivery.sending import open_outbox, send
from streamrelay.errors import UsageError
from streamrelay.mcp.callers import own_pane
from streamrelay.sessions.model import Session, StartSession
from streamrelay.sessions.permission import asking, check_start
from streamrelay.sessions.programs import own_search_path
from streamrelay.sessions.sessions import Sessions
from streamrelay_cli.attention import attention_lines
from streamrelay_cli.command_entry import AGENTS, command
from streamrelay_cli.config import settings
from streamrelay_cli.daemon_client import service_if_any
from streamrelay_cli.delivery_notes import DeliveryNotes
from streamrelay_cli.keys import is_typed
from streamrelay_cli.options import AsJson, Connection, PrintingOptions, ServerOptions, takes_options
from streamrelay_cli.runner import run_to_end


@command("start", panel=AGENTS, place=10)
@takes_options
def start(
    context: typer.Context,
    connection: Connection,
    printing: PrintingOptions,
    agent: Annotated[
        str,
        typer.Argument(
            help="A profile's name (streamrelay profiles), any command, or acp:COMMAND for an agent that speaks ACP."
        ),
    ],
    arguments: Annotated[
        list[str] | None, typer.Argument(help="Arguments of the program, after -- if they are options.")
    ] = None,
    title: Annotated[str, typer.Option("--title", help="The session's title; the program's name by default.")] = "",
    cwd: Annotated[Path | None, typer.Option("--cwd", help="The working folder; the current one by default.")] = None,
    environment: Annotated[
        list[str] | None,
        typer.Option("--env", "-e", help="An environment variable for the program; repeatable.", metavar="NAME=VALUE"),
    ] = None,
    size: Annotated[str, typer.Option("--size", help="Columns and lines, at least 40x10.", metavar="120x40")] = "",
    prompt: Annotated[str, typer.Option("--prompt", help="A first message, sent when the program is ready.")] = "",
    patience: Annotated[
        float, typer.Option("--timeout", min=0, help="Seconds to wait until the program is ready; 0 not to wait.")
    ] = 30.0,
    as_json: AsJson = False,
) -> None:
    """Start an agent or program in a tmux session of its own.

    The command prints the session id and waits until the program is ready. A program may first ask a person something,
    such as whether it may trust a folder: the question is shown, and never answered.
    """
    output = printing.output(as_json=as_json)
    allowed, commands = settings(context).sessions, settings(context).delivery.commands
    # The path as the user sees it, with symbolic links.
    folder = str((cwd or Path()).absolute())

    def tell(session: Session) -> None:
        if not as_json:
            output.line(session.session)
        for line in attention_lines([session]):
            output.note(line)

    async def deliver_prompt(server: Server, session: Session) -> None:
        """Type the prompt as soon as the program accepts it; Ctrl-C cancels it."""
        info = await server.find(session.pane)
        prompt_id = f"prompt-{secrets.token_hex(6)}"
        notes = DeliveryNotes(output, prompt_id, sessions=Sessions(server).all, queues=False, name="prompt")
        async with open_outbox() as outbox:
            try:
                await notes.beside(
                    send(
                        server,
                        info,
                        prompt,
                        publish=notes.take,
                        message_id=prompt_id,
                        outbox=outbox,
                        policy=DeliveryPolicy(commands=commands),
                    )
                )
            except asyncio.CancelledError:
                notes.say_what_became_of_it()
                raise

    async def alone(request: StartSession) -> Session:
        """Start the session without a daemon: wait and deliver the prompt in this process."""
        async with connection.connect() as server:
            sessions = Sessions(server)
            there = await sessions.all()
            check_start(there, asking(there, "", request.within), who=allowed.start, most=allowed.most)
            session = await sessions.start(request, is_awaited=patience > 0)
            if patience:
                async with sessions.failing_start(session), server.watch(session.pane, live=False):
                    session = await sessions.until_ready(session, patience)
            tell(session)
            if prompt:
                await deliver_prompt(server, session)
        return session

    async def main() -> int:
        columns, lines = _size(size)
        request = StartSession(
            agent=agent,
            arguments=arguments or (),
            title=title,
            cwd=folder,
            environment=dict(map(_variable, environment or ())),
            search_path=own_search_path(),
            columns=columns,
            lines=lines,
            prompt=prompt,
            patience=patience,
            within="" if is_typed() else await own_pane(tmux_socket(connection.server())),
        )
        async with service_if_any(connection.server()) as service:
            if service is not None:
                session = await service.start_session(request)
                tell(session)
                if prompt and session.advice:
                    output.note(
                        "the prompt is typed when that is done; `streamrelay delivery list` shows it until then"
                    )
            else:
                session = await alone(request)
        if as_json:
            output.json(msgspec.to_builtins(session))
        return 0

    run_to_end(output, main)


@command("end", panel=AGENTS, place=20)
@takes_options
def end(
    options: ServerOptions,
    printing: PrintingOptions,
    session: Annotated[str, typer.Argument(help="The session's id, its title if unique, or its pane.")],
) -> None:
    """End a session that `start` started, and its program."""
    output = printing.output()

    async def main() -> int:
        tmux = options.server()
        async with Server(tmux) as server, service_if_any(tmux) as service:
            sessions = Sessions(server)
            found = await sessions.find(session)
            await (service.end_session if service is not None else sessions.end)(found.session)
        output.note(f"ended {found.title} ({found.session})")
        return 0

    run_to_end(output, main)


def _size(size: str) -> tuple[int, int]:
    columns, _, lines = size.partition("x")
    if not size:
        return 0, 0
    if not (columns.isdecimal() and lines.isdecimal()):
        raise UsageError(f"invalid size: {size!r}", hint="give columns and lines: --size 120x40")
    return int(columns), int(lines)


def _variable(text: str) -> tuple[str, str]:
    name, is_one, value = text.partition("=")
    if not is_one:
        raise UsageError(f"invalid variable: {text!r}", hint="give a name and a value: -e NAME=VALUE")
    return name, value
