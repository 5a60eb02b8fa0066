"""Detects whether a shell is running a command, from the kernel's data about its processes (Linux, /proc).

After an attach during a command, a shell's screen looks like that of a program that reads lines: an empty row at the
cursor. Text typed then is echoed at once but run later, and the output of the running command looks like its answer.

A command is at work if its own process group has the terminal's foreground (job control), and none of its processes can
be waiting for input: each one sleeps for a time, waits for a child or reads from a pipe. If that is unknown, as for a
process that computes, the command does not count as at work.
"""

import contextlib
from collections.abc import Iterator
from pathlib import Path

from streamrelay.panes.shells import is_shell

_PROC = Path("/proc")
_ELSEWHERE = frozenset({
    "hrtimer_nanosleep", "do_nanosleep", "do_wait", "pipe_read", "anon_pipe_read", "do_sigtimedwait", "sigsuspend",
    "__do_sys_pause",
})  # fmt: skip
"""Kernel functions in which a process sleeps without waiting for its terminal (`/proc/PID/wchan`)."""
MAX_PROCESSES = 200
"""The most descendants of one shell that are examined."""


def shell_works(pid: int, proc: Path = _PROC) -> bool:
    """Return whether `pid`, the first process of a pane, is a shell that runs a command in the foreground."""
    shell = _Process.read(pid, proc)
    if shell is None or not is_shell(shell.name) or shell.foreground in {-1, 0, shell.group}:
        return False
    foreground = [each for each in _descendants(shell, proc) if each.group == shell.foreground]
    return bool(foreground) and not any(process.may_read for process in foreground)


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

    @property
    def may_read(self) -> bool:
        """Whether it may be waiting for its terminal."""
        with contextlib.suppress(OSError):
            return (self.folder / "wchan").read_text(errors="replace").split(".")[0] not in _ELSEWHERE
        return True

    @property
    def children(self) -> list[int]:
        """The processes that it started."""
        with contextlib.suppress(OSError, ValueError):
            pids = (self.folder / "task" / self.folder.name / "children").read_text().split()
            return [int(pid) for pid in pids]
        return []


def _descendants(first: _Process, proc: Path) -> Iterator[_Process]:
    waiting, seen = [first], 0
    while waiting and seen < MAX_PROCESSES:
        process = waiting.pop()
        seen += 1
        yield process
        waiting += [child for pid in process.children if (child := _Process.read(pid, proc)) is not None]
