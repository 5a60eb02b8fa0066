"""ControlServer gives what libtmux.Server gives, over one control connection."""

import gc
import os
import threading
import weakref
from concurrent.futures import ThreadPoolExecutor

import libtmux
import pytest

from streamrelay.libtmux import ControlServer
from streamrelay.libtmux.commands import CARRIED, NOT_CARRIED, route
from streamrelay.testing.tmux import PrivateTmux
from streamrelay.testing.waiting import wait_until

pytestmark = [pytest.mark.smoke, pytest.mark.requirement("BRG-03b")]


def both(private_tmux: PrivateTmux) -> tuple[libtmux.Server, ControlServer]:
    stock = private_tmux.libtmux()
    return stock, ControlServer(socket_path=private_tmux.socket_path, config_file="/dev/null", tmux_bin=stock.tmux_bin)


def clients(private_tmux: PrivateTmux) -> str:
    return private_tmux.run("list-clients", "-F", "#{client_control_mode}")


# What a process and a connection could answer differently: errors, empty output, blank lines, quotes, semicolons.
ASKED = [
    ("list-sessions", "-F", "#{session_name} #{session_attached}"),
    ("list-panes", "-a", "-F", "#{pane_id} #{pane_title}"),
    ("list-panes", "-t", "=work:", "-F", "#{pane_id}"),
    ("list-windows", "-t", "nothing"),
    ("has-session", "-t", "nothing"),
    ("has-session", "-t", "work"),
    ("capture-pane", "-p", "-t", "%0"),
    ("capture-pane", "-p", "-t", "%99"),
    ("display-message", "-p", "-t", "%0", 'a "b" $c ~ \'; #{session_name} ü\\;'),
    ("display-message", "-p", "-t", "%0", ""),
    ("display-message", "-p", "the session of no client"),
    ("show-options", "-g", "status-left"),
    ("show-options", "-gv", "no-such-option"),
    ("set-option", "-t", "%0", "no-such-option", "1"),
    ("show-environment", "-g", "NO_SUCH_VARIABLE"),
    ("list-buffers",),
    ("list-clients",),
    ("no-such-command", "-x"),
    ("lsp", "-a", "-F", "#{pane_id}"),
    ("set-option", "-g", "@one", "1", ";", "show-options", "-gv", "@one"),
]


def test_results_are_those_of_a_process(private_tmux: PrivateTmux) -> None:
    private_tmux.new_session("work", ["sh", "-c", "printf 'one\\n\\n  two\\n\\n'; exec cat"])
    stock, control = both(private_tmux)
    wait_until(lambda: "two" in private_tmux.run("capture-pane", "-p", "-t", "%0"), 10, "the text")
    for words in ASKED:
        mine, theirs = control.cmd(*words), stock.cmd(*words)
        assert (mine.stdout, mine.stderr, mine.returncode) == (theirs.stdout, theirs.stderr, theirs.returncode), words
        assert mine.cmd == theirs.cmd
        assert isinstance(mine, libtmux.common.tmux_cmd)
    assert [pane.pane_id for pane in control.panes] == ["%0"]
    assert control.sessions[0].session_attached == "0"
    assert control.clients == []
    control.close()


def test_objects_of_libtmux_use_one_connection_which_any_thread_may_use(private_tmux: PrivateTmux) -> None:
    private_tmux.new_session("work", ["cat"])
    _, control = both(private_tmux)
    session = control.sessions.get(session_name="work")
    assert session is not None
    pane = session.active_window.active_pane
    assert pane is not None
    with ThreadPoolExecutor(8) as threads:
        values = [*threads.map(lambda n: pane.cmd("display-message", "-p", str(n)).stdout[0], range(100))]
    assert values == [str(number) for number in range(100)]
    assert control._connection is not None
    assert control._connection.is_open
    assert clients(private_tmux) in {"1", ""}, "tmux 3.8 does not list a suspended client"
    pane.send_keys("hello", enter=False)
    wait_until(lambda: pane.capture_pane() == ["hello"], 10, "the echo")
    window = session.new_window(window_name="second")
    assert window.active_pane is not None
    assert [each.window_name for each in session.windows][1:] == ["second"]
    control.close()
    wait_until(lambda: clients(private_tmux) == "", 10, "the end of the client")
    assert session.name == "work"


def test_the_connection_opens_again_where_its_session_ends(private_tmux: PrivateTmux) -> None:
    _, control = both(private_tmux)
    assert control.cmd("list-sessions").returncode == 1
    assert not control.is_alive()
    first = control.new_session("first", window_command="cat")
    assert first.windows[0].panes
    second = control.new_session("second", window_command="cat")
    first.kill()
    assert [session.name for session in control.sessions] == ["second"]
    second.kill()
    wait_until(lambda: not control.is_alive(), 10, "the end of the server")
    assert control.sessions == []
    control.close()


def test_no_client_is_left_behind(private_tmux: PrivateTmux) -> None:
    private_tmux.new_session("work", ["cat"])
    _, control = both(private_tmux)
    assert control.panes
    gone, threads = weakref.ref(control), threading.active_count()
    del control
    gc.collect()
    assert gone() is None
    wait_until(lambda: clients(private_tmux) == "", 10, "the end of the client")
    wait_until(lambda: threading.active_count() < threads, 10, "the end of the thread")


def test_a_fork_has_a_connection_of_its_own(private_tmux: PrivateTmux) -> None:
    private_tmux.new_session("work", ["cat"])
    _, control = both(private_tmux)
    assert control.panes
    child = os.fork()
    if child == 0:
        ok = [pane.pane_id for pane in control.panes] == ["%0"]
        control.close()
        os._exit(0 if ok else 1)
    assert os.waitpid(child, 0)[1] == 0
    assert [pane.pane_id for pane in control.panes] == ["%0"]
    control.close()


def test_each_command_of_tmux_is_carried_or_has_a_reason(private_tmux: PrivateTmux) -> None:
    private_tmux.new_session("work", ["cat"])
    known = {line.split(" ")[0] for line in private_tmux.run("list-commands").splitlines()}
    assert known <= CARRIED.keys() | NOT_CARRIED.keys()
    assert not CARRIED.keys() & NOT_CARRIED.keys()


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("list-panes -a", "connection"),
        ("list-panes -t%3 -F#{pane_id}", "connection"),
        ("list-panes -st $1", "connection"),
        ("list-panes -t work:1.0", "connection"),
        ("list-panes -t =work:", "connection"),
        ("list-panes", "process"),
        ("list-panes -t work", "process"),
        ("list-panes -t :1", "process"),
        ("list-panes -t {last}", "process"),
        ("list-windows -t work", "connection"),
        ("list-windows -t +", "process"),
        ("send-keys -t %1 -l -- -c x", "connection"),
        ("send-keys -K -t %1 x", "process alone"),
        ("send-keys -t %1 ls ; kill-server", "process alone"),
        ("swap-pane -s %1 -t %2", "connection"),
        ("swap-pane -t %2", "process"),
        ("display-message -t %1 hello", "process alone"),
        ("display-message -p -t %1 #{client_name}", "process alone"),
        ("display-message -p -t %1 #(date)", "process"),
        ("set-option -g status off", "connection"),
        ("set-option status off", "process"),
        ("kill-pane -t %1", "process"),
        ("detach-client", "process alone"),
        ("lsp -a", "process alone"),
    ],
)
def test_what_depends_on_the_client_is_a_process(command: str, expected: str) -> None:
    assert route(command.split()).way == expected
