"""`streamrelay hook AGENT`: an agent's stop hook runs it; it reports the stop to the daemon without delaying the agent.

The agent waits for it at every turn, so it imports only a few modules of the standard library and none of streamrelay,
which would take a second. It prints nothing and always succeeds, also without a daemon, because some agents take a
failing hook as an order to go on.
"""

import contextlib
import hashlib
import json
import os
import select
import socket
import sys
import time
from collections.abc import Iterator, Mapping, Sequence

PATH = "/v1/hooks"
MAX_REPORT_SIZE = 16 * 2**20
PLACES = ("HOME", "CLAUDE_CONFIG_DIR", "CODEX_HOME")
"""The variables that locate an agent's files."""
PATIENCE = 2.0
"""Seconds to wait for the daemon."""


def report_hook(words: Sequence[str], environment: Mapping[str, str] = os.environ) -> int:
    """Send the daemon the report of the agent `words[0]`, from `words[1]` or standard input; return 0."""
    pane, server = environment.get("TMUX_PANE", ""), environment.get("TMUX", "").rsplit(",", 2)[0]
    if words and pane and server:
        with contextlib.suppress(OSError, ValueError, RecursionError):
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
    """Yield the sockets at which the daemon of a tmux server may answer.

    A test compares them with streamrelay.daemon.address. There are two, because an agent may lack a variable that the
    daemon has.
    """
    server = os.path.realpath(server)
    name = f"daemon-{os.path.basename(server)[:24]}-{hashlib.sha256(os.fsencode(server)).hexdigest()[:8]}"  # noqa: PTH119
    home = environment.get("HOME") or "/"
    state = environment.get("XDG_STATE_HOME", "")
    for folder in (environment.get("XDG_RUNTIME_DIR", ""), state if state.startswith("/") else f"{home}/.local/state"):
        if folder.startswith("/"):
            yield f"{folder}/streamrelay/{name}.sock"


def _read_input() -> bytes:
    """Read standard input to its end, for `PATIENCE` seconds and `MAX_REPORT_SIZE` bytes at most.

    What comes later, or is more, is left out: such a report is no JSON, and is not sent.
    """
    if sys.stdin.isatty():
        return b""
    read, until = bytearray(), time.monotonic() + PATIENCE
    descriptor = sys.stdin.fileno()
    while len(read) < MAX_REPORT_SIZE:
        ready, _, _ = select.select([descriptor], [], [], max(0.0, until - time.monotonic()))
        if not ready or not (data := os.read(descriptor, 65536)):
            break
        read += data
    return bytes(read)


def _post(address: str, body: bytes) -> bool:
    """Post to a unix socket; return whether a process listens there."""
    with socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(PATIENCE)
        try:
            connection.connect(address)
        except OSError:
            return False
        head = f"POST {PATH} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n"
        head += f"content-length: {len(body)}\r\nconnection: close\r\n\r\n"
        connection.sendall(head.encode() + body)
        # Any answer means that the daemon took the report.
        connection.recv(1)
        return True
