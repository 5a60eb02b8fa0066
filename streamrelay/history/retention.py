"""How long the journal keeps events, and how large it may grow (`history` in docs/configuration.md)."""

import contextlib
from pathlib import Path
from typing import NamedTuple

from streamrelay.config.settings import HistoryTable
from streamrelay.delivery.state import state_home
from streamrelay.history.journal import Journal
from streamrelay.history.large_values import files_size

DAY, MEGABYTE = 86_400.0, 1_000_000
_KEPT_SHARE = 0.95
"""Share of the limit that is kept when a journal has outgrown it, so that not every event deletes another one."""


class Pruned(NamedTuple):
    """What pruning did: how many events were forgotten, and the bytes that the journal takes now."""

    forgotten: int
    bytes: int


def journal_files() -> list[Path]:
    """Return the user's journals: one for the library, and one for each tmux server that had a daemon."""
    own = state_home() / "journal.db"
    return [*filter(Path.exists, [own]), *sorted(state_home().glob("servers/*/journal.db"))]


def disk_use(file: Path) -> int:
    """Return how many bytes a journal takes on the disk, with its log and its large values, without opening it."""
    size = files_size(file)
    for path in (file, file.with_name(f"{file.name}-wal")):
        with contextlib.suppress(FileNotFoundError):
            size += path.stat().st_size
    return size


def most_bytes(policy: HistoryTable) -> int:
    """Return the size in bytes above which a policy has the oldest entries deleted; 0 for no limit."""
    return round(policy.most_megabytes * MEGABYTE)


async def keep_to(policy: HistoryTable, journal: Journal, now: float) -> Pruned:
    """Delete entries older than the policy's days at `now` (Unix time), then the oldest if the journal is too large.

    Their room is given back to the file system. 0 stands for no limit.
    """
    forgotten = await journal.prune(before=now - policy.keep_days * DAY) if policy.keep_days else 0
    if (most := most_bytes(policy)) and await journal.size() > most:
        forgotten += await journal.prune(most_bytes=round(most * _KEPT_SHARE))
    return Pruned(forgotten, await journal.size())
