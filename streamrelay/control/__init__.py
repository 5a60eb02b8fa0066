"""tmux's control mode: bytes in, typed events out, commands answered in order."""

from streamrelay.control.client import ControlClient, Handler
from streamrelay.control.ending import End, EndReason
from streamrelay.control.escape import escape, unescape
from streamrelay.control.protocol import ControlEvent, ControlProtocol, PaneOutput, Reply
from streamrelay.control.quoting import command_line, quote
from streamrelay.control.requests import CommandResult, OnReply
from streamrelay.control.tmux import ServerInfo, Tmux, Version
from streamrelay.control.transport import TransportName

__all__ = [
    "CommandResult",
    "ControlClient",
    "ControlEvent",
    "ControlProtocol",
    "End",
    "EndReason",
    "Handler",
    "OnReply",
    "PaneOutput",
    "Reply",
    "ServerInfo",
    "Tmux",
    "TransportName",
    "Version",
    "command_line",
    "escape",
    "quote",
    "unescape",
]
