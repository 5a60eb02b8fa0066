"""Finds the transcript files of agents, and reads them from their end.

Programs and people can put anything into these folders, so this module trusts nothing there. It follows no symbolic
link below the agent's own folder (that folder itself may be one), and reads only plain files, because a pipe or a
device would block for ever. It reads files backwards in blocks, since the latest output matters most, skips lines
longer than `MAX_LINE`, and keeps at most two such lines in memory.
"""

import contextlib
import heapq
import itertools
import os
import stat
from collections.abc import Iterable, Iterator, Mapping
from fnmatch import fnmatchcase
from pathlib import Path
from typing import BinaryIO, NamedTuple

from streamrelay.agents.files import located
from streamrelay.agents.profile import AgentProfile

MAX_LINE = 4 * 2**20
"""Bytes; a longer line (a picture, a file that the agent read) is skipped."""
MAX_FILES = 20_000
"""The most files of one agent, the newest ones."""
_MAX_PATHS_VISITED = 200_000
"""The most folder entries to visit."""
_BLOCK = 2**20


class TranscriptFile(NamedTuple):
    """A transcript: the time of its last change (Unix time), its size then, and its path."""

    at: float
    size: int
    path: Path


def transcript_files(profile: AgentProfile, environment: Mapping[str, str] = os.environ) -> list[TranscriptFile]:
    """Return an agent's transcripts, newest first; empty if their place is unknown or they are not JSON Lines."""
    place = _place(profile, environment)
    if place is None:
        return []
    try:
        newest = heapq.nlargest(MAX_FILES, _dated(itertools.islice(_entries(*place), _MAX_PATHS_VISITED)))
    except ValueError:
        # The environment of a process names a folder that can be none: it has a NUL or a surrogate.
        return []
    return [TranscriptFile(at, size, Path(path)) for at, size, path in newest]


def is_transcript_of(profile: AgentProfile, file: Path, environment: Mapping[str, str] = os.environ) -> bool:
    """Return whether a file is in a place for an agent's transcripts; False for a path that can be none."""
    try:
        place = _place(profile, environment)
        return place is not None and file.resolve().is_relative_to(place[0].resolve())
    except (OSError, ValueError, RuntimeError):
        # A NUL, a surrogate, a name that is too long, a link to itself.
        return False


def lines_from_the_end(file: Path, *, most: int | None = None) -> Iterator[bytes]:
    """Yield the lines of a plain file, the last one first; nothing for any other file.

    With `most`, it reads at most that many bytes. An unfinished last line comes first.
    """
    try:
        with open_plain(file) as opened:
            yield from _backwards(opened, os.fstat(opened.fileno()).st_size, most)
    except OSError:
        return


def open_plain(file: Path) -> BinaryIO:
    """Open a plain file; raises OSError for any other file, without blocking on a pipe."""
    descriptor = os.open(file, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError(f"{file} is not a plain file")
        return os.fdopen(descriptor, "rb", buffering=0)
    except BaseException:
        os.close(descriptor)
        raise


def _backwards(file: BinaryIO, size: int, most: int | None) -> Iterator[bytes]:
    end = size
    first = 0 if most is None else max(0, size - most)
    ends: list[bytes] = []
    # The parts of the line whose beginning is still unread, from its end backwards, and their length.
    length = 0
    while end > first:
        begin = max(first, end - _BLOCK)
        file.seek(begin)
        block = file.read(end - begin)
        if not block:
            return
        end = begin
        beginning, newline, rest = block.partition(b"\n")
        if newline:
            *whole, last = rest.split(b"\n")
            if length + len(last) <= MAX_LINE:
                yield b"".join([last, *reversed(ends)])
            yield from reversed(whole)
            ends, length = [], 0
        if length + len(beginning) > MAX_LINE:
            ends.clear()
        else:
            ends.append(beginning)
        length += len(beginning)
    if ends and first == 0 and length <= MAX_LINE:
        yield b"".join(reversed(ends))


def _place(profile: AgentProfile, environment: Mapping[str, str]) -> tuple[Path, tuple[str, ...]] | None:
    """Return the folder of an agent's transcripts, and the patterns of the names below it, one per level."""
    transcript = profile.transcript
    if transcript is None or transcript.format != "jsonl" or not transcript.path.startswith("~/"):
        return None
    parts = located(transcript.path, transcript.home, environment).parts
    # The part before the first pattern is literal, whatever characters the user's home has.
    depth = next((number for number, part in enumerate(parts) if "*" in part), len(parts) - 1)
    return Path(*parts[:depth]), parts[depth:]


def _dated(entries: Iterable["os.DirEntry[str]"]) -> Iterator[tuple[float, int, str]]:
    """Yield the time of the last change, the size and the path of each plain file."""
    for entry in entries:
        with contextlib.suppress(OSError):
            status = entry.stat(follow_symlinks=False)
            if stat.S_ISREG(status.st_mode):
                yield status.st_mtime, status.st_size, entry.path


def _entries(folder: Path | str, patterns: tuple[str, ...]) -> Iterator["os.DirEntry[str]"]:
    """Yield the entries whose names match the patterns, one per level."""
    with contextlib.suppress(OSError), os.scandir(folder) as listed:
        for entry in listed:
            if not fnmatchcase(entry.name, patterns[0]):
                continue
            if len(patterns) == 1:
                yield entry
            elif entry.is_dir(follow_symlinks=False):
                yield from _entries(entry.path, patterns[1:])
