"""The error for a program that ended while it was being started: how it ended, and what it printed last. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass

from streamrelay.delivery.sanitise import sanitised
from streamrelay.errors import StartFailed

MAX_ROWS, MAX_CHARACTERS = 12, 2_000
"""How much of its output the error repeats."""
FOREGROUND_FORMAT = "#{pane_id}\t#{?pane_dead,1,0}\t#{pane_dead_status}\t#{pane_dead_signal}\t#{pane_current_command}"


@dataclass(frozen=True, slots=True)
class Foreground:
    """What tmux reports about the program in a pane; `status` and `signal` are empty if unknown."""

    has_ended: bool
    status: str = ""
    signal: str = ""
    command: str = ""

    @property
    def says_how(self) -> bool:
        """Whether tmux reports how the program ended; 3.3a may learn it only when its next child ends."""
        return bool(self.status or self.signal)


def read_foreground(line: str, pane: str) -> Foreground | None:
    """Return what a line in `FOREGROUND_FORMAT` says of a pane; None where the pane is gone.

    For a pane that is gone, `display-message` prints the values of another one (3.3a cmd-display-message.c).
    """
    shown, dead, status, killed_by, command = (*line.split("\t", 4), "", "", "", "", "")[:5]
    return Foreground(dead == "1", status, killed_by, command) if shown == pane else None


def start_failure(program: str, ended: Foreground | None, rows: Sequence[str]) -> StartFailed:
    """Return the error for a program that ended before it was ready.

    `ended` is None where its pane is gone too; `rows` are the last rows of the pane, oldest first.
    """
    said = last_words(rows)
    how = "its pane was closed" if ended is None else _how(ended)
    message = f"{program} ended before it was ready ({how})" + (f"; it printed last:\n{said}" if said else "")
    data = {"program": program, "said": said}
    if ended is not None:
        data |= {"status": ended.status, "signal": ended.signal}
    return StartFailed(message, data=data)


def last_words(rows: Sequence[str]) -> str:
    """Return the last rows that hold anything, fit for a terminal; tmux's own notice is not the program's."""
    held = [row.rstrip() for row in map(sanitised, rows)]
    said = [row for row in held if row and not row.startswith("Pane is dead")]
    return "\n".join(said[-MAX_ROWS:])[-MAX_CHARACTERS:]


def _how(ended: Foreground) -> str:
    if ended.signal:
        return f"killed by {'signal ' if ended.signal.isdecimal() else ''}{ended.signal}"
    return f"exit status {ended.status}" if ended.status else "tmux does not say how"
