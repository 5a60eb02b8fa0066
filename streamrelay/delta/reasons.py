"""Why a row was said, and as what, or why it was not: collected where that is decided, for whoever asks.

Nothing is decided here and nothing decided by it. A `DeltaStream` that is given a `Reasons` fills it; one that is given
none builds no reason. Every `Text` and `Activity` of the stream is in exactly one reason, in the order in which they
were said.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, Literal, NamedTuple

from streamrelay.events import Activity, Gap, Text

Rule = Literal[
    "passed", "repainted", "unfinished", "closed", "held", "behind_echo", "answer",
    "echo_at_once", "echo_late", "echo_whole", "echo_as_composed", "echo_tail", "echo_labelled", "echo_alike",
    "echo_folded", "behind_mark", "line_editor", "behind_prompt", "behind_question",
    "greeting", "first_screen", "begun_before",
    "corner", "box", "bar", "outcome", "activity_of_profile",
    "unpainted", "cut_off", "history", "unheard", "unreadable",
    "old_transcript", "reprint", "above_echo", "spinner", "tip", "furniture_of_profile", "footer", "leftover",
    "status_rows", "composer", "prompt", "said_already",
    "witnessed", "filled", "screen_only", "not_in_record",
]  # fmt: skip

WORDS: Final[Mapping[Rule, str]] = MappingProxyType({
    "passed": "a line feed passed it: nothing can change it any more",
    "repainted": "it stood there when a program that had hidden its cursor was done repainting",
    "unfinished": "it stood left of a known prompt when the program rested: output without a line feed",
    "closed": "it stood unfinished when the pane closed",
    "held": "it spells a message, and what followed, or that nothing did, showed that it is no echo",
    "behind_echo": "it stood behind an echo on the same row",
    "answer": "it is new in the transcript since the turn began, and neither echo nor furniture",
    "echo_at_once": "echo: it appeared between paste and Enter and spells the message",
    "echo_late": "echo: the earliest whole lines after the Enter that spell the message",
    "echo_whole": "echo: rows of the transcript that spell the whole message",
    "echo_as_composed": "echo: rows of the transcript that read as the composer showed the message",
    "echo_tail": "echo: rows at the top of a screen that spell the end of a message too tall for it",
    "echo_labelled": "echo: rows that spell the message behind a label, where the transcript went on",
    "echo_alike": "echo: rows behind the mark of messages that have most of its words",
    "echo_folded": "echo: a row behind that mark on top of the answer, where no composer showed words of the message",
    "behind_mark": "it stands behind the mark of messages, and is none of ours: somebody typed it",
    "line_editor": "a line editor showed it when it withdrew: it was submitted",
    "behind_prompt": "it follows a prompt at which the program rested: somebody typed it",
    "behind_question": "it follows a question for a person at which the program rested: somebody typed it",
    "greeting": "shown before a program asked for input or took its first message, or when it left: nobody's answer",
    "first_screen": "painted with the cursor hidden before the program asked for input: its first screen",
    "begun_before": "it stood begun when the watching began: nobody knows whose it is",
    "corner": "a deed: a corner (⎿) under its head",
    "box": "a deed: a box around it",
    "bar": "a deed: a bar left of where the text begins",
    "outcome": "a deed: an outcome (✔) for a bullet",
    "activity_of_profile": "a deed: the program's profile knows its first row",
    "unpainted": "a picture vanished without having scrolled: rows between may never have been painted",
    "cut_off": "the program was still writing the last line when it broke off or its pane closed",
    "history": "rows left the history before they were read",
    "unreadable": "no composer stood where the program has one, so nobody can tell where its answer ends",
    "unheard": "the screen never showed the message, so nobody can tell what answers it",
    "old_transcript": "old transcript: it stood there when the last turn was over",
    "reprint": "old transcript, painted again below itself",
    "above_echo": "above the echo of the message: no answer to it",
    "spinner": "spinner: its first glyph was seen changing while the rest stayed",
    "tip": "a tip under a spinner",
    "furniture_of_profile": "furniture: the program's profile knows it",
    "footer": "footer: it sums up the turn",
    "leftover": "leftover: the first rows of an earlier picture of what stands below",
    "status_rows": "furniture: status rows above the composer, there at rest as well",
    "composer": "furniture: the composer, and what stands below it",
    "prompt": "a prompt, and nothing behind it",
    "said_already": "all of it was said before the line feed passed it",
    "witnessed": "the screen showed it and the agent's own record has it: this is its source",
    "filled": "the screen could not show it, and the agent's own record has it",
    "screen_only": "it is new in the transcript, and the agent's own record of the answer does not have it",
    "not_in_record": "the program painted it, and the agent's own record of the whole answer does not have it",
})  # fmt: skip


class Reason(NamedTuple):
    """One decision."""

    t: float
    """When it was made: seconds, stream time."""
    turn: int
    rule: Rule
    rows: tuple[str, ...]
    """What it was made of: rows as the screen showed them, or a printed line with its soft wraps joined."""
    events: tuple[Text | Activity | Gap, ...] = ()
    """What was said of it; nothing, where it was left out."""
    message_id: str | None = None


class Reasons:
    """The reasons of one stream, until they are taken."""

    def __init__(self) -> None:
        self._reasons: list[Reason] = []

    def add(self, reason: Reason) -> None:
        """Add a decision."""
        self._reasons.append(reason)

    def taken(self) -> list[Reason]:
        """Return the reasons, and forget them."""
        reasons, self._reasons = self._reasons, []
        return reasons
