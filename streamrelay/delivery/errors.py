"""The errors that rule out typing into a pane. Pure."""

from streamrelay.delivery.commands import PaneRefusal
from streamrelay.errors import PaneGone, PaneSynchronized, ProgramLeft, StreamrelayError, TargetNotReading


def refusal_error(refusal: PaneRefusal, pane: str, program: str) -> StreamrelayError | None:
    """Return the error that rules out typing to `program`; None if there is none."""
    data = {"pane": pane, "program": program, "now": refusal.program}
    if refusal.dead or not refusal.program:
        return PaneGone(f"the program in pane {pane} has ended", data=data)
    if refusal.program != program:
        return program_left(pane, program, refusal.program)
    if refusal.synchronized:
        return PaneSynchronized(f"pane {pane} is synchronized: tmux would type into its neighbours as well", data=data)
    return None


def program_left(pane: str, program: str, now: str) -> ProgramLeft:
    """Return the error for a pane whose foreground command is no longer `program`."""
    return ProgramLeft(
        f"{program} left the foreground of pane {pane}: {now} is there now",
        data={"pane": pane, "program": program, "now": now},
    )


def target_not_reading(pane: str, program: str, unread: int, seconds: float) -> TargetNotReading:
    """Return the error for a program that has left input unread for too long."""
    return TargetNotReading(
        f"{program} in pane {pane} has not read {unread} bytes for {seconds:g} s", data={"pane": pane, "unread": unread}
    )
