"""A link as plain values: its parties, its policy, and streamrelay's own texts."""

from typing import Literal

import msgspec

from streamrelay import counts
from streamrelay.errors import UsageError
from streamrelay.relay.attribution import filled
from streamrelay.relay.rules import ACKNOWLEDGEMENTS, HOPS, Count, Participant, Rules, StoredRelay

BUDGET = 8
FRAME = "[From {name}] {text}"
CHECKPOINTS = ("[checkpoint]",)


class Party(msgspec.Struct, frozen=True):
    """One side of a link: an opaque session id, its pane, and the title by which its peer knows it."""

    session: str
    pane: str
    title: str
    session_name: str = ""


class LinkPolicy(msgspec.Struct, frozen=True, kw_only=True):
    """What one link delivers, how much and how fast; 0 means no limit."""

    budget: Count = BUDGET
    """Deliveries, both directions together."""
    direction: Literal["both", "from_a", "from_b"] = "both"
    """Whose output the link delivers: that of both parties, or only of the first or second."""
    checkpoints: tuple[str, ...] = CHECKPOINTS
    """The beginnings of answers to checkpoints; the first 50 characters of both are compared."""
    acknowledgements: Count = ACKNOWLEDGEMENTS
    """The number of turns in a row without new content that the link delivers."""
    phrases: tuple[str, ...] = ()
    """Further sentences without new content, literally."""
    hops: Count = HOPS
    """How often an answer may follow an answer."""
    longest: Count = 0
    """The most characters of one delivery."""
    per_minute: Count = 0
    """The most deliveries within 60 seconds."""
    start_sessions: bool = True
    """Whether its sides may start sessions."""
    notices: bool = True
    """Whether its sides get notices about the link."""

    def rules(self, frame: str = FRAME) -> Rules:
        """Return the rules of the link's relay."""
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


def notice_text(template: str, *, title: str, deliveries: int) -> str:
    """Fill in a template of a notice; raises UsageError for an unknown field."""
    return filled(template, title=title, deliveries=deliveries, made=counts.deliveries(deliveries))


class NoticeTexts(msgspec.Struct, frozen=True, kw_only=True):
    """The texts that streamrelay itself types into a session; a user can replace them, or leave one empty for none.

    `{title}` is the peer's title, `{deliveries}` the number of deliveries, `{made}` the same with its noun
    (`1 delivery`), `{text}` the delivered output.
    """

    frame: str = FRAME
    spent: str = (
        "[streamrelay] The link with {title} is spent after {made}: it delivers nothing until a "
        "person extends it. No answer is needed."
    )
    extended: str = ""
    closed: str = "[streamrelay] {title} has closed the link: it delivers nothing more. No answer is needed."
    ended: str = "[streamrelay] {title} has ended, and the link with it. No answer is needed."
    stopped: str = "[streamrelay] {title} has stopped; what it said is in its own session."
    gone: str = "[streamrelay] {title} has ended."

    def check(self) -> None:
        """Raise UsageError for a template with an unknown field."""
        for name in self.__struct_fields__:
            if name != "frame":
                notice_text(getattr(self, name), title="", deliveries=0)
        filled(self.frame, name="", number=0, text="")
        if "{text}" not in self.frame:
            raise UsageError(
                f"the template {self.frame!r} has no {{text}}", hint="put {text} where the message is to stand"
            )


class Link(msgspec.Struct, frozen=True):
    """The state of one link, also in its stored form."""

    parties: tuple[Party, Party]
    """The party that asked for the link, and its peer."""
    policy: LinkPolicy
    created_at: float
    """Unix time."""
    relay: StoredRelay

    @property
    def link_id(self) -> str:
        """The id of the link and of its relay."""
        return self.relay.relay

    @property
    def deliveries(self) -> int:
        """The number of deliveries so far."""
        return self.relay.state.deliveries

    @property
    def remaining(self) -> int | None:
        """The number of deliveries left; None without a budget."""
        state = self.relay.state
        return state.budget - state.deliveries if state.budget else None

    @property
    def state(self) -> Literal["open", "spent", "suspended"]:
        """Whether the link delivers output now."""
        state = self.relay.state
        return "suspended" if state.suspended_by else "spent" if state.spent else "open"

    def peer_of(self, session: str) -> Party:
        """Return the other side."""
        a, b = self.parties
        return b if a.session == session else a


class Listener(msgspec.Struct, frozen=True):
    """A caller that gets one message when its target stops."""

    listener_id: str
    caller: Party
    target: Party


class StoredLinks(msgspec.Struct, frozen=True):
    """The stored form of all links and listeners."""

    links: tuple[Link, ...] = ()
    listeners: tuple[Listener, ...] = ()


def participants(a: Party, b: Party) -> tuple[Participant, Participant]:
    """Return two parties as participants of a relay; equal titles get the session id appended."""
    names = (a.title, b.title) if a.title != b.title else (f"{a.title} {a.session}", f"{b.title} {b.session}")
    first, second = (
        Participant(party.session, party.pane, name, number, party.session_name)
        for number, (party, name) in enumerate(zip((a, b), names, strict=True), 1)
    )
    return first, second
