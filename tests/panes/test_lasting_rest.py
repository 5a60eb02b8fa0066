"""A pane that rests for long takes little memory; one that says something now and then is not packed each time."""

import asyncio

import pytest

from streamrelay.events import Text
from streamrelay.panes import live
from streamrelay.testing.waiting import wait_until_async
from streamrelay.vt import TmuxScreen


@pytest.fixture
def packed(monkeypatch: pytest.MonkeyPatch) -> list[TmuxScreen]:
    """Hold what was packed, each screen as often as it was."""
    screens: list[TmuxScreen] = []
    rest = TmuxScreen.rest

    def noted(screen: TmuxScreen) -> None:
        screens.append(screen)
        rest(screen)

    monkeypatch.setattr(TmuxScreen, "rest", noted)
    return screens


async def test_a_screen_is_packed_when_it_is_seeded_and_not_between_lines(private_tmux, server, packed):
    pane = private_tmux.new_session("work", ["cat"])
    async with server.watch(pane) as stream, asyncio.timeout(20):
        await wait_until_async(lambda: packed)
        packed.clear()
        for line in ("one", "two"):
            private_tmux.run("send-keys", "-t", pane, line, "Enter")
            while not (isinstance(event := await anext(stream), Text) and event.text == line):
                pass
            await wait_until_async(lambda: server.pipeline(pane).rests)
        assert packed == []


async def test_a_screen_is_packed_once_it_has_rested_for_long(private_tmux, server, packed, monkeypatch):
    monkeypatch.setattr(live, "_LASTING", 0.5)
    pane = private_tmux.new_session("work", ["cat"])
    async with server.watch(pane), asyncio.timeout(20):
        await wait_until_async(lambda: packed)
        packed.clear()
        private_tmux.run("send-keys", "-t", pane, "one", "Enter")
        await wait_until_async(lambda: packed)
        assert server.pipeline(pane).rests
