"""The service between scripted agents in real panes: what is asked of it, and what they really got."""

import asyncio
import logging
import os
import sys
from typing import Any

import pytest
from msgspec import structs

import streamrelay
from streamrelay.config.settings import HistoryTable, SessionsTable
from streamrelay.errors import (
    InGathering,
    NotAllowed,
    SessionTaken,
    ShellRefused,
    StartFailed,
    TargetNotFound,
    UsageError,
)
from streamrelay.events import LinkClosed, LinkCreated, LinkSuspended, Receipt, RelayDelivered, StopNotified
from streamrelay.links.link import LinkPolicy
from streamrelay.relay.rules import Rules
from streamrelay.service import sending
from streamrelay.service.api import CreateRelay, Invited, RelayParticipant, SearchHistory, SendMessage, StartGathering
from streamrelay.service.core import Core
from streamrelay.sessions.model import Session, StartSession
from streamrelay.testing.waiting import wait_until_async
from tests.service.conftest import PATIENCE, Stage, journaled

COUNTING = """
import sys, time
for number in range(8):
    print(number, flush=True)
    time.sleep(0.3)
for line in sys.stdin:
    print("heard", line, end="", flush=True)
"""


async def answered(service, message_id):
    async def done():
        return [each.state for each in await service.get_delivery(message_id)] == ["answered"]

    await wait_until_async(done, PATIENCE, f"{message_id} to be answered")


async def answers(service, session, words="answer"):
    search = SearchHistory(words=words, session=session, transcripts=False)
    return sorted(found.text for found in (await service.search_history(search)).found)


@pytest.mark.requirement("REL-06a")
async def test_a_direct_message_delivers_and_links_once(stage: Stage):
    ann, bob = stage.start("Ann"), stage.start("Bob")
    async with stage.service() as service:
        first = await service.send_message(
            SendMessage(to="Bob", text="hello", caller=ann, direct=True, policy=LinkPolicy(budget=3), message_id="m1")
        )
        again = await service.send_message(SendMessage(to=bob, text="and?", caller="Ann", direct=True))
        assert {first.delivery.state, again.delivery.state}.isdisjoint({"failed", "unconfirmed"})
        assert (first.link, first.listening, first.warning) == (again.link, False, "")
        await stage.until_heard("Bob", "[From Ann] hello", "[From Ann] and?")
        await stage.until_heard("Ann", "[From Bob] answer 1")
        (link,) = await service.links(ann)
        assert (link.link_id, link.policy.budget) == (first.link, 3)
        assert len(await journaled(service, LinkCreated)) == 1
        assert await journaled(service, StopNotified) == []
        await answered(service, "m1")


@pytest.mark.requirement("REL-06b", "LNK-06")
async def test_an_indirect_message_delivers_and_the_caller_is_told_once(stage: Stage):
    ann = stage.start("Ann")
    stage.start("Bob")
    async with stage.service() as service:
        sent = await service.send_message(SendMessage(to="Bob", text="do it", caller=ann))
        assert (sent.link, sent.listening) == ("", True)
        told = "[streamrelay] Bob has stopped; what it said is in its own session."
        await stage.until_heard("Ann", told)
        stage.types("Bob", "again")
        await stage.until_heard("Bob", "again")
        await wait_until_async(lambda: len(stage.heard("Bob")) == 2, PATIENCE)
        assert await service.links() == []
        plain = await service.send_message(SendMessage(to="Ann", text="only this", message_id="m2"))
        assert (plain.link, plain.listening) == ("", False)
        await answered(service, "m2")
        assert stage.heard("Ann") == [told, "only this"]
        assert len(await journaled(service, StopNotified)) == 1


@pytest.mark.requirement("LNK-01c")
@pytest.mark.parametrize(("caller", "heard"), [("%99", "hello"), ("nobody", "hello"), ("Bob", "[From Bob] hello")])
async def test_a_caller_that_is_not_there_is_a_warning(stage: Stage, caller: str, heard: str):
    stage.start("Bob")
    async with stage.service() as service:
        sent = await service.send_message(SendMessage(to="Bob", text="hello", caller=caller, direct=True))
        assert sent.warning
        assert sent.link == ""
        await stage.until_heard("Bob", heard)


