"""What a daemon answers while its service opens: `GET /health` says how far it is, every other request waits.

The service decides nothing before all panes are read, because what one program said meanwhile may be due to another
(service/restore.py). So a call for a pane that is read already waits for the others, too.
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
        self._app: asyncio.Future[ASGIApp] = asyncio.get_running_loop().create_future()

    def open(self, app: ASGIApp) -> None:
        """Let `app` answer the requests that wait, and all later ones."""
        self._app.set_result(app)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or wait until the other application can."""
        if not self._app.done() and (scope.get("method"), scope.get("path")) == ("GET", openapi.HEALTH):
            health = openapi.Health(status="starting", panes=self._progress.panes, read=self._progress.read)
            response = Response(msgspec.json.encode(health), 503, media_type=openapi.JSON)
            await response(scope, receive, send)
        else:
            app = await asyncio.shield(self._app)
            await app(scope, receive, send)
