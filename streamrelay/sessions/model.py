"""Sessions and requests to start them, as values that cross a socket unchanged."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Literal

import msgspec

from streamrelay.events import NeedKind

SessionState = Literal["idle", "busy", "needs_human", "ended", "unknown"]
STATES: Mapping[SessionState, str] = MappingProxyType(
    {
        "idle": "its program waits for a message",
        "busy": "its program works on an answer",
        "needs_human": "its program waits for a person to answer a dialog",
        "ended": "its program has ended; the pane remains",
        "unknown": "nothing watches the pane",
    }
)
"""What each state means. The CLI, HTTP, MCP and the page show these words, the page `needs_human` as "needs human"."""


class Session(msgspec.Struct, frozen=True, kw_only=True):
    """One program in one pane."""

    session: str
    """Opaque."""
    pane: str
    title: str
    """How its peers know it."""
    session_name: str
    """tmux's."""
    program: str
    """The command in the foreground."""
    agent: str = ""
    """The name of its profile; empty without one."""
    state: SessionState = "unknown"
    need: NeedKind | Literal[""] = ""
    """What it needs a person for, while its state is `needs_human`."""
    question: str = ""
    """What its screen asks then, in the program's own words."""
    advice: str = ""
    """What a person is to do there then, with the command that shows it."""
    attach: str = ""
    """The command that shows it on a terminal."""
    started_here: bool = False
    in_relay: str = ""
    """The relay or circle it takes part in."""


class StartSession(msgspec.Struct, frozen=True, kw_only=True):
    """A session to be started in tmux."""

    agent: str
    """The name of a profile, or a command to be run."""
    arguments: Sequence[str] = ()
    title: str = ""
    cwd: str = ""
    """The folder in which the program starts; by default the caller's, else home."""
    environment: Mapping[str, str] = {}
    """Variables of the program; a PATH among them takes the place of `search_path`."""
    search_path: str = ""
    """The PATH of the process that asks: the program is looked up in it, and has it. Empty for that of the process that
    starts it, the daemon's."""
    columns: int = 0
    """0 for the profile's value, or 120."""
    lines: int = 0
    """0 for the profile's value, or 40."""
    caller: str = ""
    """Who asks, by its session id; empty for a person."""
    unknown_agent: bool = False
    """Whether the caller is an agent whose session is unknown: `caller` is empty, but it is not a person."""
    within: str = ""
    """The pane of the program that runs the command, if no person types it there: that program is the caller then."""
    direct: bool = False
    """Whether caller and session are linked; otherwise the caller gets a notice when the session stops."""
    prompt: str = ""
    """Its first message, sent when it is ready."""
    patience: float | None = None
    """Seconds to wait until it is ready; None for the service's default."""
