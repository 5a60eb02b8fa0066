"""Detects that a program waits for a person: by the line at its cursor while the screen rests, or by a dialog.

The patterns here match text that ordinary output does not leave at the cursor. Patterns for the dialogs of one program
belong in its profile.
"""

from collections.abc import Sequence
from typing import Literal, NamedTuple

import regex

from streamrelay.delta.event_builder import EventBuilder
from streamrelay.delta.frames import FrameCutter
from streamrelay.delta.layout.dialogs import Dialog, DialogChoice, find_dialog
from streamrelay.delta.printing.printer import Printing
from streamrelay.delta.transcript.conversation import Conversation
from streamrelay.events import NeedKind, NeedsHuman
from streamrelay.vt.engine import Engine

REST = 0.3
"""Seconds without output before the screen is read: a question that is answered at once needs no person."""

MAX_WAIT = 1.0
"""Seconds after which a screen is read although it changes: a spinner may turn beside a question."""


class Sign(NamedTuple):
    """What a program waits for, and the pattern of the line at its cursor."""

    kind: Literal["password", "confirmation"]
    pattern: regex.Pattern[str]


SIGNS = (
    Sign("password", regex.compile(r"(?i)\b(?:password|passphrase|passcode|\bPIN)\b[^:?]{0,80}[:?]\s*$")),
    Sign(
        "confirmation",
        regex.compile(r"(?i)[\[(]\s*y(?:es)?\s*/\s*n(?:o)?(?:\s*/[^\])]{1,40})?\s*[\])]{1,2}\s*[:?]?\s*$"),
    ),
)


_SECRET = regex.compile(
    r"(?i)pass|\bpin\b|secret|token|\bkey\b|\bcode\b|\botp\b|kennwort|mot de passe|contrase|senha|hasło|парол|密码"
    r"|パスワード|[:：]\s*$"
)


def asks_for_secret(open_line: str) -> bool:
    """Return whether the line at the cursor may ask for a secret; it does only if the terminal also hides input."""
    return bool(open_line.strip()) and _SECRET.search(open_line) is not None


class PromptDetector:
    """Watches one screen for questions that only a person may answer, and emits each question once."""

    def __init__(
        self,
        engine: Engine,
        builder: EventBuilder,
        *,
        printing: Printing,
        conversation: Conversation,
        cutter: FrameCutter,
    ) -> None:
        self._engine = engine
        self._builder = builder
        self._printing = printing
        self._conversation = conversation
        self._cutter = cutter
        self.due: float | None = None
        """When to read the screen next (stream time); None for not at all."""
        self.kind: NeedKind | None = None
        """What the program waits for; None if it needs no person."""
        self.dialog: Dialog | None = None
        """The dialog on the screen when it was last read."""
        self._latest: float | None = None
        self._asked: tuple[int, str] | None = None

    @property
    def asked(self) -> str:
        """The open question, as one line; empty if no person is needed."""
        return "" if self._asked is None else self._asked[1]

    @property
    def rows(self) -> list[str]:
        """The rows of the screen, without blanks at their ends."""
        return [self._engine.row(y).text.rstrip() for y in range(self._engine.lines)]

    def changed(self, now: float) -> None:
        """Note output of the program at `now`; an open question stays open until the screen is read again."""
        self.due = None
        if self._latest is None:
            self._latest = now + MAX_WAIT

    def rests(self, since: float, now: float) -> None:
        """Note at `now` that the program has printed nothing since `since`, and set when to read the screen."""
        due = since + REST if self._latest is None else min(since + REST, self._latest)
        self.due = max(now, due)

    def skip(self) -> None:
        """Skip the next reading: the output cannot be a question, and none was open."""
        self.due = self._latest = None

    def look(self, *, converses: bool, partial: bool = False) -> None:
        """Read the screen of a program that prints or `converses`, and emit a question that is new.

        A `partial` repaint can show a dialog that the program did not finish. Such a dialog stops a sender at once, and
        is emitted only when the screen rests.
        """
        if not partial:
            self.due = self._latest = None
        rows = self.rows
        dialog = self._dialog(rows)
        if dialog is not None:
            self.kind, text, line = dialog.kind, dialog.text, 0
        else:
            printing = self._printing
            text = self._conversation.asked_at(rows, printing.cursor) if converses else printing.line_at_cursor
            self.kind, line = needed_for(text), self._builder.line
            if self.kind is not None and not converses:
                printing.ask()
        self.dialog = dialog or open_dialog(text)
        if partial:
            return
        asked = (line, text) if self.kind is not None else None
        if self.kind is not None and asked != self._asked:
            self._builder.emit(NeedsHuman(kind=self.kind, text=text))
        self._asked = asked

    @property
    def shows_dialog(self) -> bool:
        """Whether the screen shows a dialog, whose rows are no part of an answer."""
        return self._dialog(self.rows) is not None

    def _dialog(self, rows: Sequence[str]) -> Dialog | None:
        cursor = self._printing.cursor
        signs = self._conversation.profile.dialogs
        return find_dialog(rows, (cursor.x, cursor.y), cursor_visible=not self._cutter.hidden, signs=signs)


def open_dialog(open_line: str) -> Dialog | None:
    """Return a yes-or-no question at the cursor as a dialog with the keys y and n; None if there is none."""
    kind = needed_for(open_line)
    if kind is None or kind == "password":
        return None
    return Dialog("confirmation", open_line.strip(), (DialogChoice("Yes", "y"), DialogChoice("No", "n")))


def needed_for(open_line: str) -> Literal["password", "confirmation"] | None:
    """Return what a program waits for, by the line at its cursor; None if it needs no person."""
    return next((sign.kind for sign in SIGNS if sign.pattern.search(open_line)), None)
