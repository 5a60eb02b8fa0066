"""The targets of commands: panes as tmux names them, and `.` for the pane of the command."""

import os
from typing import TYPE_CHECKING

from streamrelay.errors import UsageError

if TYPE_CHECKING:  # most commands ask the daemon, and need nothing that reads panes
    from streamrelay import PaneInfo, Server

HERE = "."


async def found(server: "Server", target: str) -> "PaneInfo":
    """Return the pane of a target; raises UsageError for `.` outside of this server."""
    return await server.find(None if target == HERE else target)


async def named_here(server: "Server", target: str) -> str:
    """Return a target for the server, with `.` as the id of this pane."""
    return (await server.find(None)).pane if target == HERE else target


def written_out(target: str) -> str:
    """Return a target for the daemon, with `.` as this pane's id; raises UsageError for `.` outside of tmux."""
    if target != HERE:
        return target
    if not (pane := os.environ.get("TMUX_PANE")):
        raise UsageError("this is not a pane of tmux", hint="name one: `streamrelay ls` lists them")
    return pane
