"""Final output: what a program printed last in a pane that remains after its end (`remain-on-exit`).

When a program ends, tmux drops the pane output that it had not passed on, and does not read what the program's terminal
still holds (3.3a server-fn.c, server_destroy_pane; window.c, window_pane_destroy_ready). The dropped output is
recovered from the pane, as far as its history reaches; the unread part is lost. A program that rested before its end
left no unread part, so only then is the tail certain. A pane that is gone cannot be asked.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from streamrelay.control.quoting import command_line
from streamrelay.panes.recovery import MAX_DEPTH, TmuxRows, held_line, read_held

RELEASE = "@streamrelay_release"
"""A pane with this option is closed after its program ended and its final output was read."""
RESTED = 2.5
"""Seconds without output, before it is noticed that a program has ended, after which all it printed was read.

tmux looks once a second whether it has, so it was there for one of them at least.
"""
_BLOCKS = 9


@dataclass(frozen=True, slots=True)
class FinalOutput:
    """The rows of a pane whose program has ended, and its exit status.

    `status` is the program's, None where it was killed, or where tmux does not say (3.3a often does not).
    """

    held: TmuxRows
    status: int | None

    def shows(self, screen: Sequence[str]) -> bool:
        """Whether tmux holds the rows of this screen: what it says of the end has moved them up by one."""
        rows = [row.decode("utf-8", "replace").rstrip() for row in self.held.rows]
        return rows[self.held.history - 1 :] == list(screen) if self.held.history else rows == list(screen)[1:]


def final_output_line(pane: str) -> str:
    """Return the command line whose replies `parse_final_output` reads."""
    return " ; ".join(
        (
            held_line(pane, MAX_DEPTH),
            command_line(
                ("display-message", "-p", "-t", pane, "#{pane_dead_status}"),
                ("display-message", "-p", "-t", pane, "#{E:remain-on-exit-format}"),
            ),
        )
    )


def release_line(pane: str) -> str:
    """Return the command line that closes a dead pane which remained only to be read: one that we started."""
    kill = command_line(("kill-pane", "-t", pane))
    return command_line(("if-shell", "-F", "-t", pane, f"#{{&&:#{{pane_dead}},#{{{RELEASE}}}}}", kill))


def parse_final_output(blocks: Sequence[Sequence[bytes]]) -> FinalOutput | None:
    """Parse the replies to `final_output_line`; None if they are incomplete.

    When a program ends in a pane that remains, tmux scrolls the screen by a row and writes there that the pane is dead
    (tmux 3.3a server-fn.c, server_destroy_pane), unless there is nothing to be written.
    """
    if len(blocks) != _BLOCKS:
        return None
    *blocks, status, notice = blocks
    held = read_held(blocks, MAX_DEPTH)
    if held is None:
        return None
    rows = list(held.rows)
    said = b"".join(notice).strip()
    if rows and (rows[-1].startswith(b"Pane is dead") or (said and rows[-1].strip() == said)):
        rows.pop()
    used = max((number for number, row in enumerate(rows) if row.strip()), default=0)
    held = replace(held, rows=rows, cursor=used)
    return FinalOutput(held, int(status[0]) if status and status[0].isdigit() else None)
