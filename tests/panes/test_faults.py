"""What is killed, stopped or thrown out: the stream goes on or says that it is over, and the server is as it was."""

import asyncio
import os
import signal
from contextlib import suppress

import pytest

from streamrelay.control import ServerInfo
from streamrelay.events import Gap, PaneClosed, PaneOpened
from streamrelay.panes import backoff, reconnect
from streamrelay.panes.pipeline import PanePipeline
from streamrelay.panes.scheduler import MAX_PENDING_BYTES
from streamrelay.testing.waiting import wait_until, wait_until_async

PRINTER = "stty -echo; while read first last; do seq $first $last; done"


def send(tmux, pane, text):
    tmux.run("send-keys", "-t", pane, text, "Enter")


def client_pid(private_tmux):
    """Return the pid of the client that stays on a hub; those that only visit the user's sessions do not count."""
    lines = private_tmux.run("list-clients", "-F", "#{client_pid} #{client_session}").splitlines()
    pids = [int(pid) for pid, session in map(str.split, lines) if session.startswith("streamrelay-")]
    return pids[0] if pids else None


@pytest.mark.requirement("ENG-07d")
@pytest.mark.parametrize("how", ["killed", "detached"])
@pytest.mark.over_ssh
async def test_a_client_that_is_ended_is_replaced_and_no_line_is_lost(private_tmux, server, heard, how):
    pane = private_tmux.new_session("work", ["sh", "-c", PRINTER])
    async with server.watch(pane) as stream:
        says = heard(stream)
        send(private_tmux, pane, "1 40")
        await says.until(lambda s: s.said[-1:] == ["40"])
        first = client_pid(private_tmux)
        if how == "killed":
            os.kill(first, signal.SIGKILL)
        else:
            private_tmux.run("detach-client", "-a")
            private_tmux.run("detach-client", "-t", private_tmux.run("list-clients", "-F", "#{client_name}"))
        send(private_tmux, pane, "41 80")
        await wait_until_async(lambda: client_pid(private_tmux) not in {None, first}, 20)
        send(private_tmux, pane, "81 90")
        await says.until(lambda s: s.said[-1:] == ["90"])
        assert says.said == [str(number) for number in range(1, 91)]
        assert [(gap.reason, gap.lost_lines) for gap in says.of(Gap)] == [("detached", 0)]


@pytest.mark.requirement("ENG-07d")
async def test_a_client_that_ends_while_it_asks_how_panes_stand_says_nothing_of_them(
    private_tmux, server, heard, monkeypatch
):
    # Behind a proxy the server learns of a client's end from this process, which waits for that below.
    monkeypatch.setattr(ServerInfo, "dies_of_identification", False)
    pane = private_tmux.new_session("work", ["sh", "-c", PRINTER])
    async with server.watch(pane) as stream:
        says = heard(stream)
        send(private_tmux, pane, "1 40")
        await says.until(lambda s: s.said[-1:] == ["40"])
        ask, ended = PanePipeline.question, []

        def end(pid):
            """Kill a client, and wait until tmux, which writes to its pipe until then, has noticed."""
            os.kill(pid, signal.SIGKILL)
            wait_until(lambda: str(pid) not in private_tmux.run("list-clients", "-F", "#{client_pid}").split())

        def question(pipeline):
            if len(ended) < 2:
                ended.append(server._attachments._connection.client().pid)
                end(ended[-1])
            return ask(pipeline)

        monkeypatch.setattr(PanePipeline, "question", question)
        end(client_pid(private_tmux))
        send(private_tmux, pane, "41 80")
        await says.until(lambda s: s.said[-1:] == ["80"])
        assert len(set(ended)) == 2
        send(private_tmux, pane, "81 90")
        await says.until(lambda s: s.said[-1:] == ["90"])
        assert says.said == [str(number) for number in range(1, 91)]
        assert [(gap.reason, gap.lost_lines) for gap in says.of(Gap)] == [("detached", 0)]


