"""A hub on a real server: nobody notices it, and each way in which one could be noticed is tried."""

import asyncio
import signal
import subprocess
import sys
import threading
import time
from contextlib import contextmanager, suppress
from pathlib import Path

import ptyprocess
import pytest

import streamrelay
from streamrelay.control.hub import FOLLOW_DEATHS, STOP_FOLLOWING_DEATHS, opening
from streamrelay.events import Gap, PaneClosed, PaneOpened
from streamrelay.testing.tmux import is_alive
from streamrelay.testing.traces import listed
from streamrelay.testing.waiting import wait_until, wait_until_async

pytestmark = pytest.mark.smoke

COUNTER = ["sh", "-c", "stty -echo; while read n; do seq 1 $n; done"]
WATCHER = """
import asyncio, sys, streamrelay
async def main():
    async with streamrelay.connect(tmux=sys.argv[1], socket_path=sys.argv[2]) as server:
        async with server.watch(*sys.argv[3:]) as stream:
            print("ready", flush=True)
            async for _ in stream:
                pass
asyncio.run(main())
"""


def hubs(tmux):
    return [
        name
        for name, tag in (
            line.split("|")
            for line in tmux.run("list-sessions", "-F", "#{session_name}|#{@streamrelay_hub}").splitlines()
        )
        if tag
    ]


def windows(tmux, session):
    return tmux.run("list-windows", "-t", f"={session}:", "-F", "#{window_id}").split()


def pid_of(tmux, pane):
    return int(tmux.run("display-message", "-p", "-t", pane, "#{pane_pid}"))


@contextmanager
def person(tmux, *command, size=(40, 133)):
    """A client on a terminal, as a person has one; what it shows is read and thrown away."""
    process = ptyprocess.PtyProcess.spawn([*tmux.argv, *command], env=tmux.environment, dimensions=size)

    def drain():
        with suppress(EOFError, OSError):
            while process.read(65536):
                pass

    reading = threading.Thread(target=drain, daemon=True)
    reading.start()
    try:
        yield process
    finally:
        process.terminate(force=True)
        reading.join(5)
        process.close(force=True)


def attached(tmux):
    """Where persons are: the names of the sessions of clients that are not in control mode."""
    clients = tmux.run("list-clients", "-F", "#{client_control_mode} #{client_session}").splitlines()
    return [line.partition(" ")[2] for line in clients if line.startswith("0")]


@pytest.mark.requirement("ENG-05a")
@pytest.mark.over_ssh
async def test_one_client_hears_panes_of_every_session(private_tmux, server, heard):
    panes = [private_tmux.new_session(f"work{number}", COUNTER) for number in range(6)]
    panes.append(private_tmux.run("split-window", "-d", "-P", "-F", "#{pane_id}", "-t", panes[0], *COUNTER))
    async with server.watch(*panes) as stream:
        says = heard(stream)
        assert len(private_tmux.run("list-clients").splitlines()) == 1
        for pane in panes:
            private_tmux.run("send-keys", "-t", pane, "3", "Enter")
        await says.until(lambda s: len(s.said) == 3 * len(panes))
        assert {event.pane for event in says.events} == set(panes)
        (hub,) = hubs(private_tmux)
        assert len(windows(private_tmux, hub)) == 7, "six windows, and one of its own"
    assert hubs(private_tmux) == []
    assert private_tmux.run("list-clients") == ""


