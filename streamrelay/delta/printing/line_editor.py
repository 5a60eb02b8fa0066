"""The region in which a line editor works, from its prompt to the submission.

A line editor (readline, zle, prompt_toolkit) asks for bracketed paste while it reads and withdraws the request when the
line is submitted: everything painted in between is prompt and input, however often it is redrawn. A program with a
composer asks once and gives no such bounds. mode.py tells them apart; until then, what passes inside is held.
"""

from streamrelay.delta.mode import ModeMachine

MAX_HELD_LINES = 1000


class Composer:
    """What one pane's line editor shows; `mode` tells whether one may be at work."""

    def __init__(self, mode: ModeMachine) -> None:
        self.entered = False
        """Whether an Enter was sent since the request."""
        self.offers_choices = False
        """Whether a list of choices stood there since: what is left of it is the program's, and nothing was typed."""
        self.lines: list[str] = []
        """The lines that have passed since the prompt stood there."""
        self.prompt_rows: list[str] = []
        """Those that passed before: the rows of the prompt above the one that is edited, if this is an editor."""
        self._mode = mode
        self._begun_on: str | None = None
        self._left = ""

    @property
    def is_open(self) -> bool:
        """Whether what passes now is to be taken for an editor's."""
        return self._mode.reads_line

    def begin(self, open_head: str | None) -> None:
        """Note that bracketed paste was enabled while the open line read `open_head`; None if the line is not known."""
        self.begin_anew()
        self.entered = self.offers_choices = False
        self._begun_on = open_head
        self._left = ""

    def begin_anew(self) -> None:
        """The screen was cleared: an editor prints its rows again."""
        self.lines.clear()
        self.prompt_rows.clear()

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
        if len(self.lines) <= MAX_HELD_LINES:
            return []
        self._mode.see("flooded")
        return self.release()

    def release(self) -> list[str]:
        """Return what was held: it was not an editor's after all; the rows of a prompt too where no editor is known."""
        released = self.lines if self._mode.is_line_editor_known else [*self.prompt_rows, *self.lines]
        self.prompt_rows, self.lines = [], []
        return released

    def has_passed(self, *, paints: bool) -> bool:
        """Tell, at a rest, whether lines have passed that no editor would have let pass.

        Behind an Enter an editor withdraws. A program that `paints` its screen may show several lines of a message
        before the Enter, and an editor that is known may show lines of its own (completions).
        """
        return bool(self.lines) and (self.entered or not (paints or self._mode.is_line_editor_known))

    def content(self, passed: list[str], open_head: str) -> str:
        """Return all that was painted inside, prompt included, as it stands at the withdrawal."""
        return "\n".join([*self.lines, *passed, open_head]).rstrip("\n").removeprefix(self._left)

    def close(self) -> None:
        """The request was withdrawn: what comes next is not an editor's."""
        self.begin_anew()
        self._begun_on = None
