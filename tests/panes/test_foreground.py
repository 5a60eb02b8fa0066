"""A shell with a command at work in the foreground, told by a made-up /proc."""

from pathlib import Path

import pytest

from streamrelay.panes.foreground import shell_works


def add(proc: Path, pid: int, name: str, *, group: int, foreground: int, wchan: str, children: str = "") -> None:
    folder = proc / str(pid)
    (folder / "task" / str(pid)).mkdir(parents=True)
    (folder / "stat").write_text(f"{pid} ({name}) S 1 {group} 1 34816 {foreground} 4194304 0")
    (folder / "wchan").write_text(wchan)
    (folder / "task" / str(pid) / "children").write_text(children)


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


def test_a_shell_that_reads_and_a_program_without_a_shell_are_not_at_work(tmp_path: Path) -> None:
    add(tmp_path, 10, "bash", group=10, foreground=10, wchan="poll_schedule_timeout.constprop.0")
    add(tmp_path, 20, "python3", group=20, foreground=21, wchan="do_wait", children="21")
    add(tmp_path, 21, "sleep", group=21, foreground=21, wchan="hrtimer_nanosleep")
    assert not any(shell_works(pid, tmp_path) for pid in (10, 20, 99))
