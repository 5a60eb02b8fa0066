"""What a user can list is the same before, while and after a client is attached; the client itself apart."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import pytest

from streamrelay.control import Tmux
from streamrelay.testing.tmux import PrivateTmux

if TYPE_CHECKING:
    from tests.control.conftest import Connect

SESSION = (
    "#{session_id} #{session_name} #{session_windows} #{session_group} #{session_marked} #{session_alerts} "
    "#{session_stack} #{session_path} #{session_created}"
)
WINDOW = (
    "#{session_id} #{window_id} #{window_index} #{window_name} #{window_width}x#{window_height} #{window_flags} "
    "#{window_active} #{window_layout} #{window_linked} #{window_linked_sessions_list} #{window_panes} "
    "#{window_bell_flag}#{window_activity_flag}#{window_silence_flag} #{window_last_flag} #{window_stack_index}"
)
PANE = (
    "#{session_id} #{window_id} #{pane_id} #{pane_index} #{pane_width}x#{pane_height} #{pane_left},#{pane_top} "
    "#{pane_active} #{pane_last} #{pane_pid} #{pane_title} #{pane_in_mode} #{pane_current_path} #{pane_dead} "
    "#{pane_input_off} #{pane_pipe} #{pane_synchronized} #{pane_marked} #{history_size} #{cursor_x},#{cursor_y}"
)


def listed(server: PrivateTmux, sessions: Sequence[str]) -> dict[str, str]:
    """Everything a user can list of a server and its sessions, by the command that lists it."""
    commands = [
        ["list-sessions", "-F", SESSION],
        ["list-windows", "-a", "-F", WINDOW],
        ["list-panes", "-a", "-F", PANE],
        ["list-buffers"],
        ["list-keys"],
        ["show-environment", "-g"],
        *(["show-options", *scope] for scope in (["-g"], ["-gw"], ["-s"])),
        *(["show-hooks", *scope] for scope in (["-g"], ["-gw"])),
    ]
    for session in sessions:
        commands += [
            ["show-environment", "-t", session],
            ["show-options", "-t", session],
            ["show-options", "-w", "-t", session],
            ["show-options", "-p", "-t", session],
            ["show-hooks", "-t", session],
        ]
    return {" ".join(command): server.run(*command) for command in commands}


@pytest.mark.requirement("ENG-01a", "ENG-01b")
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

    before = listed(private_tmux, ("main", "other"))
    async with connect("main") as client:
        await client.command("display-message -p x ; list-panes -a")
        hooks_ran = private_tmux.run("show-options", "-sqv", "@attached")
        private_tmux.run("set-option", "-su", "@attached")
        during = listed(private_tmux, ("main", "other"))
        assert private_tmux.run("list-clients", "-F", "#{client_session} #{client_control_mode}") == "main 1"
    after = listed(private_tmux, ("main", "other"))
    assert hooks_ran == "yes", "a person's own hook for clients that attach sees ours too"
    assert during == before
    assert after == before
    assert private_tmux.run("list-clients") == ""


async def test_a_failed_attach_leaves_no_trace(private_tmux: PrivateTmux, connect: "Connect") -> None:
    private_tmux.new_session("main", ["sleep", "1000"])
    before = listed(private_tmux, ("main",))
    with pytest.raises(Exception, match="can't find session"):
        async with connect("none"):
            pass
    assert listed(private_tmux, ("main",)) == before


async def test_asking_who_the_server_is_leaves_no_trace(private_tmux: PrivateTmux, tmux: Tmux) -> None:
    private_tmux.new_session("main", ["sleep", "1000"])
    before = listed(private_tmux, ("main",))
    await tmux.probe()
    assert listed(private_tmux, ("main",)) == before
