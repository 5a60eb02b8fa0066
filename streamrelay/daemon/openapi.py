"""The OpenAPI document of the daemon, made of the same types that are read and written."""

from collections.abc import Iterable, Mapping
from typing import Any, Literal

import msgspec

from streamrelay.council.events import CouncilEvent
from streamrelay.daemon.problems import Problem
from streamrelay.daemon.sse import MEDIA_TYPE
from streamrelay.events import AnyEvent
from streamrelay.history.results import Whole
from streamrelay.service.operations import API, Operation

JSON = "application/json"
EVENTS = f"{API}/events"
COUNCIL_EVENTS = f"{API}/councils/{{council}}/events"
LIVE = f"{API}/live"
HEALTH = "/health"
METRICS = "/metrics"
DOCUMENT = "/openapi.json"
RELOAD = "/reload"
"""For the user's commands alone: not in the document, as the page's route is not."""

Schema = dict[str, Any]
_REFERENCE = "#/components/schemas/"


class Follow(msgspec.Struct, frozen=True, kw_only=True):
    """Where a stream of events begins: after a place in the journal, or now."""

    after: Whole | None = None


class Health(msgspec.Struct, frozen=True, kw_only=True):
    """The answer of a daemon that runs, or that still starts: while it is `restoring`, calls that need panes wait."""

    status: Literal["ok", "starting", "restoring"] = "ok"
    panes: int = 0
    """While it starts: how many panes it reads again."""
    read: int = 0
    """While it starts: how many of them are read."""


def openapi(operations: Iterable[Operation], version: str) -> Schema:
    """Return the document (OpenAPI 3.1) of these operations and of what a daemon has besides."""
    operations = tuple(operations)
    types = [operation.answer for operation in operations] + [operation.arguments for operation in operations]
    schemas, components = msgspec.json.schema_components(
        [*types, AnyEvent, Follow, Health, CouncilEvent, Problem], ref_template=f"{_REFERENCE}{{name}}"
    )
    events, follow, health, event, _ = schemas[len(types) :]
    paths: dict[str, Schema] = {}
    for one, answer, fields in zip(operations, schemas, schemas[len(operations) :], strict=False):
        described = _described(one, _fields(fields, components))
        described["responses"] = _responses(None if one.answer is None else answer)
        paths.setdefault(one.path, {})[one.method.lower()] = described
    paths[EVENTS] = {"get": _stream(events, _fields(follow, components))}
    council = _plain(
        "follow_council",
        "The state of an open session of the council, then what happens in it, as server-sent events.",
        MEDIA_TYPE,
        event,
    )
    paths[COUNCIL_EVENTS] = {
        "get": council | {"parameters": [_parameter("council", "path", {"type": "string"}, required=True)]}
    }
    live = _plain(
        "live",
        "The lines of a session that are not final, as server-sent events, now and as they change.",
        MEDIA_TYPE,
        {"type": "array", "items": {"type": "string"}},
    )
    paths[LIVE] = {"get": live | {"parameters": [_parameter("session", "query", {"type": "string"}, required=True)]}}
    paths[HEALTH] = {"get": _plain("health", "Say that it answers, or how far its start is.", JSON, health)}
    paths[HEALTH]["get"]["responses"]["503"] = {"description": "starting", "content": {JSON: {"schema": health}}}
    paths[METRICS] = {"get": _plain("metrics", "Figures for Prometheus.", "text/plain", {"type": "string"})}
    paths[DOCUMENT] = {"get": _plain("openapi", "This document.", JSON, {"type": "object"})}
    return {
        "openapi": "3.1.0",
        "info": {"title": "streamrelay", "version": version},
        "paths": paths,
        # Structs that only carry arguments are part of the parameters and bodies, not schemas of their own.
        "components": {"schemas": _used(components, paths)},
    }


def _described(one: Operation, fields: Schema) -> Schema:
    properties, required = fields["properties"], set(fields.get("required", ()))
    described: Schema = {"operationId": one.name, "summary": one.summary}
    elsewhere = set(properties) - one.in_path
    parameters = [_parameter(name, "path", properties[name], required=True) for name in sorted(one.in_path)]
    if one.method != "POST":
        parameters += [
            _parameter(name, "query", properties[name], required=name in required)
            for name in properties
            if name in elsewhere
        ]
    elif elsewhere:
        body = {"type": "object", "properties": {n: s for n, s in properties.items() if n in elsewhere}}
        needed = [name for name in properties if name in elsewhere & required]
        described["requestBody"] = {
            "required": bool(needed),
            "content": {JSON: {"schema": body | {"required": needed}}},
        }
    return described | ({"parameters": parameters} if parameters else {})


def _stream(events: Schema, fields: Schema) -> Schema:
    last = _parameter("Last-Event-ID", "header", {"type": "integer"}, required=False)
    after = _parameter("after", "query", fields["properties"]["after"], required=False)
    described = _plain(
        "events",
        "Every event that is journaled, as server-sent events, from a place or from now on.",
        MEDIA_TYPE,
        events,
    )
    return described | {"parameters": [after, last]}


def _plain(name: str, summary: str, media_type: str, schema: Schema) -> Schema:
    return {"operationId": name, "summary": summary, "responses": _responses(schema, media_type)}


def _parameter(name: str, where: str, schema: Schema, *, required: bool) -> Schema:
    return {"name": name, "in": where, "required": required, "schema": schema}


def _responses(schema: Schema | None, media_type: str = JSON) -> Schema:
    problem = {"description": "refused", "content": {JSON: {"schema": {"$ref": f"{_REFERENCE}Problem"}}}}
    if schema is None:
        return {"204": {"description": "done"}, "default": problem}
    return {"200": {"description": "done", "content": {media_type: {"schema": schema}}}, "default": problem}


def _fields(schema: Schema, components: Mapping[str, Schema]) -> Schema:
    return components[schema["$ref"].removeprefix(_REFERENCE)]


def _used(components: Mapping[str, Schema], paths: Schema) -> Schema:
    wanted: set[str] = set()
    found = _references(paths)
    while found:
        wanted |= found
        found = {name for known in found for name in _references(components[known])} - wanted
    return {name: schema for name, schema in components.items() if name in wanted}


def _references(value: object) -> set[str]:
    if isinstance(value, Mapping):
        return {name for one in value.values() for name in _references(one)}
    if isinstance(value, list | tuple):
        return {name for one in value for name in _references(one)}
    if isinstance(value, str) and value.startswith(_REFERENCE):
        return {value.removeprefix(_REFERENCE)}
    return set()
