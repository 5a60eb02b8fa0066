"""Which tmux is meant, and what it says of itself without being attached to."""

import asyncio
import os
import signal
from pathlib import Path

import pytest

from streamrelay.control.tmux import ServerInfo, Tmux, Version, environment, refusal
from streamrelay.errors import (
    CommandFailed,
    CommandTimeout,
    NoServer,
    ServerLost,
    StreamrelayError,
    TargetNotFound,
    TmuxMissing,
    TmuxTooOld,
    UsageError,
)
from streamrelay.testing.tmux import PrivateTmux, is_alive
from tests.process_limits import no_more_descriptors


@pytest.fixture(autouse=True)
def nothing_inherited(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("TMUX", "STREAMRELAY_TMUX"):
        monkeypatch.delenv(name, raising=False)


def stand_in(folder: Path, script: str) -> str:
    """A program that passes for tmux."""
    path = folder / "tmux"
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return str(path)


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("3.3a", (3, 3)), ("tmux 3.2\n", (3, 2)), ("3.10", (3, 10)), ("next-3.6", (3, 6)), ("3.4-rc", (3, 4)),
        ("2.9a", (2, 9)), ("master", None), ("openbsd-7.4", None), ("", None),
    ],
)  # fmt: skip
def test_versions(text: str, number: tuple[int, int] | None) -> None:
    assert Version.parse(text).number == number


def test_versions_are_compared_by_number() -> None:
    assert Version.parse("3.10").at_least(3, 2)
    assert not Version.parse("3.1c").at_least(3, 2)
    assert Version.parse("master").at_least(3, 2)


def test_the_socket_is_named_as_tmux_names_it(monkeypatch: pytest.MonkeyPatch) -> None:
    assert Tmux().argv("ls") == ["tmux", "ls"]
    assert Tmux("t", socket_name="n").argv("ls") == ["t", "-L", "n", "ls"]
    assert Tmux("t", socket_path="/p").argv("ls", "-F", "x") == ["t", "-S", "/p", "ls", "-F", "x"]
    with pytest.raises(UsageError):
        Tmux(socket_name="n", socket_path="/p")
    monkeypatch.setenv("STREAMRELAY_TMUX", "/opt/tmux")
    monkeypatch.setenv("TMUX", "/tmp/a,b/default,77,0")
    assert Tmux().argv("ls") == ["/opt/tmux", "-S", "/tmp/a,b/default", "ls"]
    assert Tmux("t", socket_name="n").argv("ls") == ["t", "-L", "n", "ls"]


@pytest.mark.parametrize(
    ("parent", "child"),
    [
        ({}, {"LC_ALL": "C.UTF-8"}),
        ({"LANG": "C"}, {"LANG": "C", "LC_ALL": "C.UTF-8"}),
        ({"LC_ALL": "C", "LANG": "de_DE.UTF-8"}, {"LC_ALL": "C.UTF-8", "LANG": "de_DE.UTF-8"}),
        ({"LC_ALL": "", "LC_CTYPE": "ja_JP.utf8"}, {"LC_ALL": "", "LC_CTYPE": "ja_JP.utf8"}),
        ({"LANG": "de_DE.UTF-8", "TMUX": "/x,1,0", "TMUX_PANE": "%1", "A": "b"}, {"LANG": "de_DE.UTF-8", "A": "b"}),
    ],
)
def test_children_get_utf8_and_do_not_think_they_nest(parent: dict[str, str], child: dict[str, str]) -> None:
    assert environment(parent) == child


@pytest.mark.parametrize(
    ("words", "kind"),
    [
        ("no server running on /x", NoServer),
        ("error connecting to /x (No such file or directory)", NoServer),
        ("error connecting to /x (Connection refused)", NoServer),
        ("error connecting to /x (Permission denied)", CommandFailed),
        ("server exited unexpectedly", ServerLost),
        ("lost server", ServerLost),
        ("can't find session: x", TargetNotFound),
        ("can't find pane: %9", TargetNotFound),
        ("no sessions", TargetNotFound),
        ("unknown option: x", CommandFailed),
        ("", CommandFailed),
    ],
)
def test_tmuxs_words_become_errors(words: str, kind: type[StreamrelayError]) -> None:
    error = refusal(words, command=["a", "b"])
    assert type(error) is kind
    assert error.data == {"command": "a b"}
    assert error.message == "no tmux server runs at /x" if kind is NoServer else words in error.message
    assert error.message


