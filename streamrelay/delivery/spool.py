"""Spools texts that are too long to paste into files that only the user can read; a pointer is pasted instead."""

import os
import time
from pathlib import Path

from streamrelay.delivery.message import Message
from streamrelay.errors import StreamrelayError

KEPT = 7 * 86400.0
"""Seconds after which a file is deleted."""


def spool(message: Message, pane: str, folder: Path) -> tuple[Path, Message]:
    """Write the text of a message into a new file (0600) in `folder`; return its path and the message to paste instead.

    Each pane gets its own file, because all listeners of a relay get a message under the same id.
    """
    path = folder / f"{message.message_id}.{pane.removeprefix('%')}.txt"
    try:
        # Never through a link, and never a file that another process may have open already.
        path.unlink(missing_ok=True)
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8", newline="") as file:
            file.write(message.text)
    except OSError as error:
        raise StreamrelayError(
            f"cannot write {path}: {error.strerror}",
            hint="check the folder's permissions and the free space of its disk",
        ) from error
    return path, Message(message.message_id, pointer(message, path), message.head)


def pointer(message: Message, path: Path) -> str:
    """Return the text to paste for a message in the file `path`: its head, its length and the path."""
    content = message.text.removeprefix(message.head)
    note = f"[This message has {len(content.strip())} characters and is in the file {path} - read it there.]"
    return f"{message.head}\n\n{note}" if message.head else note


def forget_old(folder: Path, now: float | None = None) -> None:
    """Delete the files in `folder` that are older than `KEPT`; raises StreamrelayError if one cannot be deleted."""
    before = (time.time() if now is None else now) - KEPT
    for path in folder.glob("*.txt"):
        try:
            if path.stat().st_mtime < before:
                path.unlink()
        except FileNotFoundError:
            continue
        except OSError as error:
            raise StreamrelayError(
                f"cannot delete {path}: {error.strerror}", hint="check the permissions of its folder"
            ) from error
