"""Finds the agent's process in a pane through /proc, with its folder, environment and open files.

Only the foreground processes of the pane's terminal count. The process of an agent on another machine, in a container
or of another user is unreadable here, so that agent has no record.
"""

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

MAX_PROCESSES: Final = 200
MAX_FILES: Final = 4_096
_PROC: Final = Path("/proc")
_STAT_PPID, _STAT_GROUP, _STAT_FOREGROUND, _STAT_STARTED = 1, 2, 5, 19
"""Indexes of the fields of /proc/PID/stat after the command; 0 is proc(5)'s third field."""


@dataclass(frozen=True, slots=True)
class AgentProcess:
    """One process in the foreground of a pane."""

    pid: int
    uid: int
    started: float
    """Unix time."""
    folder: Path
    """Its working directory."""
    environment: Mapping[str, str]
    files: frozenset[Path]
    """The plain paths among its open files."""

    def home(self, variable: str, default: str) -> Path | None:
        """Return the folder that a variable names, else the default one below the user's home; None without both."""
        named = self.environment.get(variable, "") if variable else ""
        home = self.environment.get("HOME", "")
        if named.startswith("/"):
            return Path(named)
        return Path(home, default) if home.startswith("/") else None


def foreground_processes(pid: int) -> list[AgentProcess]:
    """Return the foreground processes of the terminal of `pid`, the first process of a pane."""
    group = _stat(pid)
    if group is None:
        return []
    foreground = int(group[_STAT_FOREGROUND])
    booted = _boot_time()
    found: list[AgentProcess] = []
    for number in _family(pid):
        stat = _stat(number)
        if stat is not None and int(stat[_STAT_GROUP]) == foreground:
            process = _process(number, booted + int(stat[_STAT_STARTED]) / os.sysconf("SC_CLK_TCK"))
            found += [] if process is None else [process]
    return found


def _process(pid: int, started: float) -> AgentProcess | None:
    place = _PROC / str(pid)
    try:
        uid = place.stat().st_uid
        folder = (place / "cwd").readlink()
        raw = (place / "environ").read_bytes()
    except OSError:
        return None
    pairs = (entry.partition(b"=") for entry in raw.split(b"\0") if b"=" in entry)
    environment = {os.fsdecode(name): os.fsdecode(value) for name, _, value in pairs}
    return AgentProcess(pid, uid, started, folder, environment, frozenset(_open_files(place / "fd")))


def _open_files(folder: Path) -> Iterator[Path]:
    try:
        with os.scandir(folder) as listed:
            for _, entry in zip(range(MAX_FILES), listed, strict=False):
                try:
                    target = str(Path(entry.path).readlink())
                except OSError:
                    continue
                if target.startswith("/") and not target.startswith(("/dev/", "/proc/")):
                    yield Path(target)
    except OSError:
        return


def _family(pid: int) -> Iterator[int]:
    """Yield a process and all its descendants."""
    waiting = [pid]
    for _ in range(MAX_PROCESSES):
        if not waiting:
            return
        number = waiting.pop(0)
        yield number
        try:
            tasks = list((_PROC / str(number) / "task").iterdir())
        except OSError:
            continue
        for task in tasks[:MAX_PROCESSES]:
            try:
                waiting += map(int, (task / "children").read_text().split())
            except (OSError, ValueError):
                continue


def _stat(pid: int) -> list[str] | None:
    try:
        text = (_PROC / str(pid) / "stat").read_text(errors="replace")
    except OSError:
        return None
    # The command is in parentheses and may contain blanks and parentheses.
    fields = text.rpartition(")")[2].split()
    return fields if len(fields) > _STAT_STARTED else None


def _boot_time() -> float:
    try:
        lines = (_PROC / "stat").read_text().splitlines()
    except OSError:
        return 0.0
    return next((float(line.split()[1]) for line in lines if line.startswith("btime ")), 0.0)
