"""A link that another node keeps, as it is seen from the node of its other side. Pure."""

import msgspec
from msgspec import structs

from streamrelay.events import LinkCreated
from streamrelay.federation.names import is_far, seen_from
from streamrelay.links.link import Link, Party
from streamrelay.relay.rules import Participant


class RemoteLink(msgspec.Struct, frozen=True):
    """The link, in the words of this node, and where it is kept."""

    home: str
    link: Link
    suspended_by: str = ""
    """What the home was told last of where its side here takes part."""

    @property
    def own(self) -> Party:
        """The side that is here."""
        return next(party for party in self.link.parties if not is_far(party.pane))


def sent(link: Link) -> Link:
    """Return of a link what its other side is shown: how it stands, and nothing of what was said."""
    kept = link.relay.state
    state = structs.replace(kept, held=[], loop_guard=type(kept.loop_guard)())
    return structs.replace(link, relay=structs.replace(link.relay, state=state, saying=()))


def image_of(link: Link, home: str, here: str) -> RemoteLink | None:
    """Return a link of `home` as it is written here; None where not exactly one side of it is here."""

    def name(there: str) -> str:
        return seen_from(there, home, here)

    def participant(one: Participant) -> Participant:
        return structs.replace(one, session=name(one.session), pane=name(one.pane))

    a, b = (structs.replace(party, session=name(party.session), pane=name(party.pane)) for party in link.parties)
    if is_far(a.pane) == is_far(b.pane):
        return None
    stored = link.relay
    state = structs.replace(stored.state, muted=[name(pane) for pane in stored.state.muted])
    relay = structs.replace(stored, participants=tuple(participant(one) for one in stored.participants), state=state)
    return RemoteLink(home, structs.replace(link, parties=(a, b), relay=relay))


def created(link: Link) -> LinkCreated:
    """Return the event that a link is there."""
    a, b = link.parties
    return LinkCreated(
        link=link.link_id, parties=(a.session, b.session), titles=(a.title, b.title), budget=link.policy.budget
    )
