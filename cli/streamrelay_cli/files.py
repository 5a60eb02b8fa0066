"""Files that a command makes out of what a pane showed: their owner's alone, and never in the place of others."""

import os
from pathlib import Path

from streamrelay.errors import UsageError


def write_private(path: Path, text: str, *, force: bool) -> None:
    """Write a file with mode 0600; raises UsageError where one is there, unless it is to be replaced (`force`)."""
    try:
        if force and not path.is_dir():
            path.unlink(missing_ok=True)
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError as error:
        hint = "a folder is never replaced" if path.is_dir() else "--force replaces it"
        raise UsageError(f"{path} is there already", hint=hint) from error
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {error.strerror}") from error
