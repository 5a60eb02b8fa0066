"""The region in which a line editor works, from its prompt to the submission.

A line editor (readline, zle, prompt_toolkit) asks for bracketed paste while it reads and withdraws the request when the
line is submitted: everything painted in between is prompt and input, however often it is redrawn. A program with a
composer asks once and gives no such bounds. mode.py tells them apart; until then, what passes inside is held.

A job in the background prints inside, too, over the editor's row, and the editor knows nothing of it (bash, zsh) or
paints its prompt again below (fish, and zsh when the job has ended):

    $ git pu                    $ git punotice          the editor's row, then `notice` and a line feed
    shown when it rested        sh                      the person goes on in the next row: `git push` was typed

Text that a row has gained since the last rest was printed over it by another program, if the cursor then rests at the
beginning of an empty row and the editor has not withdrawn within `PATIENCE` (after an Enter it withdraws at once). The
same holds for text below a row that has not changed, as `wall` prints it, which begins with a line feed.
"""

from dataclasses import dataclass
from typing import Final

from streamrelay.delta.layout.chrome import masked
from streamrelay.delta.mode import Mode, ModeMachine
from streamrelay.delta.printing.echo import looks_like_prompt

MAX_HELD_LINES = 1000
PATIENCE: Final = 0.3
"""Seconds within which an editor withdraws behind the line feed of an Enter."""


@dataclass(frozen=True, slots=True)
class _EditedRow:
    """The row of an editor as the screen rested."""

    head: str
    """Up to the cursor."""
    beyond: str = ""
    """Right of it: a suggestion, a right prompt."""

    def stands_in(self, line: str) -> bool:
        """Whether a line that has passed reads as the row did, with or without what stood right of the cursor."""
        return line.rstrip() in {self.head.rstrip(), (self.head + self.beyond).rstrip()}

    def printed_over_by(self, line: str) -> str:
        """Return what a line that has passed reads behind the head, unless the row stands in it."""
        if self.stands_in(line):
            return ""
        return line.removeprefix(self.head if line.startswith(self.head) else self.head.rstrip())


