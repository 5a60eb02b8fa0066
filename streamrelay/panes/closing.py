"""What the end of a pane means to those who needed it to go on."""

from streamrelay.errors import PaneGone, ServerLost, StreamrelayError
from streamrelay.events import PaneClosed


def closing_error(closed: PaneClosed) -> StreamrelayError:
    """Return the error that stands for the end of a pane: one code and hint for every command."""
    data = {"pane": closed.pane, "session": closed.session}
    match closed.reason:
        case "server_lost":
            return ServerLost(f"the tmux server ended while pane {closed.pane} was watched", data=data)
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
