"""Limits of a recording: terminal sizes and times."""

from typing import Final

LARGEST: Final = 9999
"""Maximum number of columns and of rows, so that no file makes us allocate more."""

LATEST: Final = 1e9
"""Maximum time in seconds, thirty years; larger numbers are invalid and would lose their fraction."""


def is_size(columns: int, lines: int) -> bool:
    """Return whether a terminal can have that many columns and rows."""
    return 0 < columns <= LARGEST and 0 < lines <= LARGEST


def is_time(seconds: float) -> bool:
    """Return whether that can be a time of a recording; one that was put together may begin before nought."""
    return abs(seconds) <= LATEST