@pytest.mark.requirement("ENG-05b")
@pytest.mark.over_ssh
async def test_what_a_user_can_list_is_the_same_before_while_and_after(private_tmux, server, monkeypatch):
    monkeypatch.setenv("SSH_AUTH_SOCK", "/ours")
    private_tmux.run("set-option", "-g", "automatic-rename", "off")
    for number, columns in enumerate((93, 61, 150)):
        name = f"work{number}"
        private_tmux.new_session(
            name, ["cat", "-"], columns=columns, lines=17 + number, environment={"SSH_AUTH_SOCK": name}
        )
        private_tmux.run("set-environment", "-t", name, "DISPLAY", ":7")
        private_tmux.run("set-hook", "-t", name, "client-attached", "display-message hello")
        private_tmux.run("new-window", "-t", name, "cat")
        private_tmux.run("split-window", "-t", name, "cat")
        private_tmux.run("last-window", "-t", name)
    private_tmux.run("set-option", "-w", "-t", "work1", "window-size", "manual")
    private_tmux.run("resize-pane", "-Z", "-t", "work2:1.0")
    private_tmux.run("set-buffer", "-b", "mine", "kept")
    # A bell in a window that is not current.
    private_tmux.run("send-keys", "-t", "work0:1.0", "C-g", "Enter")
    await wait_until_async(lambda: "!" in private_tmux.run("list-windows", "-t", "work0"))
    panes = private_tmux.run("list-panes", "-a", "-F", "#{pane_id}").split()
    with person(private_tmux, "attach-session", "-t", "work0"), person(private_tmux, "attach-session", "-t", "work0"):
        await wait_until_async(lambda: len(attached(private_tmux)) == 2)
        before, own = listed(private_tmux), listed(private_tmux, hubs=False)
        async with server.watch(*panes[::2]):
            assert listed(private_tmux, hubs=False) == own
            async with server.watch(*panes[1::2]):
                assert listed(private_tmux, hubs=False) == own
            assert listed(private_tmux, hubs=False) == own
        assert listed(private_tmux) == before


@pytest.mark.requirement("ENG-05b")
async def test_a_command_typed_in_a_watched_pane_means_its_own_session(private_tmux, server):
    """With no target tmux takes, of the sessions that hold the pane's window, the one used last."""
    pane = private_tmux.new_session("work")
    tmux = " ".join(private_tmux.argv)
    async with server.watch(pane):
        private_tmux.run(
            "send-keys", "-t", pane, f"{tmux} new-window -d -n made cat; {tmux} rename-session mine", "Enter"
        )
        await wait_until_async(lambda: "mine" in private_tmux.run("list-sessions", "-F", "#{session_name}").split())
        assert private_tmux.run("list-windows", "-t", "=mine:", "-F", "#{window_name}").splitlines()[1:] == ["made"]
        assert private_tmux.run("display-message", "-p", "-t", pane, "#{session_name}") == "mine"


@pytest.mark.requirement("ENG-05c")
@pytest.mark.parametrize("watchers", [1, 2])
async def test_killing_a_session_still_kills_its_programs(private_tmux, server, heard, watchers):
    pane = private_tmux.new_session("work", ["cat", "-"])
    program = pid_of(private_tmux, pane)
    other = streamrelay.connect(tmux=private_tmux.binary, socket_path=private_tmux.socket_path)
    async with other as second, server.watch(pane) as stream, second.watch(pane if watchers == 2 else "keeper") as more:
        assert len(hubs(private_tmux)) == 2
        private_tmux.run("kill-session", "-t", "work")
        await (says := heard(stream)).until_end()
        assert says.of(PaneClosed)[0].reason == "session_gone"
        if watchers == 2:
            await heard(more).until_end()
        await wait_until_async(lambda: not is_alive(program))


@pytest.mark.requirement("ENG-05c", "ENG-05d")
async def test_a_window_of_two_sessions_lives_until_both_are_gone(private_tmux, server, heard):
    pane = private_tmux.new_session("work", ["cat", "-"])
    private_tmux.run("new-session", "-d", "-s", "other", "-t", "work")
    async with server.watch(pane) as stream:
        private_tmux.run("kill-session", "-t", "work")
        await wait_until_async(lambda: server.pipeline(pane).info.session_name == "other")
        private_tmux.run("kill-session", "-t", "other")
        await (says := heard(stream)).until_end()
        assert says.of(PaneClosed)


