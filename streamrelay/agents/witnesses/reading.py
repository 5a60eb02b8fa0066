"""The interface of an agent's record, the result of reading it, and which of its entries concern a watched pane."""

from collections.abc import Iterable
from typing import Literal, NamedTuple, Protocol

from streamrelay.delta.inputs import WitnessPassage

Reason = Literal["", "no_process", "no_record", "keeps_none", "several", "not_trusted", "unreadable"]
"""`no_record`: none is found, or not yet; `keeps_none`: nor has the agent begun what it begins before any record."""


class Reading(NamedTuple):
    """The entries added since the last call, or the reason why the record is unreadable."""

    passages: tuple[WitnessPassage, ...] = ()
    reason: Reason = ""


def in_order(passages: Iterable[WitnessPassage]) -> list[WitnessPassage]:
    """Return passages in the order of their times; a passage without a time follows the one before.

    Claude Code 2.1.197 writes a quick answer before the message that it answers.
    """
    timed: list[tuple[float, WitnessPassage]] = []
    for passage in passages:
        timed.append((passage.at or (timed[-1][0] if timed else 0.0), passage))
    return [passage for _, passage in sorted(timed, key=lambda pair: pair[0])]


class AgentRecord(Protocol):
    """The record of the agent in one pane."""

    def read(self) -> Reading:
        """Return the entries added since the last call; never raises."""


class SinceWatched:
    """Skips passages from before the watching began, except those of an answer that was under way then.

    That answer is read from its beginning, so that it can be completed; the message that it answers is skipped. A
    passage without a time has the time of the one before it.
    """

    def __init__(self, since: float, *, joins: bool = True) -> None:
        """Skip what is older than `since` (Unix time), and an answer under way then unless the watching `joins` it."""
        self._since, self._joins = since, joins
        self._at = 0.0
        self._under_way: list[WitnessPassage] = []
        """The passages of the agent since the last message before the watching."""
        self._has_ended = False

    def pick(self, passages: Iterable[WitnessPassage]) -> list[WitnessPassage]:
        """Return those of the next passages, in their order, that concern the pane."""
        picked: list[WitnessPassage] = []
        for passage in passages:
            self._at = passage.at or self._at
            if 0 < self._at < self._since:
                self._pass_over(passage)
                continue
            if passage.speaker == "agent" and not self._has_ended:
                picked += self._under_way
            if self._at:
                self._under_way, self._joins = [], False
            picked.append(passage)
        return picked

    def _pass_over(self, passage: WitnessPassage) -> None:
        if passage.speaker == "person":
            self._under_way = []
        elif passage.speaker == "agent" and self._joins:
            self._under_way.append(passage)
        self._has_ended = passage.speaker == "end"
