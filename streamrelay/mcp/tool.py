"""What a tool is, whichever it is."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from streamrelay.mcp.arguments import Arguments
from streamrelay.mcp.results import Result
from streamrelay.service.api import Service


@dataclass(frozen=True, slots=True)
class Tool:
    """One tool: its name, what an agent reads of it, its shapes, and what may be expected of it."""

    name: str
    title: str
    description: str
    takes: type[Arguments]
    gives: type[Result]
    run: Callable[[Service, str, Any], Awaitable[Result]]
    only_reads: bool = False
    destroys: bool = False
    at_hand: bool = False
    """Whether an agent should know of it without having looked for it."""
