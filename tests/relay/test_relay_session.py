"""A relay on real panes: what it takes for a participant, and what it leaves behind."""

import asyncio
import sys

import pytest

import streamrelay
from streamrelay.agents import parse_profile
from streamrelay.errors import ProgramLeft
from streamrelay.events import Event, NeedsHuman, Receipt, RelayClosed, RelayDelivered, RelayOpened
from streamrelay.relay.session import RelaySession
from streamrelay.testing.agent import PROFILE, read_got
from streamrelay.testing.waiting import wait_until_async

pytestmark = pytest.mark.smoke

PATIENCE = 20.0


def foreground(tmux, pane):
    return tmux.run("display-message", "-p", "-t", pane, "#{pane_current_command}")


async def test_a_program_that_gave_way_to_a_shell_before_the_relay_ran_is_not_spoken_to(private_tmux):
    speaker = private_tmux.new_session("speaker", ["cat"])
    listener = private_tmux.new_session("listener", ["sh", "-i"])
    private_tmux.run("send-keys", "-t", listener, "cat", "Enter")
    await wait_until_async(lambda: foreground(private_tmux, listener) == "cat", PATIENCE)
    async with streamrelay.connect(tmux=private_tmux.binary, socket_path=private_tmux.socket_path) as server:
        session = RelaySession(server, [("Ann", await server.find(speaker)), ("Bob", await server.find(listener))])
        private_tmux.run("send-keys", "-t", listener, "C-d")
        await wait_until_async(lambda: foreground(private_tmux, listener) != "cat", PATIENCE)
        events: list[Event] = []
        async with asyncio.timeout(PATIENCE):
            closed = await session.run(events.append)
    assert isinstance(session.error, ProgramLeft)
    assert closed.reason == "program_left"
    assert isinstance(events[-1], RelayClosed)
    assert "Ann (1):" not in private_tmux.run("capture-pane", "-p", "-t", listener)


async def test_what_waits_for_a_person_whose_pane_is_killed_ends_the_relay(private_tmux):
    speaker = private_tmux.new_session("speaker", ["cat"])
    asker = private_tmux.new_session("asker", [sys.executable, "-c", "input('Password: ')"])
    async with streamrelay.connect(tmux=private_tmux.binary, socket_path=private_tmux.socket_path) as server:
        pairs = [("Ann", await server.find(speaker)), ("Bob", await server.find(asker))]
        session = RelaySession(server, pairs, budget=1)
        events: list[Event] = []
        running = asyncio.ensure_future(session.run(events.append))
        for kind in (RelayOpened, NeedsHuman, Receipt):
            if kind is Receipt:
                private_tmux.run("send-keys", "-t", speaker, "hello", "Enter")
            await wait_until_async(lambda kind=kind: any(isinstance(e, kind) for e in events), PATIENCE)
        private_tmux.run("kill-pane", "-t", asker)
        async with asyncio.timeout(PATIENCE):
            closed = await running
    assert closed.reason == "pane_gone"


@pytest.mark.requirement("REL-03b")
async def test_queued_answers_of_an_agent_are_messages_of_their_own(private_tmux, tmp_path):
    """Two messages of a peer wait inside the agent, and it answers one right after the other."""
    log = tmp_path / "got"
    words = [sys.executable, "-m", "streamrelay.testing.agent", "--log", str(log), "--works", "1.0"]
    agent = private_tmux.new_session("agent", words)
    # Where the kernel echoes, a line is said twice, and the two are one message or two as time will have it.
    peer = private_tmux.new_session("peer", ["sh", "-c", "stty -echo; echo; exec cat"])
    await wait_until_async(lambda: foreground(private_tmux, peer) == "cat", PATIENCE)
    await wait_until_async(lambda: any(got.kind == "ready" for got in read_got(log)), PATIENCE)
    sprite = parse_profile("sprite", PROFILE, source="sprite.toml")
    async with streamrelay.connect(
        tmux=private_tmux.binary, socket_path=private_tmux.socket_path, profiles=[sprite]
    ) as server:
        pairs = [("Ann", await server.find(agent)), ("Bob", await server.find(peer))]
        session = RelaySession(server, pairs)
        events: list[Event] = []

        def said():
            return [e.text for e in events if isinstance(e, RelayDelivered) and e.speaker == "Ann (1)"]

        running = asyncio.ensure_future(session.run(events.append))
        await wait_until_async(lambda: any(isinstance(event, RelayOpened) for event in events), PATIENCE)
        for number, question in enumerate(("first", "second"), 1):
            private_tmux.run("send-keys", "-t", peer, question, "Enter")
            await wait_until_async(
                lambda number=number: sum(got.kind == "message" for got in read_got(log)) == number, PATIENCE
            )
        await wait_until_async(lambda: len(said()) >= 2, PATIENCE)
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)
    assert said()[:2] == ["Ann (1):\n\nanswer 1", "Ann (1):\n\nanswer 2"]
