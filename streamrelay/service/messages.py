"""A message to a session: its request, whether the sender may send it, and the text to type.

A message that a session sends its peer by the tool counts as a delivery of their link. While the link delivers nothing,
the service refuses the message at once instead of queueing it, so that the calling agent learns it and decides what to
do. Two kinds of message do not count: the one that makes a link, and last words. A spent budget does not stop last
words, but a pause does.

These limits do not apply to people. A message has a caller when a session sends it: the MCP tools name the session they
are called from. `streamrelay send` always sends for a person, also when an agent's shell runs it.
"""

from typing import Literal

import msgspec

from streamrelay.delivery.message import DeliveryPolicy
from streamrelay.errors import NotAllowed, UsageError
from streamrelay.links.link import Link, LinkPolicy, Party
from streamrelay.links.registry import LinkRegistry
from streamrelay.relay.attribution import filled
from streamrelay.relay.rules import Notice, Participant
from streamrelay.service.settings import UserDecisions

OWN_IDS = ("link-", "relay-", "gathering-", "stop-")
"""Prefixes of the ids of streamrelay's own messages: the id of a link, relay, gathering or listener, and a number."""


class OutgoingMessage(msgspec.Struct, frozen=True, kw_only=True):
    """A message to a session, from another session or a person."""

    message_id: str
    text: str
    target: Party
    caller: Party | None = None
    then: Literal["nothing", "link", "listen", "close"] = "nothing"
    policy: LinkPolicy | None = None
    """The policy of a new link."""
    typing: DeliveryPolicy | None = None
    again: bool = False
    """Whether the outbox already has a message with this id."""


class MessageOutcome(msgspec.Struct):
    """The effects of a message besides its delivery."""

    link: Link | None = None
    listening: bool = False
    closed: bool = False


def check(sending: OutgoingMessage, caller: Party, links: LinkRegistry, settings: UserDecisions, now: float) -> None:
    """Raise NotAllowed if a session's message exceeds the limits of its link, or the pair waits for a person."""
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
        f"your link with {peer.title} does not deliver your message: {why}",
        hint=_HINTS.get(reason, _NOTHING_NEW).format(link=link.link_id),
        data={"link": link.link_id, "reason": reason},
    )


def check_chosen_id(message_id: str) -> None:
    """Raise UsageError for an id with a prefix of streamrelay's own messages."""
    if message_id.startswith(OWN_IDS):
        raise UsageError(
            f"the message id {message_id!r} has a prefix that streamrelay uses for its own messages",
            hint=f"choose an id that does not begin with {', '.join(OWN_IDS)}",
        )


def check_may_speak(session: str, settings: UserDecisions) -> None:
    """Raise NotAllowed if a person has paused everything or muted this session."""
    if settings.paused:
        raise NotAllowed("a person has paused everything", hint=_HINTS["paused"], data={"reason": "paused"})
    if session in settings.muted:
        raise NotAllowed("a person has muted you", hint=_HINTS["muted"], data={"reason": "muted"})


def check_length(text: str, policy: LinkPolicy | None) -> None:
    """Raise NotAllowed for a text longer than one delivery allows."""
    longest, length = policy.longest if policy is not None else 0, len(text)
    if 0 < longest < length:
        raise NotAllowed(
            f"the message has {length:,} characters; at most {longest:,} are allowed",
            hint="shorten it, or write it into a file and send the path",
            data={"longest": longest},
        )


def check_last_words(link: Link, session: str, words: str, settings: UserDecisions) -> None:
    """Raise NotAllowed for last words that a session may not send now; a spent budget does not stop them.

    Without words there is nothing to check: a session may always close its link.
    """
    if not words.strip():
        return
    check_may_speak(session, settings)
    check_length(words, link.policy)
    state = link.relay.state
    pane = next((party.pane for party in link.parties if party.session == session), "")
    if state.paused:
        reason, why = "paused", "it is paused by a person"
    elif pane in state.muted:
        reason, why = "muted", "a person has muted you"
    elif state.suspended_by:
        reason, why = "suspended", f"one of its sides is in {state.suspended_by}"
    else:
        return
    raise NotAllowed(
        f"the link does not deliver your last words: {why}",
        hint="close it without them" if reason == "muted" else "close it without them, or wait until that is over",
        data={"link": link.link_id, "reason": reason},
    )


_HINTS = {
    "paused": "what you say in your own session waits, and is delivered when the pause is over",
    "spent": "finish what you can alone, and tell your user what is open: they can type streamrelay extend {link} N",
    "rate": "say it in your own session: it waits there, and is delivered when the rate allows it",
    "muted": "finish what you can alone, and tell your user what is open",
    "suspended": "the link continues when that is over",
    "checkpoint": "a text with this beginning counts as a private note: begin the text for your peer differently",
}
_NOTHING_NEW = "say something new, or continue your work without an answer"


def notice(sending: OutgoingMessage, frame: str) -> Notice:
    """Return the notice to type for the target; a session's message is framed with its name by `frame`.

    `links.link.NoticeTexts` describes frames.
    """
    target, caller = sending.target, sending.caller
    listener = Participant(target.session, target.pane, target.title, 1, target.session_name)
    if caller is None:
        return Notice(sending.message_id, (listener,), sending.text, policy=sending.typing)
    head = filled(frame, name=caller.title, number=0, text="").strip()
    text = filled(frame, name=caller.title, number=0, text=sending.text)
    return Notice(sending.message_id, (listener,), text, head, sending.typing, caller.session)
