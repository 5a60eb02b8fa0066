"""`streamrelay hook AGENT`: what an agent's stop hook runs; tells the daemon, and is never in the agent's way.

The agent waits for it, at every turn, so it imports nothing but the standard library, of that as little as it can, and
nothing of streamrelay: that would take a second. Whatever goes wrong, it says nothing and succeeds: without a daemon
there is nobody to tell, and to some agents a failure means that they are to go on.
"""

import contextlib
import hashlib
import json
import os
import socket
import sys
from collections.abc import Iterator, Mapping, Sequence

PATH = "/v1/hooks"
MAX_REPORT_SIZE = 16 * 2**20
PLACES = ("HOME", "CLAUDE_CONFIG_DIR", "CODEX_HOME")
"""What says where an agent keeps its files."""
PATIENCE = 2.0
"""Seconds: a daemon that takes longer has other troubles."""


def tell(words: Sequence[str], environment: Mapping[str, str] = os.environ) -> int:
    """Tell the daemon what the agent `words[0]` reports, in `words[1]` or on standard input; returns 0."""
    pane, server = environment.get("TMUX_PANE", ""), environment.get("TMUX", "").rsplit(",", 2)[0]
    if words and pane and server:
        with contextlib.suppress(OSError, ValueError):
            report = words[1] if len(words) > 1 else _read_input()
            payload = json.loads(report or "{}")
            payload = payload if isinstance(payload, dict) else {}
            where = {name: environment[name] for name in PLACES if name in environment}
            body = json.dumps({"agent": words[0], "pane": pane, "payload": payload, "environment": where})
            for address in socket_paths(server, environment):
                if _post(address, body.encode()):
                    break
    return 0


def socket_paths(server: str, environment: Mapping[str, str]) -> Iterator[str]:
    """Yield where the daemon of a tmux server may answer (streamrelay.daemon.address, which this is tested against).

    Both places: an agent may not have all of the variables that the daemon has.
    """
    server = os.path.realpath(server)
    name = f"daemon-{os.path.basename(server)[:24]}-{hashlib.sha256(os.fsencode(server)).hexdigest()[:8]}"  # noqa: PTH119
    home = environment.get("HOME") or "/"
    state = environment.get("XDG_STATE_HOME", "")
    for folder in (environment.get("XDG_RUNTIME_DIR", ""), state if state.startswith("/") else f"{home}/.local/state"):
        if folder.startswith("/"):
            yield f"{folder}/streamrelay/{name}.sock"


def _read_input() -> bytes:
    return b"" if sys.stdin.isatty() else sys.stdin.buffer.read(MAX_REPORT_SIZE)


def _post(address: str, body: bytes) -> bool:
    """Post to a unix socket; return whether anybody listens there."""
    with socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(PATIENCE)
        try:
            connection.connect(address)
        except OSError:
            return False
        head = f"POST {PATH} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n"
        head += f"content-length: {len(body)}\r\nconnection: close\r\n\r\n"
        connection.sendall(head.encode() + body)
        # It has been taken when there is an answer, whichever.
        connection.recv(1)
        return True