async def test_a_client_that_is_ended_again_and_again_is_given_up(private_tmux, server, heard, monkeypatch):
    monkeypatch.setattr(backoff, "MAX_ATTEMPTS", 3)
    monkeypatch.setattr(backoff, "_FIRST_WAIT", 0.01)
    pane = private_tmux.new_session("work", ["sh", "-c", PRINTER])
    ended: set[int] = set()
    async with server.watch(pane) as stream:
        says = heard(stream)
        ending = asyncio.create_task(says.until_end())
        while not ending.done():
            if (pid := client_pid(private_tmux)) is not None and pid not in ended:
                ended.add(pid)
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            await asyncio.sleep(0.01)
        await ending
    assert says.of(PaneClosed)[-1].reason == "server_lost"
    assert len(ended) <= 4
    assert private_tmux.run("list-panes", "-a", "-F", "#{pane_id}").count("%") == 2, "the user's panes are there"


@pytest.mark.requirement("ENG-10b")
async def test_a_pane_that_floods_a_slow_subscriber_leaves_another_pane_alone(private_tmux, server, heard):
    flood = private_tmux.new_session("flood", ["sh", "-c", "stty -echo; read go; exec yes"])
    quiet = private_tmux.new_session("quiet", ["sh", "-c", PRINTER])
    async with server.watch(flood, queue=1000) as slow, server.watch(quiet) as stream:
        says = heard(stream)
        await says.until(lambda s: s.of(PaneOpened))
        send(private_tmux, flood, "")
        rendering = server._attachments._connection.scheduler
        most = 0
        for number in range(1, 21):
            send(private_tmux, quiet, f"{number} {number}")
            await says.until(lambda s, number=number: s.said[-1:] == [str(number)])
            most = max(most, rendering.waiting)
        assert most < MAX_PENDING_BYTES
        lost = heard(slow)
        await lost.until(lambda s: s.of(Gap))
        assert lost.of(Gap)[0].lost_events > 1000
        private_tmux.run("send-keys", "-t", flood, "C-c")


@pytest.mark.requirement("ENG-09a")
@pytest.mark.over_ssh
async def test_a_session_is_heard_again_when_its_server_was_started_again(private_tmux, server, heard, monkeypatch):
    monkeypatch.setattr(reconnect, "PATIENCE", 20.0)
    private_tmux.new_session("work", ["sh", "-c", PRINTER])
    async with server.watch("work") as stream, server.watch("keeper") as other:
        says = heard(stream)
        send(private_tmux, "work", "1 3")
        await says.until(lambda s: s.said[-1:] == ["3"])
        os.kill(private_tmux.server_pid, signal.SIGKILL)
        await says.until(lambda s: s.of(PaneClosed))
        pane = private_tmux.new_session("work", ["sh", "-c", PRINTER])
        await says.until(lambda s: len(s.of(PaneOpened)) == 2)
        send(private_tmux, "work", "4 6")
        await says.until(lambda s: s.said[-1:] == ["6"])
        assert says.said == ["1", "2", "3", "4", "5", "6"]
        assert says.of(PaneClosed)[0].reason == "server_lost"
        assert [gap.reason for gap in says.of(Gap)] == ["restarted"]
        assert [event.seq for event in says.events] == list(range(1, len(says.events) + 1))
        times = [event.t for event in says.events]
        assert times == sorted(times)
        assert stream.panes == (pane,)
        lost = heard(other)
        await lost.until(lambda s: s.of(PaneClosed))


@pytest.mark.requirement("ENG-09a")
@pytest.mark.parametrize("by_name", [True, False])
async def test_a_server_that_does_not_come_back_is_the_end(private_tmux, server, heard, monkeypatch, by_name):
    """And a pane's id means nothing to another server."""
    monkeypatch.setattr(reconnect, "PATIENCE", 0.3)
    pane = private_tmux.new_session("work", ["sh", "-c", PRINTER])
    async with server.watch("work" if by_name else pane) as stream:
        says = heard(stream)
        await says.until(lambda s: s.of(PaneOpened))
        os.kill(private_tmux.server_pid, signal.SIGKILL)
        if not by_name:
            await says.until(lambda s: s.of(PaneClosed))
            private_tmux.new_session("work", ["cat"])
        await says.until_end()
    assert [closed.reason for closed in says.of(PaneClosed)] == ["server_lost"]
