"""Why the stream reported a row or left it out: one `Reason` per decision, for `streamrelay explain`.

The code that decides adds the reason, and no decision depends on a reason. A `DeltaStream` without a `Reasons` builds
none. Each `Text` and `Activity` of the stream is in exactly one reason, in the order of the stream.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, Literal, NamedTuple

from streamrelay.events import Activity, Gap, Text

Rule = Literal[
    "passed", "repainted", "unfinished", "closed", "held", "behind_echo", "answer", "echo_at_once", "echo_torn",
    "echo_late", "echo_whole", "echo_as_composed", "echo_tail", "echo_labelled", "echo_alike", "echo_folded",
    "echo_cut_short", "echo_again", "behind_mark", "typed_by_record", "line_editor", "behind_prompt", "behind_question",
    "key", "asked", "greeting", "first_screen", "begun_before", "corner", "box", "bar", "outcome",
    "activity_of_profile", "unpainted", "cut_off", "history", "unheard", "unreadable", "old_transcript", "reprint",
    "above_echo", "spinner", "tip", "furniture_of_profile", "footer", "leftover", "status_rows", "composer", "prompt",
    "said_already", "witnessed", "painted_over", "filled", "screen_only", "not_in_record", "echo_lost",
]  # fmt: skip

WORDS: Final[Mapping[Rule, str]] = MappingProxyType({
    "passed": "the cursor left the line with a line feed, so the line is final",
    "repainted": "it was on the screen when a program that hides its cursor finished a repaint",
    "unfinished": "it was left of a known prompt when the program became idle: output without a line feed",
    "asked": "it stood unfinished when the program waited for an answer behind it",
    "closed": "the line was unfinished when the pane closed",
    "held": "it matches a sent message, but later output showed that it is not an echo",
    "behind_echo": "it follows an echo on the same row",
    "answer": "it is new in the transcript since the turn began, and is neither echo nor chrome",
    "echo_at_once": "echo: it appeared between the paste and Enter, and it matches the message",
    "echo_torn": "echo: pieces of a sent line that the terminal showed while the program printed",
    "echo_late": "echo: the first whole lines after Enter that match the message",
    "echo_whole": "echo: rows of the transcript that match the whole message",
    "echo_as_composed": "echo: rows of the transcript that match the message as the composer showed it",
    "echo_tail": "echo: rows at the top of the screen that match the end of a message taller than the screen",
    "echo_labelled": "echo: rows that match the message after a label, where the transcript continued",
    "echo_alike": "echo: rows after the message mark that share most words with the message",
    "echo_folded": "echo: a row after the message mark, above the answer to a message shown as a placeholder",
    "echo_cut_short": "echo: a row after the message mark with the beginning of the message, ending in an ellipsis",
    "echo_again": "echo: the rest of a message's box, or another copy of a message where several are answered",
    "behind_mark": "it follows the message mark and streamrelay did not send it, so a person typed it",
    "typed_by_record": "a person typed it: the agent's own record has it as the next message",
    "line_editor": "a line editor held it when it closed, so a person submitted it",
    "behind_prompt": "it follows a prompt at which the program waited, so a person typed it",
    "behind_question": "it follows a question at which the program waited, so a person typed it",
    "key": "the terminal's echo of a key that interrupts, suspends or quits, so a person typed it",
    "greeting": "the program showed it before its first message or when it left, so it answers no message",
    "first_screen": "its first screen: painted with a hidden cursor before the program asked for input",
    "begun_before": "the line had begun before streamrelay attached, so its author is unknown",
    "corner": "tool call: a corner (⎿) hangs under its first row",
    "box": "tool call: a box surrounds it",
    "bar": "tool call: a bar stands left of the text column",
    "outcome": "tool call: an outcome (✔) replaces the bullet of a text",
    "activity_of_profile": "tool call: the program's profile lists its first row",
    "unpainted": "a snapshot vanished without scrolling, so rows in between may never have been painted",
    "cut_off": "the program was still writing its last line when it was interrupted or its pane closed",
    "history": "rows left tmux's history before streamrelay read them",
    "unreadable": "the composer was not at its usual place, so the end of the answer is unknown",
    "unheard": "the screen never showed the message, so its answer cannot be told from other text",
    "old_transcript": "old transcript: it was there when the previous turn ended",
    "reprint": "old transcript that the program printed again further down",
    "above_echo": "it stands above the echo of the message, so it does not answer it",
    "spinner": "spinner: its first glyph changed while the rest stayed",
    "tip": "a tip under a spinner",
    "furniture_of_profile": "chrome: the program's profile lists it",
    "footer": "footer: a summary of the turn",
    "leftover": "leftover: the first rows of an earlier painting of the rows below",
    "status_rows": "chrome: status rows above the composer, also there while the program is idle",
    "composer": "chrome: the composer and the rows below it",
    "prompt": "a prompt with no text after it",
    "said_already": "the stream had reported all of it before a line feed ended the line",
    "witnessed": "both the screen and the agent's own record have it; the text comes from the record",
    "painted_over": "it stood on the screen and was painted over; the text comes from the agent's own record",
    "filled": "the screen could not show it; the text comes from the agent's own record",
    "screen_only": "it is new in the transcript, but missing in the agent's own record of the answer",
    "not_in_record": "the program painted it, but it is missing in the agent's own record of the whole answer",
    "echo_lost": "echo: the agent's own record has this message between two others, and the screen lost it",
})  # fmt: skip


class Reason(NamedTuple):
    """One decision."""

    t: float
    """Stream time of the decision, in seconds."""
    turn: int
    rule: Rule
    rows: tuple[str, ...]
    """The rows as the screen showed them, or one printed line with its soft wraps joined."""
    events: tuple[Text | Activity | Gap, ...] = ()
    """The events that report these rows; empty if the rows were left out."""
    message_id: str | None = None


class Reasons:
    """The reasons of one stream since the last `taken`."""

    def __init__(self) -> None:
        self._reasons: list[Reason] = []

    def add(self, reason: Reason) -> None:
        """Add a decision."""
        self._reasons.append(reason)

    def taken(self) -> list[Reason]:
        """Return the reasons and begin a new list."""
        reasons, self._reasons = self._reasons, []
        return reasons
