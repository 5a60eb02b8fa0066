"""The region in which a line editor works, from its prompt to the submission.

A line editor (readline, zle, prompt_toolkit) asks for bracketed paste while it reads and withdraws the request when the
line is submitted: everything painted in between is prompt and what was typed, however often it is redrawn. A program
that asks once and never withdraws gives no such bounds. Which of the two a program is shows itself by its first
withdrawal; until then, what passes inside is held until the screen rests. An editor that has withdrawn before may be
followed by a program of the other kind (an agent started from a shell): where tmux tells that another one runs, nothing
is known of it; else it is one when the screen rests after an Enter, with lines passed and the request still standing.
"""

from dataclasses import dataclass, field

MOST_HELD_LINES = 1000


@dataclass(slots=True)
class Composer:
    """One pane's line editor, as far as it has shown itself."""

    asks_for_paste: bool = False
    withdraws: bool | None = None
    """Whether the program withdraws the request on submission; None while unknown."""
    entered: bool = False
    """Whether an Enter was sent since the request."""
    lines: list[str] = field(default_factory=list)
    """The lines that have passed since the prompt stood there."""
    prompt_rows: list[str] = field(default_factory=list)
    """Those that passed before: the rows of the prompt above the one that is edited, if this is an editor."""
    _begun_on: str | None = None
    _left: str = ""
    _command: str = ""
    _withdrawn_by: str | None = None
    """The command that was in the foreground at the last withdrawal."""

    @property
    def is_open(self) -> bool:
        """Whether what passes now is to be taken for an editor's."""
        return self.asks_for_paste and self.withdraws is not False

    @property
    def has_withdrawn(self) -> bool:
        """Whether the request was withdrawn before, by this program or another."""
        return self._withdrawn_by is not None

    def begin(self, open_head: str | None) -> None:
        """Bracketed paste was asked for while the open line read `open_head`; None where nobody has looked at it."""
        self.asks_for_paste = True
        self._forget_another()
        self.entered = False
        self.lines.clear()
        self.prompt_rows.clear()
        self._begun_on = open_head
        self._left = ""

    def run(self, command: str) -> None:
        """Note which command is in the foreground now."""
        self._command = command
        if self.asks_for_paste:
            self._forget_another()

    def _forget_another(self) -> None:
        """What withdrew the request tells nothing of another command."""
        if self.withdraws and self.has_withdrawn and self._command != self._withdrawn_by:
            self.withdraws = None

    def settle(self, open_head: str) -> tuple[str, str] | None:
        """Return, at the first rest after the request, what stood left of the prompt, and the prompt.

        Output that ended without a line feed stands left of a prompt printed after the request (readline); where
        nothing was printed after the request, the prompt itself stood there (zle prints it first). Lines that have
        passed by then are the prompt's first rows, if a prompt stands there.
        """
        before, self._begun_on = self._begun_on, None
        if before is None:
            return None
        if self.lines and open_head.strip():
            self.prompt_rows, self.lines = self.lines, []
            return "", open_head
        if before and open_head.startswith(before) and open_head.rstrip() != before.rstrip():
            self._left = before
            return before, open_head[len(before) :]
        return "", open_head

    def end_prompt(self, open_head: str) -> tuple[str, str] | None:
        """Note the mark behind the prompt; see `settle`."""
        self._begun_on = self._begun_on or ""
        return self.settle(open_head)

    def keep(self, lines: list[str]) -> list[str]:
        """Hold lines that passed inside; return them all again when they are too many for an editor."""
        self.lines += lines
        if len(self.lines) <= MOST_HELD_LINES:
            return []
        self.withdraws = False
        return self.release()

    def release(self) -> list[str]:
        """Return what was held: it was not an editor's after all; the rows of a prompt too where no editor is known."""
        released = self.lines if self.withdraws else [*self.prompt_rows, *self.lines]
        self.prompt_rows, self.lines = [], []
        return released

    def stays_open(self, *, paints: bool, below: bool) -> bool:
        """Tell, at a rest, whether this is no line editor, which it is not from then on.

        Lines have passed although an editor would not have let them; a program that `paints` its screen may show
        several lines of a message before the Enter. Or something stands `below` the cursor, where editors end.
        """
        passed = bool(self.lines) and (self.entered or (self.withdraws is None and not paints))
        if not passed and not (below and self.withdraws is None):
            return False
        self.withdraws = False
        return True

    def content(self, passed: list[str], open_head: str) -> str:
        """Return all that was painted inside, prompt included, as it stands at the withdrawal."""
        return "\n".join([*self.lines, *passed, open_head]).rstrip("\n").removeprefix(self._left)

    def reset(self) -> None:
        """The program is gone, and what it asked for with it: whether the next one has a line editor is unknown."""
        self.asks_for_paste, self.withdraws, self._withdrawn_by = False, None, None
        self.lines.clear()
        self.prompt_rows.clear()
        self._begun_on = None

    def withdraw(self) -> None:
        """The request was withdrawn: what comes next is not an editor's."""
        self.asks_for_paste, self.withdraws, self._withdrawn_by = False, True, self._command
        self.lines.clear()
        self.prompt_rows.clear()
        self._begun_on = None
