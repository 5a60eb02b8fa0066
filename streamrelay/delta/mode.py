"""How a program's words are read: a state machine whose transitions are one table.

Lines of a program that prints are final when they have passed. What a line editor shows between its request for
bracketed paste and the withdrawal is prompt and input. The words of a program that converses are read off its screen
when a turn is over. The rows of an editor or a pager are not said at all.

    printing --asked--> undecided --shows_composer, passed_lines--> listening --painted--> conversing
    undecided --submitted--> running --asked--> editing --submitted--> running

`TRANSITIONS` names the evidence for every change and the reason that `explain` shows. Evidence without a row for a mode
changes nothing. The alternate screen, and a dialog, stand in front of a mode and give way to it again.
"""

from enum import StrEnum
from typing import Final, Literal, NamedTuple


class Mode(StrEnum):
    """How a program's words are read."""

    PRINTING = "printing"
    """It prints: each line is final when a line feed has passed it."""
    RUNNING = "running"
    """It prints in the place of a line editor that waits: a shell's command."""
    UNDECIDED = "undecided"
    """It asked for bracketed paste: a line editor, or a program with a composer."""
    EDITING = "editing"
    """A line editor, known by an earlier submission, reads its next line."""
    LISTENING = "listening"
    """It is no line editor and has painted nothing so far: its lines are read as they pass."""
    CONVERSING = "conversing"
    """It keeps a transcript and a composer on a screen that it paints."""
    FULL_SCREEN = "full_screen"
    """It fills the alternate screen: an editor, a pager, or a program that has not shown that it converses."""
    DIALOG = "dialog"
    """A question that only a person may answer stands in front."""


Evidence = Literal[
    "asked", "asked_by_another", "other_command", "own_command", "submitted", "dismissed", "passed_lines",
    "prompted_again", "flooded", "shows_composer", "painted", "seen_at_attach", "unheard", "alternate", "main",
    "answered", "closing", "dialog_opened", "dialog_closed",
]  # fmt: skip

_READS_LINES: Final = frozenset({Mode.UNDECIDED, Mode.EDITING})
_PRINTS: Final = frozenset({Mode.PRINTING, Mode.RUNNING})
_ASKS: Final = _READS_LINES | {Mode.LISTENING, Mode.CONVERSING}
_MAIN: Final = _PRINTS | _ASKS


class Transition(NamedTuple):
    """Which evidence changes which modes, into what, and why.

    A mode `in_front` covers the mode before it, which stays; `after` is None if the covering mode ends.
    """

    evidence: Evidence
    before: frozenset[Mode]
    after: Mode | None
    reason: str
    in_front: bool = False


TRANSITIONS: Final = (
    Transition("asked", frozenset({Mode.PRINTING}), Mode.UNDECIDED, "it asked for bracketed paste"),
    Transition("asked", frozenset({Mode.RUNNING}), Mode.EDITING, "the line editor asked for bracketed paste again"),
    Transition("asked_by_another", _PRINTS, Mode.UNDECIDED, "another command asked for bracketed paste"),
    Transition("other_command", frozenset({Mode.EDITING}), Mode.UNDECIDED, "another command is in the foreground"),
    Transition("own_command", frozenset({Mode.UNDECIDED}), Mode.EDITING, "the line editor's command is back"),
    Transition("submitted", _ASKS, Mode.RUNNING, "it withdrew bracketed paste with a line typed: a line editor"),
    Transition("dismissed", _ASKS, Mode.PRINTING, "it withdrew bracketed paste with nothing typed: it leaves"),
    Transition("passed_lines", _READS_LINES, Mode.LISTENING, "lines passed that no line editor lets pass"),
    Transition("prompted_again", _READS_LINES, Mode.PRINTING, "its prompt came again: it shows another's editor"),
    Transition("flooded", _READS_LINES, Mode.LISTENING, "more lines passed than anybody edits"),
    Transition("shows_composer", _READS_LINES, Mode.LISTENING, "it rests with a composer that no line editor shows"),
    Transition("painted", frozenset({Mode.LISTENING}), Mode.CONVERSING, "it moves its cursor about: it paints"),
    Transition(
        "seen_at_attach", _MAIN, Mode.CONVERSING, "a composer stands there that was asked for before the attach"
    ),
    Transition(
        "unheard", frozenset({Mode.CONVERSING}), Mode.LISTENING, "it goes to the alternate screen before any message"
    ),
    Transition("alternate", _MAIN, Mode.FULL_SCREEN, "it took the alternate screen", in_front=True),
    Transition("main", frozenset({Mode.FULL_SCREEN, Mode.CONVERSING}), None, "it left the alternate screen"),
    Transition("answered", frozenset({Mode.FULL_SCREEN}), Mode.CONVERSING, "it showed a message, or told its state"),
    Transition("closing", frozenset({Mode.CONVERSING}), Mode.FULL_SCREEN, "it withdrew bracketed paste: it leaves"),
    Transition("dialog_opened", _ASKS | {Mode.FULL_SCREEN}, Mode.DIALOG, "a question stands there", in_front=True),
    Transition("dialog_closed", frozenset({Mode.DIALOG}), None, "the question is gone"),
)
_TABLE: Final = {(row.evidence, mode): row for row in TRANSITIONS for mode in row.before}


