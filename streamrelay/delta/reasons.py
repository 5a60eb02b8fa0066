"""Why the stream said a row as it did, or left it out: one `Reason` per decision, for `streamrelay explain`.

The code that decides adds the reason; no decision reads one. A `DeltaStream` without a `Reasons` builds none. Each
`Text` and `Activity` of the stream stands in exactly one reason, in the order in which the stream said them.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, Literal, NamedTuple

from streamrelay.events import Activity, Gap, Text

Rule = Literal[
    "passed", "repainted", "unfinished", "closed", "held", "behind_echo", "answer",
    "echo_at_once", "echo_late", "echo_whole", "echo_as_composed", "echo_tail", "echo_labelled", "echo_alike",
    "echo_folded", "echo_cut_short", "behind_mark", "line_editor", "behind_prompt", "behind_question",
    "greeting", "first_screen", "begun_before",
    "corner", "box", "bar", "outcome", "activity_of_profile",
    "unpainted", "cut_off", "history", "unheard", "unreadable",
    "old_transcript", "reprint", "above_echo", "spinner", "tip", "furniture_of_profile", "footer", "leftover",
    "status_rows", "composer", "prompt", "said_already",
    "witnessed", "filled", "screen_only", "not_in_record",
]  # fmt: skip

WORDS: Final[Mapping[Rule, str]] = MappingProxyType({
    "passed": "a line feed has passed it, so nothing can change it any more",
    "repainted": "it stood there when a program that had hidden its cursor finished a repaint",
    "unfinished": "it stood left of a known prompt when the program rested: output without a line feed",
    "closed": "it stood unfinished when the pane closed",
    "held": "it spells a message that was sent, but what followed showed that it is no echo",
    "behind_echo": "it stood behind an echo on the same row",
    "answer": "it is new in the transcript since the turn began, and neither echo nor chrome",
    "echo_at_once": "echo: it appeared between the paste and Enter, and it spells the message",
    "echo_late": "echo: the first whole lines after Enter that spell the message",
    "echo_whole": "echo: rows of the transcript that spell the whole message",
    "echo_as_composed": "echo: rows of the transcript that read as the composer showed the message",
    "echo_tail": "echo: rows at the top of the screen that spell the end of a message too tall for it",
    "echo_labelled": "echo: rows that spell the message behind a label, where the transcript continued",
    "echo_alike": "echo: rows behind the mark of messages that share most words with the message",
    "echo_folded": "echo: a row behind the mark of messages above the answer to a message shown as a placeholder",
    "echo_cut_short": "echo: a row behind that mark that has the beginning of the message and ends in an ellipsis",
    "behind_mark": "it stands behind the mark of messages and streamrelay did not send it, so a person typed it",
    "line_editor": "a line editor showed it when it closed, so a person submitted it",
    "behind_prompt": "it follows a prompt at which the program waited, so a person typed it",
    "behind_question": "it follows a question at which the program waited, so a person typed it",
    "greeting": "the program showed it before it took a first message, or when it left: it answers no message",
    "first_screen": "painted with the cursor hidden before the program asked for input: its first screen",
    "begun_before": "the line had begun before streamrelay attached, so its author is unknown",
    "corner": "tool use: a corner (⎿) hangs under its first row",
    "box": "tool use: a box surrounds it",
    "bar": "tool use: a bar stands left of the column where text begins",
    "outcome": "tool use: an outcome (✔) stands where text has its bullet",
    "activity_of_profile": "tool use: the program's profile lists its first row",
    "unpainted": "a picture vanished without scrolling, so rows between may never have been painted",
    "cut_off": "the program was still writing the last line when it was interrupted or its pane closed",
    "history": "rows left the history before streamrelay read them",
    "unreadable": "the composer was not where the program has it, so the end of the answer is unknown",
    "unheard": "the screen never showed the message, so its answer cannot be told from other text",
    "old_transcript": "old transcript: it stood there when the previous turn ended",
    "reprint": "old transcript that the program painted again below itself",
    "above_echo": "it stands above the echo of the message, so it is no answer to it",
    "spinner": "spinner: its first glyph changed while the rest stayed",
    "tip": "a tip under a spinner",
    "furniture_of_profile": "chrome: the program's profile lists it",
    "footer": "footer: it sums up the turn",
    "leftover": "leftover: the first rows of an earlier picture of the rows below",
    "status_rows": "chrome: status rows above the composer that stand there at rest as well",
    "composer": "chrome: the composer and the rows below it",
    "prompt": "a prompt without anything behind it",
    "said_already": "the stream had said all of it before a line feed passed it",
    "witnessed": "the screen showed it and the agent's own record has it; the text is the record's source",
    "filled": "the screen could not show it; the text comes from the agent's own record",
    "screen_only": "it is new in the transcript, but the agent's own record of the answer lacks it",
    "not_in_record": "the program painted it, but the agent's own record of the whole answer lacks it",
})  # fmt: skip


class Reason(NamedTuple):
    """One decision."""

    t: float
    """Seconds of stream time at which the decision fell."""
    turn: int
    rule: Rule
    rows: tuple[str, ...]
    """The rows it is about, as the screen showed them, or one printed line with its soft wraps joined."""
    events: tuple[Text | Activity | Gap, ...] = ()
    """What the stream said of them; empty if it left them out."""
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
