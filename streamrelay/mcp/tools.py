"""The MCP tools: each takes its caller and arguments, calls the service, and returns the result.

The tools of this module, `gathering.py` and `council.py` make several calls, or word their result for an agent. Every
other tool derives from the declaration of its call (`derived.py`).
"""

import time
from collections.abc import Sequence

from streamrelay.errors import UsageError
from streamrelay.links.link import Link
from streamrelay.mcp import arguments, council, derived, descriptions, gathering
from streamrelay.mcp.entries import moment, read
from streamrelay.mcp.results import (
    MAX_PATH_LENGTH,
    CloseLinkResult,
    Deliveries,
    EndSessionResult,
    FoundUtterance,
    FoundWords,
    ListedSession,
    OneDelivery,
    Read,
    SendMessageResult,
    SessionList,
    StartSessionResult,
    WaitingMessage,
    WaitingMessages,
    label,
)
from streamrelay.mcp.tool import Tool
from streamrelay.service import api
from streamrelay.service.interface import Service
from streamrelay.sessions.model import Session, StartSession
from streamrelay.sessions.programs import own_search_path

_SECONDS_AN_HOUR = 3600


async def send_message(service: Service, caller: str, asked: arguments.SendMessageArguments) -> SendMessageResult:
    """Deliver a message, and begin or end a conversation if the call asks for it."""
    if asked.direct and asked.close_link:
        raise UsageError(
            "direct=true begins a conversation and close_link=true ends one: ask for one of them",
            hint="leave one of the two out",
        )
    if asked.close_link and not caller:
        raise UsageError("a caller without a session has no conversation to end", hint=descriptions.UNKNOWN_CALLER)
    sent = await service.send_message(
        api.SendMessage(
            to=asked.to,
            text=asked.text,
            caller=caller,
            unknown_agent=not caller,
            direct=asked.direct,
            close_link=asked.close_link,
            message_id=asked.message_id,
        )
    )
    link = await _link(service, caller, sent.link) if sent.link else None
    return SendMessageResult(
        message_id=sent.message_id,
        state=sent.delivery.state,
        reason=sent.delivery.reason,
        link=sent.link,
        remaining=link.remaining if link else None,
        listening=sent.listening,
        removed=dict(sent.delivery.removed),
        file=sent.delivery.file or "",
        warning=label(sent.warning) or (descriptions.UNKNOWN_CALLER if asked.direct and not caller else ""),
        next=_next(asked, sent, link, caller),
    )


def _next(asked: arguments.SendMessageArguments, sent: api.SendResult, link: Link | None, caller: str) -> str:
    if asked.close_link:
        return descriptions.ONLY_DELIVERED if sent.warning else descriptions.SAID_LAST
    if link is not None and link.state == "spent":
        return descriptions.SPENT.format(peer=label(link.peer_of(caller).title))
    if sent.link:
        return descriptions.CONVERSING.format(peer=label(link.peer_of(caller).title if link else asked.to))
    return descriptions.LISTENING if sent.listening else descriptions.ONLY_DELIVERED


async def close_link(service: Service, caller: str, asked: arguments.CloseLinkArguments) -> CloseLinkResult:
    """End the caller's conversation with a session."""
    if not caller:
        raise UsageError("a caller without a session has no conversation to end", hint=descriptions.UNKNOWN_CALLER)
    links = await service.links(caller)
    if asked.peer:
        links = [link for link in links if asked.peer in _names(link, caller)]
    if not links:
        with_whom = f" with {asked.peer}" if asked.peer else ""
        raise UsageError(f"you have no conversation{with_whom}", hint="list_sessions shows whom you are linked with")
    if len(links) > 1:
        peers = ", ".join(f"{label(link.peer_of(caller).title)} ({link.peer_of(caller).session})" for link in links)
        raise UsageError(f"several conversations are open: with {peers}", hint="name one as `peer`")
    (link,) = links
    await service.close_link(link.link_id, caller, asked.last_words)
    peer = label(link.peer_of(caller).title)
    return CloseLinkResult(link=link.link_id, peer=peer, deliveries=link.deliveries, next=descriptions.APART)


def _names(link: Link, caller: str) -> set[str]:
    peer = link.peer_of(caller)
    return {peer.session, peer.title, peer.pane, link.link_id}


