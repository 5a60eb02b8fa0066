"""What stands against typing into a pane for good, as errors. Pure."""

from streamrelay.delivery.commands import PaneRefusal
from streamrelay.errors import PaneGone, PaneSynchronized, ProgramLeft, StreamrelayError, TargetNotReading


def refusal_error(refusal: PaneRefusal, pane: str, program: str) -> StreamrelayError | None:
    """Return what stands against typing to `program` for good, if anything."""
    data = {"pane": pane, "program": program, "now": refusal.program}
    if refusal.dead or not refusal.program:
        return PaneGone(f"the program in pane {pane} has ended", data=data)
    if refusal.program != program:
        return program_left(pane, program, refusal.program)
    if refusal.synchronized:
        return PaneSynchronized(f"pane {pane} passes what is typed on to its neighbours", data=data)
    return None


def program_left(pane: str, program: str, now: str) -> ProgramLeft:
    """Return what is raised when another command than `program` is in the foreground of a pane."""
    return ProgramLeft(
        f"{program} left the foreground of pane {pane}: {now} is there now",
        data={"pane": pane, "program": program, "now": now},
    )


def target_not_reading(pane: str, program: str, unread: int, seconds: float) -> TargetNotReading:
    """Return what is raised when `program` has left that many bytes unread for so long."""
    return TargetNotReading(
        f"{program} in pane {pane} has not read {unread} bytes for {seconds:g} s", data={"pane": pane, "unread": unread}
    )
