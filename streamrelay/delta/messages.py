"""What was sent to a program with a transcript and is not read off it yet: messages, and what a person submitted.

What a person submits is seen only by its draft, which vanishes from the composer. It may have been deleted instead, or
submitted to a program that is at work and shows it when it takes it up, after all messages before. So a draft that
vanished keeps its place among the messages, and is known for submitted when the transcript shows it.

| phase | what is seen or told | next phase | the composer may hold it | is to be shown |
|---|---|---|---|---|
| pasting | its Enter is sent | submitted | yes | no |
| a draft | it leaves the composer | vanished | yes | no |
| a draft | the program goes to work by itself | submitted | yes | yes |
| vanished | the transcript shows it, or the program goes to work by itself | past_composer | no | yes |
| vanished | neither happens within `MAX_LOOKS` snapshots | none: it was deleted | no | no |
| told of by the API | | past_composer | no | yes |

Once it is read off the transcript it is no longer outstanding. One that is `abandoned` keeps its phase.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from streamrelay.delta.transcript.answers import Message
from streamrelay.delta.transcript.echoes import EchoSearch, in_common, rendered, spelling

MAX_MESSAGES = 64
MIN_PASTE = 4
"""Characters that a composer shows at once of what is pasted, at least, if that is no line of its own."""
MAX_LOOKS = 50
"""Snapshots in which a vanished draft is looked for while nothing is answered; after that it counts as deleted."""

Phase = Literal["pasting", "submitted", "vanished", "past_composer"]
"""How far a message has come: it is being pasted; its Enter was sent; it is a draft that left the composer, perhaps
deleted; or the program has it, and no composer shows it (what goes to the program's own API never was in one).
"""


@dataclass(slots=True, eq=False)
class OutstandingMessage:
    """A message; `message_id` is None for what a person typed."""

    message_id: str | None
    text: str
    shown: str = ""
    """What the composer showed of it."""
    phase: Phase = "pasting"
    during_output: bool = False
    """Whether it was submitted while the program said something that answers nothing known."""
    abandoned: bool = False
    """Whether the stream has stopped waiting for it, though the program may still show it."""
    unwatched: bool = False
    """Whether output was missed while it was pasted or submitted."""
    looks_left: int = MAX_LOOKS
    """The number of snapshots in which a vanished draft is still looked for."""

    @property
    def waits(self) -> bool:
        """Whether it is to be shown next."""
        return self.phase in {"submitted", "past_composer"} and not self.abandoned

    def spells(self, draft: str) -> bool:
        """Tell whether a draft has the words of this message."""
        return spelling(draft) == spelling(self.text)

    def may_stand_in(self, held: str) -> bool:
        """Tell whether a composer may hold this still or again, given how that is spelled which it holds."""
        has_left = self.phase == "past_composer" or (self.message_id is None and self.phase == "submitted")
        return bool(self.text.strip()) and not has_left and spelling(self.text) in held

    def stands_as(self, draft: str) -> bool:
        """Tell whether a draft in the composer is this message."""
        return bool(draft) and self.phase != "past_composer" and (draft == self.shown or self.spells(draft))

    def begins_in(self, search: EchoSearch, mark: str) -> int | None:
        """Return the row in which it begins, or its end where it is too tall; `mark` is that of messages, if known."""
        echo = search.find(self.forms) or search.find_tail(self.text, [0])
        echo = echo or search.find_labelled(self.forms, mark=mark)
        if echo is None and self.message_id is None:
            echo = search.find_grown(self.text, mark)
        return echo.start if echo is not None else None

    @property
    def message(self) -> Message:
        """What is looked for in the transcript."""
        return Message(
            self.message_id,
            self.forms,
            self.during_output,
            abandoned=self.abandoned,
            wordless=self.is_wordless,
            unwatched=self.unwatched,
        )

    @property
    def is_wordless(self) -> bool:
        """Whether its composer was not seen to show any of its words: it showed nothing, or a placeholder."""
        return self.phase != "past_composer" and (not self.shown or spelling(self.shown) not in spelling(self.text))

    def may_show(self, draft: str) -> bool:
        """Tell whether a composer that has this message, and showed of it what was seen so far, may show this now."""
        # What is pasted is painted at once, and what a person types key by key.
        is_typed = len(draft) < MIN_PASTE and draft not in self.text.split("\n")
        if is_typed or self.phase == "past_composer" or self.message_id is None or self.spells(self.shown):
            return False
        is_related = draft.startswith(self.shown) or self.shown.startswith(draft)
        return spelling(self.text).startswith(spelling(draft)) or (self.is_wordless and is_related)

    @property
    def forms(self) -> tuple[str, ...]:
        """The ways in which a transcript may show it: whole, as its composer showed it, and rendered as Markdown."""
        others = (self.shown, rendered(self.text))
        return (self.text, *(form for form in others if form and spelling(form) != spelling(self.text)))


def drafted_message(sent: Sequence[OutstandingMessage], draft: str) -> OutstandingMessage | None:
    """Return the message that stands in a composer with this draft; None if none does.

    A composer may show only the first paragraph, which in a relay is the speaker's name: several messages of one
    speaker look alike there. Each is pasted into an empty composer, so only the last of them can stand in it.
    """
    return next((each for each in reversed(sent) if each.stands_as(draft)), None)


def shown_late(
    sent: Sequence[OutstandingMessage], draft: str, transcript: Callable[[], Sequence[str]], mark: str
) -> OutstandingMessage | None:
    """Return the message that a composer shows only after its Enter: the text there is no draft of a person.

    It may show a placeholder of it, or one of its paragraphs, and half of that in a half-painted snapshot. `transcript`
    gives what is new above the composer, where a message that is shown behind the `mark` of messages has left that.
    """
    waiting = [each for each in sent if each.waits]
    if not any(each.may_show(draft) for each in waiting):
        return None
    search = EchoSearch(transcript())
    if waiting[0].is_wordless and search.on_top(mark) is not None:
        del waiting[0]
    return next((each for each in waiting if each.may_show(draft) and each.begins_in(search, mark) is None), None)


def drafts_vanished(sent: Sequence[OutstandingMessage]) -> list[OutstandingMessage]:
    """Return the drafts that vanished and may have been submitted."""
    return [each for each in sent if each.phase == "vanished"]


def watch_drafts(sent: Sequence[OutstandingMessage], before: str, draft: str) -> list[OutstandingMessage]:
    """Return what was sent, given a person's draft in the previous snapshot and in this one."""
    vanished = drafts_vanished(sent)
    # One snapshot may have lacked the draft; a draft that grew to the same words was typed again.
    back = None if before else next((each for each in vanished if each.text == draft), None)
    if before and _is_gone(before, draft):
        return [*sent, OutstandingMessage(None, before, phase="vanished")][-MAX_MESSAGES:]
    if back is not None:
        return [each for each in sent if each is not back]
    if not vanished or any(each.waits for each in sent):
        return list(sent)
    for each in vanished:
        each.looks_left -= 1
    return [each for each in sent if each.phase != "vanished" or each.looks_left]


def _is_gone(before: str, draft: str) -> bool:
    """Tell whether a draft left: nothing is in its place, or something that it was not edited to, such as a hint."""
    kept = in_common(before, draft)
    kept += in_common(before[kept:][::-1], draft[kept:][::-1])
    return 2 * kept < min(len(before), len(draft)) or not draft


def drafts_shown(sent: Sequence[OutstandingMessage], rows: Sequence[str], mark: str) -> list[OutstandingMessage]:
    """Return the vanished drafts that rows of the transcript show; of the same text a message comes first.

    Behind the `mark` of messages one may have grown: its last keys and the Enter came within one snapshot.
    """
    if not drafts_vanished(sent):
        return []
    search = EchoSearch(rows)
    waiting = {spelling(each.text) for each in sent if each.waits}
    spelled = [[spelling(form) for form in each.forms] for each in sent]
    tops = [each.begins_in(search, mark) if each.waits else None for each in sent]
    shown = []
    for number, each in enumerate(sent):
        if each.phase != "vanished":
            continue
        others = [form for place, forms in enumerate(spelled) if place != number for form in forms]
        grown = search.find_grown(each.text, mark, others=others)
        # What was typed before a message stands above it.
        is_grown = grown is not None and all(top is None or grown.start < top for top in tops[number:])
        if is_grown or (spelling(each.text) not in waiting and search.find([each.text]) is not None):
            shown.append(each)
    return shown
