"""`streamrelay acp`: a pane as an agent of the Agent Client Protocol, for one client over standard input and output."""

import asyncio
import os
import signal
from functools import partial
from typing import Annotated

import typer

from streamrelay.daemon.address import address_of
from streamrelay.errors import UsageError
from streamrelay.installation import needs_extra
from streamrelay.loops import new_event_loop
from streamrelay.mcp.callers import kept_from_us
from streamrelay.sessions.model import StartSession
from streamrelay.sessions.programs import own_search_path
from streamrelay.version import VERSION
from streamrelay_cli.command_entry import SETUP, command
from streamrelay_cli.daemon import daemon_command
from streamrelay_cli.options import AllowShell, ServerOptions, takes_options
from streamrelay_cli.targets import written_out


@command("acp", panel=SETUP, place=40)
@takes_options
def acp(
    options: ServerOptions,
    target: Annotated[
        str, typer.Argument(help="The session: its id, title or pane, or . for this pane.", show_default=False)
    ] = "",
    start: Annotated[
        str,
        typer.Option(
            "--start",
            help="Start this agent for each new session instead: a profile's name or a command.",
            metavar="AGENT",
            show_default=False,
        ),
    ] = "",
    arguments: Annotated[
        list[str] | None, typer.Option("--argument", help="An argument of the agent that is started; repeatable.")
    ] = None,
    allow_shell: AllowShell = False,
) -> None:
    """Serve a pane as an agent of the Agent Client Protocol (ACP) on standard input and output.

    An editor or another ACP client starts this command as its agent (docs/acp.md). Prompts are delivered to the pane
    with receipts; output, tool calls and permission dialogs go back to the client. The daemon does the work, and is
    started if none runs.
    """
    if bool(target) == bool(start):
        raise UsageError(
            "name either a session or an agent to start",
            hint="streamrelay acp SESSION, or streamrelay acp --start claude",
        )
    with needs_extra("acp", "the Agent Client Protocol"):
        from streamrelay.acp.agent import TerminalAgent
        from streamrelay.acp.stdio import serve_stdio

    async def main() -> None:
        from streamrelay.daemon import background
        from streamrelay.daemon.client import DaemonClient

        os.environ.update(kept_from_us())
        chosen = options.server()
        address = address_of(chosen)
        request = StartSession(agent=start, arguments=arguments or (), search_path=own_search_path()) if start else None
        async with DaemonClient(address.socket) as service:
            agent = TerminalAgent(
                service,
                target=written_out(target) if target else "",
                start=request,
                revive=partial(background.revive, address, daemon_command(chosen)),
                version=VERSION,
                allow_shell=allow_shell,
            )
            await serve_stdio(agent)

    # The daemon holds everything, so a signal may end this process at any moment.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    with asyncio.Runner(loop_factory=new_event_loop) as runner:
        runner.run(main())
