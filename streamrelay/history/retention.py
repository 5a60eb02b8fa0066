"""How long the journal keeps events, and how large it may grow (`history` in docs/configuration.md)."""

from pathlib import Path
from typing import NamedTuple

from streamrelay.config.settings import HistoryTable
from streamrelay.delivery.state import state_home
from streamrelay.history.journal import Journal

DAY, MEGABYTE = 86_400.0, 1_000_000


class Pruned(NamedTuple):
    """What pruning did: how many events were forgotten, and the bytes that the journal takes now."""

    forgotten: int
    bytes: int


def journal_files() -> list[Path]:
    """Return the user's journals: one for the library, and one for each tmux server that had a daemon."""
    own = state_home() / "journal.db"
    return [*filter(Path.exists, [own]), *sorted(state_home().glob("servers/*/journal.db"))]


async def keep_to(policy: HistoryTable, journal: Journal, now: float) -> Pruned:
    """Delete entries older than the policy's days at `now` (Unix time), then the oldest while the journal is too large.

    Their room is given back to the file system. 0 stands for no limit.
    """
    forgotten = await journal.prune(
        before=now - policy.keep_days * DAY if policy.keep_days else None,
        most_bytes=round(policy.most_megabytes * MEGABYTE) if policy.most_megabytes else None,
    )
    return Pruned(forgotten, await journal.size())