async def test_nobody_sends_under_an_id_that_a_link_will_have(stage: Stage):
    stage.start("Ann"), stage.start("Bob")
    async with stage.service() as service:
        link = await service.create_link("Ann", "Bob")
        for reserved in (f"{link.link_id}-1", "relay-1-1", "gathering-1-1", "stop-1"):
            with pytest.raises(UsageError, match="prefix that streamrelay uses") as refused:
                await service.send_message(SendMessage(to="Bob", text="hi", message_id=reserved))
            assert refused.value.hint
        stage.types("Ann", "speak")
        await stage.until_heard("Bob", "[From Ann] answer 1")


@pytest.mark.requirement("LNK-05a", "LNK-05b")
async def test_last_words_are_delivered_and_the_link_is_closed(stage: Stage, caplog: pytest.LogCaptureFixture):
    caplog.set_level(logging.INFO)
    ann = stage.start("Ann")
    stage.start("Bob")
    async with stage.service() as service:
        link = await service.create_link("Ann", "Bob")
        assert (await service.create_link("Bob", "Ann")).link_id == link.link_id
        sent = await service.send_message(SendMessage(to="Bob", text="farewell", caller=ann, close_link=True))
        assert sent.warning == ""
        assert await service.links() == []
        (closed,) = await journaled(service, LinkClosed)
        assert (closed.link, closed.by, closed.reason) == (link.link_id, ann, "closed")
        await stage.until_heard(
            "Bob", "[From Ann] farewell",
            "[streamrelay] Ann has closed the link: it delivers nothing more. No answer is needed.",
        )  # fmt: skip
        again = await service.send_message(SendMessage(to="Bob", text="still?", caller=ann, close_link=True))
        assert "no link with Bob" in again.warning
        await stage.until_heard("Bob", "[From Ann] still?")
    assert f"{link.link_id} links {link.parties[0].session} and {link.parties[1].session}, budget 8" in caplog.messages
    assert not [line for line in caplog.messages for word in ("farewell", "answer", "Ann", "Bob") if word in line]


@pytest.mark.requirement("REL-02a", "REL-09")
async def test_a_relay_suspends_the_links_of_its_members(stage: Stage):
    for name in ("Ann", "Bob", "Cy", "Dee"):
        stage.start(name)
    async with stage.service() as service:
        link = await service.create_link("Ann", "Bob")
        members = [RelayParticipant(session="Ann"), RelayParticipant(session="Cy", name="Cyril")]
        relay = await service.create_relay(CreateRelay(participants=members, budget=2))
        with pytest.raises(SessionTaken):
            await service.create_relay(CreateRelay(participants=[*members[1:], RelayParticipant(session="Bob")]))
        assert [each.state for each in await service.links()] == ["suspended"]
        assert {s.title: s.in_relay for s in await service.sessions() if s.in_relay} == {
            "Ann": relay.relay, "Cy": relay.relay,
        }  # fmt: skip
        stopped = await service.create_relay(
            CreateRelay(participants=[RelayParticipant(session=n) for n in ("Bob", "Dee")])
        )
        await service.stop_relay(stopped.relay)
        assert [each.relay for each in await service.relays()] == [relay.relay]
        stage.types("Ann", "begin")
        await stage.until_heard("Cy", "Ann (1):\n\nanswer 1")
        await wait_until_async(lambda: not service._core.machine.relays.all, PATIENCE, "the budget to be spent")

        async def resumes() -> bool:
            return len(await journaled(service, LinkSuspended)) == 2

        await wait_until_async(resumes, PATIENCE, "the link to resume")
        suspended = await journaled(service, LinkSuspended)
        assert [(event.link, event.by) for event in suspended] == [(link.link_id, relay.relay), (link.link_id, "")]
        assert [each.state for each in await service.links()] == ["open"]
        assert stage.heard("Bob") == []


async def test_people_pause_mute_and_stop_everything(stage: Stage):
    stage.start("Ann")
    stage.start("Bob")
    async with stage.service() as service:
        await service.pause(True)
        await service.create_link("Ann", "Bob", LinkPolicy(budget=1))
        stage.types("Ann", "speak")
        held = lambda: service._core.machine.links.links()[0].relay.state.held  # noqa: E731
        await wait_until_async(held, PATIENCE, "what Ann says to wait")
        assert (await service.status()).paused
        assert await journaled(service, RelayDelivered) == []
        await service.mute("Bob", True)
        await service.pause(False)
        await stage.until_heard("Bob", "[From Ann] answer 1")
        assert await service.stop_all() == 1
        assert await service.links() == []
        await wait_until_async(lambda: len(stage.heard("Ann")) == 2, PATIENCE, "Ann to be told")
        (notice,) = stage.heard("Ann")[1:]
        assert notice.startswith("[streamrelay] The link with Bob is spent after 1 delivery")


