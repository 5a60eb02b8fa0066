"""Final output: the last output of a program in a pane that remains after its end (`remain-on-exit`).

When a program ends, tmux drops pane output that it had not passed on, and does not read the rest from the program's
terminal (3.3a server-fn.c, server_destroy_pane; window.c, window_pane_destroy_ready). The dropped output is
recovered from the pane, as far as its history reaches; the unread part is lost. A program that rested before its end
left no unread part, so only then is the tail certain. A pane that is gone cannot be asked.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from streamrelay.control.quoting import command_line
from streamrelay.panes.recovery import MAX_DEPTH, TmuxRows, held_line, read_held

RELEASE = "@streamrelay_release"
"""The option of a pane to be closed once its program has ended and its final output was read."""
RESTED = 2.5
"""Seconds without output before a noticed end of a program, after which tmux has read all its output.

tmux checks once a second whether the program has ended, so the program was idle for at least one of them.
"""
_BLOCKS = 9


@dataclass(frozen=True, slots=True)
class FinalOutput:
    """The rows of a pane whose program has ended, and its exit status.

    `status` is None if the program was killed, or if tmux does not report it (3.3a often does not).
    """

    held: TmuxRows
    status: int | None

    def shows(self, screen: Sequence[str]) -> bool:
        """Whether these are the rows of this screen, moved up by one by tmux's message about the end."""
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
    """Return the command line that closes a dead pane, if streamrelay started it and kept it only to read it."""
    kill = command_line(("kill-pane", "-t", pane))
    return command_line(("if-shell", "-F", "-t", pane, f"#{{&&:#{{pane_dead}},#{{{RELEASE}}}}}", kill))


def parse_final_output(blocks: Sequence[Sequence[bytes]]) -> FinalOutput | None:
    """Parse the replies to `final_output_line`; None if they are incomplete.

    When a program ends in a pane that remains, tmux scrolls the screen by a row and writes that the pane is dead
    (tmux 3.3a server-fn.c, server_destroy_pane), unless its message is empty.
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
