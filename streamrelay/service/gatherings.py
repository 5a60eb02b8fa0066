"""Runs the gatherings of a service: starts their sessions, and exports their results at the end.

An invalid gathering starts nothing, because the service checks it before it starts the first session. If a session
cannot start, or has joined another conversation by then, the service ends the sessions that it has started.
"""

import asyncio
import contextlib
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping
from pathlib import Path
from typing import NoReturn

import msgspec
from msgspec import structs

from streamrelay.errors import InvalidGathering, SessionTaken, StreamrelayError
from streamrelay.federation.messages import GatheringCall, Start
from streamrelay.gathering.ceremony import Ceremony
from streamrelay.gathering.circle import Circle, CircleSeat
from streamrelay.gathering.library import find_rhythm, load_texts
from streamrelay.gathering.members import Member, check_members, check_not_nested
from streamrelay.gathering.plan import Plan, plan_for
from streamrelay.gathering.transcript import as_json, as_markdown
from streamrelay.links.link import Party
from streamrelay.pulse import BEAT_PARTS
from streamrelay.relay.rules import Effect
from streamrelay.relay.session import checked_name
from streamrelay.service import remote_gatherings, remote_sessions, sending
from streamrelay.service.core import Core, new_id
from streamrelay.service.gathering_api import Gathering, GatheringTranscript, Invited, StartGathering
from streamrelay.service.gathering_views import describe, describe_transcript, export_circle
from streamrelay.service.messages import check_may_speak
from streamrelay.service.pulse import pulse
from streamrelay.sessions.commands import mark_gathering
from streamrelay.sessions.model import Session, StartSession

SENSE_EVERY = 15.0
"""Seconds between two summaries of the current work for the beats."""
AnySession = Session | Party
"""A session of this machine, or one of another machine."""
FOLDER = "gatherings"
"""The folder for transcripts and harvests, below the service's own folder."""


async def start(core: Core, request: StartGathering) -> Gathering:
    """Start the sessions of a gathering, and the gathering; raises NotAllowed for a caller that may not speak."""
    caller = await core.find(request.caller) if request.caller else None
    _check_may_open(core, request, caller)
    if caller is not None:
        held = core.machine.circles.of(caller.session)
        check_not_nested(caller.session, None if held is None else held.gathering_id)
    plan, texts = _plan(core, request), load_texts()
    known = await _known(core, request.participants, caller)
    _check(core, request.participants, known)
    gathering_id = new_id("gathering")

    async def mark(session: Session) -> None:
        await core.server.query(mark_gathering(session.pane, gathering_id))

    def opens(circle: Circle, now: float, going_on: str) -> list[Effect]:
        # A person may have paused everything, or muted the caller, while sessions were started.
        _check_may_open(core, request, caller)
        return core.machine.open_gathering(circle, now, going_on)

    started: dict[int, AnySession] = {}
    sensing = asyncio.ensure_future(pulse(core, scope=plan.keywords))
    try:
        cwd = request.cwd or ("" if caller is None else await core.sessions.folder(caller))
        absent = [one for one in request.participants if one.number not in known]
        await _start_all(core, absent, mark, started, request=request, cwd=cwd)
        sessions = known | started
        for number, session in sessions.items():
            if isinstance(session, Session):
                await core.admit(session, allow_shell=number in started)
        seats = [
            _seat(core, one, sessions.get(one.number), is_new=one.number in started) for one in request.participants
        ]
        members = [_member(one, sessions.get(one.number)) for one in request.participants]
        circle = Circle(
            Ceremony(gathering_id, plan, members, texts),
            seats,
            started_at=time.time(),
            end_sessions=request.end_sessions,
        )
        going_on = (await sensing).text(core.pulse.longest)
        await core.do(lambda now: opens(circle, now, going_on))
    except BaseException:
        sensing.cancel()
        await asyncio.shield(_end_all(core, [session.session for session in started.values()]))
        raise
    return describe(circle, asyncio.get_running_loop().time(), time.time())


def _check_may_open(core: Core, request: StartGathering, caller: Session | None) -> None:
    if caller is not None or request.unknown_agent:
        check_may_speak("" if caller is None else caller.session, core.machine.settings)


def view(core: Core, gathering_id: str) -> Gathering:
    """Return the state of a gathering; raises TargetNotFound."""
    return describe(core.machine.circles.found(gathering_id), asyncio.get_running_loop().time(), time.time())


def all_of(core: Core) -> list[Gathering]:
    """Return all gatherings: those that are held, and the last ones that were, the newest first."""
    now, at = asyncio.get_running_loop().time(), time.time()
    circles = sorted(core.machine.circles.all.values(), key=lambda circle: (not circle.closed, circle.started_at))
    return [describe(circle, now, at) for circle in reversed(circles)]


