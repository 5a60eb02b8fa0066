"""Sends messages to sessions, and starts sessions with a first message."""

import asyncio
import contextlib
import secrets
import time
from collections.abc import Iterable
from typing import Literal

from streamrelay.delivery.message import check_message_id
from streamrelay.delivery.outbox import OutboxEntry
from streamrelay.delivery.sending import check_can_be_typed
from streamrelay.errors import StreamrelayError
from streamrelay.relay.rules import Effect
from streamrelay.service import remote_sessions
from streamrelay.service.api import Delivery, SendMessage, SendResult
from streamrelay.service.callers import calling
from streamrelay.service.core import Core, new_id, party
from streamrelay.service.messages import MessageOutcome, OutgoingMessage, check_chosen_id, check_length, check_may_speak
from streamrelay.sessions.model import Session, StartSession
from streamrelay.sessions.permission import UNKNOWN, asking, check_start

PATIENCE, PROMPT_PATIENCE = 10.0, 60.0
"""Seconds to wait until a started program is ready, without and with a prompt for it."""
RECOGNITION_TIMEOUT = 15.0
"""Seconds to wait until a known question is recognised again after its pane is reattached."""
_LAST_WORDS_TIMEOUT = 3.0
_COMPOSED_ANEW = "council-"
"""Prefix of the ids of a council's questions. A question that is asked again after a restart may have another text:
what other members said since is part of it."""


async def send(core: Core, request: SendMessage) -> SendResult:
    """Deliver a message, and link, listen or close as requested; a failure of those is only a warning."""
    if (there := remote_sessions.split(core, request.to)) is not None:
        return await remote_sessions.send(core, request, there)
    target = await core.find(request.to)
    core.machine.circles.check_may_send(target.session, to=True)
    message_id = request.message_id or f"send-{secrets.token_hex(6)}"
    check_message_id(message_id)
    check_chosen_id(message_id)
    caller = await calling(core, request.caller, target.session, unknown_agent=request.unknown_agent)
    connects: Literal["link", "listen"] = "link" if request.direct else "listen"
    await core.admit(target, allow_shell=request.allow_shell)
    if request.message_id and not request.message_id.startswith(_COMPOSED_ANEW):
        await core.outbox.claim(message_id, request.text, server=core.server_key, pane=target.pane)
    known = await deliveries(core, message_id) if caller.session is not None and request.message_id else []
    sending = OutgoingMessage(
        message_id=message_id,
        text=request.text,
        target=party(target),
        caller=None if caller.session is None else party(caller.session),
        then="close" if request.close_link else connects if caller.is_heard else "nothing",
        policy=request.policy or core.policy,
        typing=core.typing_of(request),
        again=any(each.pane == target.pane for each in known),
    )
    sent, warning = MessageOutcome(), caller.warning

    def decide(now: float) -> list[Effect]:
        nonlocal sent
        sent, effects = core.machine.send(
            sending, link_id=new_id("link"), listener_id=new_id("stop"), at=time.time(), now=now
        )
        return effects

    await core.do(decide)
    if request.close_link and not sent.closed:
        warning = caller.warning or f"there is no link with {target.title} to be closed"
    of_target = [each for each in await deliveries(core, message_id) if each.pane == target.pane]
    gone = Delivery(message_id=message_id, pane=target.pane, state="failed", reason="pane_gone")
    return SendResult(
        message_id=message_id,
        delivery=of_target[0] if of_target else gone,
        link="" if sent.link is None else sent.link.link_id,
        listening=sent.listening,
        warning=warning,
    )


async def deliveries(core: Core, message_id: str) -> list[Delivery]:
    """Return the state of a message, one entry per target.

    Only for this tmux server: others share the outbox, and their panes have the same ids.
    """
    return [
        *_of_server(await _entries(core, message_id), core.server_key),
        *remote_sessions.deliveries(core, message_id),
    ]


async def last_deliveries(core: Core, message_id: str) -> list[Delivery]:
    """Return the same; for a message to an earlier tmux server at this socket, its last state there."""
    if found := await deliveries(core, message_id):
        return found
    return last_of(await _entries(core, message_id), core.server_key, core.server.info.address)


async def _entries(core: Core, message_id: str) -> list[OutboxEntry]:
    await core.outbox.flush()
    return await core.outbox.find(message_id)


def last_of(entries: Iterable[OutboxEntry], server: str, address: str) -> list[Delivery]:
    """Return the state of a message on a tmux server, or on the latest earlier server at its socket."""
    found = [entry for entry in entries if entry.server == server or entry.server.startswith(f"{address} ")]
    last = server if any(entry.server == server for entry in found) else found[-1].server if found else ""
    return _of_server(found, last)


