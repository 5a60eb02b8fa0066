"""Finds the caller of an MCP server that runs as its own process: the session of the pane it was started in.

`$TMUX_PANE` names the pane. Codex does not pass its environment to MCP servers; then the caller's pane is the one whose
first process is an ancestor of this process. A pane of another tmux server does not count, because pane ids like `%3`
are unique only within a server.

Such agents also hide the variables that locate the tmux server and streamrelay's own files. On Linux, this module reads
them from the environment of the nearest ancestor that has them.
"""

import os
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from streamrelay.control.tmux import Tmux
from streamrelay.errors import StreamrelayError
from streamrelay.service.interface import Service

_MAX_ANCESTORS = 100
_WHERE = (
    "TMUX",
    "TMUX_PANE",
    "TMUX_TMPDIR",
    "XDG_RUNTIME_DIR",
    "XDG_STATE_HOME",
    "XDG_CONFIG_HOME",
    "STREAMRELAY_TMUX",
)


def pane_of(
    environment: Mapping[str, str], server_socket: str, panes: Mapping[int, str], ancestors: Sequence[int]
) -> str:
    """Return the pane of a process with that environment and those ancestors, or an empty string.

    `panes` maps the first processes of the panes at `server_socket` to the panes; `ancestors` begins with the parent.
    """
    pane = environment.get("TMUX_PANE", "")
    around = environment.get("TMUX", "").rsplit(",", 2)[0]
    is_here = not around or os.path.realpath(around) == os.path.realpath(server_socket)
    if is_here and pane in panes.values():
        return pane
    return next((panes[pid] for pid in ancestors if pid in panes), "")


async def own_pane(server_socket: str) -> str:
    """Return this process's pane in the tmux server at that socket, or an empty string."""
    try:
        lines = await Tmux(socket_path=server_socket).run("list-panes", "-a", "-F", "#{pane_pid}\t#{pane_id}")
    except StreamrelayError:
        return ""
    fields = [line.split("\t") for line in lines.splitlines()]
    panes = {int(one[0]): one[1] for one in fields if len(one) == 2 and one[0].isdecimal()}
    return pane_of(os.environ, server_socket, panes, ancestors(os.getpid()))


def kept_from_us() -> dict[str, str]:
    """Return the locating variables that an ancestor has and this process lacks."""
    found: dict[str, str] = {}
    for pid in ancestors(os.getpid()):
        try:
            variables = Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
        except OSError:
            break
        for variable in variables:
            name, _, value = os.fsdecode(variable).partition("=")
            if name in _WHERE and name not in os.environ:
                found.setdefault(name, value)
    return found


def ancestors(pid: int) -> list[int]:
    """Return the ids of a process's ancestors, the parent first; the list ends where the system hides the next one."""
    found: list[int] = []
    while pid > 1 and len(found) < _MAX_ANCESTORS:
        pid = _parent(pid)
        found.append(pid)
    return found


def _parent(pid: int) -> int:
    with suppress(OSError, ValueError, IndexError):
        # The program's name is in parentheses and may contain any character.
        return int(Path(f"/proc/{pid}/stat").read_text(errors="replace").rpartition(")")[2].split()[1])
    with suppress(OSError, ValueError):
        done = subprocess.run(["ps", "-o", "ppid=", "-p", str(pid)], capture_output=True, check=False, timeout=5)
        return int(done.stdout)
    return 0


async def session_in(service: Service, pane: str) -> str:
    """Return the session in a pane, or an empty string; asks the service even without a pane."""
    return next((session.session for session in await service.sessions() if pane and session.pane == pane), "")
