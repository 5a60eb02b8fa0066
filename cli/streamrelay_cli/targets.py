"""Panes as people name them to a command: as tmux does, and `.` for the one the command is typed in."""

from streamrelay import PaneInfo, Server

HERE = "."


async def found(server: Server, target: str) -> PaneInfo:
    """Return the pane of a target; raises UsageError for `.` outside of this server."""
    return await server.find(None if target == HERE else target)


async def named_here(server: Server, target: str) -> str:
    """Return a target as the server takes it, `.` as the id of this pane."""
    return (await server.find(None)).pane if target == HERE else target
