"""Fuzz the HTTP API of a running daemon by its own OpenAPI document, with schemathesis over the daemon's unix socket.

Every operation of the document gets valid and invalid requests. Each response must be one that the document describes:
its status, its content type and its body; never a status from 500 on.

`fuzz_requests` changes the bytes of such requests: of the target and the body, so that it is still HTTP, or, one time
in ten, of all of it. Each answer must be HTTP, with a status below 500, and JSON if it says so.
"""

import contextlib
import http.client
import json
import random
import socket as sockets
import string
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote_from_bytes

import httpx
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import seed as seeded
from hypothesis.errors import Unsatisfiable
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from tests.fuzz.targets import mutated

CHECKS = (not_a_server_error, status_code_conformance, content_type_conformance, response_schema_conformance)
STREAMS = frozenset({"/v1/events", "/v1/live", "/v1/councils/{council}/events"})
"""Responses without an end; tests/daemon reads them."""
TIMEOUT = 60.0

Known = Mapping[str, Sequence[str]]
"""What exists, by the name of the argument that takes it."""


def fuzz_http(socket: Path, examples: int, seed: int, known: Known, written: list[bytes] | None = None) -> Counter[str]:
    """Send so many requests of each kind to each operation; return how many responses there were, by operation and
    status. A response that the document does not describe raises schemathesis's error, which shows the request.
    The bytes of each request are added to `written`.
    """
    answered: Counter[str] = Counter()
    sent = [] if written is None else written
    with httpx.Client(
        transport=httpx.HTTPTransport(uds=str(socket)), base_url="http://localhost", timeout=TIMEOUT
    ) as client:
        schema = schemathesis.openapi.from_dict(client.get("/openapi.json").json())
        for operation in [found.ok() for found in schema.get_all_operations()]:
            if operation.path in STREAMS:
                continue
            for mode in GenerationMode:
                _fuzz_operation(client, operation, mode, examples, seed, known, answered, sent)
    return answered


def _fuzz_operation(
    client: httpx.Client,
    operation: Any,
    mode: GenerationMode,
    examples: int,
    seed: int,
    known: Known,
    answered: Counter[str],
    written: list[bytes],
) -> None:
    chance = random.Random(f"{seed} {operation.label} {mode}")

    @seeded(seed)
    @settings(
        max_examples=examples, deadline=None, database=None, phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )  # fmt: skip
    @given(operation.as_strategy(generation_mode=mode))
    def exchange(case: schemathesis.Case) -> None:
        if mode is GenerationMode.POSITIVE:
            _name_known(case, known, chance)
        asked = case.as_transport_kwargs(base_url="http://localhost")
        request = {name: asked[name] for name in ("params", "json", "headers") if asked.get(name) is not None}
        content = asked.get("data")
        response = client.request(asked["method"], asked["url"], content=content, **request)
        answered[f"{operation.label} {response.status_code}"] += 1
        written.append(_bytes_of(response.request))
        case.validate_response(response, checks=[*CHECKS])

    # An operation that takes nothing has no invalid requests.
    with contextlib.suppress(Unsatisfiable):
        exchange()


def _name_known(case: schemathesis.Case, known: Known, chance: random.Random) -> None:
    """Let every other request name something that exists."""
    places = (case.path_parameters, case.query, case.body)
    for place in places:
        if isinstance(place, dict):
            for name in place.keys() & known.keys():
                if known[name] and chance.random() < 0.5:
                    place[name] = chance.choice(known[name])


def _bytes_of(request: httpx.Request) -> bytes:
    head = [b"%b %b HTTP/1.1" % (request.method.encode(), request.url.raw_path)]
    return b"\r\n".join([*head, *(b"%b: %b" % field for field in request.headers.raw), b"", request.content])


def fuzz_requests(socket: Path, samples: Sequence[bytes], count: int, chance: random.Random) -> int:
    """Send so many requests with changed bytes; return the bytes. Raises AssertionError for an answer that is wrong."""
    total = 0
    with contextlib.ExitStack() as connections:
        connection = connections.enter_context(_connected(socket))
        for _ in range(count):
            whole = chance.random() < 0.1
            sent = mutated(samples, chance) if whole else _reframed(samples, chance)
            total += len(sent)
            try:
                if whole:
                    with _connected(socket) as other:
                        _exchange(other, sent, ends=True)
                elif not _exchange(connection, sent, ends=False):
                    connections.close()
                    connection = connections.enter_context(_connected(socket))
            except (AssertionError, OSError, http.client.HTTPException, ValueError) as error:
                error.add_note(f"request: {sent!r}")
                raise
    return total


def _connected(socket: Path) -> sockets.socket:
    connection = sockets.socket(sockets.AF_UNIX)
    connection.settimeout(TIMEOUT)
    connection.connect(str(socket))
    return connection


def _reframed(samples: Sequence[bytes], chance: random.Random) -> bytes:
    """Return a request whose target, body, or both are changed, with the length that the body then has."""
    head, _, body = chance.choice(samples).partition(b"\r\n\r\n")
    method, target, _ = head.partition(b"\r\n")[0].split(b" ", 2)
    if not body or chance.random() < 0.3:
        target = mutated([target], chance)
        target = b"/" + quote_from_bytes(target.lstrip(b"/"), safe=string.punctuation.replace("#", "")).encode()
    if body:
        body = mutated([body], chance)
    return b"%b %b HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n%b" % (
        method, target, len(body), body,
    )  # fmt: skip


def _exchange(connection: sockets.socket, sent: bytes, *, ends: bool) -> bool:
    """Send a request and read the answer; return whether the connection can take another one."""
    with contextlib.suppress(BrokenPipeError, ConnectionResetError):
        connection.sendall(sent)
        if ends:
            connection.shutdown(sockets.SHUT_WR)
    response = http.client.HTTPResponse(connection, method=sent.split(b" ", 1)[0].decode("latin-1"))
    try:
        response.begin()
    except (ConnectionResetError, http.client.RemoteDisconnected):
        assert ends, "no answer"
        return False
    if (response.headers.get("content-type") or "").startswith("text/event-stream"):
        return False
    body = response.read()
    assert response.status < 500, body
    if body and response.headers.get("content-type") == "application/json":
        json.loads(body)
    return not response.will_close
