"""The page over HTTP: its files for every browser, its routes for requests with the token."""

from collections.abc import Sequence
from email.utils import formatdate
from importlib import resources

import msgspec
from starlette.applications import Starlette
from starlette.datastructures import MutableHeaders
from starlette.responses import Response
from starlette.routing import BaseRoute, Route
from starlette.types import ASGIApp, ExceptionHandler, Message, Receive, Scope, Send

from streamrelay.web.guard import FILES, HEADERS, Guard, RequestRefusal

_FILES = resources.files(__package__) / "page"


def create_site(guard: Guard, routes: Sequence[BaseRoute], refused: ExceptionHandler) -> ASGIApp:
    """Return the application; `refused` answers for what the routes raise."""
    files = [Route(path, _File(name, media_type)) for path, (name, media_type) in FILES.items()]
    return Guarded(
        Starlette(routes=[*files, *routes], exception_handlers={Exception: refused, 404: refused, 405: refused}), guard
    )


class Guarded:
    """An application whose requests are judged first, and whose answers all carry what keeps a browser in check."""

    def __init__(self, app: ASGIApp, guard: Guard) -> None:
        self._app = app
        self._guard = guard

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            return

        async def sent(message: Message) -> None:
            if message["type"] == "http.response.start":
                # By the date the page knows how far its own clock is off.
                MutableHeaders(scope=message).update({**HEADERS, "date": formatdate(usegmt=True)})
            await send(message)

        refusal = self._guard.refusal(scope["method"], scope["path"], scope["headers"])
        answer = self._app if refusal is None else _refusal(refusal)
        await answer(scope, receive, sent)


class _File:
    """One file of the page, read once."""

    def __init__(self, name: str, media_type: str) -> None:
        self._content = (_FILES / name).read_bytes()
        self._media_type = media_type

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        response = Response(self._content, headers={"content-type": self._media_type})
        await response(scope, receive, send)


def _refusal(refusal: RequestRefusal) -> Response:
    body = {"code": refusal.code, "message": refusal.message, "hint": refusal.hint, "data": {}}
    headers = {"www-authenticate": "Bearer"} if refusal.status == 401 else {}
    # What is not read of a request that was refused is not read at all.
    headers["connection"] = "close"
    return Response(msgspec.json.encode(body), refusal.status, headers, media_type="application/json")
