"""The result of one check of `streamrelay doctor`."""

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Check:
    """One thing looked at: whether it is well, what was found, and what to do if it is not."""

    name: str
    status: Literal["ok", "warning", "failed"]
    found: str
    fix: str = ""
