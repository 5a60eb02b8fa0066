"""The user's folder for what outlives a process: the outbox, and texts too long to paste."""

import os
from pathlib import Path

from streamrelay.errors import StreamrelayError


def state_folder(*parts: str) -> Path:
    """Return `$XDG_STATE_HOME/streamrelay` (`~/.local/state` by default) or a folder in it, made for the user alone."""
    configured = os.environ.get("XDG_STATE_HOME", "")
    # A relative path is no valid value (XDG base directory specification).
    home = Path(configured) if configured.startswith("/") else Path.home() / ".local" / "state"
    folder = home.joinpath("streamrelay", *parts)
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        owner = folder.stat().st_uid
    except OSError as error:
        raise StreamrelayError(f"{folder} cannot be made: {error.strerror}", hint="set XDG_STATE_HOME") from error
    if owner != os.getuid():
        raise StreamrelayError(f"{folder} is somebody else's", hint="set XDG_STATE_HOME to a folder of yours")
    return folder
