"""The calls that list, open, extend and close links."""

import time
from typing import Annotated

import msgspec
from msgspec import structs

from streamrelay.errors import TargetNotFound, UsageError
from streamrelay.federation.messages import Wish
from streamrelay.links.link import Link, LinkPolicy
from streamrelay.relay.rules import MAX_COUNT
from streamrelay.relay.session import check_different, checked_name
from streamrelay.service import remote_sessions
from streamrelay.service.call import call
from streamrelay.service.core import new_id, party
from streamrelay.service.parts import ServiceParts


@call("GET", "/links", early=True)
async def links(parts: ServiceParts, session: str = "") -> list[Link]:
    """List the links, of one session or of all."""
    own = (await parts.core.find(session)).session if session else ""
    return [link for link in parts.core.links() if not own or own in {party.session for party in link.parties}]


@call("POST", "/links")
async def create_link(  # noqa: PLR0917  # the arguments of a call are named in its request
    parts: ServiceParts,
    a: str,
    b: str,
    policy: LinkPolicy | None = None,
    names: tuple[str, str] = ("", ""),
    allow_shell: bool = False,
) -> Link:
    """Link two sessions; if they are linked already, return that link unchanged.

    `names` are those of the two in the link, empty for the title. Raises UsageError for an invalid name,
    for equal names, and for names in a link with another machine; ShellRefused for a shell without `allow_shell`.
    """
    core = parts.core
    for name in filter(None, names):
        checked_name(name)
    check_different(names)
    if any(names) and any(remote_sessions.split(core, session) is not None for session in (a, b)):
        raise UsageError("a link with another machine takes no names", hint="name the sessions by their titles")
    if (link := await remote_sessions.create_link(core, a, b, policy, allow_shell=allow_shell)) is not None:
        return link
    first, second = await core.find(a), await core.find(b)
    if first.session == second.session:
        raise UsageError(
            "a session cannot be linked with itself",
            hint="name two different sessions",
            data={"session": first.session},
        )
    for session in (first, second):
        await core.admit(session, allow_shell=allow_shell)
    link_id, at, policy = new_id("link"), time.time(), policy or core.policy
    one, two = (
        structs.replace(party(session), title=name or session.title)
        for session, name in zip((first, second), names, strict=True)
    )
    await core.do(lambda now: core.machine.link(one, two, link_id=link_id, at=at, now=now, policy=policy)[1])
    link = core.machine.links.between(first.session, second.session)
    if link is None:
        raise TargetNotFound("one of the two has gone meanwhile")
    return link


@call("POST", "/links/{link}/extend")
async def extend_link(
    parts: ServiceParts, link: str, deliveries: Annotated[int, msgspec.Meta(ge=1, le=MAX_COUNT)]
) -> Link:
    """Add deliveries to a link's budget, and reopen the link if its budget was spent."""
    core = parts.core
    if not await remote_sessions.wish(core, Wish(link=link, what="extend", deliveries=deliveries)):
        await core.do(lambda now: core.machine.extend(link, deliveries, now))
    return next((one for one in core.links() if one.link_id == link), None) or core.machine.found(link)


@call("POST", "/links/{link}/close")
async def close_link(parts: ServiceParts, link: str, by: str = "", last_words: str = "") -> None:
    """Close a link, for one of its sides or for a person; the other side gets a notice."""
    if await remote_sessions.wish(parts.core, Wish(link=link, what="close", by=by, last_words=last_words)):
        return
    side = (await parts.core.find(by)).session if by else ""
    await parts.core.do(lambda _: parts.core.machine.close_link(link, side, last_words))