async def pass_piece(core: Core, gathering_id: str, number: int | None, session: str) -> Gathering:
    """Pass the piece, for the given member or for its current holder."""
    who = (await core.find(session)).session if session else ""

    def decide(now: float) -> list[Effect]:
        return core.machine.in_gathering(gathering_id, lambda circle: circle.pass_piece(number, who, now))

    await core.do(decide)
    return view(core, gathering_id)


async def answer_peer(core: Core, peer: str, call: GatheringCall) -> bytes:
    """Do what a peer asks of a gathering of this machine, and return the JSON that it is shown.

    Raises TargetNotFound, NotAllowed and PieceNotHeld.
    """
    remote_gatherings.check_may_call(core, peer, call)
    if call.what == "pass":
        session = f"{call.session}@{peer}" if call.session else ""
        await core.do(
            lambda now: core.machine.in_gathering(call.of, lambda circle: circle.pass_piece(call.number, session, now))
        )
    else:
        # What the same node has posted before is decided first.
        await core.do(lambda _: [])
    shows = transcript if call.what == "transcript" else view
    return msgspec.json.encode(shows(core, call.of))


async def say(core: Core, gathering_id: str, number: int, text: str) -> Gathering:
    """Say something for a person in the circle."""

    def decide(now: float) -> list[Effect]:
        return core.machine.in_gathering(gathering_id, lambda circle: circle.say(number, text, now))

    await core.do(decide)
    return view(core, gathering_id)


async def pause(core: Core, gathering_id: str, *, paused: bool) -> Gathering:
    """Pause a gathering or resume it."""

    def decide(now: float) -> list[Effect]:
        return core.machine.in_gathering(gathering_id, lambda circle: circle.pause(now, paused=paused))

    await core.do(decide)
    return view(core, gathering_id)


async def close(core: Core, gathering_id: str, *, end_sessions: bool) -> Gathering:
    """Close a gathering early: first for its harvest, then for good."""

    def decide(now: float) -> list[Effect]:
        circle = core.machine.circles.found(gathering_id)
        circle.end_sessions = circle.end_sessions or end_sessions
        return core.machine.close_gathering(circle, now)

    await core.do(decide)
    return view(core, gathering_id)


def transcript(core: Core, gathering_id: str) -> GatheringTranscript:
    """Return the transcript of a gathering; raises TargetNotFound."""
    return describe_transcript(core.machine.circles.found(gathering_id), asyncio.get_running_loop().time(), time.time())


# What it takes to begin


def _plan(core: Core, request: StartGathering) -> Plan:
    rhythm = find_rhythm(request.rhythm)
    before = core.machine.circles.last_of(rhythm.name)
    usual = core.gathering
    return plan_for(
        rhythm,
        previous="" if before is None else before.gathering_id,
        trail="" if before is None else export_circle(before).trail,
        structure=request.structure,
        inhale_rounds=request.inhale_rounds,
        hold_rounds=request.hold_rounds,
        exhale_rounds=request.exhale_rounds,
        beats_per_turn=request.beats_per_turn,
        beat_interval_seconds=request.beat_interval_seconds,
        opening_question=request.opening_question,
        listening=request.listening or usual.listening,
        last_words_seconds=_or(request.last_words_seconds, usual.last_words),
        reach_seconds=_or(request.reach_seconds, usual.reach_timeout),
        harvest_seconds=_or(request.harvest_seconds, usual.harvest_timeout),
    )


def _or(asked: float | None, usual: float) -> float:
    return usual if asked is None else asked


async def _known(core: Core, participants: Iterable[Invited], caller: Session | None) -> dict[int, AnySession]:
    """Return the running sessions of the participants, here and on other machines, by participant number."""
    participants = list(participants)
    known: dict[int, AnySession] = {}
    for one in participants:
        if there := remote_sessions.person_elsewhere(core, one.session if one.is_human else ""):
            await remote_sessions.check_person(core, there)
        elif one.session:
            is_far = remote_sessions.split(core, one.session) is not None
            found = await remote_sessions.participant(core, one.session) if is_far else await core.find(one.session)
            known[one.number] = found
    people = [one.number for one in participants if one.is_human and not one.session]
    if caller is not None and len(people) == 1 and caller.session not in {one.session for one in known.values()}:
        known[people[0]] = caller
    return known


def _check(core: Core, participants: Iterable[Invited], known: Mapping[int, AnySession]) -> None:
    """Raise InvalidGathering or SessionTaken for a gathering that cannot start."""
    participants = list(participants)
    check_members([_member(one, known.get(one.number)) for one in participants])
    for one in participants:
        checked_name(one.name)
        if one.agent and (one.session or one.is_human):
            what = "is a person" if one.is_human else f"is session {one.session} already"
            raise InvalidGathering(
                f"{one.name} {what}: nothing is started for it",
                hint="name an agent, or a session, or neither for a person",
                data={"fault": "agent", "name": one.name},
            )
        if not (one.agent or one.session or one.is_human):
            raise InvalidGathering(
                f"{one.name} has neither an agent to start nor a session",
                hint="name one of them; only a person takes part without",
                data={"fault": "no_session", "name": one.name},
            )
    for session in known.values():
        if taken := core.machine.relay_of(session.session):
            raise SessionTaken(
                f"session {session.session} is in {taken} already", data={"session": session.session, "relay": taken}
            )


