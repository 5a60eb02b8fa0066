"""The native lanes by their names, and how to open one for the agent in a pane."""

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from streamrelay.agents.lanes.codex import CodexLane
from streamrelay.agents.lanes.lane import Lane
from streamrelay.agents.lanes.opencode import OpenCodeLane
from streamrelay.agents.profile import NativeLane
from streamrelay.agents.witnesses.process import AgentProcess, foreground_processes


@dataclass(frozen=True, slots=True)
class LaneKind:
    """One native lane: its class, what to call its API, and the option of the agent that opens it."""

    lane: Callable[[Callable[[], Sequence[AgentProcess]]], Lane]
    api: str
    option: str
    example: str


LANES: Final[Mapping[NativeLane, LaneKind]] = MappingProxyType({
    "codex": LaneKind(CodexLane, "app server", "--remote", "--remote unix://PATH"),
    "opencode": LaneKind(OpenCodeLane, "HTTP API", "--port", "--port 0"),
})  # fmt: skip


def native_lane(name: NativeLane, pid: int) -> Lane:
    """Return the lane `name` to the agent in the pane with the first process `pid`; `close` it in the end."""
    return LANES[name].lane(functools.partial(foreground_processes, pid))
