"""Fuzz the HTTP API of a running daemon by its own OpenAPI document, with schemathesis over the daemon's unix socket.

Every operation of the document gets valid and invalid requests. Each response must be one that the document describes:
its status, its content type and its body; never a status from 500 on but for the two that the service means (a lost
tmux server, a daemon that ends).
"""

import contextlib
import random
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

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

CHECKS = (not_a_server_error, status_code_conformance, content_type_conformance, response_schema_conformance)
STREAMS = frozenset({"/v1/events", "/v1/live", "/v1/councils/{council}/events"})
"""Responses without an end; tests/daemon reads them."""
TIMEOUT = 60.0

Known = Mapping[str, Sequence[str]]
"""What exists, by the name of the argument that takes it."""


def fuzz_http(socket: Path, examples: int, seed: int, known: Known) -> Counter[str]:
    """Send so many requests of each kind to each operation; return how many responses there were, by operation and
    status. A response that the document does not describe raises schemathesis's error, which shows the request.
    """
    answered: Counter[str] = Counter()
    with httpx.Client(
        transport=httpx.HTTPTransport(uds=str(socket)), base_url="http://localhost", timeout=TIMEOUT
    ) as client:
        schema = schemathesis.openapi.from_dict(client.get("/openapi.json").json())
        for operation in [found.ok() for found in schema.get_all_operations()]:
            if operation.path in STREAMS:
                continue
            for mode in GenerationMode:
                _fuzz_operation(client, operation, mode, examples, seed, known, answered)
    return answered


def _fuzz_operation(
    client: httpx.Client,
    operation: Any,
    mode: GenerationMode,
    examples: int,
    seed: int,
    known: Known,
    answered: Counter[str],
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
