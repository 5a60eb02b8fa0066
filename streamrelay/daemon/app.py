"""The service over HTTP: one route for each operation, the stream of events, and what watches the daemon itself."""

import asyncio
import contextlib
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from typing import Any

import msgspec
import structlog.typing
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from streamrelay.council.events import CouncilEvent
from streamrelay.daemon import metrics, openapi
from streamrelay.daemon.broadcast import Broadcast
from streamrelay.daemon.metrics import Metrics
from streamrelay.daemon.problems import DEFECT, Problem, problem_of, status_of
from streamrelay.errors import StreamrelayError, UsageError
from streamrelay.service.api import Status
from streamrelay.service.interface import Service
from streamrelay.service.operations import Operation, operations
from streamrelay.web.streams import EventStream

MAX_BODY_SIZE = 32 * 2**20
"""Bytes: a message of some megabytes, with every character escaped."""
_LIVE_EVERY = 0.1
_JSON = msgspec.json.Encoder()
_STATUS = "status"


class OneSession(msgspec.Struct, frozen=True, kw_only=True):
    """A session, by its id."""

    session: str


class OneCouncil(msgspec.Struct, frozen=True, kw_only=True):
    """A session of the council, by its id."""

    council: str


Frames = AsyncGenerator[bytes]
Showing = Callable[[str], Awaitable[AsyncGenerator[Sequence[str]]]]
"""Return the lines of a session's screen that are not final yet, again after each change."""


def create_app(
    service: Service,
    broadcast: Broadcast,
    *,
    log: structlog.typing.FilteringBoundLogger,
    counts: Metrics,
    version: str,
    live: Showing,
    mounts: Sequence[BaseRoute] = (),
    council_stream: Callable[[Frames], Frames] = lambda frames: frames,
) -> Starlette:
    """Return the application; `mounts` are other applications on the same socket, for example the MCP server.

    The stream of a council goes through `council_stream`.
    """

    async def health(_: Request) -> Response:
        return _json(openapi.Health())

    async def figures(_: Request) -> Response:
        page = counts.page(await _status(service, broadcast), broadcast)
        return Response(page, headers={"content-type": metrics.MEDIA_TYPE})

    served = operations()
    # Made once: it defines a class for the arguments of each call, and takes 8 to 10 ms of the event loop.
    described = _JSON.encode(openapi.openapi(served, version))

    async def document(_: Request) -> Response:
        return Response(described, media_type=openapi.JSON)

    calls = call_routes(
        service, broadcast, log=log, counts=counts, served=served, live=live, council_stream=council_stream
    )
    return Starlette(
        routes=[
            *calls.values(),
            Route(openapi.HEALTH, health, methods=["GET"]),
            Route(openapi.METRICS, figures, methods=["GET"]),
            Route(openapi.DOCUMENT, document, methods=["GET"]),
            *mounts,
        ],
        # After this answer, Starlette raises any error that is not a StreamrelayError again; the log names its place.
        exception_handlers=dict.fromkeys((StreamrelayError, HTTPException, Exception), refused),
    )


def call_routes(
    service: Service,
    broadcast: Broadcast,
    *,
    log: structlog.typing.FilteringBoundLogger,
    counts: Metrics,
    served: Sequence[Operation],
    live: Showing | None = None,
    stream: Callable[[Frames], Frames] = lambda frames: frames,
    council_stream: Callable[[Frames], Frames] | None = None,
) -> dict[str, Route]:
    """Return the routes by name: one for each operation in `served`, and those of the streams.

    Streams run through `stream`, those of councils through `council_stream` if it is given. The route `live` exists
    only if `live` is given.
    """

    async def events(request: Request) -> Response:
        follow = _follow(request)
        return EventStream(stream(broadcast.subscribe(follow.after)))

    def route(operation: Operation) -> Route:
        async def answer(request: Request) -> Response:
            began = time.perf_counter()
            response = await _answer(operation, request)
            seconds = time.perf_counter() - began
            counts.answered(operation.name, response.status_code, seconds)
            log.debug("answered", operation=operation.name, status=response.status_code, seconds=round(seconds, 6))
            return response

        return _route(operation.path, answer, operation.method, operation.in_path)

    async def _answer(operation: Operation, request: Request) -> Response:
        try:
            arguments = await _arguments(operation, request)
            status = operation.name == _STATUS
            answer = await (_status(service, broadcast) if status else operation.call(service, arguments))
        except StreamrelayError as error:
            log.info("refused", operation=operation.name, code=error.code)
            return _problem(problem_of(error), status_of(error))
        return Response(status_code=204) if operation.answer is None else _json(answer)

    routes = {operation.name: route(operation) for operation in served}
    routes["events"] = Route(openapi.EVENTS, events, methods=["GET"])
    if live is not None:
        routes["live"] = _live(live, stream)
    routes["follow_council"] = _council(service, council_stream or stream)
    return routes


