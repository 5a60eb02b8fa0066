"""The test kit's private tmux server, and helpers to inspect the processes that a test starts.

`PrivateTmux` and `is_alive` live in `streamrelay.control.private_tmux`, because `streamrelay doctor` tries control mode
on a private server too. Tests import them from here.
"""

import os
from pathlib import Path

from streamrelay.control.private_tmux import DIRECTORY_PREFIX, PrivateTmux, is_alive

__all__ = ["DIRECTORY_PREFIX", "PrivateTmux", "is_alive", "resident"]


def resident(pid: int | None = None) -> int:
    """Return the resident memory in bytes of the process `pid`, by default this one; Linux only."""
    fields = Path(f"/proc/{'self' if pid is None else pid}/statm").read_text(encoding="ascii")
    return int(fields.split()[1]) * os.sysconf("SC_PAGE_SIZE")
