"""The result of one check of `streamrelay doctor`."""

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Check:
    """The result of one check: whether it passed, the finding, and the fix if it failed."""

    name: str
    status: Literal["ok", "warning", "failed"]
    found: str
    fix: str = ""
