"""The input of a member: pinned documents and the latest messages that fit.

Pure. Tokens are estimated, because counting them exactly takes a request to the vendor: Latin text by its characters,
Chinese, Japanese and Korean by theirs. After each answer the vendor tells what it counted, and the estimate of its
members is corrected by that. What did not fit is counted, so that people can be told.
"""

import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final, Literal

import msgspec

from streamrelay.council.clients.contract import ChatMessage
from streamrelay.council.coordinator import RoundKind
from streamrelay.council.members import Vendor

_LATIN: Final[Mapping[Vendor, float]] = MappingProxyType({"anthropic": 3.5, "google": 4.0, "openai": 4.2, "xai": 4.0})
"""Characters of Latin text per token."""
_WIDE: Final = 1.3
"""Tokens per wide character."""
_OVERHEAD: Final = 6
"""Overhead of each message, in tokens."""
_LEARNING: Final = 0.3


class Pinned(msgspec.Struct, frozen=True):
    """A document that every member gets."""

    name: str
    text: str


class Entry(msgspec.Struct, frozen=True):
    """A message of the conversation."""

    id: str
    author: str
    kind: Literal["person", "member", "notice"]
    text: str
    round: int = 0
    round_kind: RoundKind = "open"
    partial: bool = False
    """Whether it was interrupted."""


@dataclass(frozen=True, slots=True)
class Context:
    """The input of one member."""

    messages: list[ChatMessage]
    system_prompt: str
    tokens: int
    left_out: int
    """The number of messages that did not fit or are too old."""
    cut_documents: tuple[str, ...] = ()
    """Names of pinned documents of which only the beginning fits."""


class Estimator:
    """Estimates numbers of tokens, and learns from the vendors' counts."""

    def __init__(self) -> None:
        self._factors: dict[Vendor, float] = {}

    def tokens(self, text: str, vendor: Vendor) -> int:
        """Return an estimate of the tokens of a text."""
        wide = sum(1 for character in text if unicodedata.east_asian_width(character) in "WF")
        plain = (len(text) - wide) / _LATIN.get(vendor, 3.8) + wide * _WIDE
        return int(plain * self._factors.get(vendor, 1.0)) + 1

    def learn(self, vendor: Vendor, estimated: int, counted: int) -> None:
        """Note a vendor's count for an estimate."""
        if estimated < 50 or counted < 50:
            return
        seen = min(3.0, max(0.33, counted / estimated)) * self._factors.get(vendor, 1.0)
        before = self._factors.get(vendor, 1.0)
        self._factors[vendor] = before + _LEARNING * (seen - before)


def context_for(
    member: str,
    entries: Sequence[Entry],
    *,
    vendor: Vendor,
    system_prompt: str,
    pinned: Sequence[Pinned] = (),
    instruction: str = "",
    blind_round: int | None = None,
    last: int = 20,
    limit: int = 30_000,
    estimator: Estimator,
) -> Context:
    """Return what `member` is given: of the `last` messages the newest that fit into `limit` tokens with the rest.

    In a blind round nothing is given that others said in it. An `instruction` comes last.
    """
    said = [
        entry
        for entry in entries
        if entry.kind != "notice"
        and not (blind_round is not None and entry.round == blind_round and entry.kind == "member")
    ]
    room = limit - estimator.tokens(system_prompt + instruction, vendor)
    documents, cut = [], []
    for document in pinned:
        text = document.text
        # Half of the room is for the conversation, whatever is pinned.
        share = max(0, room - limit // 2)
        needed = estimator.tokens(text, vendor)
        if needed > share:
            text = text[: len(text) * share // needed]
            cut.append(document.name)
        room -= estimator.tokens(text, vendor)
        documents.append(f"\n\n# {document.name}\n\n{text}")
    given: list[Entry] = []
    for entry in reversed(said[-last:]):
        needed = estimator.tokens(entry.text, vendor) + _OVERHEAD
        if needed > room and given:
            break
        room -= needed
        given.append(entry)
    given.reverse()
    messages = _chat(member, given, instruction)
    return Context(messages, system_prompt + "".join(documents), limit - room, len(said) - len(given), tuple(cut))


def _chat(member: str, entries: Sequence[Entry], instruction: str) -> list[ChatMessage]:
    """Return messages as vendors require: the person's first, alternating, and the last one not the member's."""
    messages: list[ChatMessage] = []

    def add(role: Literal["user", "assistant"], text: str) -> None:
        if messages and messages[-1].role == role:
            messages[-1] = ChatMessage(role, f"{messages[-1].text}\n\n{text}")
        else:
            messages.append(ChatMessage(role, text))

    for entry in entries:
        if entry.kind == "member" and entry.author == member:
            add("assistant", entry.text or "(nothing)")
        else:
            add("user", f"[{entry.author}]: {entry.text}")
    if messages and messages[0].role == "assistant":
        messages.insert(0, ChatMessage("user", "[The conversation so far is left out.]"))
    if instruction:
        add("user", instruction)
    elif not messages or messages[-1].role == "assistant":
        add("user", "It is your turn again.")
    return messages
