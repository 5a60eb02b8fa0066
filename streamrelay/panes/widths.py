"""Width cache: the character widths measured on this machine, kept between runs.

Character widths depend on the running tmux and its C library. A measurement takes a private server and a second, so
only `streamrelay doctor` measures; connecting never does. The result goes into the user's cache folder, under a name
made of everything that can change it, and connections read it there (docs/decisions/0009). Without a measurement the
server's version decides: its quirks, and the widths that tmux knows without the C library (docs/decisions/0022).
"""

import hashlib
import os
import platform
import shutil
from contextlib import suppress
from pathlib import Path

import msgspec

from streamrelay.control import Tmux, Version
from streamrelay.vt.widths import FILLER, FLAGS, Quirks, Widths, unicode14

_LONGEST = 1 << 22
_WIDE_SINCE_3_4 = dict.fromkeys("☝⛹✌✍🏋🏌🕴🕵🖐🫷🫸", 2)
"""Characters that accept a skin tone; tmux treats them as wide, whatever the C library says."""


class _Measured(msgspec.Struct):
    about: str
    widths: dict[str, int]
    quirks: Quirks = msgspec.field(default=Quirks(), name="manners")


def expected(version: Version) -> Widths:
    """Return the table for an unmeasured tmux of that version.

    3.3a, 3.5a and 3.8 are measured, versions between follow tmux's CHANGES, and newer ones count as 3.8.
    """
    widths: dict[str, int] = {}
    if version.at_least(3, 4):
        widths |= _WIDE_SINCE_3_4
    if version.at_least(3, 6):
        widths |= {FILLER: 0}
    elif version.at_least(3, 4):
        widths |= dict.fromkeys(FLAGS, 2)
    quirks = Quirks(
        widens=version.at_least(3, 4),
        shows_unprintable=version.at_least(3, 4),
        repeats_any=version.at_least(3, 5),
        fills_tabs=version.at_least(3, 6),
        replaces_bad_bytes=version.at_least(3, 6),
        blanks_halves=version.at_least(3, 7),
        keeps_backgrounds=version.at_least(3, 8),
    )
    table = unicode14()
    return table.replaced(widths, quirks) if widths or quirks != table.quirks else table


class WidthCache:
    """The measurements of one tmux binary on this machine; reading never fails, writing may raise OSError."""

    def __init__(self, tmux: Tmux, version: Version) -> None:
        """Name the file for the binary of `tmux` and its server's `version`."""
        self._version = version
        self._about = _signature(tmux.binary, version.text)
        name = hashlib.sha256(self._about.encode()).hexdigest()[:24]
        self.path = cache_folder() / f"widths-{name}.json"

    def table(self) -> Widths:
        """Return the measured table, else the one expected for the version."""
        table = unicode14()
        with suppress(OSError, msgspec.MsgspecError):
            with self.path.open("rb") as file:
                measured = msgspec.json.decode(file.read(_LONGEST), type=_Measured)
            sound = all(len(one) == 1 and 0 <= columns <= 2 for one, columns in measured.widths.items())
            differs = measured.widths or measured.quirks != table.quirks
            if measured.about == self._about and sound:
                return table.replaced(measured.widths, measured.quirks) if differs else table
        return expected(self._version)

    def keep(self, differing: dict[str, int], quirks: Quirks) -> None:
        """Store the characters whose width differs from the built-in table, and the quirks of this tmux."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        unfinished = self.path.with_suffix(f".{os.getpid()}")
        unfinished.write_bytes(msgspec.json.encode(_Measured(self._about, differing, quirks)))
        unfinished.replace(self.path)


def cache_folder() -> Path:
    """Return the folder for measurements: `$XDG_CACHE_HOME/streamrelay`, by default in `~/.cache`."""
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
