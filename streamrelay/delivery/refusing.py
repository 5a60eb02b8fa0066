"""What it means that tmux typed nothing. Pure."""

from streamrelay.delivery.commands import Refusal
from streamrelay.errors import PaneGone, PaneSynchronized, ProgramLeft, StreamrelayError


def against(refusal: Refusal, pane: str, program: str) -> StreamrelayError | None:
    """Return what stands against typing to `program` for good, if anything."""
    data = {"pane": pane, "program": program, "now": refusal.program}
    if refusal.dead or not refusal.program:
        return PaneGone(f"the program in pane {pane} has ended", data=data)
    if refusal.program != program:
        return left(pane, program, refusal.program)
    if refusal.synchronized:
        return PaneSynchronized(f"pane {pane} passes what is typed on to its neighbours", data=data)
    return None


def left(pane: str, program: str, now: str) -> ProgramLeft:
    """Return what is raised when another command than `program` is in the foreground of a pane."""
    return ProgramLeft(
        f"{program} left the foreground of pane {pane}: {now} is there now",
        data={"pane": pane, "program": program, "now": now},
    )
