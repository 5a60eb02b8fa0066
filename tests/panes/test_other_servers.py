"""Another server in the place of the one that ended: its panes have the same ids, and are nobody's that was watched.

And what is let go of while a connection is lost, or was.
"""

import asyncio
import os
import signal

import pytest

from streamrelay.errors import PaneGone, TmuxError
from streamrelay.events import Gap, PaneClosed, PaneOpened
from streamrelay.panes import reconnect
from streamrelay.panes.backoff import Backoff
from streamrelay.panes.connection import PaneConnection
from streamrelay.panes.inventory import PaneInfo
from streamrelay.panes.pipeline import PanePipeline
from streamrelay.testing.waiting import wait_until_async

SOON = 0.5
"""Seconds in which another server is started."""


@pytest.mark.requirement("ENG-09a")
async def test_the_pane_of_the_same_id_of_another_server_is_another_pane(private_tmux, server, heard, monkeypatch):
    monkeypatch.setattr(Backoff, "wait", lambda *_: SOON)
    pane = private_tmux.new_session("work", ["sh", "-c", "echo ours; cat"])
    async with server.watch(pane) as stream:
        says = heard(stream)
        await says.until(lambda s: s.of(PaneOpened))
        private_tmux.kill()
        for name in ("keeper", "other"):
            other = private_tmux.new_session(name, ["sh", "-c", "echo somebody else speaks; cat"])
        assert other == pane
        await says.until_end()
    assert [closed.reason for closed in says.of(PaneClosed)] == ["server_lost"]
    assert "somebody else speaks" not in says.said
    await wait_until_async(lambda: private_tmux.run("list-clients") == "")
    assert set(private_tmux.run("list-sessions", "-F", "#{session_name}").split()) == {"keeper", "other"}


@pytest.mark.requirement("ENG-09a")
async def test_a_session_is_not_taken_for_one_whose_name_begins_like_its_own(private_tmux, server, heard, monkeypatch):
    monkeypatch.setattr(reconnect, "PATIENCE", 20.0)
    private_tmux.new_session("work", ["cat"])
    async with server.watch("work") as stream:
        says = heard(stream)
        await says.until(lambda s: s.of(PaneOpened))
        private_tmux.kill()
        await says.until(lambda s: s.of(PaneClosed))
        private_tmux.new_session("work2", ["cat"])
        await asyncio.sleep(SOON)
        private_tmux.new_session("work", ["cat"])
        await says.until(lambda s: len(s.of(PaneOpened)) == 2)
        assert [opened.session for opened in says.of(PaneOpened)] == ["work", "work"]


async def test_a_pane_of_the_same_id_is_let_go_of_once(private_tmux, server, heard, monkeypatch):
    monkeypatch.setattr(reconnect, "PATIENCE", 20.0)
    pane = private_tmux.new_session("work", ["cat"])
    async with server.watch("work") as stream:
        says = heard(stream)
        await says.until(lambda s: s.of(PaneOpened))
        private_tmux.kill()
        for name in ("keeper", "work"):
            again = private_tmux.new_session(name, ["cat"])
        await says.until(lambda s: len(s.of(PaneOpened)) == 2)
    assert again == pane
    assert not server.is_watched(pane)


async def test_a_pane_that_is_gone_again_ends_the_stream(private_tmux, server, heard, monkeypatch):
    private_tmux.new_session("work", ["cat"])
    async with server.watch("work") as stream:
        says = heard(stream)
        await says.until(lambda s: s.of(PaneOpened))

        async def gone(*_: object) -> list[PanePipeline]:
            raise PaneGone("it was closed while it was being read")

        monkeypatch.setattr(server._attachments, "watch", gone)
        private_tmux.kill()
        await says.until(lambda s: s.of(PaneClosed))
        private_tmux.new_session("work", ["cat"])
        await says.until_end()
    assert says.of(Gap) == []


async def test_who_leaves_does_not_wait_for_a_connection_that_cannot_be_had(private_tmux, server, heard, monkeypatch):
    pane = private_tmux.new_session("work", ["cat"])
    trying = asyncio.Event()

    async def opened(_: PaneConnection) -> None:
        trying.set()
        await asyncio.sleep(3600)

    async with server.watch(pane) as stream:
        says = heard(stream)
        await says.until(lambda s: s.of(PaneOpened))
        monkeypatch.setattr(PaneConnection, "opened", opened)
        os.kill(int(private_tmux.run("list-clients", "-F", "#{client_pid}")), signal.SIGKILL)
        async with asyncio.timeout(20):
            await trying.wait()
        leaving = asyncio.timeout(20)
        await leaving.__aenter__()
    await leaving.__aexit__(None, None, None)
    assert not server.is_watched(pane)
    monkeypatch.undo()
    async with server.watch(pane) as stream:
        await heard(stream).until(lambda s: s.of(PaneOpened))


async def test_a_connection_that_cannot_be_had_is_given_up_where_somebody_listens(
    private_tmux, server, heard, monkeypatch
):
    pane = private_tmux.new_session("work", ["cat"])

    async def opened(_: PaneConnection) -> None:
        raise TmuxError("nothing answers")

    waits = iter((0.0, 0.0))
    async with server.watch(pane) as stream:
        says = heard(stream)
        await says.until(lambda s: s.of(PaneOpened))
        monkeypatch.setattr(Backoff, "wait", lambda *_: next(waits, None))
        monkeypatch.setattr(PaneConnection, "opened", opened)
        os.kill(int(private_tmux.run("list-clients", "-F", "#{client_pid}")), signal.SIGKILL)
        await says.until_end()
    assert [closed.reason for closed in says.of(PaneClosed)] == ["server_lost"]


async def test_the_window_is_let_go_of_into_which_a_pane_moved_that_ended(private_tmux, server, heard, monkeypatch):
    work = private_tmux.new_session("work", ["sleep", "1000"])
    moves = private_tmux.run("split-window", "-d", "-t", work, "-P", "-F", "#{pane_id}", "cat")
    there = private_tmux.run("new-window", "-d", "-t", "work", "-P", "-F", "#{pane_id}", "sleep 2000")
    stays = private_tmux.run("list-panes", "-t", "keeper", "-F", "#{pane_id}")
    place = PaneConnection._place

    async def ends_then(connection: PaneConnection, hub: object, pipeline: PanePipeline, info: PaneInfo) -> None:
        await place(connection, hub, pipeline, info)
        if pipeline.has_moved:
            private_tmux.run("kill-pane", "-t", moves)

    async with server.watch(stays, moves) as stream:
        says = heard(stream)
        await says.until(lambda s: len(s.of(PaneOpened)) == 2)
        monkeypatch.setattr(PaneConnection, "_place", ends_then)
        private_tmux.run("join-pane", "-d", "-s", moves, "-t", there)
        await says.until(lambda s: [closed.pane for closed in s.of(PaneClosed)] == [moves])
        private_tmux.run("kill-session", "-t", "=work")
        await wait_until_async(lambda: there not in private_tmux.run("list-panes", "-a", "-F", "#{pane_id}").split())