class LineEditor:
    """What one pane's line editor shows; `mode` tells whether one may be at work."""

    def __init__(self, mode: ModeMachine) -> None:
        self.entered = False
        """Whether an Enter was sent since the request."""
        self.offers_choices = False
        """Whether a list of choices was shown since then: its rest belongs to the program, and nothing was typed."""
        self.lines: list[str] = []
        """The lines that have passed since the prompt was shown."""
        self.prompt_rows: list[str] = []
        """Those that passed before: the rows of the prompt above the one that is edited, if this is an editor."""
        self.due: float | None = None
        """When lines that passed count as printed by another program (stream time)."""
        self.awaits_prompt = False
        """Whether the shell is still to print its prompt."""
        self._withdraws_by: float | None = None
        """When an editor has withdrawn at the latest: the screen has rested behind a line that an Enter ended."""
        self._mode = mode
        self._begun_on: str | None = None
        self._left = ""
        self._typed = ""
        """The text in front of another program's output, including the prompt."""
        self._rows: dict[int, _EditedRow] = {}
        """How each line read at the last rest before it passed, by its place in `lines`."""
        self._looked = self._printed = 0
        """How many lines had passed at the last rest, and how many of them another program seems to have printed."""

    @property
    def is_open(self) -> bool:
        """Whether what passes now is to be taken for an editor's."""
        return self._mode.reads_line

    def begin(self, open_head: str | None, *, awaits_prompt: bool = False) -> None:
        """Note that bracketed paste was enabled while the open line read `open_head`, which is not a known prompt.

        It is None if the line is not known. A shell that asks first `awaits_prompt`: it prints one when it is made.
        """
        self.begin_anew()
        self.entered = self.offers_choices = False
        self._begun_on = open_head
        self.awaits_prompt = awaits_prompt
        self._left = ""

    def begin_anew(self) -> None:
        """The screen was cleared: an editor prints its rows again."""
        self.prompt_rows.clear()
        self._typed = ""
        self._forget_lines()

    def _forget_lines(self) -> None:
        self.lines, self._rows = [], {}
        self._looked = self._printed = 0
        self.due = self._withdraws_by = None

    def settle(self, open_head: str) -> tuple[str, str] | None:
        """Return, at the first rest after the request, the text left of the prompt, and the prompt.

        Output that ended without a line feed is left of a prompt that was printed after the request (readline). If
        nothing was printed after the request, the text is the prompt itself (zle prints it first). Lines that have
        passed by then are the first rows of the prompt, if there is one, and output can stand left of the first.
        """
        self.awaits_prompt = self.awaits_prompt and not open_head.strip()
        if self.awaits_prompt:
            return None
        before, self._begun_on = self._begun_on, None
        if before is None:
            return None
        if self.lines and open_head.strip():
            left = before if self.lines[0].startswith(before) and not looks_like_prompt(before) else ""
            first_row = self.lines[0].removeprefix(left)
            self.prompt_rows = [*([first_row] if first_row or not left else []), *self.lines[1:]]
            self._forget_lines()
            return left, open_head
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

    def go_back(self, lines: int) -> None:
        """Forget so many of the last lines: the row that is edited, and what was listed below it."""
        del self.lines[max(0, len(self.lines) - lines) :]
        self._looked, self._printed = min(self._looked, len(self.lines)), min(self._printed, len(self.lines))

    def release(self) -> list[str]:
        """Return what was held: it was not an editor's after all; the rows of a prompt too where no editor is known."""
        known = self._mode.is_line_editor_known
        released = [*([] if known else self.prompt_rows), *self.take_printed(), *self.lines]
        self.prompt_rows = []
        self._forget_lines()
        return released

    @property
    def first_head(self) -> str:
        """The first line that passed, up to the cursor, at the last rest before that."""
        return self._rows[0].head if 0 in self._rows else self.lines[0] if self.lines else ""

    def rest(
        self,
        open_head: str,
        now: float,
        *,
        prompt: str,
        may_be_printed: bool,
        is_indented: bool = False,
        beyond: str = "",
    ) -> None:
        """Note how the open line reads up to the cursor as the screen rests, and what stands `beyond` it.

        Where the cursor `is_indented` on an empty row, the editor has gone on with the row above.
        What passed since the last rest `may_be_printed` by another program. The `prompt` is how the first line begins,
        where the screen did not rest before that passed.
        """
        self._rows.setdefault(0, _EditedRow(prompt))
        first, passed = self._looked, len(self.lines)
        if is_indented:
            self._printed, self.due = 0, None
        if may_be_printed and self._printed == first < passed and self._has_other_output(first):
            self._printed = passed
            self.due = now + PATIENCE if self.due is None else self.due
        self._looked = passed
        self._rows[passed] = _EditedRow(open_head, beyond)

    def _has_other_output(self, first: int) -> bool:
        """Whether another program printed what passed since the last rest, over the row or below it.

        Output that begins with a line feed (`wall`) leaves the row as it is: then two lines pass or more.
        """
        stands = self._row(first).stands_in(self.lines[first])
        return self._is_printed_over(first) or (stands and any(self.lines[first + 1 :]))

    def _is_printed_over(self, place: int) -> bool:
        """Whether a line reads more than it did when the screen rested last."""
        row, line = self._row(place), self.lines[place]
        return line.startswith(row.head.rstrip()) and not row.stands_in(line)

    def _row(self, place: int) -> _EditedRow:
        return self._rows.get(place, _EditedRow(""))

    def take_printed(self) -> list[str]:
        """Return, and forget, what another program seems to have printed; the text in front of it stays typed.

        If the output began with a line feed, the empty line that this makes of the editor's row is left out.
        """
        printed, ends_row = [], bool(self._row(0).head.strip())
        for place, line in enumerate(self.lines[: self._printed]):
            self._typed += self._row(place).head
            printed.append(self._row(place).printed_over_by(line))
        self._rows = {place - self._printed: row for place, row in self._rows.items() if place >= self._printed}
        del self.lines[: self._printed]
        self._looked, self._printed, self.due = max(0, self._looked - self._printed), 0, None
        return printed[1:] if printed[:1] == [""] and ends_row else printed

    def repaint(self, open_head: str, *, is_bare: bool) -> list[str]:
        """Note that the editor has painted its prompt again; return what another program printed in front of that.

        Where nothing was printed over its row the editor has listed what may be typed: there it shows what is typed
        again. It lists nothing where the prompt was bare (`is_bare`).
        """
        if is_bare or (self._is_printed_over(0) and not open_head.startswith(self.lines[0])):
            rows = [masked(row) for row in self.prompt_rows]
            self._printed = len(self.lines)
            if rows and [masked(row) for row in self.lines[-len(rows) :]] == rows:
                self._printed -= len(rows)
            printed = self.take_printed()
        else:
            printed = []
        self._typed = ""
        self._forget_lines()
        return printed

    def begin_prompt(self, indent: str) -> tuple[list[str], list[str]]:
        """Note that the shell begins another prompt and has withdrawn nothing (fish).

        Returns the rows that were edited, the first with its prompt and those below behind the `indent`, and what was
        printed below them: of what was typed, or by another program.
        """
        if self.is_cancelled:
            edited, printed = self.lines, []
        else:
            printed, rows = self.take_printed(), self.lines
            count = next((y for y, row in enumerate(rows) if y and not row.startswith(indent)), len(rows))
            edited, printed = rows[:count], [*printed, *rows[count:]]
        self.begin("", awaits_prompt=True)
        return edited, printed

    @property
    def is_cancelled(self) -> bool:
        """Whether what was typed was given up: Ctrl-C is shown behind it."""
        return bool(self.lines) and self.lines[-1].endswith("^C")

    @property
    def withdrawal_due(self) -> float | None:
        """When it is seen that no editor is at work, which would have withdrawn by then (stream time)."""
        return self._withdraws_by if self._mode.mode is Mode.EDITING else None

    def has_passed(self, now: float, *, shows_input: bool) -> bool:
        """Tell, at a rest, whether lines have passed that no editor would have let pass.

        Behind an Enter an editor withdraws, though the screen may rest before: prompt_toolkit paints the ended line
        first, and withdrew 16 ms later. An editor that is known has that time, and it may show lines of its own before
        the Enter (completions). One that is not known may show the lines of a message or a paste (`shows_input`).
        """
        if not self._mode.is_line_editor_known:
            return bool(self.lines) and (self.entered or not shows_input)
        if not (self.lines and self.entered):
            return False
        if self._withdraws_by is None:
            self._withdraws_by = now + PATIENCE
        return now >= self._withdraws_by

    def content(self, passed: list[str], open_head: str) -> str:
        """Return all that was painted inside, prompt included, as it stands at the withdrawal."""
        shown = "\n".join([*self.lines, *passed, open_head]).rstrip("\n")
        return (self._typed + shown).removeprefix(self._left)

    def close(self) -> None:
        """The request was withdrawn: what comes next is not an editor's."""
        self.begin_anew()
        self._begun_on = None
