"""Finds and reads the record that an agent keeps of its conversation, for the agent in a pane.

    record = record_of(profile, pane_pid, since)   # None for an agent without a record
    record.read()                              # the new entries, or the reason why the record is unreadable

The reader finds a record from the agent's own process and never guesses: of several candidates it reads none. It writes
and locks nothing, follows no symbolic link, and reads only files that belong to its own user and that no other user may
write. A program of the same user can still forge a record. So streamrelay/delta/witness/ compares a record with the
screen before it uses any of it.
"""

import functools
import os
import re
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, Final

import msgspec

from streamrelay.agents.profile import AgentProfile
from streamrelay.agents.transcript_files import open_plain
from streamrelay.agents.witnesses.database import AgentDatabase
from streamrelay.agents.witnesses.growing_file import GrowingFile, NotTrusted
from streamrelay.agents.witnesses.lines import LineReader
from streamrelay.agents.witnesses.process import AgentProcess, foreground_processes
from streamrelay.agents.witnesses.reading import AgentRecord, Reading, Reason, SinceWatched, in_order

MAX_NOTE: Final = 64 * 1024
"""The most bytes of the small file in which an agent names its record."""
MAX_FOLDERS: Final = 20_000
STARTED_WITHIN: Final = 20.0
"""Seconds after its start within which an agent begins the record of a new session."""
_SESSION: Final = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_ROLLOUT: Final = re.compile(r"rollout-.*\.jsonl")


class NoRecord(Exception):
    """No record certainly belongs to the agent."""

    def __init__(self, reason: Reason) -> None:
        super().__init__(reason)
        self.reason = reason


def record_of(profile: AgentProfile, pid: int, since: float) -> AgentRecord | None:
    """Return the record of the agent in the pane with the first process `pid`; None if its profile has none.

    Passages before `since` (Unix time) are skipped, except those of an answer that is under way then.
    """
    if profile.witness is None:
        return None
    if profile.witness.reader == "opencode":
        return AgentDatabase(functools.partial(foreground_processes, pid), since=since)
    return AgentTranscript(functools.partial(foreground_processes, pid), _FINDERS[profile.witness.reader], since=since)


class AgentTranscript:
    """A transcript in JSON Lines, located again before each read, because an agent may continue in another one.

    Of an agent that has ended, the last one is read.
    """

    def __init__(
        self,
        processes: Callable[[], Sequence[AgentProcess]],
        find: Callable[[Sequence[AgentProcess]], Path],
        *,
        since: float,
    ) -> None:
        self._processes, self._find = processes, find
        self._since = since
        self._file: GrowingFile | None = None
        self._lines = LineReader()
        self._watched = SinceWatched(since)

    def read(self) -> Reading:
        """Return the passages added since the last call."""
        try:
            processes = self._processes()
            path = self._find(processes) if processes else None
            if path is not None and (self._file is None or self._file.path != path):
                # In another file nothing was under way when the watching began.
                self._watched = SinceWatched(self._since, joins=self._file is None)
                self._file = GrowingFile(path, processes[-1].uid)
                self._lines = LineReader()
            if self._file is None:
                return Reading(reason="no_process")
            lines = self._file.read_lines()
        except NoRecord as none:
            return Reading(reason=none.reason)
        except NotTrusted:
            return Reading(reason="not_trusted")
        except FileNotFoundError:
            return Reading(reason="no_record")
        except OSError:
            return Reading(reason="unreadable")
        passages = in_order(passage for line in lines for passage in self._lines.read(line))
        return Reading(tuple(self._watched.pick(passages)))


def _only(paths: Iterable[Path]) -> Path:
    """Return the only path; raises NoRecord if there is none or several."""
    found = list(dict.fromkeys(paths))
    if len(found) != 1:
        raise NoRecord("several" if found else "no_record")
    return found[0]


# Claude Code records the session of each process in `sessions/PID.json`, when it starts (seen with 2.1.197 and 2.1.332:
# 0.25 s before to 0.05 s after it paints its composer).


def find_claude(processes: Sequence[AgentProcess]) -> Path:
    """Return the transcript of the session that Claude Code records for one of the processes."""
    found = []
    noted = False
    for process in processes:
        home = process.home("CLAUDE_CONFIG_DIR", ".claude")
        note = {} if home is None else _note(home / "sessions" / f"{process.pid}.json")
        session = note.get("sessionId")
        noted = noted or bool(note)
        if home is not None and isinstance(session, str) and _SESSION.fullmatch(session):
            found += _named(home / "projects", f"{session}.jsonl")
    if not noted:
        raise NoRecord("keeps_none")
    return _only(found)


