"""Fuzz the two servers that speak JSON-RPC in lines over standard input: `streamrelay mcp` and `streamrelay acp`.

A batch of mutated requests is followed by a valid one, which must be answered: nothing that a client writes ends the
server, stops it from answering, or makes it print anything that is not a JSON-RPC message.
"""

import json
import random
import subprocess
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import IO, Any

from tests.fuzz.targets import mutated

BATCH = 20
"""Mutated lines before each valid request."""


def request(method: str, **parameters: object) -> bytes:
    """Return a JSON-RPC request without an id."""
    return json.dumps({"jsonrpc": "2.0", "id": 7, "method": method, "params": parameters}).encode()


LONG = ('All of it, said at length: \u4e16\U0001f600 \u202e \x1b[201~ \\ "quoted" \t' * 60)[:2500]
"""A text of about the length that messages have, so that a run is not all framing."""


def tool_call(name: str, **arguments: object) -> bytes:
    """Return a call of an MCP tool."""
    return request("tools/call", name=name, arguments=arguments)


MCP_HELLO = request(
    "initialize", protocolVersion="2025-06-18", capabilities={}, clientInfo={"name": "fuzz", "version": "1"}
)
MCP_SAMPLES = (
    MCP_HELLO,
    b'{"jsonrpc": "2.0", "method": "notifications/initialized"}',
    b'{"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 7}}',
    request("tools/list"),
    request("ping"),
    tool_call("list_sessions"),
    tool_call("send_message", to="Ann", text="hello", direct=True),
    tool_call("read_since", session="Ann", seq=0),
    tool_call("search_history", query="hello"),
    tool_call("get_delivery", message_id="m1"),
    tool_call("close_link", peer="Ann", last_words="bye"),
    tool_call("start_gathering", title="x", purpose="y", members=[]),
    tool_call("send_message", to="Ann", text=LONG),
    tool_call("start_gathering", title="x", purpose=LONG, members=["Ann", "Bob"], rounds=2),
    tool_call("search_history", query=LONG),
)
ACP_HELLO = request("initialize", protocolVersion=1, clientCapabilities={})
ACP_SAMPLES = (
    ACP_HELLO,
    request("session/new", cwd="/tmp", mcpServers=[]),
    request("session/load", sessionId="%0", cwd="/tmp", mcpServers=[]),
    request("session/prompt", sessionId="%0", prompt=[{"type": "text", "text": "hello"}]),
    b'{"jsonrpc": "2.0", "method": "session/cancel", "params": {"sessionId": "%0"}}',
    request("session/prompt", sessionId="%0", prompt=[{"type": "text", "text": LONG}]),
    request("session/new", cwd="/tmp", mcpServers=[{"name": "x", "command": LONG, "args": ["y"], "env": []}]),
    request("authenticate", methodId="x"),
    request("session/set_mode", sessionId="%0", modeId="x"),
    b'{"jsonrpc": "2.0", "id": 7, "result": {"outcome": {"outcome": "selected", "optionId": "yes"}}}',
)
PROTOCOLS: Mapping[str, tuple[bytes, bytes, Sequence[bytes]]] = MappingProxyType({
    "mcp": (MCP_HELLO, request("tools/list"), MCP_SAMPLES),
    "acp": (ACP_HELLO, ACP_HELLO, ACP_SAMPLES),
})  # fmt: skip
"""The first request, one that is always answered, and samples of what a client writes."""


def fuzz_server(server: "subprocess.Popen[bytes]", protocol: str, batches: int, chance: random.Random) -> int:
    """Write so many batches to a server that runs; return the bytes. Raises AssertionError if it does not answer."""
    hello, probe, samples = PROTOCOLS[protocol]
    assert server.stdin is not None
    assert server.stdout is not None
    _ask(server.stdin, server.stdout, hello, "hello")
    total = 0
    for batch in range(batches):
        lines = [mutated(samples, chance).replace(b"\n", b" ") for _ in range(BATCH)]
        server.stdin.write(b"\n".join([*lines, b""]))
        server.stdin.flush()
        try:
            _ask(server.stdin, server.stdout, probe, f"probe {batch}")
        except (AssertionError, OSError) as error:
            error.add_note("lines before it:\n" + "\n".join(map(repr, lines)))
            raise
        total += sum(map(len, lines))
    return total


def _ask(into: IO[bytes], out: IO[bytes], words: bytes, name: str) -> dict[str, Any]:
    """Write a request under an id of its own, and return its answer; what comes before that is read."""
    asked = {**json.loads(words), "id": name}
    into.write(json.dumps(asked).encode() + b"\n")
    into.flush()
    for line in out:
        # Half a surrogate pair comes back as it was sent, which JSON allows; msgspec would refuse it.
        message: dict[str, Any] = json.loads(line)
        assert message.get("jsonrpc") == "2.0", line
        if message.get("id") == name:
            return message
    raise AssertionError(f"the server ended before it answered {name}")
