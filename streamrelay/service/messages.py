"""A message from somebody to a session: what it asks for, what its link lets through, and what of it is typed."""

from typing import Literal

import msgspec

from streamrelay.delivery.message import Policy as Typing
from streamrelay.errors import NotAllowed
from streamrelay.links.link import Link, Party, Policy
from streamrelay.links.registry import LinkRegistry
from streamrelay.relay.attribution import filled
from streamrelay.relay.rules import Notice, Participant


class Sending(msgspec.Struct, frozen=True, kw_only=True):
    """A message from somebody to a session."""

    message_id: str
    text: str
    target: Party
    caller: Party | None = None
    then: Literal["nothing", "link", "listen", "close"] = "nothing"
    policy: Policy | None = None
    """Of a link that is made."""
    typing: Typing | None = None


class Sent(msgspec.Struct):
    """What was done besides delivering it."""

    link: Link | None = None
    listening: bool = False
    closed: bool = False


def check_limits(sending: Sending, caller: Party, links: LinkRegistry, now: float) -> None:
    """Count a message against what its link lets through; raises NotAllowed beyond its size or rate."""
    link = links.between(caller.session, sending.target.session)
    policy = sending.policy if link is None else link.policy
    longest, length = policy.longest if policy is not None else 0, len(sending.text)
    if 0 < longest < length:
        raise NotAllowed(
            f"{length:,} characters are more than the {longest:,} that one message may have",
            hint="say it shorter, or put it into a file and name that",
            data={"longest": longest},
        )
    if not links.takes_message(caller.session, sending.target.session, now):
        raise NotAllowed(
            "as many messages have crossed this link within a minute as may",
            hint="say it in your own session: what is said there waits, and crosses in its time",
            data={"link": "" if link is None else link.link_id},
        )


def notice(sending: Sending, frame: str) -> Notice:
    """Return what is typed for the target: what a session says names it, as `frame` (see `links.link.Texts`) says."""
    target, caller = sending.target, sending.caller
    listener = Participant(target.session, target.pane, target.title, 1, target.session_name)
    if caller is None:
        return Notice(sending.message_id, (listener,), sending.text, policy=sending.typing)
    head = filled(frame, name=caller.title, number=0, text="").strip()
    text = filled(frame, name=caller.title, number=0, text=sending.text)
    return Notice(sending.message_id, (listener,), text, head, sending.typing)
