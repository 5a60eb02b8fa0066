"""What a user can list is the same before, while and after a client is attached; the client itself apart."""

from typing import TYPE_CHECKING

import pytest

from streamrelay.control import Tmux
from streamrelay.errors import TargetNotFound
from streamrelay.testing.tmux import PrivateTmux
from streamrelay.testing.traces import listed

if TYPE_CHECKING:
    from tests.control.conftest import Connect


@pytest.mark.requirement("ENG-01a", "ENG-01b")
@pytest.mark.over_ssh
async def test_attaching_leaves_no_trace(
    private_tmux: PrivateTmux, connect: "Connect", monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, columns in (("main", 93), ("other", 61)):
        private_tmux.new_session(
            name, ["sleep", "1000"], columns=columns, lines=17, environment={"SSH_AUTH_SOCK": name}
        )
        private_tmux.run("set-environment", "-t", name, "DISPLAY", ":7")
        private_tmux.run("set-hook", "-t", name, "client-attached", "set-option -s @attached yes")
    private_tmux.run("split-window", "-d", "-t", "main", "sleep", "1000")
    private_tmux.run("new-window", "-d", "-t", "main", "sleep", "1000")
    private_tmux.run("set-buffer", "-b", "mine", "kept")
    private_tmux.run("set-hook", "-g", "after-new-window", "display-message hello")
    # What `update-environment` would carry into the session if the client let it.
    monkeypatch.setenv("SSH_AUTH_SOCK", "/ours")
    monkeypatch.delenv("DISPLAY", raising=False)

    before = listed(private_tmux)
    async with connect("main") as client:
        await client.command("display-message -p x ; list-panes -a")
        hooks_ran = private_tmux.run("show-options", "-sqv", "@attached")
        private_tmux.run("set-option", "-su", "@attached")
        during = listed(private_tmux)
        assert during.pop("clients")
        assert during.pop("attached") != before["attached"]
        assert private_tmux.run("list-clients", "-F", "#{client_session} #{client_control_mode}") == "main 1"
    after = listed(private_tmux)
    assert hooks_ran == "yes", "a person's own hook for clients that attach sees ours too"
    assert during == {name: lines for name, lines in before.items() if name not in {"clients", "attached"}}
    assert after == before
    assert private_tmux.run("list-clients") == ""


async def test_a_failed_attach_leaves_no_trace(private_tmux: PrivateTmux, connect: "Connect") -> None:
    private_tmux.new_session("main", ["sleep", "1000"])
    before = listed(private_tmux)
    with pytest.raises(TargetNotFound, match="can't find session"):
        async with connect("none"):
            pass
    assert listed(private_tmux) == before


async def test_asking_who_the_server_is_leaves_no_trace(private_tmux: PrivateTmux, tmux: Tmux) -> None:
    private_tmux.new_session("main", ["sleep", "1000"])
    before = listed(private_tmux)
    await tmux.probe()
    assert listed(private_tmux) == before