@pytest.mark.requirement("ENG-05c")
async def test_a_window_that_is_replaced_with_k_ends(private_tmux, server, heard):
    pane = private_tmux.new_session("work", ["cat", "-"])
    async with server.watch(pane) as stream:
        private_tmux.run("new-window", "-k", "-t", "=work:0", "cat")
        await heard(stream).until_end()
        assert len(private_tmux.run("list-windows", "-t", "work").splitlines()) == 1


@pytest.mark.requirement("ENG-05c")
async def test_a_window_whose_only_link_is_taken_is_handed_back(private_tmux, server, heard):
    """Without a hub tmux refuses (window only linked to one session), and the program must not pay for that."""
    pane = private_tmux.new_session("work", COUNTER)
    private_tmux.run("new-window", "-d", "-t", "work", "cat")
    async with server.watch(pane) as stream:
        private_tmux.run("unlink-window", "-t", "=work:0")
        await wait_until_async(
            lambda: pane in private_tmux.run("list-panes", "-s", "-t", "=work:", "-F", "#{window_index} #{pane_id}")
        )
        private_tmux.run("send-keys", "-t", pane, "3", "Enter")
        await heard(stream).until(lambda s: s.said == ["1", "2", "3"])


@pytest.mark.requirement("ENG-05c")
async def test_whom_detach_on_destroy_throws_into_the_hub_is_sent_on(private_tmux, server):
    for name in ("home", "work"):
        private_tmux.new_session(name, ["cat", "-"])
    private_tmux.run("kill-session", "-t", "keeper")
    private_tmux.run("set-option", "-g", "detach-on-destroy", "off")
    with person(private_tmux, "attach-session", "-t", "work"):
        await wait_until_async(lambda: attached(private_tmux) == ["work"])
        async with server.watch("home", "work"):
            before = listed(private_tmux, hubs=False)["windows"].splitlines()
            private_tmux.run("kill-session", "-t", "work")
            await wait_until_async(lambda: attached(private_tmux) == ["home"])
            assert listed(private_tmux, hubs=False)["windows"].splitlines()[0].split()[:3] == before[0].split()[:3]
            private_tmux.run("switch-client", "-c", clients(private_tmux)[0], "-t", hubs(private_tmux)[0])
            await wait_until_async(lambda: attached(private_tmux) == ["home"])


def clients(tmux):
    lines = tmux.run("list-clients", "-F", "#{client_control_mode} #{client_name}").splitlines()
    return [line.partition(" ")[2] for line in lines if line.startswith("0")]


@pytest.mark.requirement("ENG-05c")
@pytest.mark.parametrize("end", ["kill-session", "exit"])
async def test_a_server_that_holds_only_hubs_is_left(private_tmux, server, heard, end):
    pane = private_tmux.new_session("work", COUNTER)
    private_tmux.run("kill-session", "-t", "keeper")
    pid = private_tmux.server_pid
    other = streamrelay.connect(tmux=private_tmux.binary, socket_path=private_tmux.socket_path)
    async with other as second, server.watch(pane) as one, second.watch(pane) as two:
        if end == "exit":
            private_tmux.run("send-keys", "-t", pane, "C-d")
        else:
            private_tmux.run("kill-session", "-t", "work")
        for stream in (one, two):
            await (says := heard(stream)).until_end()
            assert says.of(PaneClosed)[0].reason == "pane_gone"
        await wait_until_async(lambda: not is_alive(pid))


@pytest.mark.requirement("ENG-05e")
def test_after_kill_9_nothing_is_left_and_what_only_the_hub_held_is_gone(private_tmux):
    pane = private_tmux.new_session("work", ["cat", "-"])
    doomed = private_tmux.new_session("doomed", ["cat", "-"])
    program = pid_of(private_tmux, doomed)
    before = listed(private_tmux)["sessions"].splitlines()[1]
    command = [sys.executable, "-c", WATCHER, private_tmux.binary, private_tmux.socket_path, pane, doomed]
    with subprocess.Popen(command, stdout=subprocess.PIPE, env=private_tmux.environment) as watching:
        assert watching.stdout.readline() == b"ready\n"
        assert len(hubs(private_tmux)) == 1
        # While it cannot react, the hub keeps what the user kills.
        watching.send_signal(signal.SIGSTOP)
        private_tmux.run("kill-session", "-t", "doomed")
        assert is_alive(program)
        watching.kill()
    wait_until(lambda: hubs(private_tmux) == [])
    wait_until(lambda: not is_alive(program))
    assert listed(private_tmux)["sessions"].splitlines() == [before]
    assert private_tmux.run("list-clients") == ""


