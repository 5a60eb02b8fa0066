"""tmux's control mode: bytes in, typed events out, commands answered in order."""

from streamrelay.control.blocking import BlockingCommands
from streamrelay.control.client import ControlClient, Handler
from streamrelay.control.connection_end import ConnectionEnd, EndReason, server_died, upgrade_hint
from streamrelay.control.escape import escape, unescape
from streamrelay.control.notifications import (
    ClientDetached,
    ClientSessionChanged,
    ConfigErrorMessage,
    Continue,
    Exit,
    LayoutChange,
    Notification,
    PaneModeChanged,
    PasteBufferChanged,
    PasteBufferDeleted,
    Pause,
    ServerMessage,
    SessionChanged,
    SessionRenamed,
    SessionsChanged,
    SessionWindowChanged,
    Stray,
    SubscriptionChanged,
    Unknown,
    UnlinkedWindowAdd,
    UnlinkedWindowClose,
    UnlinkedWindowRenamed,
    WindowAdd,
    WindowClose,
    WindowPaneChanged,
    WindowRenamed,
)
from streamrelay.control.protocol import ControlEvent, ControlProtocol, PaneOutput, Reply
from streamrelay.control.proxy import harmless
from streamrelay.control.quoting import command_line, quote
from streamrelay.control.requests import CommandResult, OnReply
from streamrelay.control.ssh import Ssh
from streamrelay.control.tmux import ServerInfo, Tmux, Version
from streamrelay.control.transport import TransportName

__all__ = [
    "BlockingCommands",
    "ClientDetached",
    "ClientSessionChanged",
    "CommandResult",
    "ConfigErrorMessage",
    "ConnectionEnd",
    "Continue",
    "ControlClient",
    "ControlEvent",
    "ControlProtocol",
    "EndReason",
    "Exit",
    "Handler",
    "LayoutChange",
    "Notification",
    "OnReply",
    "PaneModeChanged",
    "PaneOutput",
    "PasteBufferChanged",
    "PasteBufferDeleted",
    "Pause",
    "Reply",
    "ServerInfo",
    "ServerMessage",
    "SessionChanged",
    "SessionRenamed",
    "SessionWindowChanged",
    "SessionsChanged",
    "Ssh",
    "Stray",
    "SubscriptionChanged",
    "Tmux",
    "TransportName",
    "Unknown",
    "UnlinkedWindowAdd",
    "UnlinkedWindowClose",
    "UnlinkedWindowRenamed",
    "Version",
    "WindowAdd",
    "WindowClose",
    "WindowPaneChanged",
    "WindowRenamed",
    "command_line",
    "escape",
    "harmless",
    "quote",
    "server_died",
    "unescape",
    "upgrade_hint",
]
