"""The region between a command's output and the next command: what a shell prints there is prompt.

Two witnesses tell where a command's output ends, although nothing in the text does:

* *marks* that a shell's integration prints (OSC 133, or 633 with the same letters): A before the prompt, B behind it,
  C before a command's output, D with its exit status behind it;
* the *end of an unfinished line*: zsh and fish print a mark and blanks before each prompt, so that it begins on a row
  of its own (`EndedLine`).

| phase | what tells | next phase | the rows held |
|---|---|---|---|
| any | A, D, end of a line | prompt | stay held; those of `input` are output after all |
| prompt | a row passes | prompt | one more; more than `MAX_ROWS` are output after all |
| prompt, input | the shell reads: bracketed paste, or it rests behind B | output | are the prompt |
| prompt | B | input | stay held |
| prompt, input | C, or `PATIENCE` is over | output | are output after all |
| output | the editor that withdrew erases what it showed | repaint | none |
| repaint | a row passes that ends in what was submitted | output | are the prompt, painted for the last time |
| repaint | the shell reads, or `PATIENCE` is over | output | are output after all |

Where an editor is open the end of a line begins its prompt anew: what was typed was cancelled, or is no command (fish).
An editor that withdraws in `prompt`, and was never seen to ask, asked before the watching began.

So a program that prints such marks itself only delays its text, unless it waits behind a B as a shell does.
"""

from typing import Literal

import regex

from streamrelay.delta.printing.echo import squeeze

MAX_ROWS = 20
PATIENCE = 3.0
"""Seconds within which a shell prints its prompt: some ask a version control system first."""

_EXIT_STATUS = regex.compile(r"D;(\d{1,3})(?:;|\Z)")


class PromptRegion:
    """Tracks the prompt region of one pane."""

    def __init__(self) -> None:
        self.phase: Literal["output", "prompt", "input", "repaint"] = "output"
        self.due: float | None = None
        """When waiting for the prompt ends (stream time)."""
        self.exit_status: int | None = None
        """The exit status of the command before the prompt, by its D mark."""
        self.is_marked = False
        """Whether the shell that reads put a B behind its prompt: the C that follows is its own."""
        self._rows: list[str] = []
        self._submitted = ""
        self._repainted: list[str] = []

    def repaint(self, submitted: str, now: float) -> list[str]:
        """Note that an editor which has withdrawn paints its prompt and the row `submitted` for the last time.

        Return rows that are output after all.
        """
        released = self.release()
        self._submitted = squeeze(submitted)
        if self._submitted:
            self.phase, self.due = "repaint", now + PATIENCE
        return released

    def taken_repaint(self) -> list[str]:
        """Return the rows that were painted for the last time, and forget them."""
        rows, self._repainted = self._repainted, []
        return rows

    def begin(self, now: float, mark: str = "") -> list[str]:
        """Begin a prompt at A, D or the end of an unfinished line; return rows that are output after all."""
        released = self.release() if self.phase in {"input", "repaint"} else []
        if self.phase == "output":
            self.exit_status = None
        status = _EXIT_STATUS.match(mark)
        if status is not None:
            self.exit_status = int(status[1])
        self.phase, self.due, self.is_marked = "prompt", now + PATIENCE, False
        return released

    def keep(self, rows: list[str]) -> list[str]:
        """Hold rows that passed, and return those that are output: all of them while no prompt is printed."""
        if self.phase == "output" or not rows:
            return rows
        if self.phase == "repaint":
            for y, row in enumerate(rows):
                if squeeze(row).endswith(self._submitted):
                    self._repainted = [*self._rows, *rows[: y + 1]]
                    self._rows = []
                    self.phase, self.due = "output", None
                    return rows[y + 1 :]
        self._rows += rows
        return self.release() if len(self._rows) > MAX_ROWS else []

    def end_prompt(self) -> None:
        """Note a B: input begins, if a prompt was printed."""
        if self.phase == "prompt":
            self.phase = "input"

    def confirm(self) -> list[str]:
        """Note that the shell reads; return the rows of its prompt above the one that it reads in."""
        self.is_marked = self.phase == "input"
        rows, self._rows = self._rows, []
        self.phase, self.due = "output", None
        return rows

    def release(self) -> list[str]:
        """Return the held rows, which are output after all; the rows that follow are output, too."""
        rows, self._rows = self._rows, []
        self.phase, self.due, self.exit_status = "output", None, None
        return rows
