"""What the end of a pane means to those who needed it to go on."""

from streamrelay.control import ConnectionEnd, ServerInfo, upgrade_hint
from streamrelay.errors import PaneGone, ServerLost, StreamrelayError
from streamrelay.events import PaneClosed


def closing_error(
    closed: PaneClosed, server: ServerInfo | None = None, end: ConnectionEnd | None = None
) -> StreamrelayError:
    """Return the error that stands for the end of a pane: one code and hint for every command.

    For a pane that ended with its server, `server` and the `end` of the last connection to it tell which version died,
    where, and with which words, if they are known. `Server.closing_error` knows them.
    """
    data: dict[str, object] = {"pane": closed.pane, "session": closed.session}
    match closed.reason:
        case "server_lost":
            return _server_lost(closed.pane, data, server, end)
        case "session_gone":
            return PaneGone(f"pane {closed.pane} was closed with its session {closed.session}", data=data)
        case "failed":
            return StreamrelayError(
                f"the output of pane {closed.pane} brought a defect to light",
                hint="please report it, with a recording of the pane if you can",
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
        # A server that was told to end says so; one that crashes does not.
        hint=upgrade_hint(server.version) if end is not None and end.abrupt else None,
        data=data | {"version": server.version.text, "socket": server.address, "reason": words},
    )
