"""The OpenAPI document is of what is served, and every reference in it is there."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
from starlette.routing import Route

from streamrelay.daemon.openapi import openapi
from streamrelay.events import AnyEvent
from streamrelay.service.operations import operations
from tests.daemon.conftest import Served

DAEMON_PAGE = Path(__file__).parents[2] / "docs" / "daemon.md"


async def test_every_route_is_in_the_document_and_nothing_else(served: Served) -> None:
    app = served.server.config.loaded_app
    routes = {
        (re.sub(r":path\}", "}", route.path), method)
        for route in app.routes
        if isinstance(route, Route)
        for method in (route.methods or set()) - {"HEAD"}
    }
    transport = httpx.AsyncHTTPTransport(uds=str(served.address.socket))
    async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
        document = (await client.get("/openapi.json")).json()
    described = {(path, method.upper()) for path, methods in document["paths"].items() for method in methods}
    assert described == routes
    assert document["info"] == {"title": "streamrelay", "version": "1.2.3"}


def test_the_page_of_the_daemon_has_every_route_and_no_other() -> None:
    described = {
        f"{method.upper()} {path}"
        for path, methods in openapi(operations(), "1")["paths"].items()
        for method in methods
    }
    rows = re.findall(r"^\| `((?:GET|POST|DELETE) /\S*)` \|", DAEMON_PAGE.read_text(), re.MULTILINE)
    assert len(rows) == len({*rows})
    assert {*rows} == described


def test_every_reference_is_there_and_every_schema_is_referred_to() -> None:
    document = openapi(operations(), "1")
    schemas = set(document["components"]["schemas"])
    assert {name.rpartition("/")[2] for name in references(document)} == schemas
    assert {kind.__name__ for kind in AnyEvent.__args__} <= schemas
    names = [described["operationId"] for methods in document["paths"].values() for described in methods.values()]
    assert len(set(names)) == len(names)
    assert all(described["summary"] for methods in document["paths"].values() for described in methods.values())


def test_arguments_are_where_they_are_read_from() -> None:
    paths = openapi(operations(), "1")["paths"]
    extend = paths["/v1/links/{link}/extend"]["post"]
    assert [(one["name"], one["in"], one["required"]) for one in extend["parameters"]] == [("link", "path", True)]
    body = extend["requestBody"]["content"]["application/json"]["schema"]
    assert (list(body["properties"]), body["required"]) == (["deliveries"], ["deliveries"])
    journal = paths["/v1/journal"]["get"]["parameters"]
    assert [(one["name"], one["in"], one["required"]) for one in journal] == [
        ("seq", "query", True), ("session", "query", False), ("limit", "query", False),
    ]  # fmt: skip
    assert {one["name"]: one["in"] for one in paths["/v1/events"]["get"]["parameters"]} == {
        "after": "query", "Last-Event-ID": "header",
    }  # fmt: skip


def references(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for one in value.values():
            yield from references(one)
    elif isinstance(value, list | tuple):
        for one in value:
            yield from references(one)
    elif isinstance(value, str) and value.startswith("#/components/"):
        yield value
