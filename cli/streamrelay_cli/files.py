"""Writes files with content of panes: only their owner can read them, and no existing file is replaced by accident."""

import os
from pathlib import Path

from streamrelay.errors import UsageError


def write_private(path: Path, text: str, *, force: bool) -> None:
    """Write a file with mode 0600; raises UsageError if it exists, unless `force` is set."""
    try:
        if force and not path.is_dir():
            path.unlink(missing_ok=True)
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError as error:
        hint = "it is a folder: name a file" if path.is_dir() else "use --force to replace it"
        raise UsageError(f"file exists: {path}", hint=hint) from error
    except OSError as error:
        raise UsageError(
            f"cannot write {path}: {error.strerror}",
            hint="check the folder's permissions and the free space of its disk",
        ) from error
