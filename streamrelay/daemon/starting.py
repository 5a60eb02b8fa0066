"""What a daemon answers while it starts: `GET /health` says how far it is, and the application answers once it is open.

| `GET /health` | the service | other requests |
|---|---|---|
| 503 `starting` | opens its files and connects to tmux | wait |
| 503 `restoring` | reads the panes of the earlier service again | answered if `CallRoute.early`, others wait |
| 200 `ok` | does everything | are answered |
"""

import asyncio

import msgspec
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from streamrelay.daemon import openapi
from streamrelay.service.restore import RestoreProgress


class StartingApp:
    """An ASGI application that hands all requests to another one as soon as `open` names it."""

    def __init__(self, progress: RestoreProgress) -> None:
        self._progress = progress
        self._is_ready = False
        self._app: asyncio.Future[ASGIApp] = asyncio.get_running_loop().create_future()

    def open(self, app: ASGIApp) -> None:
        """Let `app` answer the requests that wait, and all later ones but that for the health."""
        self._app.set_result(app)

    def ready(self) -> None:
        """Let `app` answer that request, too: the service is restored."""
        self._is_ready = True

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or wait until the other application can."""
        if not self._is_ready and (scope.get("method"), scope.get("path")) == ("GET", openapi.HEALTH):
            status = openapi.Health(
                status="restoring" if self._app.done() else "starting",
                panes=self._progress.panes,
                read=self._progress.read,
            )
            response = Response(msgspec.json.encode(status), 503, media_type=openapi.JSON)
            await response(scope, receive, send)
        else:
            app = await asyncio.shield(self._app)
            await app(scope, receive, send)
