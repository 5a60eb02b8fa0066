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
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from streamrelay.council.happenings import Happening
from streamrelay.daemon import metrics, openapi
from streamrelay.daemon.broadcast import Broadcast
from streamrelay.daemon.metrics import Metrics
from streamrelay.daemon.operations import API, OPERATIONS, STATUS, OneCouncil, OneSession, Operation
from streamrelay.daemon.problems import DEFECT, Problem, problem_of, status_of
from streamrelay.errors import StreamrelayError, UsageError
from streamrelay.service.api import Service, Status
from streamrelay.web.streams import Stream

MAX_BODY_SIZE = 32 * 2**20
"""Bytes: a message of some megabytes, with every character escaped."""
LIVE = f"{API}/live"
_LIVE_EVERY = 0.1
_JSON = msgspec.json.Encoder()


Frames = AsyncGenerator[bytes]
Showing = Callable[[str], Awaitable[AsyncGenerator[Sequence[str]]]]
"""What a session's screen shows that is not final, as it changes."""


def create_app(
    service: Service,
    broadcast: Broadcast,
    *,
    log: structlog.typing.FilteringBoundLogger,
    counts: Metrics,
    version: str,
    mounts: Sequence[BaseRoute] = (),
    council_stream: Callable[[Frames], Frames] = lambda frames: frames,
) -> Starlette:
    """Return the application; `mounts` are applications of others, for example the MCP server's, beside ours.

    The stream of a council goes through `council_stream`.
    """

    async def health(_: Request) -> Response:
        return _json(openapi.Health())

    async def figures(_: Request) -> Response:
        page = counts.page(await _status(service, broadcast), broadcast)
        return Response(page, headers={"content-type": metrics.MEDIA_TYPE})

    async def document(_: Request) -> Response:
        return _json(openapi.openapi(OPERATIONS, version))

    return Starlette(
        routes=[
            *call_routes(service, broadcast, log=log, counts=counts, council_stream=council_stream).values(),
            Route(openapi.HEALTH, health, methods=["GET"]),
            Route(openapi.METRICS, figures, methods=["GET"]),
            Route(openapi.DOCUMENT, document, methods=["GET"]),
            *mounts,
        ],
        # What is no error of ours Starlette raises again behind this answer, and the log tells where it was.
        exception_handlers=dict.fromkeys((StreamrelayError, HTTPException, Exception), refused),
    )


def call_routes(
    service: Service,
    broadcast: Broadcast,
    *,
    log: structlog.typing.FilteringBoundLogger,
    counts: Metrics,
    operations: Sequence[Operation[Any, Any]] = OPERATIONS,
    live: Showing | None = None,
    stream: Callable[[Frames], Frames] = lambda frames: frames,
    council_stream: Callable[[Frames], Frames] | None = None,
) -> dict[str, Route]:
    """Return a route for each operation, by its name, and those of the streams: each of them goes through `stream`.

    There is one for `live` where it is said what that shows. Councils go through `council_stream` if it is given.
    """

    async def events(request: Request) -> Response:
        follow = _follow(request)
        return Stream(stream(broadcast.subscribe(follow.after)))

    def route(operation: Operation[Any, Any]) -> Route:
        async def answer(request: Request) -> Response:
            began = time.perf_counter()
            response = await _answer(operation, request)
            seconds = time.perf_counter() - began
            counts.answered(operation.name, response.status_code, seconds)
            log.debug("answered", operation=operation.name, status=response.status_code, seconds=round(seconds, 6))
            return response

        return _route(operation.path, answer, operation.method, operation.in_path)

    async def _answer(operation: Operation[Any, Any], request: Request) -> Response:
        try:
            arguments = await _arguments(operation, request)
            status = operation is STATUS
            answer = await (_status(service, broadcast) if status else operation.call(service, arguments))
        except StreamrelayError as error:
            log.info("refused", operation=operation.name, code=error.code)
            return _problem(problem_of(error), status_of(error))
        return Response(status_code=204) if operation.answer is None else _json(answer)

    routes = {operation.name: route(operation) for operation in operations}
    routes["events"] = Route(openapi.EVENTS, events, methods=["GET"])
    if live is not None:
        routes["live"] = _live(live, stream)
    routes["follow_council"] = _council(service, council_stream or stream)
    return routes


def _live(live: Showing, stream: Callable[[Frames], Frames]) -> Route:
    async def shown(request: Request) -> Response:
        one: OneSession = _converted(OneSession, dict(request.query_params), strict=False)
        return Stream(stream(_live_frames(await live(one.session))))

    return Route(LIVE, shown, methods=["GET"])


def _council(service: Service, stream: Callable[[Frames], Frames]) -> Route:
    async def followed(request: Request) -> Response:
        one: OneCouncil = _converted(OneCouncil, dict(request.path_params), strict=False)
        return Stream(stream(_council_frames(service.follow_council(one.council))))

    return Route(openapi.COUNCIL_EVENTS, followed, methods=["GET"])


async def _council_frames(happenings: AsyncGenerator[Happening]) -> Frames:
    async with contextlib.aclosing(happenings):
        async for happening in happenings:
            yield b"data: %b\n\n" % _JSON.encode(happening)


async def _status(service: Service, broadcast: Broadcast) -> Status:
    told = await service.status()
    # One reading is ours, for all who follow over HTTP.
    return msgspec.structs.replace(told, subscribers=max(told.subscribers - 1, 0) + broadcast.subscribers)


async def _live_frames(shown: AsyncGenerator[Sequence[str]]) -> Frames:
    async with contextlib.aclosing(shown):
        async for lines in shown:
            yield b"data: %b\n\n" % _JSON.encode(lines)
            # Nobody sees more than this; what changes meanwhile is shown as it stands then.
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
    # What stands last may hold slashes: an id is whatever its maker liked.
    for name in in_path:
        path = path.removesuffix(f"{{{name}}}") + f"{{{name}:path}}" if path.endswith(f"{{{name}}}") else path
    return Route(path, endpoint, methods=[method])


async def _arguments(operation: Operation[Any, Any], request: Request) -> Any:
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
        raise UsageError(f"the body is no JSON object: {error}") from error
    return fields


def _converted(kind: type[msgspec.Struct], fields: dict[str, Any], *, strict: bool) -> Any:
    unknown = sorted(fields.keys() - set(kind.__struct_fields__))
    if unknown:
        known = ", ".join(kind.__struct_fields__) or "nothing"
        raise UsageError(f"nobody knows {', '.join(unknown)} here", hint=f"there is {known}")
    try:
        return msgspec.convert(fields, type=kind, strict=strict)
    except msgspec.ValidationError as error:
        raise UsageError(str(error), hint=f"{openapi.DOCUMENT} says what is asked for") from error


def _follow(request: Request) -> openapi.Follow:
    fields: dict[str, Any] = dict(request.query_params)
    # A browser that connects again sends where it was, and the address it began with.
    if last := request.headers.get("last-event-id"):
        fields["after"] = last
    follow: openapi.Follow = _converted(openapi.Follow, fields, strict=False)
    return follow


async def _body(request: Request) -> bytes:
    body = bytearray()
    async for part in request.stream():
        body += part
        if len(body) > MAX_BODY_SIZE:
            raise HTTPException(413, f"more than {MAX_BODY_SIZE} bytes")
    return bytes(body)


def _json(value: object) -> Response:
    return Response(_JSON.encode(value), media_type=openapi.JSON)


def _problem(problem: Problem, status: int) -> Response:
    return Response(_JSON.encode(problem), status, media_type=openapi.JSON)