async def _start_all(
    core: Core,
    participants: Iterable[Invited],
    mark: Callable[[Session], Awaitable[None]],
    started: dict[int, AnySession],
    *,
    request: StartGathering,
    cwd: str,
) -> None:
    """Start all missing sessions at once; add each to `started` when it runs, although others may fail."""

    async def one(invited: Invited) -> None:
        there = remote_sessions.split(core, invited.agent)
        if there is not None:
            started[invited.number] = await remote_sessions.start_agent(
                core, there, arguments=invited.arguments, title=invited.name, cwd=invited.cwd
            )
            return
        session = await sending.begin(
            core,
            StartSession(
                agent=invited.agent,
                arguments=invited.arguments,
                title=invited.name,
                cwd=invited.cwd or cwd,
                search_path=request.search_path,
                direct=True,
                caller=request.caller,
                unknown_agent=request.unknown_agent,
            ),
        )
        started[invited.number] = session
        await mark(session)
        started[invited.number] = await sending.until_heard(core, session)

    starting = [one(invited) for invited in participants if not invited.is_human]
    for result in await asyncio.gather(*starting, return_exceptions=True):
        if isinstance(result, BaseException):
            raise result


async def _end_all(core: Core, sessions: Iterable[str]) -> None:
    for session in list(sessions):
        if remote_sessions.split(core, session) is not None:
            await remote_sessions.end_agent(core, session)
            continue
        with contextlib.suppress(StreamrelayError):
            await sending.end(core, session)


def _member(invited: Invited, session: AnySession | None) -> Member:
    return Member(
        name=invited.name,
        number=invited.number,
        role=invited.role,
        is_human=invited.is_human,
        agent=invited.agent,
        session="" if session is None else session.session,
    )


def _seat(core: Core, invited: Invited, session: AnySession | None, *, is_new: bool) -> CircleSeat:
    node = remote_sessions.person_elsewhere(core, invited.session)
    seat = CircleSeat(number=invited.number, name=invited.name, is_human=invited.is_human, node=node)
    if session is None:
        return seat
    return structs.replace(
        seat,
        session=session.session,
        pane=session.pane,
        session_name=session.session_name,
        agent=session.agent if isinstance(session, Session) else "",
        started_here=is_new,
    )


# What follows


async def start_for_peer(core: Core, start: Start) -> Session:
    """Start a session here for a gathering of another machine."""
    asked = StartSession(agent=start.agent, arguments=start.arguments, title=start.title, cwd=start.cwd, direct=True)
    return await sending.until_heard(core, await sending.begin(core, asked))


async def attend(core: Core) -> NoReturn:
    """Do forever what gatherings need besides the machine's effects, once the service is restored."""
    await core.until_restored()
    loop = asyncio.get_running_loop()
    sensed = -SENSE_EVERY
    while True:
        core.circle_news.clear()
        for circle in core.machine.circles.unsettled:
            await _settle(core, circle)
        held = core.machine.circles.held
        if held and loop.time() >= sensed + SENSE_EVERY:
            await _sense(core)
            sensed = loop.time()
        # Not `wait_for`, which before Python 3.12 loses a cancellation that comes together with the news.
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(SENSE_EVERY if held else None):
                await core.circle_news.wait()


async def _sense(core: Core) -> None:
    """Give the coming beats a summary of the current work."""
    signals = (await pulse(core, parts=BEAT_PARTS)).line()

    def decide(now: float) -> list[Effect]:
        return core.machine.sense(signals, now)

    await core.do(decide)


async def _settle(core: Core, circle: Circle) -> None:
    """Export a finished gathering, and end its sessions if that was requested."""
    try:
        await asyncio.to_thread(_export, core.folder / FOLDER, circle)
    except OSError as error:
        # Its transcript is in the journal as well, and other gatherings go on.
        core.problems.append(f"{circle.gathering_id} is not written down in {core.folder / FOLDER}: {error.strerror}")
    if circle.end_sessions:
        await _end_all(core, (seat.session for seat in circle.seats.values() if seat.started_here))

    def decide(_now: float) -> list[Effect]:
        circle.settled, circle.closed_at = True, time.time()
        core.machine.circles.touch(circle)
        core.machine.circles.forget_old()
        return []

    await core.do(decide)


def _export(folder: Path, circle: Circle) -> None:
    """Write transcript and harvest of a gathering into files that only the user can read."""
    value = export_circle(circle)
    folder.mkdir(mode=0o700, exist_ok=True)
    for suffix, text in ((".md", as_markdown(value)), (".json", as_json(value))):
        path = folder / f"{circle.gathering_id}{suffix}"
        path.touch(mode=0o600)
        path.write_text(text, encoding="utf-8")
