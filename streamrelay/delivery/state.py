"""The user's folder for what outlives a process: the outbox, and texts too long to paste."""

import os
from pathlib import Path

from streamrelay.errors import StreamrelayError


def state_home() -> Path:
    """Return `$XDG_STATE_HOME/streamrelay` (`~/.local/state` by default), whether it is there or not."""
    configured = os.environ.get("XDG_STATE_HOME", "")
    # A relative path is no valid value (XDG base directory specification).
    home = Path(configured) if configured.startswith("/") else Path.home() / ".local" / "state"
    return home / "streamrelay"


def state_folder(*parts: str) -> Path:
    """Return `state_home()` or a folder in it, made for the user alone."""
    folder = state_home().joinpath(*parts)
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        owner = folder.stat().st_uid
    except OSError as error:
        raise StreamrelayError(f"{folder} cannot be made: {error.strerror}", hint="set XDG_STATE_HOME") from error
    if owner != os.getuid():
        raise StreamrelayError(f"{folder} belongs to another user", hint="set XDG_STATE_HOME to a folder of yours")
    return folder
