"""Who calls, where the server is a process of its own: the session of the pane in which it was started.

`$TMUX_PANE` says it, unless the agent keeps its environment from its servers (Codex does); then the pane says it whose
first process is an ancestor of ours. A pane of another tmux server is nobody's here: `%3` is another one there.

The same agents keep from us where the tmux server and our own files are. Where the system shows it (Linux), that is
looked up in the environment of the nearest ancestor that has it.
"""

import os
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from streamrelay.control.tmux import Tmux
from streamrelay.errors import StreamrelayError
from streamrelay.service.api import Service

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
    """Return the pane in which a process with that environment and those ancestors runs, or nothing.

    `panes` are those of the server at `server_socket`, by the id of their first process; `ancestors` begin with the
    nearest.
    """
    pane = environment.get("TMUX_PANE", "")
    around = environment.get("TMUX", "").rsplit(",", 2)[0]
    is_here = not around or os.path.realpath(around) == os.path.realpath(server_socket)
    if is_here and pane in panes.values():
        return pane
    return next((panes[pid] for pid in ancestors if pid in panes), "")


async def own_pane(server_socket: str) -> str:
    """Return the pane of the tmux server at that socket in which this process runs, or nothing."""
    try:
        lines = await Tmux(socket_path=server_socket).run("list-panes", "-a", "-F", "#{pane_pid}\t#{pane_id}")
    except StreamrelayError:
        return ""
    fields = [line.split("\t") for line in lines.splitlines()]
    panes = {int(one[0]): one[1] for one in fields if len(one) == 2 and one[0].isdecimal()}
    return pane_of(os.environ, server_socket, panes, ancestors(os.getpid()))


def kept_from_us() -> dict[str, str]:
    """Return the variables that say where everything is, as far as an ancestor has them and this process has not."""
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
    """Return the ids of a process's ancestors, the nearest first; fewer where they cannot be learned."""
    found: list[int] = []
    while pid > 1 and len(found) < _MAX_ANCESTORS:
        pid = _parent(pid)
        found.append(pid)
    return found


def _parent(pid: int) -> int:
    with suppress(OSError, ValueError, IndexError):
        # The name of the program stands in parentheses and may hold anything.
        return int(Path(f"/proc/{pid}/stat").read_text(errors="replace").rpartition(")")[2].split()[1])
    with suppress(OSError, ValueError):
        done = subprocess.run(["ps", "-o", "ppid=", "-p", str(pid)], capture_output=True, check=False, timeout=5)
        return int(done.stdout)
    return 0


async def session_in(service: Service, pane: str) -> str:
    """Return the session that lives in a pane, or nothing; the service is asked in any case."""
    return next((session.session for session in await service.sessions() if pane and session.pane == pane), "")
