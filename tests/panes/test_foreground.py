"""A shell with a command at work in the foreground, told by a made-up /proc."""

import shlex
import sys
import time
from pathlib import Path

import pytest

from streamrelay.panes.foreground import MAX_PROCESSES, MAX_THREADS, shell_works
from streamrelay.testing.tmux import PrivateTmux
from streamrelay.testing.waiting import wait_until
from tests.panes.kernel import shows_waits


def add(proc: Path, pid: int, name: str, *, group: int, foreground: int, wchan: str, children: str = "") -> None:
    folder = proc / str(pid)
    folder.mkdir(parents=True)
    (folder / "stat").write_text(f"{pid} ({name}) S 1 {group} 1 34816 {foreground} 4194304 0")
    add_thread(proc, pid, pid, wchan=wchan, children=children)


def add_thread(proc: Path, pid: int, thread: int, *, wchan: str, children: str = "") -> None:
    folder = proc / str(pid) / "task" / str(thread)
    folder.mkdir(parents=True)
    (folder / "wchan").write_text(wchan)
    (folder / "children").write_text(children)


@pytest.mark.parametrize(
    ("wchan", "works"),
    [
        ("hrtimer_nanosleep", True),
        ("do_wait", True),
        ("wait_woken", False),
        ("poll_schedule_timeout.constprop.0", False),
        ("ep_poll", False),
        ("0", False),
    ],
)
def test_a_command_works_where_it_cannot_be_reading(tmp_path: Path, wchan: str, works: bool) -> None:
    add(tmp_path, 10, "bash", group=10, foreground=11, wchan="do_wait", children="11 ")
    add(tmp_path, 11, "sleep (1)", group=11, foreground=11, wchan=wchan)
    assert shell_works(10, tmp_path) is works


def test_one_process_that_may_read_is_enough(tmp_path: Path) -> None:
    add(tmp_path, 10, "zsh", group=10, foreground=11, wchan="sigsuspend", children="11 14")
    add(tmp_path, 11, "make", group=11, foreground=11, wchan="do_wait", children="12 13 ")
    add(tmp_path, 12, "python3", group=11, foreground=11, wchan="wait_woken")
    add(tmp_path, 14, "background", group=14, foreground=11, wchan="hrtimer_nanosleep")
    assert not shell_works(10, tmp_path)


@pytest.mark.parametrize(("wchan", "works"), [("futex_do_wait", True), ("wait_woken", False)])
def test_each_thread_of_a_command_is_examined(tmp_path: Path, wchan: str, works: bool) -> None:
    """Seen with python: the main thread sleeps, another one is in `input()`."""
    add(tmp_path, 10, "bash", group=10, foreground=11, wchan="do_wait", children="11 ")
    add(tmp_path, 11, "python3", group=11, foreground=11, wchan="hrtimer_nanosleep")
    add_thread(tmp_path, 11, 12, wchan=wchan)
    assert shell_works(10, tmp_path) is works


@pytest.mark.parametrize(("wchan", "works"), [("hrtimer_nanosleep", True), ("wait_woken", False)])
def test_a_child_of_another_thread_is_examined(tmp_path: Path, wchan: str, works: bool) -> None:
    add(tmp_path, 10, "bash", group=10, foreground=11, wchan="do_wait", children="11 ")
    add(tmp_path, 11, "python3", group=11, foreground=11, wchan="hrtimer_nanosleep")
    add_thread(tmp_path, 11, 12, wchan="do_wait", children="13")
    add(tmp_path, 13, "cat", group=11, foreground=11, wchan=wchan)
    assert shell_works(10, tmp_path) is works


@pytest.mark.parametrize(("wchan", "works"), [("hrtimer_nanosleep", True), ("wait_woken", False)])
def test_a_descendant_in_another_group_is_examined(tmp_path: Path, wchan: str, works: bool) -> None:
    """Seen with `setsid -w bash -c 'read -p "Name: " x'`; the job in the background stays out."""
    add(tmp_path, 10, "bash", group=10, foreground=11, wchan="do_wait", children="11 14 ")
    add(tmp_path, 11, "setsid", group=11, foreground=11, wchan="do_wait", children="12 ")
    add(tmp_path, 12, "bash", group=12, foreground=-1, wchan=wchan)
    add(tmp_path, 14, "background", group=14, foreground=11, wchan="wait_woken")
    assert shell_works(10, tmp_path) is works


