import os
import signal
import subprocess
from pathlib import Path

import pytest

from streamrelay.errors import CommandFailed, NoServer, TmuxMissing
from streamrelay.testing.tmux import PrivateTmux, is_alive
from streamrelay.testing.waiting import wait_until

pytestmark = pytest.mark.tmux


def test_a_session_runs_its_command_by_argument_list(private_tmux: PrivateTmux) -> None:
    pane = private_tmux.new_session("words", ["sh", "-c", 'printf "%s|" "$@"; cat', "sh", "a b", "$HOME", "c;d"])
    wait_until(lambda: "a b|$HOME|c;d|" in private_tmux.run("capture-pane", "-p", "-t", pane))


def test_size_environment_and_pane_id_are_as_asked(private_tmux: PrivateTmux) -> None:
    pane = private_tmux.new_session("one", ["cat"], columns=100, lines=30, environment={"COLOUR": "b l u e"})
    said = private_tmux.run("display-message", "-p", "-t", pane, "#{pane_id} #{window_width}x#{window_height}")
    assert said == f"{pane} 100x30"
    assert private_tmux.run("show-environment", "-t", "one", "COLOUR") == "COLOUR=b l u e"


def test_a_single_word_is_not_given_to_a_shell(private_tmux: PrivateTmux) -> None:
    pane = private_tmux.new_session("cat", ["cat"])
    wait_until(lambda: private_tmux.run("display-message", "-p", "-t", pane, "#{pane_current_command}") == "cat")


def test_without_a_command_there_is_a_plain_shell(private_tmux: PrivateTmux) -> None:
    pane = private_tmux.new_session("shell")
    wait_until(lambda: private_tmux.run("capture-pane", "-p", "-t", pane).startswith("$"))
    private_tmux.run("send-keys", "-t", pane, "-l", "echo $((6*7))\n")
    wait_until(lambda: "\n42\n" in private_tmux.run("capture-pane", "-p", "-t", pane))


def test_a_command_that_ends_at_once_is_no_error(private_tmux: PrivateTmux) -> None:
    assert private_tmux.new_session("short", ["true"]) == "%0"


def test_a_server_that_is_about_to_end_is_started_again(private_tmux: PrivateTmux) -> None:
    """With its last session it ends, and turns away who comes before it has."""
    for _ in range(40):
        private_tmux.new_session("main", ["sleep", "1000"])
        private_tmux.run("kill-session", "-t", "main")


def test_the_environment_names_no_other_server(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TMUX", "/nowhere/default,1,0")
    monkeypatch.setenv("TMUX_PANE", "%77")
    monkeypatch.setenv("LC_ALL", "C")
    with PrivateTmux() as server:
        assert {"TMUX", "TMUX_PANE", "LC_ALL"}.isdisjoint(server.environment)
        pane = server.new_session("one", ["env"])
        assert pane == "%0"


def test_input_reaches_the_command(private_tmux: PrivateTmux) -> None:
    private_tmux.new_session("one", ["cat"])
    private_tmux.run("load-buffer", "-b", "words", "-", input="grüße\nto you\n")
    assert private_tmux.run("show-buffer", "-b", "words") == "grüße\nto you"


def test_errors_carry_the_words_of_tmux(private_tmux: PrivateTmux) -> None:
    with pytest.raises(NoServer):
        private_tmux.run("list-sessions")
    with pytest.raises(NoServer):
        _ = private_tmux.server_pid
    private_tmux.new_session("one", ["cat"])
    with pytest.raises(CommandFailed, match="duplicate session: one"):
        private_tmux.new_session("one", ["cat"])
    with PrivateTmux(binary="no-such-tmux") as none, pytest.raises(TmuxMissing):
        none.run("list-sessions")


def test_the_server_pid_is_the_one_tmux_says(private_tmux: PrivateTmux) -> None:
    private_tmux.new_session("one", ["cat"])
    assert private_tmux.server_pid == int(private_tmux.run("display-message", "-p", "#{pid}"))


def test_nothing_is_left_even_when_the_block_fails() -> None:
    server = PrivateTmux()
    pids = []

    def use_and_fail() -> None:
        with server:
            server.new_session("one", ["cat"])
            pids.append(server.server_pid)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        use_and_fail()
    assert not is_alive(*pids)
    assert not server.directory.exists()


def test_a_stopped_server_is_killed_too() -> None:
    with PrivateTmux() as server:
        server.new_session("one", ["cat"])
        pid = server.server_pid
        os.kill(pid, signal.SIGSTOP)
    assert not is_alive(pid)


def test_a_server_without_its_socket_is_killed_too() -> None:
    with PrivateTmux() as server:
        server.new_session("one", ["cat"])
        pid = server.server_pid
        Path(server.socket_path).unlink()
    assert not is_alive(pid)


def test_a_deep_temporary_directory_does_not_lengthen_the_socket(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    deep = tmp_path / ("d" * 100)
    deep.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(deep))
    with PrivateTmux() as server:
        assert len(server.socket_path) < 100
        assert server.new_session("one", ["cat"]) == "%0"
    assert not list(deep.iterdir())


def test_libtmux_sees_the_same_server(private_tmux: PrivateTmux) -> None:
    pane = private_tmux.new_session("one", ["cat"])
    server = private_tmux.libtmux()
    assert [session.name for session in server.sessions] == ["one"]
    assert [found.pane_id for found in server.panes] == [pane]


def test_argv_and_environment_start_a_client(private_tmux: PrivateTmux) -> None:
    private_tmux.new_session("one", ["cat"])
    done = subprocess.run(
        [*private_tmux.argv, "list-sessions", "-F", "#{session_name}"],
        env=private_tmux.environment,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "one\n"
