"""A look at one pane while it rests: is the screen here still the one tmux holds?

The reply to `snapshot_line` stands in the stream behind everything it shows (see snapshot.py), so it is judged where
it comes in, between two outputs (`PanePipeline.check`). A pane that just got another size is none to be judged: it is
seeded anew anyway. Nothing here waits or sends; `Server.check` asks, and `self_check=` has it ask by itself.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from streamrelay.panes.snapshot import read_snapshot
from streamrelay.vt import TmuxScreen
from streamrelay.vt.comparison import Divergence, divergences
from streamrelay.vt.engine import Snapshot


@dataclass(frozen=True, slots=True)
class SelfCheckResult:
    """What one look found. With divergences, `snapshot` is what to seed the screen with."""

    divergences: tuple[Divergence, ...]
    snapshot: Snapshot


class SelfCheck:
    """Judges, and counts for the health metrics."""

    def __init__(self) -> None:
        self.looks = 0
        self.diverged = 0
        """Looks that found something."""

    def judge(self, screen: TmuxScreen, reply: Sequence[Sequence[bytes]]) -> SelfCheckResult | None:
        """Compare `screen` with the blocks that answered `snapshot_line`; None if there is nothing to compare."""
        snapshot = read_snapshot(reply)
        if snapshot is None or (snapshot.columns, snapshot.lines) != (screen.columns, screen.lines):
            return None
        self.looks += 1
        found = divergences(screen, snapshot)
        self.diverged += bool(found)
        return SelfCheckResult(found, snapshot)