# Codex keeps the rollout of its session open (seen with 0.171.0), and those of the agents that it starts. It opens
# other files of its folder when it starts, and the rollout with the first message.


def find_codex(processes: Sequence[AgentProcess]) -> Path:
    """Return the only open rollout that a person began."""
    rollouts = {path for process in processes for path in process.files if _ROLLOUT.fullmatch(path.name)}
    if len(rollouts) > 1:
        rollouts = {path for path in rollouts if _is_persons(path)}
    if not rollouts and not any(map(_has_codex_files_open, processes)):
        raise NoRecord("keeps_none")
    return _only(rollouts)


def _has_codex_files_open(process: AgentProcess) -> bool:
    home = process.home("CODEX_HOME", ".codex")
    # The paths of open files have no links in them.
    return home is not None and any(path.is_relative_to(os.path.realpath(home)) for path in process.files)


def _is_persons(rollout: Path) -> bool:
    """Return whether a person began a rollout; the source of an agent's rollout is an object, not a word."""
    payload = _first_line(rollout).get("payload")
    return isinstance(payload, dict) and isinstance(payload.get("source"), str)


# Gemini CLI names the folder of a project in `projects.json`; each session has its own file, whose first line contains
# the start time (seen with 0.61.0).


def find_gemini(processes: Sequence[AgentProcess]) -> Path:
    """Return the only chat of the project that began together with the processes."""
    found: list[Path] = []
    for process in processes:
        home = process.home("", ".gemini")
        if home is None:
            continue
        projects = _note(home / "projects.json").get("projects")
        name = projects.get(str(process.folder)) if isinstance(projects, dict) else None
        if isinstance(name, str) and name not in {"", ".", ".."} and "/" not in name:
            chats = _listed(home / "tmp" / name / "chats", ".jsonl")
            found += [chat for chat in chats if _began_with(processes, _first_line(chat).get("startTime"))]
    return _only(found)


# Qwen Code begins a log `debug/SESSION.txt` when it starts, and the chat of that name with the first message (seen with
# 0.15.10).


def find_qwen(processes: Sequence[AgentProcess]) -> Path:
    """Return the chat of the only session whose log began together with the processes."""
    homes = dict.fromkeys(home for process in processes if (home := process.home("", ".qwen")) is not None)
    logs = [log for home in homes for log in _listed(home / "debug", ".txt") if _SESSION.fullmatch(log.stem)]
    begun = _only(log for log in logs if _began_with(processes, _head(log)[:24].decode(errors="replace")))
    return _only(_named(begun.parent.parent / "projects", f"chats/{begun.stem}.jsonl"))


_FINDERS: Final = {"claude": find_claude, "codex": find_codex, "gemini": find_gemini, "qwen": find_qwen}


def _began_with(processes: Sequence[AgentProcess], at: object) -> bool:
    try:
        began = msgspec.convert(at, datetime) if isinstance(at, str) else None
    except msgspec.ValidationError:
        return False
    if began is None:
        return False
    # The start of a process is exact to a clock tick, the boot time only to a second.
    return any(-2.0 <= began.timestamp() - process.started <= STARTED_WITHIN for process in processes)


def _note(path: Path) -> dict[str, Any]:
    return _object(_head(path))


def _first_line(path: Path) -> dict[str, Any]:
    return _object(_head(path).partition(b"\n")[0])


def _object(data: bytes) -> dict[str, Any]:
    try:
        value = msgspec.json.decode(data)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        return {}
    return value if isinstance(value, dict) else {}


def _head(path: Path) -> bytes:
    """Return the first bytes of a plain file; empty for any other file."""
    try:
        with open_plain(path) as file:
            return file.read(MAX_NOTE) or b""
    except OSError:
        return b""


def _named(folder: Path, name: str) -> list[Path]:
    """Return the files of a name in the subfolders of a folder."""
    return [path for place in _listed(folder, "") if (path := place / name).is_file()]


def _listed(folder: Path, suffix: str) -> list[Path]:
    try:
        return [
            path for _, path in zip(range(MAX_FOLDERS), folder.iterdir(), strict=False) if path.name.endswith(suffix)
        ]
    except OSError:
        return []
