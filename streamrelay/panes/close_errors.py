"""The errors for commands whose pane has closed."""

from streamrelay.control import ConnectionEnd, ServerInfo, upgrade_hint
from streamrelay.errors import PaneGone, ServerLost, StreamrelayError
from streamrelay.events import PaneClosed


def closing_error(
    closed: PaneClosed, server: ServerInfo | None = None, end: ConnectionEnd | None = None
) -> StreamrelayError:
    """Return the error for the end of a pane, with the same code and hint for every command.

    For a pane that ended with its server, the error names the `server`'s version and address, and the last words of the
    connection's `end`, if they are known. `Server.closing_error` supplies them.
    """
    data: dict[str, object] = {"pane": closed.pane, "session": closed.session}
    match closed.reason:
        case "server_lost":
            return _server_lost(closed.pane, data, server, end)
        case "session_gone":
            return PaneGone(f"pane {closed.pane} was closed with its session {closed.session}", data=data)
        case "failed":
            return StreamrelayError(
                f"the output of pane {closed.pane} triggered a defect",
                hint="report it, if possible with a recording of the pane",
                data=data,
            )
        case _:
            return PaneGone(f"pane {closed.pane} was closed", data=data)


def _server_lost(
    pane: str, data: dict[str, object], server: ServerInfo | None, end: ConnectionEnd | None
) -> ServerLost:
    if server is None:
        return ServerLost(f"the tmux server ended while pane {pane} was watched", data=data)
    words = end.words if end is not None else ""
    message = f"tmux {server.version.text} at {server.address} ended while pane {pane} was watched"
    return ServerLost(
        f"{message}: {words}" if words else message,
        # A server that is told to end announces that; a crash does not.
        hint=upgrade_hint(server.version) if end is not None and end.abrupt else None,
        data=data | {"version": server.version.text, "socket": server.address, "reason": words},
    )