def _live(live: Showing, stream: Callable[[Frames], Frames]) -> Route:
    async def shown(request: Request) -> Response:
        one: OneSession = _converted(OneSession, dict(request.query_params), strict=False)
        return EventStream(stream(_live_frames(await live(one.session))))

    return Route(openapi.LIVE, shown, methods=["GET"])


def _council(service: Service, stream: Callable[[Frames], Frames]) -> Route:
    async def followed(request: Request) -> Response:
        one: OneCouncil = _converted(OneCouncil, dict(request.path_params), strict=False)
        return EventStream(stream(_council_frames(service.follow_council(one.council))))

    return Route(openapi.COUNCIL_EVENTS, followed, methods=["GET"])


async def _council_frames(events: AsyncGenerator[CouncilEvent]) -> Frames:
    async with contextlib.aclosing(events):
        async for event in events:
            yield b"data: %b\n\n" % _JSON.encode(event)


async def _status(service: Service, broadcast: Broadcast) -> Status:
    told = await service.status()
    # All HTTP followers share one subscription.
    return msgspec.structs.replace(told, subscribers=max(told.subscribers - 1, 0) + broadcast.subscribers)


async def _live_frames(shown: AsyncGenerator[Sequence[str]]) -> Frames:
    async with contextlib.aclosing(shown):
        async for lines in shown:
            yield b"data: %b\n\n" % _JSON.encode(lines)
            # Limits the frame rate; the next frame shows the screen as it is by then.
            await asyncio.sleep(_LIVE_EVERY)


async def refused(request: Request, error: Exception) -> Response:
    """Answer for an error."""
    match error:
        case StreamrelayError():
            return _problem(problem_of(error), status_of(error))
        case HTTPException():
            words = f"{request.method} {request.url.path}: {error.detail}"
            return _problem(Problem(code=UsageError.code, message=words), error.status_code)
        case _:
            return _problem(Problem(code=StreamrelayError.code, message=DEFECT), 500)


def _route(path: str, endpoint: Callable[[Request], Any], method: str, in_path: frozenset[str]) -> Route:
    # The last part of a path may contain slashes: callers choose ids freely.
    for name in in_path:
        path = path.removesuffix(f"{{{name}}}") + f"{{{name}:path}}" if path.endswith(f"{{{name}}}") else path
    return Route(path, endpoint, methods=[method])


async def _arguments(operation: Operation, request: Request) -> Any:
    fields: dict[str, Any] = {}
    if operation.method == "POST":
        body = await _body(request)
        if body:
            fields = _decoded(body)
    else:
        fields = dict(request.query_params)
    return _converted(operation.arguments, fields | request.path_params, strict=operation.method == "POST")


def _decoded(body: bytes) -> dict[str, Any]:
    try:
        fields: dict[str, Any] = msgspec.json.decode(body, type=dict[str, Any])
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise UsageError(
            f"the body is not a JSON object: {error}",
            hint="send one JSON object; GET /openapi.json describes the body of each call",
        ) from error
    return fields


def _converted(kind: type[msgspec.Struct], fields: dict[str, Any], *, strict: bool) -> Any:
    unknown = sorted(fields.keys() - set(kind.__struct_fields__))
    if unknown:
        known = ", ".join(kind.__struct_fields__) or "none"
        raise UsageError(f"unknown field: {', '.join(unknown)}", hint=f"known fields: {known}")
    try:
        return msgspec.convert(fields, type=kind, strict=strict)
    except msgspec.ValidationError as error:
        raise UsageError(str(error), hint=f"see {openapi.DOCUMENT} for the arguments") from error


def _follow(request: Request) -> openapi.Follow:
    fields: dict[str, Any] = dict(request.query_params)
    # A browser that reconnects sends the id of the last event it read, and the URL it began with.
    if last := request.headers.get("last-event-id"):
        fields["after"] = last
    follow: openapi.Follow = _converted(openapi.Follow, fields, strict=False)
    return follow


async def _body(request: Request) -> bytes:
    body = bytearray()
    try:
        async for part in request.stream():
            body += part
            if len(body) > MAX_BODY_SIZE:
                raise HTTPException(413, f"more than {MAX_BODY_SIZE} bytes")
    except ClientDisconnect as error:
        # The client is gone; without this answer it would be logged as a defect.
        raise HTTPException(400, "the body ends before its length") from error
    return bytes(body)


def _json(value: object) -> Response:
    return Response(_JSON.encode(value), media_type=openapi.JSON)


def _problem(problem: Problem, status: int) -> Response:
    return Response(_JSON.encode(problem), status, media_type=openapi.JSON)
