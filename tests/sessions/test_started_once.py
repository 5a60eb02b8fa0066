"""A session is started once, whenever the client that asks for it is dropped."""

from pathlib import Path

import pytest

import streamrelay
from streamrelay.control import ControlClient
from streamrelay.control.requests import OnReply
from streamrelay.service.api import StartSession
from streamrelay.sessions.sessions import Sessions
from streamrelay.testing.tmux import PrivateTmux


@pytest.mark.requirement("AGT-01a")
@pytest.mark.parametrize("when", ["before tmux gets the commands", "after tmux has run them"])
async def test_a_session_is_started_once_although_the_client_is_dropped(
    private_tmux: PrivateTmux, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, when: str
) -> None:
    keeper = private_tmux.new_session("keeper", ["cat"])
    request, dropped = ControlClient.request, []

    def send(client: ControlClient, line: str, on_reply: OnReply) -> None:
        if "@streamrelay_session" in line and "new-session" in line and not dropped:
            dropped.append(line)
            if when == "after tmux has run them":
                # tmux answers before it lets a client go, so the line takes another way.
                (tmp_path / "line").write_text(line)
                private_tmux.run("source-file", str(tmp_path / "line"))
            for client_name in private_tmux.run("list-clients", "-F", "#{client_name}").split():
                private_tmux.run("detach-client", "-t", client_name)
        request(client, line, on_reply)

    monkeypatch.setattr(ControlClient, "request", send)
    connection = streamrelay.connect(tmux=private_tmux.binary, socket_path=private_tmux.socket_path, profiles=[])
    async with connection as server, server.watch(keeper):
        started = await Sessions(server).start(StartSession(agent="cat", title="once"))
        assert len(dropped) == 1
        listed = [one for one in await Sessions(server).all() if one.title == "once"]
        assert [one.session for one in listed] == [started.session]
        panes = private_tmux.run("list-panes", "-a", "-F", "#{pane_current_command} #{@streamrelay_title}").splitlines()
        assert panes.count("cat once") == 1
