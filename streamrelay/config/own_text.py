"""Reads a text file of the user that can decide what runs: a configuration, a profile, a prompt.

Such a file may be a pipe, a device or gigabytes long, and another user may have put it there. So only a plain file of
limited size is read, and only if no other user can change it. A symbolic link is followed: many people keep their
configuration in a repository elsewhere.
"""

import os
import shlex
import stat
from pathlib import Path

from streamrelay.errors import ConfigError

MAX_SIZE = 2**20
"""Bytes of one file; the longest shipped profile has 8 KB."""


def read_own_text(path: Path, *, checks_owner: bool = True) -> str:
    """Return the text of a file, with `checks_owner` only if no other user can change it.

    Raises FileNotFoundError and NotADirectoryError for a missing file, and ConfigError for anything else that it does
    not read: another kind of file, more than `MAX_SIZE` bytes, no UTF-8, another user's.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except (FileNotFoundError, NotADirectoryError):
        raise
    except OSError as error:
        raise ConfigError(str(path), "", f"cannot be read: {error.strerror}") from error
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise ConfigError(str(path), "", "cannot be read: it is no plain file")
        if checks_owner:
            _check_owner(path, status)
        if status.st_size > MAX_SIZE:
            raise ConfigError(str(path), "", f"has {status.st_size:,} bytes; at most {MAX_SIZE:,} are read")
        data = os.read(descriptor, MAX_SIZE)
    except OSError as error:
        raise ConfigError(str(path), "", f"cannot be read: {error.strerror}") from error
    finally:
        os.close(descriptor)
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise ConfigError(str(path), "", f"no UTF-8: {error.reason}") from error


def check_own_folder(folder: Path) -> None:
    """Raise ConfigError for a folder in which another user can put files; OSError for one that cannot be read."""
    _check_owner(folder, folder.stat())


def _check_owner(path: Path, status: os.stat_result) -> None:
    if status.st_uid not in {os.getuid(), 0}:
        raise ConfigError(
            str(path), "", f"belongs to another user (uid {status.st_uid})", hint="copy it, so that it is yours"
        )
    if status.st_mode & stat.S_IWOTH:
        raise ConfigError(
            str(path), "", "every user of this machine can change it", hint=f"chmod o-w {shlex.quote(str(path))}"
        )