async def list_sessions(service: Service, caller: str, _asked: arguments.ListSessionsArguments) -> SessionList:
    """List the sessions, with the caller and its conversations marked."""
    sessions = await service.sessions()
    links = {link.peer_of(caller).session: link for link in await service.links(caller)} if caller else {}
    peers = [_peer(session, caller, links.get(session.session)) for session in sessions]
    return SessionList(you=caller, sessions=peers, next="" if caller else descriptions.UNKNOWN_CALLER)


def _peer(session: Session, caller: str, link: Link | None) -> ListedSession:
    return ListedSession(
        session=session.session,
        title=label(session.title),
        pane=session.pane,
        program=label(session.program),
        state=session.state,
        advice=label(session.advice),
        agent=session.agent,
        you=bool(caller) and session.session == caller,
        started_here=session.started_here,
        link=link.link_id if link else "",
        link_state=link.state if link else "",
        link_remaining=link.remaining if link else None,
        in_relay=session.in_relay,
    )


async def start_session(service: Service, caller: str, asked: arguments.StartSessionArguments) -> StartSessionResult:
    """Start a session."""
    session = await service.start_session(
        StartSession(
            agent=asked.agent,
            arguments=tuple(asked.arguments),
            title=asked.title,
            cwd=asked.cwd,
            search_path=own_search_path(),
            caller=caller,
            unknown_agent=not caller,
            direct=asked.direct,
            prompt=asked.prompt,
        )
    )
    links = [link for link in await service.links(caller) if session.session in _names(link, caller)] if caller else []
    if links:
        follows = descriptions.CONVERSING.format(peer=label(session.title))
    elif asked.direct and not caller:
        follows = f"warning: {descriptions.UNKNOWN_CALLER}."
    else:
        follows = "list_sessions shows what it does; send_message talks to it; end_session ends it."
    return StartSessionResult(session=_peer(session, caller, links[0] if links else None), next=follows)


async def end_session(service: Service, _caller: str, asked: arguments.EndSessionArguments) -> EndSessionResult:
    """End a session that streamrelay started."""
    await service.end_session(asked.session)
    return EndSessionResult(session=label(asked.session))


async def read_since(service: Service, _caller: str, asked: arguments.ReadSinceArguments) -> Read:
    """Read the journal."""
    newest = (await service.status()).seq
    start = max(0, newest - asked.limit) if asked.seq < 0 else asked.seq
    events = await service.read_since(start, asked.session, asked.limit)
    entries, last = read(events, asked.limit, {one.pane: one for one in await service.sessions()})
    more = bool(events) and (last != events[-1].seq or len(events) == asked.limit)
    next_seq = last if last is not None and more else max(newest, last or 0)
    return Read(entries=entries, next_seq=next_seq, more=more, note=descriptions.THEIRS)


async def search_history(service: Service, _caller: str, asked: arguments.SearchHistoryArguments) -> FoundWords:
    """Search the journal and the agents' own transcripts."""
    since = time.time() - asked.hours * _SECONDS_AN_HOUR if asked.hours else 0.0
    history = await service.search_history(
        api.SearchHistory(
            words=asked.words,
            session=asked.session,
            agent=asked.agent,
            since=since,
            limit=asked.limit,
            transcripts=asked.transcripts,
        )
    )
    there = {one.pane: one for one in await service.sessions()}
    return FoundWords(
        found=[
            FoundUtterance(
                seq=one.first,
                at=moment(one.at),
                session=there[one.pane].session if one.pane in there else one.pane or label(one.session),
                title=label(there[one.pane].title) if one.pane in there else "",
                agent=label(one.agent),
                to_agent=one.origin in {"typed", "injected"},
                text=one.snippet,
                file=label(one.file, MAX_PATH_LENGTH),
            )
            for one in history.found
        ],
        note=descriptions.THEIRS,
        left_out=[label(one, MAX_PATH_LENGTH) for one in history.left_out],
        next=descriptions.THE_WHOLE,
    )


async def get_delivery(service: Service, _caller: str, asked: arguments.GetDeliveryArguments) -> Deliveries:
    """Return the state of a message."""
    deliveries = await service.get_delivery(asked.message_id)
    if not deliveries:
        raise UsageError(f"no message is known by the id {label(asked.message_id)}", hint="send_message returns the id")
    return Deliveries(message_id=asked.message_id, deliveries=[*map(_delivery, deliveries)])


