"""A time of day of their own for processes: libfaketime (Debian's package `libfaketime`) moves it.

Their monotonic clock goes on as it was, as on a machine whose clock is set.
"""

from pathlib import Path
from typing import Self

NOTICED = 2.0
"""Seconds after which a running process has the new time: libfaketime counts whole seconds since it last looked."""


class OwnClock:
    """The clock of all processes that are started with `environment`."""

    def __init__(self, library: Path, file: Path) -> None:
        """Let `file` say by how much the clock is off; a running process notices within `NOTICED` seconds."""
        self._file = file
        self.move(0)
        self.environment = {
            "LD_PRELOAD": str(library),
            "FAKETIME_TIMESTAMP_FILE": str(file),
            "FAKETIME_CACHE_DURATION": "1",
            "FAKETIME_DONT_FAKE_MONOTONIC": "1",
            # For glibc before 2.24; with it, waits of threads end at once, and a Python of four threads hardly runs.
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
        """Let the clock be off by so many seconds."""
        self._file.write_text(f"{seconds:+d}\n")