class ModeMachine:
    """The mode of one pane's program."""

    def __init__(self) -> None:
        self.asks_for_paste = False
        """Whether the program wants pasted text in brackets."""
        self.reason = "nothing has shown otherwise"
        """Why the program is in its mode: the reason of the last change."""
        self._modes = [Mode.PRINTING]
        """The mode of the main screen, then that of the alternate screen, then a dialog, each if there is one."""
        self._is_alternate = False
        self._command = self._editor_command = ""
        self._derive()

    def _derive(self) -> None:
        """Derive what every frame asks several times and few change."""
        self.mode = self._modes[-1]
        """The mode."""
        self._ground = self._modes[-2] if self.mode is Mode.DIALOG else self.mode
        """The mode behind a dialog."""
        self.is_full_screen = self._ground is Mode.FULL_SCREEN
        """Whether what the alternate screen shows is no program's answer as far as is known."""
        self.converses = self.is_full_screen or self._ground is Mode.CONVERSING
        """Whether words are read off the screen: the program converses, or may on the alternate screen."""

    @property
    def is_alternate(self) -> bool:
        """Whether the alternate screen is shown."""
        return self._is_alternate

    @property
    def is_overlaid(self) -> bool:
        """Whether the alternate screen stands in front of a conversation: what it shows is no part of that."""
        return self._is_alternate and self._modes[0] is Mode.CONVERSING

    @property
    def has_composer(self) -> bool:
        """Whether the program is seen to have a composer: it converses, or is known not to be a line editor."""
        return self.converses or self._ground is Mode.LISTENING

    @property
    def is_followed(self) -> bool:
        """Whether the screen may show a conversation."""
        return self._ground not in _PRINTS and not self.is_overlaid

    @property
    def prints(self) -> bool:
        """Whether each line of the program is said when it has passed."""
        return self._modes[0] in _PRINTS

    @property
    def reads_line(self) -> bool:
        """Whether what passes now may be a line editor's."""
        return self.asks_for_paste and self._modes[0] in _READS_LINES

    @property
    def is_running(self) -> bool:
        """Whether a line editor has withdrawn and waits for what was submitted to it."""
        return self._modes[0] is Mode.RUNNING

    def see(self, evidence: Evidence) -> bool:
        """Take evidence; return whether it changed the mode.

        It concerns the foremost mode that it can change, of the screen that is shown.
        """
        for place in range(len(self._modes) - 1, int(self._is_alternate) - 1, -1):
            row = _TABLE.get((evidence, self._modes[place]))
            if row is not None:
                self._change(place, row)
                return True
        return False

    def _change(self, place: int, row: Transition) -> None:
        self.reason = row.reason
        if row.after is None:
            del self._modes[place:]
        elif row.in_front:
            self._modes[place + 1 :] = [row.after]
        else:
            self._modes[place] = row.after
        self._derive()

    def ask(self) -> None:
        """Bracketed paste was asked for."""
        self.asks_for_paste = True
        if not self._is_alternate:
            self.see("asked_by_another" if self._is_another else "asked")

    def withdraw(self, *, typed: bool) -> None:
        """The request was withdrawn; `typed` tells whether the program that converses showed a draft then."""
        self.asks_for_paste = False
        if self._is_alternate:
            self.see("closing")
            return
        dismissed = self.see("dialog_closed") or (self.converses and not typed)
        self.see("dismissed" if dismissed else "submitted")
        if self.is_running:
            self._editor_command = self._command

    def show(self, *, alternate: bool) -> bool:
        """Note which screen is shown; return whether it was switched.

        A request on the alternate screen holds for that screen only; the main screen keeps what it had.
        """
        if alternate == self._is_alternate:
            return False
        self.see("dialog_closed")
        if alternate:
            self.see("alternate")
            self._is_alternate = True
            return True
        self.see("main")
        self._is_alternate = False
        if self.asks_for_paste and self._modes[0] in _PRINTS:
            self.ask()
        elif not self.asks_for_paste and self._modes[0] in _ASKS:
            self.see("dismissed")
        return True

    def run(self, command: str) -> None:
        """Note which command is in the foreground: what was seen of a line editor tells nothing of another one."""
        self._command = command
        if self._is_another:
            self.see("other_command")
        elif command and command == self._editor_command:
            # A command is known to have ended only some time after its shell has asked again.
            self.see("own_command")

    @property
    def is_left_to_another(self) -> bool:
        """Whether another command than the line editor's is in the foreground, in the editor's place."""
        return self.is_running and self._is_another

    @property
    def _is_another(self) -> bool:
        return self.is_line_editor_known and self._command != self._editor_command

    @property
    def is_line_editor_known(self) -> bool:
        """Whether the mode rests on a line editor that was seen before."""
        return self._modes[0] in {Mode.RUNNING, Mode.EDITING}

    def reset(self) -> None:
        """Another program was started in the pane."""
        self.asks_for_paste = self._is_alternate = False
        self._modes = [Mode.PRINTING]
        self._derive()