def _of_server(entries: Iterable[OutboxEntry], server: str) -> list[Delivery]:
    return [delivery_of(entry) for entry in entries if entry.server == server]


def delivery_of(entry: OutboxEntry) -> Delivery:
    """Return the state of a message to one pane."""
    return Delivery(
        message_id=entry.message_id,
        pane=entry.pane,
        state=entry.state,
        reason=entry.reason,
        removed=entry.removed,
        file=entry.file,
        sender=entry.sender,
        queued_at=entry.taken_up,
    )


async def start(core: Core, request: StartSession) -> Session:
    """Start a session, connect it with its caller, and type its prompt as soon as it accepts input.

    Raises NotAllowed for a prompt that may not be sent, and InGathering for a caller in a gathering; in both cases no
    session remains.
    """
    session = await begin(core, request)
    try:
        patience = PROMPT_PATIENCE if request.prompt else PATIENCE
        session = await until_heard(core, session, patience if request.patience is None else request.patience)
        if request.prompt:
            sent = await send(
                core,
                SendMessage(
                    to=session.session,
                    text=request.prompt,
                    caller=request.caller,
                    unknown_agent=request.unknown_agent,
                    direct=request.direct,
                    allow_shell=True,
                    needs_human="hold",
                ),
            )
            if sent.delivery.state == "failed":
                check_can_be_typed(sent.delivery.reason, "the prompt")
        elif request.caller:
            await _connect(core, request, session)
    except StreamrelayError:
        # The caller never learns the session's id, so it could not end the session.
        with contextlib.suppress(StreamrelayError):
            await end(core, session.session)
        raise
    return await core.find(session.session)


async def begin(core: Core, request: StartSession) -> Session:
    """Start a session without observing it yet; raises NotAllowed if the caller may not start sessions."""
    await _check_start(core, request)
    core.being_born += 1
    try:
        return await core.sessions.start(request, is_awaited=True)
    finally:
        core.being_born -= 1


async def until_heard(core: Core, session: Session, patience: float = PATIENCE) -> Session:
    """Wait until a new session accepts input; return it, observed as the program that it runs by then."""
    core.arriving.add(session.pane)
    try:
        async with core.sessions.failing_start(session):
            await core.admit(session, allow_shell=True)
            session = await core.sessions.until_ready(session, patience)
    finally:
        core.arriving.discard(session.pane)
    # The program's terminal requests before the attach are lost, but by now its screen reveals them. The program may
    # also have changed: a script starts many agents.
    await core.dismiss(session.pane)
    await core.admit(session, allow_shell=True)
    if session.state == "needs_human":
        # The question on the screen must be recognised again, or the caller would not learn of it.
        session = await core.sessions.until_ready(session, RECOGNITION_TIMEOUT)
    return session


async def _check_start(core: Core, request: StartSession) -> None:
    """Raise NotAllowed if the caller may not start sessions."""
    caller = (await core.find(request.caller)).session if request.caller else ""
    there = await core.sessions.all()
    asks = asking(there, caller, request.within) or (UNKNOWN if request.unknown_agent else "")
    if request.prompt and (caller or request.unknown_agent):
        check_may_speak(caller, core.machine.settings)
    if request.prompt and caller:
        core.machine.circles.check_may_send(caller, to=False)
        check_length(request.prompt, core.policy)
    links = [link for link in core.links() if asks in {party.session for party in link.parties}]
    forbidden_by = next((link.link_id for link in links if not link.policy.start_sessions), "")
    check_start(
        there,
        asks,
        who=core.starting.start,
        most=core.starting.most,
        being_born=core.being_born,
        forbidden_by=forbidden_by,
    )


async def _connect(core: Core, request: StartSession, session: Session) -> None:
    """Link a new session with its caller, or create a listener that notifies the caller when it stops."""
    caller = await core.find(request.caller)
    await core.admit(caller)
    parties = party(caller), party(session)

    def decide(now: float) -> list[Effect]:
        if request.direct:
            return core.machine.link(*parties, link_id=new_id("link"), at=time.time(), now=now)[1]
        core.machine.links.listen(*parties, listener_id=new_id("stop"))
        return []

    await core.do(decide)


async def end(core: Core, name: str) -> None:
    """End a session that streamrelay started, with its links and listeners."""
    session = await core.find(name)
    place = core.runner.participant(session.pane)
    await core.sessions.end(session.session)
    if place is not None:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_LAST_WORDS_TIMEOUT):
                await place.gone.wait()
    await core.do(lambda now: core.machine.leave(session.pane, "ended", now))
