"""A session is started once, whenever the client that asks for it is dropped."""

from pathlib import Path

import pytest

import streamrelay
from streamrelay.service.api import StartSession
from streamrelay.sessions.sessions import Sessions
from streamrelay.testing.tmux import PrivateTmux
from tests.dropped_clients import Dropping


@pytest.mark.requirement("AGT-01a")
@pytest.mark.parametrize("when", ["before tmux gets the commands", "after tmux has run them"])
async def test_a_session_is_started_once_although_the_client_is_dropped(
    private_tmux: PrivateTmux, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, when: str
) -> None:
    keeper = private_tmux.new_session("keeper", ["cat"])
    runs_in = tmp_path if when == "after tmux has run them" else None
    dropping = Dropping(private_tmux, monkeypatch, "@streamrelay_session", "new-session", runs_in=runs_in)
    connection = streamrelay.connect(tmux=private_tmux.binary, socket_path=private_tmux.socket_path, profiles=[])
    async with connection as server, server.watch(keeper):
        started = await Sessions(server).start(StartSession(agent="cat", title="once"))
        assert not dropping.left
        listed = [one for one in await Sessions(server).all() if one.title == "once"]
        assert [one.session for one in listed] == [started.session]
        panes = private_tmux.run("list-panes", "-a", "-F", "#{pane_current_command} #{@streamrelay_title}").splitlines()
        assert panes.count("cat once") == 1
