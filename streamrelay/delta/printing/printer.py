"""Programs that print: each line is final when the line feed has passed it.

Four things delay a line. What passes in the region of a line editor is held until the editor shows whether it is one.
What a program prints while it hides its cursor is held until it is done repainting it, or until it leaves the screen
together with all rows that it may have been wrapped to.
What a shell prints between a command's output and the next command is held until the shell reads, and is prompt then.
The first output of a program whose start was observed is held until it asks for input: then it was a greeting, which
answers no message.
"""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Final

import regex

from streamrelay.delta.event_builder import EventBuilder
from streamrelay.delta.layout.rows import PaintedRow, cells_of
from streamrelay.delta.mode import Mode, ModeMachine
from streamrelay.delta.pane_state import ComposerView
from streamrelay.delta.printing.attribution import Attribution
from streamrelay.delta.printing.key_echo import ENDS, MIN_REACTION, head_of_last_key
from streamrelay.delta.printing.line_editor import LineEditor
from streamrelay.delta.printing.line_rows import LineRow, logical
from streamrelay.delta.printing.lines import Habit, LineTracker
from streamrelay.delta.printing.prompt_region import PromptRegion
from streamrelay.delta.printing.prompts import asks, ending_in
from streamrelay.delta.printing.provenance import Piece
from streamrelay.delta.reasons import Rule
from streamrelay.delta.transcript.answers import ended_lines, painted_lines
from streamrelay.delta.transcript.echoes import spelling
from streamrelay.delta.transcript.resize_merge import MIN_PASSAGE, meet
from streamrelay.events import Gap, Origin
from streamrelay.vt.engine import Cursor, Engine, Frame, Row

MAX_WRAPPED_ROWS = 200
"""Rows of a painted line that are waited for: a program may fill all of its rows."""

MAX_GREETING, GREETING_PATIENCE = 100, 10.0
"""Lines, and seconds, after which what a program prints first is taken for what it says, as it asks for no input."""

MAX_SWITCHES, MAX_EDITED = 8, 16_384
"""Switches of bracketed paste between two rests, and characters of an open line that were off the screen already, from
which on no editor is at work: looking at the whole line with every switch, a flood of them would take minutes."""

ENTER_PATIENCE, MAX_EARLY_LINES = 2.0, 1000
"""Seconds for which the Enter behind the echo of a message is awaited, and how many lines may answer it until then."""

_RULES: Final[Mapping[Habit, Rule]] = MappingProxyType(
    {"plain": "passed", "unproven": "passed", "repaints": "repainted", "paints": "repainted"}
)
"""What makes a line final, by the habit of its program."""


def _ends_in_reverse(row: Row) -> bool:
    """Whether a row ends in reverse."""
    return bool(row.runs) and row.runs[-1].is_reverse and row.runs[-1].stop >= cells_of(row.text.rstrip())


