"""`streamrelay mcp`: the tools for agents, for one agent over standard input and output."""

import asyncio
import os
import signal
from functools import partial
from typing import Annotated

import typer

from streamrelay.daemon.address import address_of
from streamrelay.errors import UsageError
from streamrelay.loops import new_event_loop
from streamrelay.mcp.callers import kept_from_us, own_pane
from streamrelay.mcp.tokens import Tokens
from streamrelay.version import VERSION
from streamrelay_cli.command_entry import SETUP, command
from streamrelay_cli.command_group import is_group
from streamrelay_cli.daemon import daemon_command
from streamrelay_cli.daemon_client import service_needed
from streamrelay_cli.imports import without_collection
from streamrelay_cli.options import ServerOptions, takes_options
from streamrelay_cli.output import CommandOutput
from streamrelay_cli.runner import run_to_end
from streamrelay_cli.standard_output import writing


@command("mcp", panel=SETUP, place=30)
@takes_options
def mcp(context: typer.Context, options: ServerOptions) -> None:
    """Serve the tools for agents (Model Context Protocol) on standard input and output.

    An agent starts this command as one of its MCP servers (docs/mcp.md). The daemon does the work; the first call
    starts it if none runs.
    """
    if is_group(context):
        return

    async def main() -> None:
        with without_collection():
            from streamrelay.daemon import background
            from streamrelay.daemon.client import DaemonClient
            from streamrelay.mcp.stdio import serve_stdio

        os.environ.update(kept_from_us())
        chosen = options.server()
        address = address_of(chosen)

        pane = await own_pane(address.tmux)
        revive = partial(background.revive, address, daemon_command(chosen))
        async with DaemonClient(address.socket) as service:
            await serve_stdio(service, pane, revive=revive, version=VERSION)

    # The daemon holds all state, so a signal may end this process at any moment; nothing else ends it (serve_stdio).
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    try:
        with asyncio.Runner(loop_factory=new_event_loop) as runner:
            runner.run(main())
    except ExceptionGroup as group:
        with writing():
            raise _only_error(group) from None


@command("mcp token", place=10)
@takes_options
def token(
    options: ServerOptions,
    target: Annotated[str, typer.Argument(help="The session: its id, title or pane; this pane without one.")] = "",
) -> None:
    """Print the token that identifies a session over HTTP.

    Anybody who has the token speaks as that session.
    """
    output = CommandOutput()

    async def main() -> int:
        chosen = options.server()
        info = await chosen.probe()
        wanted = target or await own_pane(info.socket_path)
        if not wanted:
            raise UsageError("this is no pane of that tmux server", hint="name a session: streamrelay ls lists them")
        async with service_needed(chosen) as service:
            sessions = await service.sessions()
        named = [one for one in sessions if wanted in {one.session, one.pane}]
        named = named or [one for one in sessions if one.title == wanted]
        if len(named) != 1:
            raise UsageError(f"{len(named) or 'no'} sessions are called {wanted}", hint="streamrelay ls lists them")
        output.line(Tokens.of_server(info).issue(named[0].session))
        return 0

    run_to_end(output, main)


def _only_error(group: ExceptionGroup[Exception]) -> Exception:
    (error, *more) = group.exceptions
    if more:
        return group
    return _only_error(error) if isinstance(error, ExceptionGroup) else error
