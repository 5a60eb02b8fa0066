"""Limits of a recording: terminal sizes and times."""

from typing import Final

LARGEST: Final = 9999
"""Columns, and rows, of the largest terminal: no more is allocated for what a file says."""

LATEST: Final = 1e9
"""Seconds since the beginning, thirty years: larger numbers are no times, and lose what comes behind the point."""


def is_size(columns: int, lines: int) -> bool:
    """Return whether a terminal can have that many columns and rows."""
    return 0 < columns <= LARGEST and 0 < lines <= LARGEST


def is_time(seconds: float) -> bool:
    """Return whether that can be a time of a recording; one that was put together may begin before nought."""
    return abs(seconds) <= LATEST