def _delivery(delivery: api.Delivery) -> OneDelivery:
    return OneDelivery(
        pane=delivery.pane,
        state=delivery.state,
        reason=delivery.reason,
        removed=dict(delivery.removed),
        file=delivery.file or "",
    )


async def list_deliveries(service: Service, caller: str, asked: arguments.ListDeliveriesArguments) -> WaitingMessages:
    """List the messages that are not submitted yet, without their texts, which are not meant for the caller."""
    deliveries = await service.list_deliveries(asked.session)
    sessions = {session.pane: session for session in await service.sessions()}
    own = {session.session for session in sessions.values() if caller in {session.session, session.pane}}
    return WaitingMessages(
        messages=[
            _waiting(delivery, sessions.get(delivery.pane), yours=delivery.sender in own) for delivery in deliveries
        ]
    )


def _waiting(delivery: api.Delivery, session: Session | None, *, yours: bool) -> WaitingMessage:
    return WaitingMessage(
        message_id=label(delivery.message_id),
        session=delivery.pane if session is None else session.session,
        title="" if session is None else label(session.title),
        state=delivery.state,
        reason=delivery.reason,
        advice="" if session is None else label(session.advice, MAX_PATH_LENGTH),
        yours=yours,
    )


async def cancel_delivery(service: Service, caller: str, asked: arguments.CancelDeliveryArguments) -> Deliveries:
    """Cancel a message that the caller has sent."""
    if not caller:
        raise UsageError("a caller without a session cannot cancel a message", hint=descriptions.UNKNOWN_CALLER)
    deliveries = await service.cancel_delivery(asked.message_id, caller)
    return Deliveries(
        message_id=asked.message_id, deliveries=[*map(_delivery, deliveries)], next=descriptions.NOT_TYPED
    )


async def _link(service: Service, caller: str, link_id: str) -> Link | None:
    return next((link for link in await service.links(caller) if link.link_id == link_id), None)


TOOLS: Sequence[Tool] = (
    Tool(
        "send_message",
        "Speak to a session",
        descriptions.SEND_MESSAGE,
        arguments.SendMessageArguments,
        SendMessageResult,
        send_message,
        always_shown=True,
    ),
    Tool(
        "close_link",
        "End a conversation",
        descriptions.CLOSE_LINK,
        arguments.CloseLinkArguments,
        CloseLinkResult,
        close_link,
        destroys=True,
        always_shown=True,
    ),
    Tool(
        "list_sessions",
        "List sessions",
        descriptions.LIST_SESSIONS,
        arguments.ListSessionsArguments,
        SessionList,
        list_sessions,
        only_reads=True,
        always_shown=True,
    ),
    Tool(
        "start_session",
        "Start a session",
        descriptions.START_SESSION,
        arguments.StartSessionArguments,
        StartSessionResult,
        start_session,
    ),
    Tool(
        "end_session",
        "End a session",
        descriptions.END_SESSION,
        arguments.EndSessionArguments,
        EndSessionResult,
        end_session,
        destroys=True,
    ),
    Tool(
        "read_since",
        "Read what was said",
        descriptions.READ_SINCE,
        arguments.ReadSinceArguments,
        Read,
        read_since,
        only_reads=True,
    ),
    Tool(
        "search_history",
        "Search what was said",
        descriptions.SEARCH_HISTORY,
        arguments.SearchHistoryArguments,
        FoundWords,
        search_history,
        only_reads=True,
    ),
    Tool(
        "get_delivery",
        "How a message stands",
        descriptions.GET_DELIVERY,
        arguments.GetDeliveryArguments,
        Deliveries,
        get_delivery,
        only_reads=True,
    ),
    Tool(
        "list_deliveries",
        "List waiting messages",
        descriptions.LIST_DELIVERIES,
        arguments.ListDeliveriesArguments,
        WaitingMessages,
        list_deliveries,
        only_reads=True,
    ),
    Tool(
        "cancel_delivery",
        "Cancel a message",
        descriptions.CANCEL_DELIVERY,
        arguments.CancelDeliveryArguments,
        Deliveries,
        cancel_delivery,
        destroys=True,
    ),
    *gathering.TOOLS,
    *council.TOOLS,
    *derived.derived_tools(),
)
