"""Locates the configuration files of an agent, and changes one safely.

A change replaces the whole file or nothing. It follows a symbolic link, keeps mode and owner, and never overwrites a
change that another program has made meanwhile.
"""

import contextlib
import os
import shlex
import stat
import tempfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from streamrelay.errors import ConfigError

MAX_SIZE = 16 * 2**20
"""Bytes of a configuration that is read."""
_ATTEMPTS = 5


def located(path: str, home: str, environment: Mapping[str, str] = os.environ) -> Path:
    """Return a path of a profile; the variable `home`, if set, replaces the first folder below `~`."""
    configured = environment.get(home, "") if home else ""
    below = path.removeprefix("~/")
    if configured.startswith("/") and below != path:
        return Path(configured, *below.split("/")[1:])
    own = environment.get("HOME", "")
    return Path(own, below) if own.startswith("/") and below != path else Path(path).expanduser()


def read_text(path: Path) -> str | None:
    """Return a file's exact text, including line ends; None if there is no file. Raises ConfigError."""
    try:
        status = path.stat()
        if not stat.S_ISREG(status.st_mode):
            raise ConfigError(str(path), "", "is no file")
        if status.st_size > MAX_SIZE:
            raise ConfigError(str(path), "", f"has {status.st_size:,} bytes; at most {MAX_SIZE:,} are read")
        return path.read_bytes().decode("utf-8")
    except FileNotFoundError:
        return None
    except OSError as error:
        raise ConfigError(str(path), "", f"cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise ConfigError(str(path), "", f"no UTF-8: {error.reason}") from error


def change(path: Path, changed: Callable[[str | None], str | None]) -> bool:
    """Replace a file's text by the result of `changed` (None means no file); return whether it differs.

    Raises ConfigError without changing anything.
    """
    real = Path(os.path.realpath(path))
    for _ in range(_ATTEMPTS):
        before = read_text(real)
        after = changed(before)
        if after == before:
            return False
        try:
            if after is None:
                real.unlink()
                return True
            with _written(real, after) as new:
                if read_text(real) == before:
                    new.replace(real)
                    return True
        except OSError as error:
            raise ConfigError(str(path), "", f"cannot be written: {error.strerror}") from error
    raise ConfigError(str(path), "", "is being changed by another program", hint="try again")


@contextlib.contextmanager
def _written(real: Path, text: str) -> Iterator[Path]:
    """Write a text to a new file beside the real one, with its mode and owner; delete it unless it was renamed."""
    there = real.stat() if real.exists() else None
    if there is not None and not there.st_mode & stat.S_IWUSR:
        raise ConfigError(str(real), "", "is read-only", hint=f"chmod u+w {shlex.quote(str(real))}")
    descriptor, name = tempfile.mkstemp(prefix=f".{real.name}.", dir=real.parent)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(text.encode())
            file.flush()
            os.fsync(file.fileno())
            if there is not None:
                os.fchmod(file.fileno(), stat.S_IMODE(there.st_mode))
                with contextlib.suppress(PermissionError):
                    os.fchown(file.fileno(), there.st_uid, there.st_gid)
        yield Path(name)
    finally:
        Path(name).unlink(missing_ok=True)
