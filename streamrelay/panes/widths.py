"""The widths that were measured on this machine, kept from one run to the next.

How wide characters are belongs to the tmux that runs and the C library under it. Measuring takes a private server and
a second, so it is done when somebody asks how things are (`streamrelay doctor`), never behind the back of whoever
connects. What it found is kept in the user's cache folder under a name made of all that can change it, and a
connection takes what it finds there; without it, the built-in table (docs/decisions/0009).
"""

import hashlib
import os
import platform
import shutil
from contextlib import suppress
from pathlib import Path

import msgspec

from streamrelay.control import Tmux
from streamrelay.vt.widths import Manners, Widths, unicode14

_LONGEST = 1 << 22


class _Measured(msgspec.Struct):
    about: str
    widths: dict[str, int]
    manners: Manners = Manners()


class WidthCache:
    """What was measured of one tmux binary on this machine; reading never fails, writing may raise OSError."""

    def __init__(self, tmux: Tmux, version: str) -> None:
        """Name the file for the binary of `tmux`, whose server says it is `version`."""
        self._about = _signature(tmux.binary, version)
        name = hashlib.sha256(self._about.encode()).hexdigest()[:24]
        self.path = cache_folder() / f"widths-{name}.json"

    def table(self) -> Widths:
        """Return the table to use: the built-in one with what was measured put in."""
        table = unicode14()
        with suppress(OSError, msgspec.MsgspecError):
            with self.path.open("rb") as file:
                measured = msgspec.json.decode(file.read(_LONGEST), type=_Measured)
            sound = all(len(one) == 1 and 0 <= columns <= 2 for one, columns in measured.widths.items())
            differs = measured.widths or measured.manners != table.manners
            if measured.about == self._about and sound and differs:
                return table.replaced(measured.widths, measured.manners)
        return table

    def keep(self, differing: dict[str, int], manners: Manners) -> None:
        """Keep the characters whose width is not that of the built-in table, and the manners of this tmux."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        unfinished = self.path.with_suffix(f".{os.getpid()}")
        unfinished.write_bytes(msgspec.json.encode(_Measured(self._about, differing, manners)))
        unfinished.replace(self.path)


def cache_folder() -> Path:
    """Return where measurements are kept: `$XDG_CACHE_HOME/streamrelay`, `~/.cache` by default."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "streamrelay"


def _signature(binary: str, version: str) -> str:
    path = Path(shutil.which(binary) or binary)
    try:
        status = path.stat()
        file = f"{path.resolve()} {status.st_size} {status.st_mtime_ns}"
    except OSError:
        file = binary
    library = " ".join(platform.libc_ver()).strip() or platform.release()
    return f"tmux {version}, {file}, {library}"
