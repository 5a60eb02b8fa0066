"""The service over HTTP: one route for each operation, the stream of events, and what watches the daemon itself."""

import contextlib
import time
from collections.abc import AsyncGenerator, Callable, Sequence
from typing import Any, cast

import msgspec
import structlog.typing
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import BaseRoute, Route
from starlette.types import Send

from streamrelay.daemon import metrics, openapi, sse
from streamrelay.daemon.broadcast import Broadcast
from streamrelay.daemon.metrics import Metrics
from streamrelay.daemon.operations import OPERATIONS, STATUS, Operation
from streamrelay.daemon.problems import DEFECT, Problem, problem_of, status_of
from streamrelay.errors import StreamrelayError, UsageError
from streamrelay.service.api import Service, Status

MOST_BODY = 32 * 2**20
"""Bytes: a message of some megabytes, with every character escaped."""
_JSON = msgspec.json.Encoder()


def create_app(
    service: Service,
    broadcast: Broadcast,
    *,
    log: structlog.typing.FilteringBoundLogger,
    counts: Metrics,
    version: str,
    mounts: Sequence[BaseRoute] = (),
) -> Starlette:
    """Return the application; `mounts` are applications of others, for example the MCP server's, beside ours."""

    async def status() -> Status:
        told = await service.status()
        # One reading is ours, for all who follow over HTTP.
        return msgspec.structs.replace(told, subscribers=max(told.subscribers - 1, 0) + broadcast.subscribers)

    async def events(request: Request) -> Response:
        follow = _follow(request)
        frames = broadcast.subscribe(follow.after)
        return _Stream(frames, media_type=sse.MEDIA_TYPE, headers={"cache-control": "no-store"})

    async def health(_: Request) -> Response:
        return _json(openapi.Health())

    async def figures(_: Request) -> Response:
        page = counts.page(await status(), broadcast)
        return Response(page, headers={"content-type": metrics.MEDIA_TYPE})

    async def document(_: Request) -> Response:
        return _json(openapi.openapi(OPERATIONS, version))

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
            answer = await (status() if operation is STATUS else operation.call(service, arguments))
        except StreamrelayError as error:
            log.info("refused", operation=operation.name, code=error.code)
            return _problem(problem_of(error), status_of(error))
        return Response(status_code=204) if operation.answer is None else _json(answer)

    return Starlette(
        routes=[
            *map(route, OPERATIONS),
            Route(openapi.EVENTS, events, methods=["GET"]),
            Route(openapi.HEALTH, health, methods=["GET"]),
            Route(openapi.METRICS, figures, methods=["GET"]),
            Route(openapi.DOCUMENT, document, methods=["GET"]),
            *mounts,
        ],
        # What is no error of ours Starlette raises again behind this answer, and the log tells where it was.
        exception_handlers=dict.fromkeys((StreamrelayError, HTTPException, Exception), _refused),
    )


async def _refused(request: Request, error: Exception) -> Response:
    match error:
        case StreamrelayError():
            return _problem(problem_of(error), status_of(error))
        case HTTPException():
            words = f"{request.method} {request.url.path}: {error.detail}"
            return _problem(Problem(code=UsageError.code, message=words), error.status_code)
        case _:
            return _problem(Problem(code=StreamrelayError.code, message=DEFECT), 500)


class _Stream(StreamingResponse):
    """A response that lets go of what it was made of as soon as its reader is gone."""

    async def stream_response(self, send: Send) -> None:
        async with contextlib.aclosing(cast(AsyncGenerator[bytes], self.body_iterator)):
            await super().stream_response(send)


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
    except msgspec.DecodeError as error:
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
        if len(body) > MOST_BODY:
            raise HTTPException(413, f"more than {MOST_BODY} bytes")
    return bytes(body)


def _json(value: object) -> Response:
    return Response(_JSON.encode(value), media_type=openapi.JSON)


def _problem(problem: Problem, status: int) -> Response:
    return Response(_JSON.encode(problem), status, media_type=openapi.JSON)
