"""Gives processes a time of day that a test can move, by libfaketime (Debian: `libfaketime`).

Their monotonic clock stays as it was, as on a machine whose clock is set.
"""

from pathlib import Path
from typing import Self

NOTICED = 2.0
"""Seconds after which a running process has the new time: libfaketime reads the file again after whole seconds."""


class OwnClock:
    """The clock of all processes that are started with `environment`."""

    def __init__(self, library: Path, file: Path) -> None:
        """Read the offset of the clock from `file`; a running process notices a change within `NOTICED` seconds."""
        self._file = file
        self.move(0)
        self.environment = {
            "LD_PRELOAD": str(library),
            "FAKETIME_TIMESTAMP_FILE": str(file),
            "FAKETIME_CACHE_DURATION": "1",
            "FAKETIME_DONT_FAKE_MONOTONIC": "1",
            # For glibc before 2.24. If set, waits of threads end at once, and a Python of four threads hardly runs.
            "FAKETIME_FORCE_MONOTONIC_FIX": "0",
        }

    @classmethod
    def where_possible(cls, file: Path) -> Self | None:
        """Return a clock; None where libfaketime is not installed."""
        places = ("usr/lib/*/faketime", "usr/lib/faketime", "usr/lib64/faketime", "usr/local/lib/faketime")
        found = (path for place in places for path in Path("/").glob(f"{place}/libfaketime.so.1"))
        library = next(found, None)
        return None if library is None else cls(library, file)

    def move(self, seconds: int) -> None:
        """Set the clock's offset from the real time of day, in seconds."""
        self._file.write_text(f"{seconds:+d}\n")
