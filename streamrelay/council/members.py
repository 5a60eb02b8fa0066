"""The members of a council, and the two markers that rotate among them.

🎯 is the first drafter of a session, ✅ its final writer: the drafter speaks first in each round, and the writer, who
stands before it in the circle, speaks last. In the next session the next member drafts.
"""

from collections.abc import Sequence
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

Vendor = Literal["anthropic", "google", "openai", "xai", "compatible", "pane", "scripted"]
"""The kind of a member: `compatible` is any server with OpenAI's protocol, `pane` a terminal agent in tmux."""


class Member(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """One member, as council.toml describes it."""

    name: Annotated[str, Meta(pattern=r"^\w[\w .-]{0,31}$")]
    vendor: Vendor
    model: str = ""
    """The vendor's name of the model; for a pane its tmux target."""
    fallback: str | None = None
    """Another model of the same vendor, which speaks only if the person says yes."""
    priority: int = 0
    """Members with a higher number speak earlier; equal ones in the order of the file."""
    base_url: str = ""
    """The URL of the server, if it is not the vendor's own."""
    key: str = ""
    """The environment variable with the key, if not the vendor's usual one; the key itself is in no file."""
    persona: str = ""
    """Text that is added to the member's system prompt."""
    max_tokens: Annotated[int, Meta(ge=1)] = 4096
    price: tuple[Annotated[float, Meta(ge=0)], Annotated[float, Meta(ge=0)]] | None = None
    """Dollars per million tokens: input, output."""
    script: tuple[str, ...] = ()
    """The answers of a scripted member, in order, repeated from the start."""


class Markers(msgspec.Struct, frozen=True):
    """Who has the markers in a session; what `sessions.rotation_state` holds."""

    drafter: str
    writer: str


def in_order(members: Sequence[Member]) -> list[Member]:
    """Return members in speaking order."""
    return sorted(members, key=lambda member: -member.priority)


def next_markers(members: Sequence[str], last: Markers | None) -> Markers:
    """Return the markers of a new session: the member behind the `last` drafter drafts, the first one without a last.

    If the last drafter has left, the writer of that session marks the place: the writer was listed before the drafter.
    """
    first = 0
    if last is not None and last.drafter in members:
        first = members.index(last.drafter) + 1
    elif last is not None and last.writer in members:
        first = members.index(last.writer) + 1
    first %= len(members)
    return Markers(members[first], members[first - 1])
