"""Relays of more than two, several at once, and what people see of a line before it is said, on real panes."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

import streamrelay
from streamrelay.events import Event, Live, RelayClosed, RelayDelivered, RelayLeft, RelayOpened
from streamrelay.relay.session import RelaySession
from streamrelay.testing.waiting import wait_until, wait_until_async

PATIENCE = 20.0
SPEAKER = ["sh", "-c", "stty -echo; exec cat"]
LISTENER = ["sh", "-c", "stty -echo; exec cat >/dev/null"]


@asynccontextmanager
async def relayed(
    server, *, allow_shell: bool = False, **panes: str
) -> AsyncIterator[tuple[RelaySession, list[Event]]]:
    events: list[Event] = []
    session = RelaySession(
        server, [(name, await server.find(pane)) for name, pane in panes.items()], allow_shell=allow_shell
    )
    running = asyncio.ensure_future(session.run(events.append))
    try:
        await wait_until_async(lambda: of(events, RelayOpened) or running.done(), PATIENCE)
        yield session, events
        session.stop()
        await asyncio.wait_for(running, PATIENCE)
    finally:
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)


def of(events, kind):
    return [event for event in events if isinstance(event, kind)]


def start(tmux, *names):
    panes = [tmux.new_session(name, SPEAKER if name.startswith("speaker") else LISTENER) for name in names]
    for pane in panes:
        runs = ["display-message", "-p", "-t", pane, "#{pane_current_command}"]
        wait_until(lambda runs=runs: tmux.run(*runs) == "cat", PATIENCE, "no shell to be there")
    return panes


def connected(tmux):
    return streamrelay.connect(tmux=tmux.binary, socket_path=tmux.socket_path)


async def test_one_of_three_that_is_gone_leaves_and_the_others_go_on(private_tmux):
    ann, bob, cy = start(private_tmux, "speaker", "bob", "cy")
    async with connected(private_tmux) as server, relayed(server, Ann=ann, Bob=bob, Cy=cy) as (session, events):
        private_tmux.run("kill-session", "-t", cy)
        await wait_until_async(lambda: of(events, RelayLeft), PATIENCE)
        (left,) = of(events, RelayLeft)
        assert (left.participant, left.remaining) == ("Cy (3)", 2)
        private_tmux.run("send-keys", "-t", ann, "still here", "Enter")
        await wait_until_async(lambda: of(events, RelayDelivered), PATIENCE)
        assert of(events, RelayDelivered)[0].listeners == ("Bob (2)",)
    assert session.error is None
    (closed,) = of(events, RelayClosed)
    assert (closed.reason, closed.deliveries) == ("stopped", 1)
    assert closed.traffic["Ann (1)"].sent == closed.traffic["Bob (2)"].received == 1
    assert closed.traffic["Cy (3)"].received == 0


@pytest.mark.requirement("REL-02b")
async def test_several_relays_at_once_do_not_hear_each_other(private_tmux):
    ann, bob, cy, dee = start(private_tmux, "speaker1", "bob", "speaker2", "dee")
    async with (
        connected(private_tmux) as server,
        relayed(server, Ann=ann, Bob=bob) as (_, first),
        relayed(server, Cy=cy, Dee=dee) as (_, second),
    ):
        for number in range(5):
            private_tmux.run("send-keys", "-t", ann, f"from ann {number}", "Enter")
            private_tmux.run("send-keys", "-t", cy, f"from cy {number}", "Enter")
        for events, name in ((first, "ann"), (second, "cy")):
            await wait_until_async(
                lambda events=events, name=name: (
                    f"from {name} 4" in "".join(e.text for e in of(events, RelayDelivered))
                ),
                PATIENCE,
            )
    for events, name, listener in ((first, "ann", "Bob (2)"), (second, "cy", "Dee (2)")):
        lines = [line for event in of(events, RelayDelivered) for line in event.text.split("\n")[2:]]
        assert lines == [f"from {name} {number}" for number in range(5)]
        assert {event.listeners for event in of(events, RelayDelivered)} == {(listener,)}
        assert {event.pane for event in events if event.pane} <= ({ann, bob} if name == "ann" else {cy, dee})


@pytest.mark.requirement("REL-03d")
async def test_people_see_a_line_before_it_is_said(private_tmux):
    script = "stty -echo; read go; printf 'half a li'; read more; printf 'ne\\n'; read end"
    ann = private_tmux.new_session("ann", ["sh", "-c", script])
    (bob,) = start(private_tmux, "bob")
    async with (
        connected(private_tmux) as server,
        relayed(server, allow_shell=True, Ann=ann, Bob=bob) as (_, events),
    ):
        private_tmux.run("send-keys", "-t", ann, "Enter")
        await wait_until_async(lambda: "half a li" in [event.text for event in of(events, Live)], PATIENCE)
        assert of(events, RelayDelivered) == []
        private_tmux.run("send-keys", "-t", ann, "Enter")
        await wait_until_async(lambda: of(events, RelayDelivered), PATIENCE)
    assert of(events, RelayDelivered)[0].text == "Ann (1):\n\nhalf a line"