@pytest.mark.requirement("ENG-01a")
async def test_a_running_server_says_who_it_is(private_tmux: PrivateTmux, tmux: Tmux) -> None:
    private_tmux.new_session("main", ["sleep", "1000"])
    version = await tmux.client_version()
    assert await tmux.probe() == ServerInfo(version, private_tmux.server_pid, private_tmux.socket_path)
    assert (await tmux.run("display-message", "-p", "é")) == "é\n"
    with pytest.raises(TargetNotFound, match="can't find pane: %9"):
        await tmux.run("kill-pane", "-t", "%9")


async def test_a_server_without_sessions_says_who_it_is(private_tmux: PrivateTmux, tmux: Tmux) -> None:
    private_tmux.new_session("main", ["sleep", "1000"])
    private_tmux.run("set-option", "-s", "exit-empty", "off", ";", "kill-session")
    assert (await tmux.probe()).pid == private_tmux.server_pid


@pytest.mark.requirement("ENG-01a")
async def test_asking_never_starts_a_server(private_tmux: PrivateTmux, tmux: Tmux) -> None:
    with pytest.raises(NoServer):
        await tmux.probe()
    assert not os.path.lexists(private_tmux.socket_path)


@pytest.mark.parametrize("binary", ["no-such-tmux", "/dev/null", "/"])
async def test_a_binary_that_cannot_be_run(binary: str) -> None:
    with pytest.raises(TmuxMissing, match=binary) as raised:
        await Tmux(binary).probe()
    assert raised.value.hint == TmuxMissing.default_hint
    with pytest.raises(TmuxMissing):
        await Tmux(binary).client_version()


@pytest.mark.parametrize("says", ["3.1c\\t77\\t/x", "2.0\\t1\\t/x", "\\t\\t", ""])
async def test_a_server_too_old(tmp_path: Path, says: str) -> None:
    with pytest.raises(TmuxTooOld):
        await Tmux(stand_in(tmp_path, f"printf '{says}\\n'")).probe()


async def test_a_server_of_no_numbered_version_is_taken_for_new(tmp_path: Path) -> None:
    info = await Tmux(stand_in(tmp_path, r"printf 'openbsd-7.4\t77\t/x y\n'")).probe()
    assert info == ServerInfo(Version("openbsd-7.4", None), 77, "/x y")


async def test_a_terminals_ctrl_c_does_not_reach_a_command(tmp_path: Path) -> None:
    binary = stand_in(tmp_path, "exec ps -o pgid= -p $$")
    assert int(await Tmux(binary).run("list-sessions")) != os.getpgrp()


async def test_a_tmux_that_does_not_answer_is_not_left_running(tmp_path: Path) -> None:
    binary = stand_in(tmp_path, f"echo $$ >{tmp_path}/pid; exec sleep 1000")
    with pytest.raises(CommandTimeout):
        await Tmux(binary).run("list-sessions", timeout=0.3)
    assert not is_alive(int((tmp_path / "pid").read_text()))


async def test_a_server_that_is_stopped_is_given_up_in_time(private_tmux):
    private_tmux.new_session("work", ["cat"])
    os.kill(private_tmux.server_pid, signal.SIGSTOP)
    try:
        async with asyncio.timeout(20):
            with pytest.raises(CommandTimeout):
                await Tmux(private_tmux.binary, socket_path=str(private_tmux.socket_path)).run(
                    "list-panes", timeout=0.5
                )
    finally:
        os.kill(private_tmux.server_pid, signal.SIGCONT)


async def test_a_command_for_which_no_descriptor_is_left_is_an_error_of_tmux(private_tmux: PrivateTmux) -> None:
    private_tmux.new_session("work", ["cat"])
    tmux = Tmux(private_tmux.binary, socket_path=private_tmux.socket_path)
    with no_more_descriptors(), pytest.raises(TmuxMissing, match="Too many open files") as raised:
        await tmux.run("list-sessions")
    assert raised.value.hint == "allow more open files, and start again: ulimit -n 4096"
    assert (await tmux.run("list-sessions", "-F", "#{session_name}")).split() == ["work"]
