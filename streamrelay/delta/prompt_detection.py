"""When a program waits for a person: what its open line says while it rests, or which dialog it has put up.

Only signs that no ordinary output leaves standing at the cursor are here; what is special about one program's dialogs
belongs into its profile.
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
"""Seconds the screen must have stood still: a question that is answered at once needs no person."""

LATEST = 1.0
"""Seconds after which a screen is looked at that never rests: a spinner may turn beside a question."""


class Sign(NamedTuple):
    """A kind of waiting, and how the open line reads then."""

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
    """Tell whether a line at the cursor can be the question for a secret, where the terminal hides what is typed."""
    return bool(open_line.strip()) and _SECRET.search(open_line) is not None


class PromptDetector:
    """Watches one screen for what only a person may answer, and tells each question once."""

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
        """When the screen is to be looked at next (stream time)."""
        self.kind: NeedKind | None = None
        """What a person is needed for right now."""
        self.dialog: Dialog | None = None
        """The dialog that stood there at the last look."""
        self._latest: float | None = None
        self._asked: tuple[int, str] | None = None

    @property
    def asked(self) -> str:
        """The question that stands, as one line; empty if no person is needed."""
        return "" if self._asked is None else self._asked[1]

    @property
    def rows(self) -> list[str]:
        """The screen, without blanks at the ends of its rows."""
        return [self._engine.row(y).text.rstrip() for y in range(self._engine.lines)]

    def changed(self, now: float) -> None:
        """The program printed something. What a person is needed for stands until a look has shown otherwise."""
        self.due = None
        if self._latest is None:
            self._latest = now + LATEST

    def rests(self, since: float, now: float) -> None:
        """The screen rests since then."""
        due = since + REST if self._latest is None else min(since + REST, self._latest)
        self.due = max(now, due)

    def pass_by(self) -> None:
        """What the program printed cannot be a question, and none stood there: nothing needs to be looked at."""
        self.due = self._latest = None

    def look(self, *, converses: bool, half: bool = False) -> None:
        """Look at the screen of a program that prints or `converses`; what is news is said.

        Half a picture can show a dialog that the program does not mean: it stops a sender, but is told at a rest only.
        """
        if not half:
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
        if half:
            return
        asked = (line, text) if self.kind is not None else None
        if self.kind is not None and asked != self._asked:
            self._builder.emit(NeedsHuman(kind=self.kind, text=text))
        self._asked = asked

    @property
    def shows_dialog(self) -> bool:
        """Whether a dialog stands where an answer would be read: it is no part of it."""
        return self._dialog(self.rows) is not None

    def _dialog(self, rows: Sequence[str]) -> Dialog | None:
        cursor = self._printing.cursor
        signs = self._conversation.profile.dialogs
        return find_dialog(rows, (cursor.x, cursor.y), cursor_visible=not self._cutter.hidden, signs=signs)


def open_dialog(open_line: str) -> Dialog | None:
    """Return the question at the cursor as a dialog, whose keys are the letters that it names; None without one."""
    kind = needed_for(open_line)
    if kind is None or kind == "password":
        return None
    return Dialog("confirmation", open_line.strip(), (DialogChoice("Yes", "y"), DialogChoice("No", "n")))


def needed_for(open_line: str) -> Literal["password", "confirmation"] | None:
    """Return what a program wants from a person, judged by the line at its cursor."""
    return next((sign.kind for sign in SIGNS if sign.pattern.search(open_line)), None)