async def test_what_cannot_be_done_is_refused_before_anything_is(stage: Stage):
    stage.start("Ann")
    stage.tmux.new_session("shell", ["sh"])
    async with stage.service() as service:
        for request, error in [
            (SendMessage(to="nobody", text="x"), TargetNotFound),
            (SendMessage(to="", text="x"), UsageError),
            (SendMessage(to="shell", text="x"), ShellRefused),
            (SendMessage(to="Ann", text="x", message_id="no id"), UsageError),
        ]:
            with pytest.raises(error):
                await service.send_message(request)
        with pytest.raises(UsageError):
            await service.create_link("Ann", "Ann")
        with pytest.raises(TargetNotFound, match="'beta' is no peer of this machine") as lacking:
            await service.create_link("Ann", "Bob@beta")
        assert "federation.peers" in lacking.value.hint
        for call in (service.extend_link("link-0", 1), service.close_link("link-0"), service.stop_relay("r")):
            with pytest.raises(TargetNotFound):
                await call
        empty = await service.send_message(SendMessage(to="Ann", text=""))
        assert (empty.delivery.state, empty.delivery.reason) == ("failed", "empty")
    assert stage.heard("Ann") == []


async def test_events_are_read_from_any_place_and_go_on(stage: Stage):
    stage.start("Ann")
    async with stage.service() as service:
        seen: list[int] = []

        async def read(after):
            async for event in service.events(after):
                seen.append(event.seq)
                if isinstance(event, Receipt) and event.state == "answered":
                    return

        reading = asyncio.ensure_future(read(0))
        await service.send_message(SendMessage(to="Ann", text="hello", message_id="m1"))
        await asyncio.wait_for(reading, PATIENCE)
        assert seen == list(range(1, seen[-1] + 1))
        again, seen[:] = list(seen), []
        await asyncio.wait_for(read(5), PATIENCE)
        assert seen == again[5:]
        assert await answers(service, "Ann") == ["answer 1"]


@pytest.mark.requirement("AGT-01b")
async def test_a_session_is_started_as_a_peer_and_its_links_end_with_it(stage: Stage):
    ann = stage.start("Ann")
    async with stage.service() as service:
        request = StartSession(agent="sprite", title="Bob", cwd=str(stage.folder), caller=ann)
        bob = await service.start_session(
            structs.replace(request, arguments=[str(stage.folder / "Bob")], direct=True, prompt="begin")
        )
        assert bob.started_here
        assert bob.session != bob.pane
        await stage.until_heard("Bob", "[From Ann] begin")
        await stage.until_heard("Ann", "[From Bob] answer 1")
        assert await journaled(service, StopNotified) == []
        (link,) = await service.links(bob.session)
        assert {party.session for party in link.parties} == {ann, bob.session}
        cy = await service.start_session(structs.replace(request, arguments=[str(stage.folder / "Cy")], title="Cy"))
        assert len(await service.links()) == 1
        await service.end_session(bob.session)
        assert await service.links() == []
        await stage.until_heard("Ann", "[streamrelay] Bob has ended, and the link with it. No answer is needed.")
        await service.end_session(cy.session)
        await stage.until_heard("Ann", "[streamrelay] Cy has ended.")
        assert {session.title for session in await service.sessions()} == {"keeper", "Ann"}
        with pytest.raises(UsageError):
            await service.end_session("Ann")


@pytest.mark.requirement("AGT-01b")
async def test_a_session_is_heard_through_the_script_that_starts_its_program(stage: Stage):
    # What it starts prints, so that it does not rest, until tmux has looked which program is there: once a second.
    script = f'sleep 0.3; exec "{sys.executable}" -c "$0"'
    async with stage.service() as service:
        started = await service.start_session(
            StartSession(agent="sh", arguments=["-c", script, COUNTING], title="Child")
        )
        assert (started.program.partition("3")[0], started.state) == ("python", "idle")
        await service.send_message(SendMessage(to="Child", text="hello", message_id="m1"))
        await answered(service, "m1")


