"""The members of a council, and the two markers that rotate among them.

🎯 is the first drafter of a session, ✅ its final writer: the drafter speaks first in each round, and the writer, who
stands before it in the circle, speaks last. In the next session the next member drafts.
"""

from collections.abc import Sequence
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

Vendor = Literal["anthropic", "google", "openai", "xai", "compatible", "pane", "scripted"]
"""Who serves a member: `compatible` is any server that speaks OpenAI's protocol, `pane` a terminal agent in tmux."""


class Member(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """One member, as council.toml has it."""

    name: Annotated[str, Meta(pattern=r"^\w[\w .-]{0,31}$")]
    vendor: Vendor
    model: str = ""
    """The model's name as its vendor has it; for a pane its tmux target."""
    fallback: str | None = None
    """Another model of the same vendor, which speaks only when the person says yes to it."""
    priority: int = 0
    """Those with a higher number speak earlier; equal ones as they stand in the file."""
    base_url: str = ""
    """Where the vendor's protocol is spoken, if not at the vendor's."""
    key: str = ""
    """The environment variable that holds the key, if not the vendor's usual one; the key itself stands in no file."""
    persona: str = ""
    """What is added to the member's system prompt."""
    max_tokens: Annotated[int, Meta(ge=1)] = 4096
    price: tuple[Annotated[float, Meta(ge=0)], Annotated[float, Meta(ge=0)]] | None = None
    """Dollars for a million tokens, read and written."""
    script: tuple[str, ...] = ()
    """What a scripted member says, in order, again and again."""


class Markers(msgspec.Struct, frozen=True):
    """Who has the markers in a session; what `sessions.rotation_state` holds."""

    drafter: str
    writer: str


def in_order(members: Sequence[Member]) -> list[Member]:
    """Return members in the order in which they speak."""
    return sorted(members, key=lambda member: -member.priority)


def next_markers(members: Sequence[str], last: Markers | None) -> Markers:
    """Return the markers of a new session: the member behind the `last` drafter drafts, the first one without a last.

    Where the last drafter is no member any more, the writer of that session tells the place: it stood before it.
    """
    first = 0
    if last is not None and last.drafter in members:
        first = members.index(last.drafter) + 1
    elif last is not None and last.writer in members:
        first = members.index(last.writer) + 1
    first %= len(members)
    return Markers(members[first], members[first - 1])
