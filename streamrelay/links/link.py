"""A link as plain values: its parties, its policy, the texts that streamrelay itself says."""

from typing import Literal

import msgspec

from streamrelay.errors import UsageError
from streamrelay.relay.attribution import filled
from streamrelay.relay.rules import ACKNOWLEDGEMENTS, HOPS, Count, Participant, Rules, StoredRelay

BUDGET = 8
FRAME = "[From {name}] {text}"
CHECKPOINTS = ("[checkpoint]",)


class Party(msgspec.Struct, frozen=True):
    """One side of a link: an opaque session id, the pane it lives in, and the title its peer knows it by."""

    session: str
    pane: str
    title: str
    session_name: str = ""


class Policy(msgspec.Struct, frozen=True, kw_only=True):
    """What may cross one link, how much and how fast; 0 stands for no limit."""

    budget: Count = BUDGET
    """Deliveries, both directions together."""
    direction: Literal["both", "from_a", "from_b"] = "both"
    """Whose words cross: those of both, or of the first or second party alone."""
    checkpoints: tuple[str, ...] = CHECKPOINTS
    """What answers to checkpoints begin with; of either the first 50 characters count."""
    acknowledgements: Count = ACKNOWLEDGEMENTS
    """How many turns in a row that say nothing new cross."""
    phrases: tuple[str, ...] = ()
    """What else counts as saying nothing new, as literal sentences."""
    hops: Count = HOPS
    """How many times an answer may follow an answer."""
    longest: Count = 0
    """Characters of one delivery."""
    per_minute: Count = 0
    """Deliveries within 60 seconds."""
    start_sessions: bool = True
    """Whether its sides may start sessions."""

    def rules(self, frame: str = FRAME) -> Rules:
        """Return the rules of the relay that a link is."""
        return Rules(
            budget=self.budget,
            when_spent="wait",
            frame=frame,
            checkpoints=self.checkpoints,
            acknowledgements=self.acknowledgements,
            phrases=self.phrases,
            hops=self.hops,
            longest=self.longest,
            per_minute=self.per_minute,
        )


class Texts(msgspec.Struct, frozen=True, kw_only=True):
    """What streamrelay types into a session on its own account; a user may have other words, or none (empty).

    `{title}` is the other one's, `{deliveries}` how many were made, `{text}` what was said.
    """

    frame: str = FRAME
    spent: str = (
        "[streamrelay] The link with {title} is spent after {deliveries} deliveries: nothing crosses until a person "
        "extends it. No answer is needed."
    )
    extended: str = ""
    closed: str = "[streamrelay] {title} has closed the link: nothing crosses any more. No answer is needed."
    ended: str = "[streamrelay] {title} has ended, and the link with it. No answer is needed."
    stopped: str = "[streamrelay] {title} has stopped; what it said is in its own session."
    gone: str = "[streamrelay] {title} has ended."

    def check(self) -> None:
        """Raise UsageError for a template with a field that nothing fills."""
        for name in self.__struct_fields__:
            if name != "frame":
                filled(getattr(self, name), title="", deliveries=0)
        filled(self.frame, name="", number=0, text="")
        if "{text}" not in self.frame:
            raise UsageError(f"the template {self.frame!r} has no {{text}}")


class Link(msgspec.Struct, frozen=True):
    """One link as it stands, and as it is kept."""

    parties: tuple[Party, Party]
    """The one who asked for it, and its peer."""
    policy: Policy
    created_at: float
    """Unix time."""
    relay: StoredRelay

    @property
    def link_id(self) -> str:
        """Its id, which its deliveries carry too."""
        return self.relay.relay

    @property
    def deliveries(self) -> int:
        """How many were made."""
        return self.relay.standing.deliveries

    @property
    def remaining(self) -> int | None:
        """How many are left; None without a budget."""
        standing = self.relay.standing
        return standing.budget - standing.deliveries if standing.budget else None

    @property
    def state(self) -> Literal["open", "spent", "suspended"]:
        """What it does now with what is said."""
        standing = self.relay.standing
        return "suspended" if standing.suspended_by else "spent" if standing.spent else "open"

    def peer_of(self, session: str) -> Party:
        """Return the other side."""
        a, b = self.parties
        return b if a.session == session else a


class Listener(msgspec.Struct, frozen=True):
    """Who is to be told, once, that another one has stopped."""

    listener_id: str
    caller: Party
    target: Party


class StoredLinks(msgspec.Struct, frozen=True):
    """All links and listeners, as they are kept."""

    links: tuple[Link, ...] = ()
    listeners: tuple[Listener, ...] = ()


def participants(a: Party, b: Party) -> tuple[Participant, Participant]:
    """Return two parties as a relay takes them; who has the same title as its peer is told apart by its session."""
    names = (a.title, b.title) if a.title != b.title else (f"{a.title} {a.session}", f"{b.title} {b.session}")
    first, second = (
        Participant(party.session, party.pane, name, number, party.session_name)
        for number, (party, name) in enumerate(zip((a, b), names, strict=True), 1)
    )
    return first, second