@pytest.mark.requirement("AGT-06")
async def test_a_program_is_looked_up_in_the_path_of_who_asks_and_one_that_dies_says_why(stage: Stage):
    program = stage.folder / "bin" / "sprout"
    program.parent.mkdir()
    program.write_text("#!/usr/bin/env sh\nexec cat\n")
    program.chmod(0o755)
    path = f"{program.parent}:{os.environ['PATH']}"
    dying = StartSession(agent="sh", arguments=["-c", "echo 'no licence'; sleep 0.5; exit 3"])
    async with stage.service() as service:
        assert (await service.start_session(StartSession(agent="sprout", search_path=path))).title == "sprout"
        with pytest.raises(StartFailed, match="searched the PATH: /nowhere"):
            await service.start_session(StartSession(agent="sprout", search_path="/nowhere"))
        with pytest.raises(StartFailed, match=r"^sh ended before it was ready \(exit status 3\).*:\nno licence$"):
            await service.start_session(dying)
        assert {session.title for session in await service.sessions()} == {"keeper", "sprout"}


async def test_who_may_not_start_sessions_starts_none(stage: Stage):
    ann, bob = stage.start("Ann"), stage.start("Bob")
    request = StartSession(agent="cat", caller=ann)
    async with stage.service() as service:

        def allow(**said: Any) -> None:
            service.configure(
                policy=LinkPolicy(), rules=Rules(), retention=HistoryTable(), starting=SessionsTable(**said)
            )

        async def refused(request: StartSession, match: str) -> None:
            before = len(await service.sessions())
            with pytest.raises(NotAllowed, match=match):
                await service.start_session(request)
            assert len(await service.sessions()) == before

        allow(start="people")
        await refused(request, "only people")
        await refused(StartSession(agent="cat", within=ann), "only people")
        started = await service.start_session(StartSession(agent="cat"))
        allow(most=1)
        await refused(StartSession(agent="cat"), "1 session was started here")
        await service.end_session(started.session)
        allow()
        link = await service.create_link(ann, bob, LinkPolicy(start_sessions=False))
        await refused(request, f"{link.link_id} may not")
        await service.close_link(link.link_id)
        one, *others = await asyncio.gather(
            *(service.start_session(structs.replace(request, title=name)) for name in ("one", "two"))
        )
        for session in (one, *others):
            await service.end_session(session.session)
        allow(start="nobody")
        await refused(StartSession(agent="cat"), "not started here")


@pytest.mark.requirement("AGT-01b")
@pytest.mark.parametrize("why", ["too long", "in a gathering", "paused meanwhile"])
async def test_of_a_start_that_is_refused_no_session_is_left(
    stage: Stage, why: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = ("Ann", "Bob", "Cy")
    for name in names[: 3 if why == "in a gathering" else 1]:
        stage.start(name)
    request = StartSession(agent="sprite", arguments=[str(stage.folder / "new")], caller="Ann", prompt="x" * 40)
    async with stage.service() as service:
        started, start = [], service._core.sessions.start

        async def counted(request: StartSession, **how: bool) -> Session:
            started.append(request)
            return await start(request, **how)

        monkeypatch.setattr(service._core.sessions, "start", counted)
        if why == "too long":
            service.configure(policy=LinkPolicy(longest=20), rules=Rules(), retention=HistoryTable())
        elif why == "in a gathering":
            members = [
                Invited(name=name, number=number, session=name, role="harvester" if number == 3 else "speaker")
                for number, name in enumerate(names, 1)
            ]
            await service.start_gathering(StartGathering(participants=members))
        else:
            heard = sending.until_heard

            async def until_heard(*given: Any) -> Session:
                await service.pause(True)
                return await heard(*given)

            monkeypatch.setattr(sending, "until_heard", until_heard)
        before = {session.session for session in await service.sessions()}
        with pytest.raises(InGathering if why == "in a gathering" else NotAllowed):
            await service.start_session(request)
        assert {session.session for session in await service.sessions()} == before
        assert len(started) == (why == "paused meanwhile"), "what can be told before is told before"


async def test_who_has_something_decided_hears_of_a_defect_and_does_not_wait_for_ever(stage: Stage):
    async with streamrelay.connect(tmux=stage.tmux.binary, socket_path=stage.tmux.socket_path) as server:
        core = Core(server, folder=stage.folder / "state", outbox=None, texts=None, notify=False, own=None)
        async with core, asyncio.timeout(PATIENCE):
            for _ in ("at that moment", "afterwards"):
                with pytest.raises(ZeroDivisionError):
                    await core.do(lambda now: [1 / 0])  # type: ignore[list-item]