def test_a_command_with_too_many_processes_or_threads_is_not_at_work(tmp_path: Path) -> None:
    children = [*range(100, 100 + MAX_PROCESSES)]
    add(tmp_path, 10, "bash", group=10, foreground=11, wchan="do_wait", children="11 ")
    add(tmp_path, 11, "make", group=11, foreground=11, wchan="do_wait", children=" ".join(map(str, children)))
    for pid in children:
        add(tmp_path, pid, "sleep", group=11, foreground=11, wchan="hrtimer_nanosleep")
    assert not shell_works(10, tmp_path)
    add(tmp_path, 20, "bash", group=20, foreground=21, wchan="do_wait", children="21 ")
    add(tmp_path, 21, "python3", group=21, foreground=21, wchan="hrtimer_nanosleep")
    for thread in range(22, 20 + MAX_THREADS):
        add_thread(tmp_path, 21, thread, wchan="futex_do_wait")
    assert shell_works(20, tmp_path)
    add_thread(tmp_path, 21, 21 + MAX_THREADS, wchan="futex_do_wait")
    assert not shell_works(20, tmp_path)


@pytest.mark.parametrize("missing", ["wchan", "children"])
def test_a_command_whose_thread_ends_meanwhile_is_not_at_work(tmp_path: Path, missing: str) -> None:
    add(tmp_path, 10, "bash", group=10, foreground=11, wchan="do_wait", children="11 ")
    add(tmp_path, 11, "python3", group=11, foreground=11, wchan="hrtimer_nanosleep")
    add_thread(tmp_path, 11, 12, wchan="futex_do_wait")
    assert shell_works(10, tmp_path)
    (tmp_path / "11" / "task" / "12" / missing).unlink()
    assert not shell_works(10, tmp_path)


READ_IN_THREAD = "import threading, time; threading.Thread(target=input, args=['Name: ']).start(); time.sleep(60)"


@pytest.mark.skipif(not shows_waits(), reason="the kernel does not show where a process waits")
@pytest.mark.parametrize(
    ("command", "works"),
    [
        ("sleep 60", True),
        (f"{shlex.quote(sys.executable)} -c 'import time; time.sleep(60)'", True),
        (f"{shlex.quote(sys.executable)} -c {shlex.quote(READ_IN_THREAD)}", False),
        ("setsid -w bash -c 'read -p \"Name: \" x'", False),
        ("bash -c 'read -p \"Name: \" x'", False),
    ],
)
def test_the_kernel_tells_a_command_that_reads(private_tmux: PrivateTmux, command: str, works: bool) -> None:
    pane = private_tmux.new_session("shell", ["env", "PS1=$ ", "bash", "--norc", "-i"])
    pid = int(private_tmux.run("display-message", "-p", "-t", pane, "#{pane_pid}"))
    private_tmux.run("send-keys", "-t", pane, f"printf 'has''begun '; {command}", "Enter")
    text = "hasbegun" if works else "hasbegun Name:"
    wait_until(lambda: text in private_tmux.run("capture-pane", "-p", "-t", pane), 20.0)
    if works:
        wait_until(lambda: shell_works(pid), 20.0)
    else:
        time.sleep(0.5)
        assert not any(shell_works(pid) for _ in range(5))


def test_a_shell_that_reads_and_a_program_without_a_shell_are_not_at_work(tmp_path: Path) -> None:
    add(tmp_path, 10, "bash", group=10, foreground=10, wchan="poll_schedule_timeout.constprop.0")
    add(tmp_path, 20, "python3", group=20, foreground=21, wchan="do_wait", children="21")
    add(tmp_path, 21, "sleep", group=21, foreground=21, wchan="hrtimer_nanosleep")
    assert not any(shell_works(pid, tmp_path) for pid in (10, 20, 99))
