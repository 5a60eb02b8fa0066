"""Seats: which sessions take part in a relay, gathering or listener that another node keeps. Pure.

The node that keeps a relay or gathering is its *home*; there a session of another node is a participant like any other,
in the pane `%3@beta`. A `Guest` is such a participant as its home sees it, a `RemoteSeat` is the same one as its own
node sees it. The home stores the guests that it has announced, the other node the seats that were announced to it;
`Node` compares both with the current state at each step.
"""

from typing import Literal

import msgspec

from streamrelay.links.link import Party

SeatKind = Literal["relay", "gathering", "listener", "person"]
"""A `person` takes part in a gathering on the web page of their node, without a session; their pane is `#NUMBER`."""


class Guest(msgspec.Struct, frozen=True):
    """A session of another node in a relay, gathering or listener of this one; session and pane end in `@NODE`."""

    of: str
    """The id of the relay, gathering or listener."""
    kind: SeatKind
    session: str
    pane: str
    is_human: bool = False
    """Whether a person types in the session, so that typed text is their contribution."""

    @property
    def is_in_gathering(self) -> bool:
        """Whether the guest takes part in a gathering."""
        return self.kind in {"gathering", "person"}


class RemoteSeat(msgspec.Struct, frozen=True):
    """A session of this node in a relay, gathering or listener of another one."""

    home: str
    of: str
    kind: SeatKind
    own: Party
    is_human: bool = False

    @property
    def name(self) -> str:
        """The name of the relay or gathering on this node: its id and its home."""
        return f"{self.of}@{self.home}"

    @property
    def is_exclusive(self) -> bool:
        """Whether the session can be in no other relay or gathering meanwhile."""
        return self.kind in {"relay", "gathering"}

    @property
    def is_in_gathering(self) -> bool:
        """Whether it is a seat in a gathering."""
        return self.kind in {"gathering", "person"}
