"""Detects whether a shell is running a command that does not read, from the kernel's data (Linux, /proc).

Two callers need this. A writer holds its message while a command runs, because the shell echoes typed text at once but
runs it later. A stream waits for the rest of an unfinished line (`Downloading: `), which looks like a question.

A command is at work if the terminal's foreground process group is not the shell's own (job control), and no process of
that group and none of their descendants may be reading: each thread of each process sleeps for a time, or waits for a
child, a pipe or another thread. A process that computes may be about to read, so its command does not count as at work.

The answer holds for one moment. A program that polls its terminal between sleeps (`read -t 0.01 -n1; sleep 1`) counts
as at work nearly always, and so does one whose reader was started by another process (`docker attach`).
"""

import contextlib
from functools import cached_property
from pathlib import Path

from streamrelay.panes.shells import is_shell

_PROC = Path("/proc")
_ELSEWHERE = frozenset({
    "hrtimer_nanosleep", "do_nanosleep", "do_wait", "pipe_read", "anon_pipe_read", "do_sigtimedwait", "sigsuspend",
    "__do_sys_pause", "futex_wait_queue_me", "futex_wait_queue", "futex_do_wait",
})  # fmt: skip
"""Kernel functions in which a thread sleeps without waiting for its terminal (`/proc/PID/task/TID/wchan`). The futex
functions are those of Linux before 5.16, before 6.16, and since: each thread of a pool waits there."""
MAX_PROCESSES = 200
"""The most descendants of one shell that are examined; a command below a shell with more does not count as at work."""
MAX_THREADS = 1000
"""The most threads of all of them: to read what one waits for takes 0.04 ms."""


def shell_works(pid: int, proc: Path = _PROC) -> bool:
    """Return whether `pid`, the first process of a pane, is a shell whose foreground command is not reading now.

    The command is its process group and all descendants of that, for a descendant may read in a group of its own:
    `setsid -w bash -c 'read -p "Name: " x'`.
    """
    shell = _Process.read(pid, proc)
    if shell is None or not is_shell(shell.name) or shell.foreground in {-1, 0, shell.group}:
        return False
    found, processes, threads = False, 0, 0
    waiting = [(shell, False)]
    with contextlib.suppress(OSError, ValueError):
        while waiting:
            process, is_below = waiting.pop()
            processes, threads = processes + 1, threads + len(process.threads)
            if processes > MAX_PROCESSES or threads > MAX_THREADS:
                return False
            is_foreground = is_below or process.group == shell.foreground
            if is_foreground and process.may_read:
                return False
            found = found or is_foreground
            children = (_Process.read(child, proc) for child in process.children())
            waiting += [(child, is_foreground) for child in children if child is not None]
        return found
    return False  # a thread has ended meanwhile: its children are not known


class _Process:
    """One process: its name, process group, and the group in the foreground of its terminal (proc(5), stat)."""

    def __init__(self, folder: Path) -> None:
        head, _, rest = (folder / "stat").read_text(errors="replace").rpartition(")")
        fields = rest.split()
        self.folder = folder
        self.name = head.partition("(")[2]
        self.group, self.foreground = int(fields[2]), int(fields[5])

    @classmethod
    def read(cls, pid: int, proc: Path) -> "_Process | None":
        """Return a process; None if it is gone or unreadable."""
        with contextlib.suppress(OSError, ValueError, IndexError):
            return cls(proc / str(pid))
        return None

    @cached_property
    def threads(self) -> list[Path]:
        """The folders of its threads. Raises OSError if it is gone."""
        return list((self.folder / "task").iterdir())

    @property
    def may_read(self) -> bool:
        """Whether one of its threads may be waiting for its terminal. Raises OSError if one is gone."""
        return any(_waits_for(thread) not in _ELSEWHERE for thread in self.threads)

    def children(self) -> list[int]:
        """Return the processes that its threads started. Raises OSError if one is gone."""
        return [int(pid) for thread in self.threads for pid in (thread / "children").read_text().split()]


def _waits_for(thread: Path) -> str:
    """Return the kernel function in which a thread sleeps, without the suffix of a compiler's clone."""
    return (thread / "wchan").read_text(errors="replace").split(".")[0]
