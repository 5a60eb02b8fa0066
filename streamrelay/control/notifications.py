"""What tmux tells a control client besides output and replies (tmux 3.2 to 3.8, control-notify.c, control.c).

A notification is one line, `%name fields`. Names of sessions, windows, clients and buffers come unescaped, so a field
that may hold a space is always the last and takes the rest of the line. Fields tmux may add later are ignored where
a line cannot be mistaken; a line that is not as expected becomes `Unknown`, a line that is no notification `Stray`.
Ids keep tmux's own spelling: `$session`, `@window`, `%pane`.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class SessionChanged:
    """This client is attached to another session than before, or to its first."""

    session: str
    name: str


@dataclass(frozen=True, slots=True)
class ClientSessionChanged:
    """Another client is attached to another session than before."""

    client: str
    session: str
    name: str


@dataclass(frozen=True, slots=True)
class ClientDetached:
    """Another client is gone."""

    client: str


@dataclass(frozen=True, slots=True)
class SessionsChanged:
    """A session was created or destroyed."""


@dataclass(frozen=True, slots=True)
class SessionRenamed:
    """A session has a new name."""

    session: str
    name: str


@dataclass(frozen=True, slots=True)
class SessionWindowChanged:
    """A session has another current window."""

    session: str
    window: str


@dataclass(frozen=True, slots=True)
class LayoutChange:
    """The panes of a window of this session were split, resized, moved or closed; layouts as `#{window_layout}`."""

    window: str
    layout: str
    visible_layout: str
    flags: str


@dataclass(frozen=True, slots=True)
class WindowAdd:
    """A window was linked into this session, or elsewhere while it is linked here."""

    window: str


@dataclass(frozen=True, slots=True)
class WindowClose:
    """A window was unlinked somewhere while it is still linked here."""

    window: str


@dataclass(frozen=True, slots=True)
class WindowRenamed:
    """A window of this session has a new name."""

    window: str
    name: str


@dataclass(frozen=True, slots=True)
class UnlinkedWindowAdd:
    """A window was linked into other sessions only."""

    window: str


@dataclass(frozen=True, slots=True)
class UnlinkedWindowClose:
    """A window that is not linked here was unlinked; also the way a window of this session says that it died."""

    window: str


@dataclass(frozen=True, slots=True)
class UnlinkedWindowRenamed:
    """A window that is not linked here has a new name."""

    window: str
    name: str


@dataclass(frozen=True, slots=True)
class WindowPaneChanged:
    """A window has another active pane."""

    window: str
    pane: str


@dataclass(frozen=True, slots=True)
class PaneModeChanged:
    """A pane entered or left a mode (copy mode, a menu, a tree)."""

    pane: str


@dataclass(frozen=True, slots=True)
class Pause:
    """Output of the pane is no longer sent, and what was queued is dropped."""

    pane: str


@dataclass(frozen=True, slots=True)
class Continue:
    """Output of the pane is sent again."""

    pane: str


@dataclass(frozen=True, slots=True)
class SubscriptionChanged:
    """A subscribed format (`refresh-client -B`) has a new value; `-` stands for what the subscription does not name."""

    name: str
    session: str
    window: str
    index: str
    pane: str
    value: str


@dataclass(frozen=True, slots=True)
class PasteBufferChanged:
    """A paste buffer was made or changed."""

    name: str


@dataclass(frozen=True, slots=True)
class PasteBufferDeleted:
    """A paste buffer was deleted."""

    name: str


@dataclass(frozen=True, slots=True)
class ConfigErrorMessage:
    """A line of a configuration file was refused."""

    text: str


@dataclass(frozen=True, slots=True)
class ServerMessage:
    """A message meant for this client's status line."""

    text: str


@dataclass(frozen=True, slots=True)
class Exit:
    """The end of the stream. `reason` is tmux's, often empty; None where the stream ended without `%exit`."""

    reason: str | None


@dataclass(frozen=True, slots=True)
class Unknown:
    """A notification of a name or a shape that is not known here."""

    name: str
    rest: str


@dataclass(frozen=True, slots=True)
class Stray:
    """A line outside a reply that is no notification: words of the client program, of ssh, of a waiting command."""

    line: bytes


Notification = (
    SessionChanged | ClientSessionChanged | ClientDetached | SessionsChanged | SessionRenamed | SessionWindowChanged
    | LayoutChange | WindowAdd | WindowClose | WindowRenamed | UnlinkedWindowAdd | UnlinkedWindowClose
    | UnlinkedWindowRenamed | WindowPaneChanged | PaneModeChanged | Pause | Continue | SubscriptionChanged
    | PasteBufferChanged | PasteBufferDeleted | ConfigErrorMessage | ServerMessage | Exit | Unknown | Stray
)  # fmt: skip

_MORE = r"(?: .*)?"
# name -> (class, the shape of what follows the name, one group per field)
_SHAPES: tuple[tuple[str, Callable[..., Notification], str], ...] = (
    ("session-changed", SessionChanged, r"(\$\d+) (.*)"),
    ("client-session-changed", ClientSessionChanged, r"(.*?) (\$\d+) (.*)"),
    ("client-detached", ClientDetached, r"(.*)"),
    ("sessions-changed", SessionsChanged, r".*"),
    ("session-renamed", SessionRenamed, r"(\$\d+) (.*)"),
    ("session-window-changed", SessionWindowChanged, r"(\$\d+) (@\d+)" + _MORE),
    ("layout-change", LayoutChange, r"(@\d+) (\S+) (\S+) (\S*)" + _MORE),
    ("window-add", WindowAdd, r"(@\d+)" + _MORE),
    ("window-close", WindowClose, r"(@\d+)" + _MORE),
    ("window-renamed", WindowRenamed, r"(@\d+) (.*)"),
    ("unlinked-window-add", UnlinkedWindowAdd, r"(@\d+)" + _MORE),
    ("unlinked-window-close", UnlinkedWindowClose, r"(@\d+)" + _MORE),
    ("unlinked-window-renamed", UnlinkedWindowRenamed, r"(@\d+) (.*)"),
    ("window-pane-changed", WindowPaneChanged, r"(@\d+) (%\d+)" + _MORE),
    ("pane-mode-changed", PaneModeChanged, r"(%\d+)" + _MORE),
    ("pause", Pause, r"(%\d+)" + _MORE),
    ("continue", Continue, r"(%\d+)" + _MORE),
    ("subscription-changed", SubscriptionChanged, r"(\S+) (\S+) (\S+) (\S+) (\S+)(?: \S+)*? : (.*)"),
    ("paste-buffer-changed", PasteBufferChanged, r"(.*)"),
    ("paste-buffer-deleted", PasteBufferDeleted, r"(.*)"),
    ("config-error", ConfigErrorMessage, r"(.*)"),
    ("message", ServerMessage, r"(.*)"),
    ("exit", Exit, r"(.*)"),
)
_TABLE = {name: (make, re.compile(shape, re.ASCII | re.DOTALL)) for name, make, shape in _SHAPES}


def parse(line: bytes) -> Notification:
    """Return what a line outside a reply says; never raises. Bytes that are not UTF-8 become U+FFFD."""
    if not line.startswith(b"%"):
        return Stray(line)
    name, _, rest = line[1:].decode("utf-8", "replace").partition(" ")
    make, shape = _TABLE.get(name, (None, None))
    if make is None or shape is None:
        return Unknown(name, rest)
    match = shape.fullmatch(rest)
    return Unknown(name, rest) if match is None else make(*match.groups())
