"""The type of an MCP tool."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from streamrelay.mcp.arguments import Arguments
from streamrelay.mcp.results import Result
from streamrelay.service.interface import Service


@dataclass(frozen=True, slots=True)
class Tool:
    """One tool: its name and description, the types of its arguments and result, its function and its hints."""

    name: str
    title: str
    description: str
    takes: type[Arguments]
    gives: type[Result]
    run: Callable[[Service, str, Any], Awaitable[Result]]
    only_reads: bool = False
    destroys: bool = False
    always_shown: bool = False
    """Whether an agent should see the tool without searching for it."""