@pytest.mark.requirement("ENG-05e")
async def test_what_somebody_left_behind_is_swept_up(private_tmux, server):
    pane = private_tmux.new_session("work", ["cat", "-"])
    private_tmux.run("new-session", "-d", "-s", "streamrelay-old", "cat", ";", "set-option", "@streamrelay_hub", "1")
    private_tmux.run("link-window", "-d", "-s", pane, "-t", "streamrelay-old:")
    async with server.watch(pane):
        assert len(hubs(private_tmux)) == 1
        assert "streamrelay-old" not in hubs(private_tmux)
    assert hubs(private_tmux) == []
    assert private_tmux.run("list-panes", "-t", pane)


@pytest.mark.requirement("ENG-05e")
async def test_a_hub_that_a_user_kills_comes_back_and_takes_nothing_along(private_tmux, server, heard):
    pane = private_tmux.new_session("work", COUNTER)
    async with server.watch(pane) as stream:
        says = heard(stream)
        await says.until(lambda s: s.of(PaneOpened))
        (killed,) = hubs(private_tmux)
        private_tmux.run("kill-session", "-t", f"={killed}")
        await says.until(lambda s: s.of(Gap))
        await wait_until_async(lambda: [len(windows(private_tmux, hub)) for hub in hubs(private_tmux)] == [2])
        private_tmux.run("send-keys", "-t", pane, "3", "Enter")
        await says.until(lambda s: s.said == ["1", "2", "3"])


async def test_leaving_never_takes_the_server_along(private_tmux, heard):
    """tmux 3.3a died of `destroy-unattached` when another client ended in the same moment."""
    pane = private_tmux.new_session("work", ["cat", "-"])
    for _ in range(8):
        others = [
            await asyncio.create_subprocess_exec(
                *private_tmux.argv, "list-sessions", stdout=asyncio.subprocess.DEVNULL, env=private_tmux.environment
            )
            for _ in range(4)
        ]
        server = streamrelay.connect(tmux=private_tmux.binary, socket_path=private_tmux.socket_path)
        async with server as connected, connected.watch(pane):
            pass
        assert [await other.wait() for other in others] == [0] * len(others)
    assert Path(private_tmux.socket_path).exists()
    assert private_tmux.run("list-sessions", "-F", "#{session_name}") == "work"


@pytest.mark.requirement("ENG-05e")
def test_leaving_with_output_still_to_come_does_not_take_the_server_along(private_tmux):
    """tmux 3.3a and 3.5a died of a subscription of a client that was without a session for up to a second."""
    private_tmux.new_session("work", ["cat", "-"])
    # More than a pipe holds, and nobody reads it.
    private_tmux.run("set-buffer", "-b", "much", "x" * 10_000)
    hub = [*private_tmux.argv, "-C", *opening("streamrelay-1", "1", ("ignore-size",))]
    with subprocess.Popen(
        hub, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=private_tmux.environment, text=True
    ) as client:
        try:
            wait_until(lambda: hubs(private_tmux))
            for line in (FOLLOW_DEATHS, *["show-buffer -b much"] * 40, STOP_FOLLOWING_DEATHS):
                client.stdin.write(f"{line}\n")
            client.stdin.close()
            # Its subscriptions are due once a second.
            time.sleep(1.5)
            client.kill()
            wait_until(lambda: hubs(private_tmux) == [], 20)
            assert private_tmux.run("list-sessions", "-F", "#{session_name}") == "work"
        finally:
            client.kill()
