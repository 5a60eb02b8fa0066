"""A message that somebody sends a session: what it asks for, whether it may, and what of it is typed.

What a session sends its peer by the tool crosses their link as what it says does: it counts as a delivery, and is
refused while the link would let nothing across. It is refused, and does not wait, because the tool answers: whoever
called it knows, and decides. Two kinds are no deliveries: the message that makes a link, and last words, which a spent
budget does not hold back, a pause does.

A person is bound by none of this. A message has a caller when a session sends it: the tools name the one they were
called from. `streamrelay send` names none, wherever it is typed, and that it is a person's word is what it is for.
"""

from typing import Literal

import msgspec

from streamrelay.delivery.message import Policy as Typing
from streamrelay.errors import NotAllowed, UsageError
from streamrelay.links.link import Link, Party, Policy
from streamrelay.links.registry import LinkRegistry
from streamrelay.relay.attribution import filled
from streamrelay.relay.rules import Notice, Participant
from streamrelay.service.settings import Settings

OWN_IDS = ("link-", "relay-", "gathering-", "stop-")
"""What the ids begin with of messages that nobody sends: that of who delivers it, and a number."""


class OutgoingMessage(msgspec.Struct, frozen=True, kw_only=True):
    """A message from somebody to a session."""

    message_id: str
    text: str
    target: Party
    caller: Party | None = None
    then: Literal["nothing", "link", "listen", "close"] = "nothing"
    policy: Policy | None = None
    """Of a link that is made."""
    typing: Typing | None = None
    again: bool = False
    """Whether it is in the outbox already, known by its id."""


class MessageOutcome(msgspec.Struct):
    """What was done besides delivering it."""

    link: Link | None = None
    listening: bool = False
    closed: bool = False


def check(sending: OutgoingMessage, caller: Party, links: LinkRegistry, settings: Settings, now: float) -> None:
    """Raise NotAllowed for a message of a session that is beyond the limits of its link, or waits for a person."""
    check_may_speak(caller.session, settings)
    peer = sending.target
    if settings.are_apart(caller.session, peer.session):
        raise NotAllowed(
            f"your link with {peer.title} was closed when its budget was spent or a person had paused it",
            hint="only a person links you two again: tell your user what is open (streamrelay link A B)",
        )
    link = links.between(caller.session, peer.session)
    check_length(sending.text, sending.policy if link is None else link.policy)
    refusal = links.refusal(caller.session, peer.session, sending.text, now)
    if link is None or refusal is None:
        return
    reason, why = refusal
    if reason == "spent" and sending.then == "close":
        return
    raise NotAllowed(
        f"your message does not cross your link with {peer.title}: {why}",
        hint=_HINTS.get(reason, _NOTHING_NEW).format(link=link.link_id),
        data={"link": link.link_id, "reason": reason},
    )


def check_chosen_id(message_id: str) -> None:
    """Raise UsageError for an id under which a caller would take the place of what a link delivers."""
    if message_id.startswith(OWN_IDS):
        raise UsageError(
            f"the message id {message_id!r} begins as those that streamrelay makes itself",
            hint=f"begin it otherwise than with {', '.join(OWN_IDS)}",
        )


def check_may_speak(session: str, settings: Settings) -> None:
    """Raise NotAllowed for a session of which nobody is to hear anything."""
    if settings.paused:
        raise NotAllowed("a person has paused everything", hint=_HINTS["paused"], data={"reason": "paused"})
    if session in settings.muted:
        raise NotAllowed("a person has muted you", hint=_HINTS["muted"], data={"reason": "muted"})


def check_length(text: str, policy: Policy | None) -> None:
    """Raise NotAllowed for a text that is longer than one delivery may be."""
    longest, length = policy.longest if policy is not None else 0, len(text)
    if 0 < longest < length:
        raise NotAllowed(
            f"{length:,} characters are more than the {longest:,} that one message may have",
            hint="say it shorter, or put it into a file and name that",
            data={"longest": longest},
        )


def check_last_words(link: Link, session: str, words: str, settings: Settings) -> None:
    """Raise NotAllowed for words with which a session may not close its link; a spent budget does not hold them back.

    Nothing is asked where there are no words: a link is closed whatever holds.
    """
    if not words.strip():
        return
    check_may_speak(session, settings)
    check_length(words, link.policy)
    standing = link.relay.standing
    pane = next((party.pane for party in link.parties if party.session == session), "")
    if standing.paused:
        reason, why = "paused", "it is paused by a person"
    elif pane in standing.muted:
        reason, why = "muted", "nothing of what you say is to cross it"
    elif standing.suspended_by:
        reason, why = "suspended", f"one of its sides is in {standing.suspended_by}"
    else:
        return
    raise NotAllowed(
        f"your last words do not cross the link: {why}",
        hint="close it without them" if reason == "muted" else "close it without them, or wait until that is over",
        data={"link": link.link_id, "reason": reason},
    )


_HINTS = {
    "paused": "what you say in your own session waits, and crosses when the pause is over",
    "spent": "finish what you can alone, and tell your user what is open: they can type streamrelay extend {link} N",
    "rate": "say it in your own session: what is said there waits, and crosses in its time",
    "muted": "finish what you can alone, and tell your user what is open",
    "suspended": "the link goes on when that is over",
    "checkpoint": "a text that begins so is a note to oneself: begin otherwise what the other one is to hear",
}
_NOTHING_NEW = "say something new, or nothing and go on with your work"


def notice(sending: OutgoingMessage, frame: str) -> Notice:
    """Return what is typed for the target: what a session says names it, as `frame` (see `links.link.Texts`) says."""
    target, caller = sending.target, sending.caller
    listener = Participant(target.session, target.pane, target.title, 1, target.session_name)
    if caller is None:
        return Notice(sending.message_id, (listener,), sending.text, policy=sending.typing)
    head = filled(frame, name=caller.title, number=0, text="").strip()
    text = filled(frame, name=caller.title, number=0, text=sending.text)
    return Notice(sending.message_id, (listener,), text, head, sending.typing, caller.session)