class Printing:
    """Says the lines of one pane as they pass."""

    def __init__(self, engine: Engine, builder: EventBuilder, mode: ModeMachine, *, newborn: bool) -> None:
        self.attribution = Attribution()
        self.editor = LineEditor(mode)
        self.region = PromptRegion()
        self._mode = mode
        self._engine = engine
        self._builder = builder
        self._lines = LineTracker(engine)
        self._paints = False
        """Whether the program has hidden its cursor since it was plain last: it wraps its lines itself."""
        self._wrapped: list[str] = []
        """Rows of a line that are final while the program paints; the next one may go on with it."""
        self._resized: list[str] = []
        """What a program had painted when its terminal was resized, until it paints: it may paint that again."""
        self._is_resizing = False
        self._summary: list[str] = []
        """Rows at the end of what was painted that sum it up, if the program asks for input behind them."""
        self._greeting: list[str] | None = [] if newborn else None
        self._is_attached = self._is_unpassed = False
        """Whether only the line that was unfinished at the attach has passed; and whether not even that one."""
        self._right_prompt: regex.Pattern[str] | None = None
        """The text right of the cursor while nothing is typed."""
        self._submitted = ""
        """The last row that a line editor submitted."""
        self.submitted_message: str | None = None
        """The message that a line editor submitted last; None if something else was."""
        self._prompt = ""
        """The open line when the shell marked the end of its prompt."""
        self._greeting_due: float | None = None
        self._switches = 0
        self._early: list[tuple[Piece, str]] | None = None
        """The answer to the first lines of a message before its Enter, as pieces and as the screen showed it.

        It belongs to the turn that the Enter begins.
        """
        self._early_due: float | None = None
        self._torn_due: float | None = None
        """When rows are no longer held because the echo of a line may be torn (stream time)."""
        self._interrupted: list[str] = []
        """A line that ends in what may be the echo of a key, as long as it is not known what follows."""
        self._first_screen: list[str] = []
        """Lines painted with the cursor hidden before bracketed paste was asked for: a rest tells whose they are."""

    def seed(self, frame: Frame) -> None:
        """Start at the line that holds the cursor."""
        self._lines.seed(frame)
        self._is_attached = self._is_unpassed = bool(self._lines.open_head().strip())
        self._look_right()

    @property
    def may_have_read(self) -> bool:
        """Whether a line editor may have been at work since before anybody watched, unknown to tmux.

        It has shown its first line since, or its shell another prompt.
        """
        is_at_work = self._is_attached or self.region.phase == "prompt"
        return is_at_work and not self._mode.asks_for_paste and not self._mode.is_running

    def read_since_attach(self) -> None:
        """A line editor withdraws that was at work since before anybody watched."""
        self._confirm_prompt()
        self.editor.begin(None)
        self.attribution.learn_what_stood_there()

    @property
    def open_text(self) -> str:
        """What of the line at the cursor is not said yet."""
        return self.attribution.unpublished(self._lines.open_text())

    @property
    def open_head(self) -> str:
        """The same, up to the cursor."""
        return self.attribution.unpublished(self._lines.open_head())

    @property
    def is_at_prompt(self) -> bool:
        """Whether the open line ends in a known prompt at the cursor."""
        return bool(self.attribution.prompts.split(self.open_head)[1])

    @property
    def is_behind_prompt(self) -> bool:
        """Whether the open line begins with a known prompt, or ends in one at the cursor."""
        return self.is_at_prompt or self.attribution.prompts.behind(self.open_head) is not None

    def may_be_typing(self, frame: Frame) -> bool:
        """Tell whether the line at the prompt may still be typed, though a line feed has passed it.

        node 20 paints a preview into the row below with every key, and goes up again. A line with something below it
        therefore passes only at a rest, or with the next line.
        """
        is_typed = self.attribution.is_at_prompt and not (self.editor.is_open or self.attribution.ledger)
        return is_typed and frame.cursor.x > 0 and self._lines.rows_passed(frame) == 1

    @property
    def shows_typed(self) -> bool:
        """Whether a line editor that is known shows a text behind its prompt."""
        typed = self.attribution.prompts.behind(self.open_head) if self._mode.is_line_editor_known else None
        return bool(typed and typed.strip())

    def reads_again(self, message_id: str) -> bool:
        """Tell whether the program rests where the next line is typed, below the echo of this message.

        A line editor reads at once what was typed ahead, so one that rests has read everything.
        """
        if self.region.phase != "output" or self.attribution.ledger.awaits(message_id):
            return False
        if self._mode.asks_for_paste:
            return self._mode.is_line_editor_known or self.is_at_prompt
        return self.may_be_at_prompt if self._mode.is_left_to_another else self.is_at_prompt

    @property
    def may_be_at_prompt(self) -> bool:
        """Whether the open line ends in a prompt at the cursor, or will count as one when it comes again."""
        return self.is_at_prompt or self.attribution.prompts.may_learn(self.open_head)

    @property
    def may_be_answered(self) -> bool:
        """Whether a person may be typing behind the open line, so that each of its rests counts."""
        return self.may_be_at_prompt or self.attribution.may_be_answered(self.open_head)

    @property
    def waits_for_answer(self) -> bool:
        """Whether the open line, as it rests, is one behind which an answer or a command is typed."""
        if self.editor.is_open or self.region.phase != "output" or self.attribution.ledger:
            return False
        head = self.open_head
        return asks(head) or (bool(head.strip()) and self.attribution.is_waiting(head.rstrip()))

    def say_question(self) -> None:
        """Say the open line at which the program waits; if it is a prompt, the program has answered without a word."""
        if not self._lines.holds_display:
            self._release()
        self._builder.begin_turn()
        if not (self.attribution.is_at_prompt or self.may_be_at_prompt):
            question = self.attribution.publish_question(self.open_head)
            self._say_explained([Piece(question, "program", rule="asked")], question)

    @property
    def view(self) -> ComposerView:
        """The open line, and the rows above it if they hold the same paste. Text behind an unknown prompt is no draft.

        A background job may have printed other rows, or the editor may have listed what can be typed.
        """
        shown = [self._lines.open_text().rstrip()]
        if self.editor.is_open and (self.attribution.ledger or self.shows_paste):
            shown = [*self.editor.lines, *shown]
        rows = [self._without_right_prompt(row) for row in shown]
        first = self.attribution.prompts.behind(rows[0])
        typed = "\n".join((first, *rows[1:])).strip() if first is not None else ""
        return ComposerView(tuple(rows), typed, typed)

    @property
    def line_at_cursor(self) -> str:
        """The line at the cursor, up to the cursor, said or not."""
        return self._lines.open_head().rstrip()

    @property
    def is_past_all(self) -> bool:
        """Whether the cursor stands at the beginning of an empty line below everything, and nothing is held back."""
        if self._switches or self._mode.asks_for_paste or self.editor.is_open or self._interrupted:
            return False
        return self._lines.is_past_all

    @property
    def cursor(self) -> Cursor:
        """Where the cursor is."""
        return self._lines.cursor

    def take(
        self, frame: Frame, *, whole: bool, paints: bool, more: bool, hides: bool = False, only_printed: bool = False,
        may_pick: bool = False,
    ) -> None:  # fmt: skip
        """Say what a frame makes final; see `LineTracker.take`.

        A program that still `hides` its cursor when it asks for bracketed paste may have painted its first screen.
        One that reads keys, has moved its cursor to other rows, and rests with its cursor shown `may_pick`.
        """
        edits = self.editor.is_open or self.region.phase != "output"
        self._paints = self._paints or (paints and not edits)
        habit = self._lines.habit
        if edits and frame.restarts and frame.restarts[-1].cleared:
            self.editor.begin_anew()
        lines = self._lines.take(
            frame,
            self._builder.now,
            whole=whole,
            paints=paints,
            edits=edits,
            more=more,
            only_printed=only_printed,
            picks=may_pick and self._picks_at(frame.cursor),
        )
        asked = any(event.kind == "bracketed_paste_on" for event in frame.events)
        if asked:
            lines += self._lines.release()
        if asked and self._summary:
            self._builder.leave_out("footer", self._take_summary())
        elif lines:
            self.say(self._take_summary(), "repainted")
        passed, rule = self._unwrapped(lines, habit, at_prompt=asked), _RULES[habit]
        if self._lines.lost:
            self._builder.emit(Gap(reason="history", lost_lines=self._lines.lost))
        self._lines.lost = 0
        withdrawn = any(event.kind == "bracketed_paste_off" for event in frame.events)
        if asked and hides and habit in {"repaints", "paints"}:
            self._first_screen += passed
            return
        if passed and not withdrawn:
            # prompt_toolkit ends its line before it withdraws.
            self._is_attached = self._is_attached and self._is_unpassed and len(passed) == 1
            self._is_unpassed = False
        if not self.editor.is_open:
            self.say(self._without_prompt(passed), rule)
            # A line that ends with its row: the terminal takes what is printed next for more of it.
            if withdrawn and self.attribution.is_at_prompt and self.line_at_cursor and not self.cursor.x:
                self._submit([])
        elif withdrawn:
            self.editor.go_back(self._lines.go_back())
            self._submit(passed)
            self._lines.doubt()
        else:
            self.say(self.editor.keep(passed))

    def end_picker(self) -> None:
        """Note that the program has stopped reading keys, so that its lines become final as those of any program do."""
        self._lines.end_picker()

    def _picks_at(self, cursor: Cursor) -> bool:
        """Tell whether the program rests behind text that may stand before the words that a picker searches for.

        Only a shell's command can be a picker, since the shell tells when the command is over.
        """
        head = self._engine.row(cursor.y).columns(0, cursor.x)
        if not self._mode.is_running or not head.strip():
            return False
        if not any(map(str.isalnum, head)):
            return True  # node and fzf show the same sign, so one that is known may be another program's
        prompts = self.attribution.prompts
        is_question = asks(head, in_words=True) and not prompts.may_learn(head)
        return not (is_question or prompts.split(head)[1])

    def begin(self) -> None:
        """Begin with a program that printed before anybody watched."""
        self.attribution.begin(self.line_at_cursor)
        self._lines.doubt()

    @property
    def is_plain(self) -> bool:
        """Whether each line is said as soon as it has passed."""
        return self._lines.habit == "plain"

    @property
    def patience(self) -> float:
        """Seconds of rest after which what stands on the screen is final."""
        return self._lines.patience

    def await_echo(self, text: str) -> None:
        """A message is being pasted: what passes before its Enter is its echo, which its delivery waits for.

        A program that reads lines gets those above the last one at once, and may answer them before the Enter.
        """
        self.say_early_answers()
        if self._lines.holds_display:
            self._release()
        self._lines.rule_out_picker()
        if self._lines.habit == "unproven":
            self._release()
            self._lines.trust()
        if "\n" in text and not self._mode.asks_for_paste:
            self._early, self._early_due = [], self._builder.now + ENTER_PATIENCE

    def say_early_answers(self) -> None:
        """Say what the program answered to the first lines of a message: its Enter was sent, or is not to come."""
        early, self._early, self._early_due = self._early, None, None
        for piece, shown in early or ():
            self._say_explained([piece], shown)
        self._say_held(self.attribution.ledger.release_torn(unseen_only=True))

    def deadline(self, *, rests: bool) -> float | None:
        """Return when `advance` is due. What the screen shows when it does not rest may be half of a repaint."""
        due = self._lines.due if rests else None
        for other in (self._greeting_due, self.region.due, self._early_due, self._torn_due, self.editor.due):
            if other is not None and (due is None or other < due):
                due = other
        return due

    def advance(self, *, rests: bool) -> None:
        """Say what has been held for as long as it may be."""
        now = self._builder.now
        if self._greeting_due is not None and now >= self._greeting_due:
            self.end_greeting("program")
        if self.region.due is not None and now >= self.region.due:
            self.say(self.region.release())
        if self._early_due is not None and now >= self._early_due:
            self.say_early_answers()
        if self._torn_due is not None and now >= self._torn_due:
            self._torn_due = None
            self._say_held(self.attribution.ledger.release_torn())
        if self.editor.due is not None and now >= self.editor.due:
            self._say_printed_over(self.editor.take_printed())
        if rests:
            habit = self._lines.habit
            self.say(self._unwrapped(self._lines.tick(now), habit), _RULES[habit])

    def goes_on(self, data: bytes) -> None:
        """Note that output begins again with `data` after a rest: it may begin with the echo of a key."""
        if data.startswith(b"^") and self._may_be_key and not self.editor.is_open:
            self.attribution.keys.note(self.open_head)

    @property
    def _may_be_key(self) -> bool:
        """Whether a person may have pressed a key by now: not right behind an Enter."""
        return self._builder.now - self._builder.turns.submitted_at >= MIN_REACTION

    def _say_interrupted(self, *, at_prompt: bool) -> None:
        """Say the line that may end in the echo of a key; it does if a prompt follows it."""
        if self._interrupted:
            [line], self._interrupted = self._interrupted, []
            if at_prompt:
                self._note_last_key(self.attribution.unpublished(line))
            self._say([line])
            self.attribution.keys.forget()

    def _note_last_key(self, line: str) -> None:
        """Note that what may be the echo of a key at the end of a line is one: a prompt follows it."""
        head = head_of_last_key(line)
        if head is not None:
            self.attribution.keys.note(head)

    def skip(self, frame: Frame) -> None:
        """Pass over what a frame holds: it is not printed."""
        if self._wrapped:
            self.say(painted_lines(self._wrapped, self._engine.columns, goes_on=True).lines)
            self._wrapped = []
        self._lines.skip(frame)
        self._paints = False

    def leave(self) -> None:
        """The alternate screen is about to be shown: what was printed before is not rewritten any more."""
        if self._lines.habit != "paints":
            self._release()

    def ask(self) -> None:
        """Note that the open line, as it rests, asks a person for something: it is no output."""
        self._release()
        self.attribution.ask(self.open_head)

    def shell_returned(self, mark: str = "", end: str = "") -> None:
        """What ran is over, as a mark of the shell's tells, or `end`, with which it ends an unfinished line."""
        if self.editor.is_open:
            if end and self.editor.lines:
                self._prompt_again(self.editor.lines[0])
            return
        self._release()
        self.say(self.region.begin(self._builder.now, mark))
        unfinished = self.open_head.rstrip().removesuffix(end)
        if unfinished.strip() and not self.attribution.is_at_prompt:
            if end and self._may_be_key:
                self._note_last_key(unfinished)
            self._say_explained(self.attribution.unfinished(unfinished), unfinished)
        self.attribution.publish_open_line(self._lines.open_head())

    def _prompt_again(self, first: str) -> None:
        """The shell prints its prompt anew below what was typed, whose `first` row has a prompt: it is no command.

        It was cancelled, or the shell says what is wrong with it and shows it again to be mended.
        """
        first = self._without_right_prompt(first)
        typed = self.attribution.prompts.behind(first) or ""
        is_cancelled = self.editor.is_cancelled
        rows, printed = self.editor.begin_prompt(" " * cells_of(first.removesuffix(typed)))
        self._say_read([typed, *rows[1:]], "\n".join(rows), is_typed=is_cancelled)
        self.attribution.publish_open_line(self._lines.open_head())
        self.say(printed)

    def editor_repaints(self) -> None:
        """A line editor that has withdrawn has erased what it showed, and paints it for the last time."""
        self._release()
        self._lines.restart()
        self.attribution.publish_open_line("")
        self.say(self.region.repaint(self._submitted, self._builder.now))

    def prompt_ended(self) -> None:
        """The shell marks the end of its prompt: what follows is typed."""
        if not self.editor.is_open:
            self.region.end_prompt()
            self._prompt = self.open_head
            return
        self.region.is_marked = True
        self._learn_prompt(self.editor.end_prompt(self.open_head))

    def command_began(self) -> bool:
        """The shell marks the beginning of a command's output; return whether that can be trusted."""
        self.say(self.region.release())
        self._release()
        self._lines.doubt()
        is_marked, self.region.is_marked = self.region.is_marked, False
        return is_marked and not self._mode.asks_for_paste

    def _without_prompt(self, passed: list[str]) -> list[str]:
        """Return what of the lines that passed is output; those of a prompt that may be one are held."""
        output = self.region.keep(passed)
        rows = self.region.taken_repaint()
        if rows:
            self._builder.leave_out("prompt", rows)
            self._lines.doubt()
        return output

    def _confirm_prompt(self) -> None:
        rows = self.region.confirm()
        if rows:
            self._builder.leave_out("prompt", rows)
            self.attribution.publish_open_line("")

    def paint_first_screen(self) -> None:
        """Note that the program converses: what it painted so far, and was not said, is chrome of its first screen."""
        lines = self._unwrapped(self._lines.release(), self._lines.habit)
        self._builder.leave_out("first_screen", [*self._take_summary(), *lines])

    def decide_first_screen(self) -> None:
        """The screen rests: a program that converses painted chrome before it asked for bracketed paste.

        Else it was printed, by a program that left the cursor hidden to a line editor.
        """
        lines, self._first_screen = self._first_screen, []
        if self._mode.converses:
            self._builder.leave_out("first_screen", lines)
        else:
            self.say(lines, "repainted")

    def _look_right(self) -> None:
        """Remember what stands right of the cursor, where nothing is typed."""
        right = self._lines.open_text()[len(self._lines.open_head()) :].strip()
        self._right_prompt = ending_in(right) if right else None

    def _without_right_prompt(self, shown: str) -> str:
        """Return the text without the right prompt of the first row that ends in it."""
        return shown if self._right_prompt is None else self._right_prompt.sub("", shown, count=1)

    def _learn_prompt(self, shown: tuple[str, str] | None) -> None:
        """Remember the prompt that a line editor stands behind, and say what stands left of it."""
        if shown is None or not shown[1].strip():
            return
        unfinished, prompt = shown
        self._look_right()
        if unfinished:
            self.say([unfinished.rstrip()])
        # Keys that came with the prompt stand behind it at the first rest: they are no part of it.
        if not self.attribution.prompts.behind(prompt):
            self.attribution.prompts.learn(prompt)

    def asked_for_input(self) -> bool:
        """A line editor begins: bracketed paste was asked for. Return whether it is seen to be a shell's."""
        self._release()
        self._say_interrupted(at_prompt=True)
        self.end_greeting("unknown")
        self.say(self.editor.release())
        is_shell = self.region.phase in {"prompt", "input"}
        if is_shell:
            self._confirm_prompt()
        else:
            self.say(self.region.release())
        self._switches += 1
        head = "" if self.open_head in self.attribution.prompts else self.open_head
        awaits_prompt = is_shell and not self.open_head.strip()
        self.editor.begin(None if self._is_flooded else head, awaits_prompt=awaits_prompt)
        return is_shell

    def settle(self, *, hides: bool = False) -> bool:
        """The screen rests, and no line editor is at work. Return whether a shell is seen to read.

        A program that `hides` its cursor does not wait at a prompt: it is painting.
        """
        self._is_attached = self._is_attached and self._is_unpassed
        self._switches = 0
        is_shell = self.region.phase == "input"
        if is_shell:
            self._confirm_prompt()
            self.attribution.prompts.learn(self._prompt)
        elif self.region.phase != "output":
            self._say_interrupted(at_prompt=True)
            return False
        if not (hides or self._lines.holds_display) and self.attribution.may_be_prompt(self.open_head):
            # What stands above is explained by what was awaited before.
            self._release()
        self._say_interrupted(at_prompt=is_shell or self.may_be_at_prompt)
        in_display = self._lines.holds_display
        if in_display and not (hides or self.cursor.x or self._engine.row(self.cursor.y).text.strip()):
            self._lines.end_picker()  # a program that prints rests below its output
        unfinished = self.attribution.settle(self.open_head, in_display=in_display)
        if unfinished:
            self._say_explained(self.attribution.unfinished(unfinished), unfinished)
        return is_shell

    def settle_editor(self, *, has_painted: bool) -> None:
        """The screen rests, and a line editor is at work: what stands left of its prompt was printed before.

        One that `has_painted` since the last rest may have painted what passed.
        """
        self._switches = 0
        self._learn_prompt(self.editor.settle(self.open_head))
        editor, head = self.editor, self.open_head
        if editor.awaits_prompt or not self._mode.is_line_editor_known:
            return
        behind = self.attribution.prompts.behind
        is_awaited = editor.entered or bool(self.attribution.ledger)
        if editor.lines and behind(head) is not None and not (is_awaited or self.has_prompted_again):
            self._say_printed_over(editor.repaint(head, is_bare=not behind(editor.lines[0])))
        may_be_printed = not (is_awaited or has_painted or head.strip() or self.cursor.x or self.shows_paste)
        first = editor.lines[0] if editor.lines else head
        prompt = first.removesuffix(behind(first) or "") if behind(first) is not None else ""
        is_indented = not head.strip() and self.cursor.x > 0
        editor.rest(
            head,
            self._builder.now,
            prompt=prompt,
            may_be_printed=may_be_printed,
            is_indented=is_indented,
            beyond=self.open_text.removeprefix(head) if head.strip() else "",
        )

    def _say_printed_over(self, lines: list[str]) -> None:
        """Say what another program printed over the row of a line editor."""
        self.say([self._without_right_prompt(line) for line in lines])

    @property
    def shows_paste(self) -> bool:
        """Whether the rows above the cursor end in reverse, as editors show what was pasted."""
        rows = self._engine.rows(max(0, self.cursor.y - len(self.editor.lines)), self.cursor.y)
        written = [row for row in rows if row.text.strip()]
        return bool(written) and all(map(_ends_in_reverse, written))

    @property
    def is_pasted_into(self) -> bool:
        """Whether the row of the cursor begins in reverse as well, or is blank: the paste ends in a line feed."""
        row = self._engine.row(self.cursor.y)
        begins = bool(row.runs) and row.runs[0].is_reverse and not row.runs[0].start
        return self.shows_paste and (begins or not row.text.strip())

    @property
    def has_prompted_again(self) -> bool:
        """Whether a line editor rests at its prompt below a line that was typed behind it, and never withdrew.

        So a program shows another's editor (mosh), and the request for bracketed paste is the other's.
        """
        lines, head = self.editor.lines, self.open_head
        prompts = self.attribution.prompts
        is_typed = bool(prompts.behind(self.editor.first_head))
        return bool(lines and head.strip() and head in prompts and is_typed and prompts.behind(lines[0]))

    def relay_editor(self) -> None:
        """Say what passed in the region of an editor that another program shows: typed lines and their answers."""
        self.attribution.await_prompt(self.open_head)
        self.say(self.editor.release())

    def show_live(self) -> None:
        """Show people the line at the cursor, as far as it is the program's, or the last one that is held back.

        What is held back begins a turn: the quiet that ends it ends the holding, for a program may never show its
        cursor again.
        """
        text = ""
        if not self.editor.is_open:
            waiting = [*self._wrapped, *self.attribution.unpublished_lines(self._lines.waiting)]
            # An agent paints its first screen so: that is no answer, and no turn.
            if waiting and not (self._mode.asks_for_paste or self._greeting is not None):
                self._builder.begin_turn()
            text = self.attribution.ledger.without_echo(self.open_text).rstrip()
            if (echoed := self.attribution.keys.find(text)) is not None:
                text = echoed.printed
            if not text and waiting and self._lines.habit != "paints":
                text = waiting[-1].rstrip()
        if text not in self.attribution.prompts:
            self._builder.show(text)

    def release(self) -> None:
        """Say what was held back for the turn that ends, except a display."""
        if not self._lines.holds_display:
            self._look_and_release()
        for piece in self.attribution.ledger.rest(self.open_text):
            self._builder.say_piece(piece, piece.text)

    def respawned(self) -> None:
        """Another program was started in the pane: what the one before asked of the terminal is void."""
        self.say(self.region.release())
        self.say(self.editor.release())
        self.editor.close()

    def let_pass(self, *, resized: bool) -> None:
        """The screen is about to be seeded anew, which forgets what stands on it: nothing is held back any longer.

        Of a terminal that is `resized`, or was and is not painted anew, what a program painted waits until it paints in
        the new size.
        """
        self._is_resizing = (resized or bool(self._resized)) and self._paints
        self._look_and_release()
        self._is_resizing = False
        self.say(self.region.release())
        if not self.editor.is_open:
            self._lines.keep_head()

    def farewell(self) -> None:
        """Note that a conversing program leaves: its output before a line editor asks for input answers no message."""
        if self._greeting is None:
            self._greeting = []

    def close(self) -> None:
        """The pane is gone: whatever stands unfinished is final."""
        self.decide_first_screen()
        self.end_greeting("program")
        self.say_early_answers()
        in_prompt = self.region.phase != "output" or self._lines.holds_display
        self._look_and_release()
        self.say(self.region.release())
        self.say(self.editor.release())
        rest = self._without_right_prompt(self.open_text.rstrip())
        if rest and (self.editor.is_open or in_prompt or self.attribution.is_waiting(rest)):
            self._builder.leave_out("prompt", [rest])
        elif rest:
            self.say([rest], "closed")
        if not self.editor.is_open:
            self.say(self._lines.unsaid_below(), "closed")

    def end_greeting(self, origin: Origin) -> None:
        """Say what a program that began before our eyes printed first."""
        greeting, self._greeting, self._greeting_due = self._greeting, None, None
        if greeting and origin == "program":
            self.say(greeting)
        else:
            for line in greeting or ():
                self._builder.say_line([Piece(line, origin, rule="greeting")], line)

    def say(self, lines: Sequence[str], rule: Rule = "passed") -> None:
        """Say passed lines, each attributed to its writer; `rule` is what makes the program's lines final.

        A last line that ends in what may be the echo of a key waits for what follows it.
        """
        if not lines:
            return
        lines, self._interrupted = [*self._interrupted, *lines] if self._interrupted else lines, []
        if lines[-1].endswith(ENDS) and self._may_be_interrupted(lines[-1], rule):
            lines, self._interrupted = lines[:-1], [*lines[-1:]]
        self._say(lines, rule)
        if self.is_plain:
            self.attribution.keys.forget()

    def _may_be_interrupted(self, line: str, rule: Rule) -> bool:
        """Tell whether a line of a program that just prints may end in the echo of a key."""
        if rule != "passed" or self.editor.is_open or self._greeting is not None or self._early is not None:
            return False
        return self._may_be_key and head_of_last_key(line) is not None and not self.attribution.keys

    def _say(self, lines: Sequence[str], rule: Rule = "passed") -> None:
        if self._greeting is not None:
            self._greet(self._greeting, lines)
            return
        if self._resized and any(map(str.strip, lines)):
            lines = self._rejoin(lines)
        if self._is_resizing:
            self._resized += lines
            return
        if lines and self._early is None and not (self._builder.shows_live or self.attribution.concerns(lines)):
            self.attribution.printed()
            self._builder.say_plain(lines, rule)
            return
        rest = iter(lines)
        for line in rest:
            if self._early is None and not self.attribution and not self._builder.shows_live:
                self.attribution.printed()
                self._builder.say_plain([line, *rest], rule)
                return
            passed = self._without_right_prompt(line) if self.attribution.is_at_prompt else line
            has_composer = self._mode.asks_for_paste
            may_tear = not (has_composer or self._mode.is_line_editor_known)
            pieces = self.attribution.explain(passed, has_composer=has_composer, may_tear=may_tear)
            self._torn_due = self._builder.now + ENTER_PATIENCE if self.attribution.ledger.is_torn else None
            if pieces is None:
                self._builder.leave_out("said_already", [line])
            else:
                if rule != "passed":
                    pieces = [piece._replace(rule=rule) if piece.rule == "passed" else piece for piece in pieces]
                self._say_explained(pieces, line)

    def _rejoin(self, lines: Sequence[str]) -> list[str]:
        """Return the lines painted before a resize and since, each once; emit a gap where some are missing."""
        before, self._resized = self._resized, []
        known, painted = ([PaintedRow(line, fills=False) for line in part] for part in (before, lines))
        joined = meet(known, (), painted, has_last=True)
        if not any(row.skipped for row in joined):
            return [row.text for row in joined]
        shown = spelling("".join([*(row.text for row in self._engine.rows(0, self._engine.lines)), *lines]))
        if spelling("".join(before))[-MIN_PASSAGE:] not in shown:
            self.say(before, "repainted")
            self._builder.emit(Gap(reason="unpainted"))
            return [*lines]
        return [*before, *lines]

    def _say_held(self, pieces: Sequence[Piece]) -> None:
        for piece in pieces:
            self._say_explained([piece], piece.text)

    def _greet(self, greeting: list[str], lines: Sequence[str]) -> None:
        greeting += lines
        if greeting and self._greeting_due is None:
            self._greeting_due = self._builder.now + GREETING_PATIENCE
        if len(greeting) > MAX_GREETING:
            self.end_greeting("program")

    def _say_explained(self, pieces: list[Piece], shown: str) -> None:
        if self._early is not None and any(piece.origin == "injected" for piece in pieces):
            self._early_due = self._builder.now + ENTER_PATIENCE
        # Where a turn is open and no line of the message is seen yet, the program still answers what came before.
        if self._early is not None and (self.attribution.ledger.is_being_read or not self._builder.turns.is_open):
            self._early += [(piece, shown) for piece in pieces if piece.origin == "program"]
            pieces = [piece for piece in pieces if piece.origin != "program"]
            if len(self._early) > MAX_EARLY_LINES:
                self.say_early_answers()
            if not pieces:
                return
        if any(piece.rule == "behind_prompt" and piece.text for piece in pieces):
            self._builder.next_turn(None, at_prompt=True)
        self._builder.say_line(pieces, shown)
        if self.attribution.ledger.holding:
            self._builder.begin_turn()

    @property
    def _is_flooded(self) -> bool:
        return self._switches > MAX_SWITCHES and self._lines.exceeds(MAX_EDITED)

    def _submit(self, passed: list[str]) -> None:
        """A line editor has withdrawn: what it shows was submitted."""
        if self.editor.offers_choices:
            self._leave_choices(passed)
            return
        if self._is_flooded:
            self.say([*self.editor.release(), *passed])
            return
        if passed or self._lines.open_head().strip():
            # Else the last line that passed can be the one that was submitted.
            self._say_printed_over(self.editor.take_printed())
        content = self.attribution.unpublished(self.editor.content(passed, self._lines.open_head()))
        self.attribution.publish_open_line(self._lines.open_text().rstrip())
        prompts = self.attribution.prompts
        content = self._without_right_prompt(content)
        rows = [row if (text := prompts.behind(row)) is None else text for row in content.split("\n")]
        self._submitted = rows[-1]
        self._say_read(rows, content, is_typed=True)

    def _say_read(self, rows: Sequence[str], content: str, *, is_typed: bool) -> None:
        """Say rows that a line editor has read, which showed `content`; only a message unless they were typed."""
        self.submitted_message = message_id = self.attribution.ledger.in_composer("\n".join(rows))
        typed = "\n".join(rows).strip()
        self.attribution.submitted()
        if message_id is not None:
            self._builder.say_piece(Piece(typed, "injected", message_id, "line_editor"), content)
        elif typed and is_typed:
            self._builder.next_turn(None, at_prompt=True)
            self._builder.say_piece(Piece(typed, "typed", rule="line_editor"), content)
        else:
            self._builder.leave_out("prompt", rows)

    def _leave_choices(self, passed: list[str]) -> None:
        """Say what is left of a list of choices, unless all of it still stands there."""
        columns = self._engine.columns
        # Who paints a list wraps its rows itself, at the last column.
        left = logical([LineRow(row, cells_of(row) >= columns) for row in [*self.editor.release(), *passed]])
        if self._mode.mode is Mode.DIALOG:
            self._builder.leave_out("composer", left)
        else:
            self.say(left, "repainted")

    def _take_summary(self) -> list[str]:
        summary, self._summary = self._summary, []
        return summary

    def _look_and_release(self) -> None:
        """Say what stands on the screen and was held back, whatever the program did last."""
        if self._lines.habit != "plain" and not self.editor.is_open:
            self.take(self._engine.take(), whole=True, paints=False, more=False)
            self._release()
        self.say(self._take_summary(), "repainted")
        self._say_resized()

    def _say_resized(self) -> None:
        """Say what was painted before a resize: nothing is painted again."""
        if not self._is_resizing:
            resized, self._resized = self._resized, []
            self.say(resized, "repainted")

    def _release(self) -> None:
        """Say what was held back because it might still be repainted."""
        habit = self._lines.habit
        self.say(self._unwrapped(self._lines.release(), habit), _RULES[habit])
        self._say_resized()

    def _unwrapped(self, lines: list[str], habit: Habit, *, at_prompt: bool = False) -> list[str]:
        """Return the logical lines of what is final; a program that paints has wrapped its lines itself.

        The program had this `habit` before they were. Their end sums up an answer only where the program asks for input
        behind them (`at_prompt`): until that is known it waits.
        """
        goes_on = self._lines.habit != "plain"
        if not self._paints:
            return [line.rstrip(" ") for line in lines] if goes_on or habit != "plain" else lines
        columns = self._engine.columns
        lines = [*self._wrapped, *lines]
        ended = ended_lines(lines, columns) if goes_on and len(lines) < MAX_WRAPPED_ROWS else len(lines)
        self._wrapped, self._paints = lines[ended:], goes_on
        painted = painted_lines(lines[:ended], columns, goes_on=goes_on)
        for passage in painted.left_out:
            rows = [row.text for row in passage.rows]
            if passage.rule == "footer" and not at_prompt:
                self._summary += rows
            else:
                self._builder.leave_out(passage.rule, rows)
        return painted.lines
