"""The user's state folder: the outbox, and texts too long to paste."""

import os
from pathlib import Path

from streamrelay.errors import StreamrelayError


def state_home() -> Path:
    """Return `$XDG_STATE_HOME/streamrelay` (`~/.local/state` by default) without creating it."""
    configured = os.environ.get("XDG_STATE_HOME", "")
    # A relative path is no valid value (XDG base directory specification).
    home = Path(configured) if configured.startswith("/") else Path.home() / ".local" / "state"
    return home / "streamrelay"


def state_folder(*parts: str) -> Path:
    """Return `state_home()` or a folder in it, created so that only the user can open it."""
    folder = state_home().joinpath(*parts)
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        owner = folder.stat().st_uid
    except OSError as error:
        raise StreamrelayError(f"cannot create {folder}: {error.strerror}", hint="set XDG_STATE_HOME") from error
    if owner != os.getuid():
        raise StreamrelayError(f"{folder} belongs to another user", hint="set XDG_STATE_HOME to a folder of your own")
    return folder
