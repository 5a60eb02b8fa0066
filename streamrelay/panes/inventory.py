"""The panes of a server: one format for every query, and the search for targets."""

import difflib
from collections.abc import Iterable
from dataclasses import dataclass, replace

import msgspec

from streamrelay.control.hub import IS_HUB

# The command comes last, because only a program's name can contain the separator.
_FIELDS = {
    "pane": "pane_id",
    "session": "session_id",
    "window": "window_id",
    "window_index": "window_index",
    "pane_index": "pane_index",
    "columns": "pane_width",
    "lines": "pane_height",
    # tmux 3.8 reports no process for a dead pane.
    "pid": "?pane_pid,#{pane_pid},0",
    "dead": "pane_dead",
    "in_mode": "pane_in_mode",
    # A flag (0, 1) before tmux 3.3.
    "remains": "!=:#{remain-on-exit},off",
    # tmux 3.6 has scrollbars.
    "fills_cell": "&&:#{==:#{pane-border-status},off},#{?#{pane-scrollbars},#{==:#{pane-scrollbars},off},1}",
    "in_hub": IS_HUB,
    "active": "?#{&&:#{window_active},#{pane_active}},1,0",
    "tty": "pane_tty",
    "session_name": "session_name",
    # tmux gives a new pane the name of its host for a title (3.3a window.c, window_pane_create).
    "title": "?#{==:#{pane_title},#{host}},,#{pane_title}",
    "command": "pane_current_command",
}
_SEPARATOR = "\t"
FORMAT = _SEPARATOR.join(f"#{{{field}}}" for field in _FIELDS.values())
LIST_PANES = ("list-panes", "-a", "-F", FORMAT)


@dataclass(frozen=True, slots=True)
class PaneInfo:
    """tmux's data of one pane."""

    pane: str
    session: str
    window: str
    window_index: int
    pane_index: int
    columns: int
    lines: int
    pid: int
    dead: bool
    in_mode: bool
    remains: bool
    """Whether the pane stays when its program ends."""
    fills_cell: bool
    """Whether the pane has the size that the layout of its window says: no row or column of it is a border's."""
    in_hub: bool
    """Whether this place is in a hub of streamrelay, not in a session of the user."""
    active: bool
    tty: str
    command: str
    session_name: str
    title: str
    """The title that the program set; empty if it set none."""

    @property
    def address(self) -> str:
        """The pane as a person writes it: `session:window.pane`."""
        return f"{self.session_name}:{self.window_index}.{self.pane_index}"

    def running(self, command: str, pid: int) -> "PaneInfo":
        """Return the pane with this program (itself if unchanged); `pid` is 0 if tmux reports no process."""
        if command == self.command and pid in {0, self.pid}:
            return self
        return replace(self, command=command, pid=pid or self.pid)

    def is_replaced_by(self, now: "PaneInfo") -> bool:
        """Whether the program that the pane was created with has been replaced in `now`."""
        return 0 != self.pid != now.pid != 0


def parse_pane(line: str) -> PaneInfo | None:
    """Return the pane of one line in `FORMAT`; None if it is something else."""
    values = line.split(_SEPARATOR, len(_FIELDS) - 1)
    if len(values) < len(_FIELDS) or not values[0].startswith("%"):
        return None
    try:
        return msgspec.convert(dict(zip(_FIELDS, values, strict=True)), PaneInfo, strict=False)
    except msgspec.ValidationError:
        return None


def list_window(target: str, *, whole_session: bool = False) -> tuple[str, ...]:
    """Return the command that lists the panes of a window, of a pane's window, or of all windows of a session."""
    return ("list-panes", *(("-s",) if whole_session else ()), "-t", target, "-F", FORMAT)


def parse_panes(lines: Iterable[str], *, in_hub: bool = False) -> dict[str, list[PaneInfo]]:
    """Return the panes of a reply in `FORMAT`, by id; a window linked into several sessions gives several.

    Places in a hub are left out, unless `in_hub` is set.
    """
    panes: dict[str, list[PaneInfo]] = {}
    for line in lines:
        pane = parse_pane(line)
        if pane is not None and (in_hub or not pane.in_hub):
            panes.setdefault(pane.pane, []).append(pane)
    return panes


def suggested(target: str, names: Iterable[str]) -> str:
    """Return the hint for a target that does not exist: the names like its session's, and how to list all."""
    close = difflib.get_close_matches(target.removeprefix("=").partition(":")[0], sorted(set(names)))
    listing = "list the panes of this server: streamrelay ls"
    return f"did you mean {' or '.join(close)}? {listing}" if close else listing


def find_target(target: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the commands that ask tmux for the pane of a target, written as tmux writes it (`%3`, `name:0.1`).

    `display-message` alone would take the nearest pane for a missing one; the capture before it refuses that.
    """
    exact_session = target.startswith("=") and ":" not in target
    pane = target + ":" if exact_session else target
    return ("capture-pane", "-p", "-t", pane, "-S", "0", "-E", "0"), ("display-message", "-p", "-t", pane, FORMAT)
