"""The web page as a daemon serves it: on its own port beside the socket, with a part of the calls.

A holder of the token can read the output of the programs, take a seat in a gathering, and send messages to sessions as
a person does with `streamrelay send`. They cannot start or end a program, speak for a session, or link two sessions,
because a token leaks more easily than the user's socket.

On the socket, `GET /page` returns the page's address with its token, and `POST /page` opens the page.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import NoReturn

import msgspec
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from streamrelay.daemon.app import refused
from streamrelay.daemon.ports import PortProtocol, listening_on
from streamrelay.daemon.server import HttpServer
from streamrelay.errors import NotAllowed, UsageError
from streamrelay.service.api import SendMessage, SendResult
from streamrelay.service.interface import Service
from streamrelay.service.operations import API, Operation, operation, operations
from streamrelay.web.access import PAGE, Access, OpenPage
from streamrelay.web.guard import Guard, Listen, parse_listen
from streamrelay.web.site import create_site
from streamrelay.web.token import token_in

CALLS = frozenset({
    "status", "sessions", "watch", "read_since", "latest", "get_delivery", "list_deliveries", "cancel_delivery",
    "gatherings", "gathering_transcript", "say_in_gathering", "pass_piece", "councils", "council_transcript",
    "enter_council", "peers", "links", "relays",
})  # fmt: skip
"""The daemon's calls that the page may make unchanged."""
CHANGING = frozenset({"send_message", "cancel_delivery", "enter_council"})
"""The calls that the page may make only with `web.send`."""


class NoArguments(msgspec.Struct, frozen=True):
    """No arguments."""


class PersonalMessage(msgspec.Struct, frozen=True, kw_only=True):
    """A message from the person at the page: `SendMessage` without the fields that only a session may set."""

    to: str
    text: str
    message_id: str = ""
    """A message sent twice under one id is delivered once; the page resends after a broken connection."""
    allow_shell: bool = False


class PageFacts(msgspec.Struct, frozen=True, kw_only=True):
    """The settings that the page needs."""

    send: bool
    """Whether it may send messages, and cancel them (`web.send`)."""


def _send(service: Service, message: PersonalMessage) -> Awaitable[SendResult]:
    request = SendMessage(
        to=message.to, text=message.text, message_id=message.message_id, allow_shell=message.allow_shell
    )
    return service.send_message(request)


async def _refuse(_service: Service, _arguments: object) -> NoReturn:
    raise NotAllowed("this page may not send or cancel messages", hint="web.send = true in your configuration lets it")


def page_operations(*, send: bool) -> Sequence[Operation]:
    """Return the operations on the page's port, beside its files and the two streams.

    Without `send`, calls that send or cancel a message are refused (`not_allowed`).
    """

    async def facts(_service: Service, _: NoArguments) -> PageFacts:
        return PageFacts(send=send)

    sending = replace(operation("send_message"), arguments=PersonalMessage, call=_send)
    served = [*(one for one in operations() if one.name in CALLS), sending]
    if not send:
        served = [replace(one, call=_refuse) if one.name in CHANGING else one for one in served]
    return [*served, Operation("page", "GET", f"{API}/page", NoArguments, PageFacts, facts)]


Routes = Callable[[asyncio.Event], Sequence[BaseRoute]]
"""Return the routes for the page; the event ends their streams."""


class PageServer:
    """The page of one daemon, served inside the context `serving`."""

    def __init__(
        self, file: Path, *, listen: Listen | None = None, names: Collection[str] = (), send: bool = True
    ) -> None:
        self.operations = page_operations(send=send)
        self._file = file
        self._wanted = listen
        self._names = names
        self._access: Access | None = None
        self._opening = asyncio.Lock()

    @asynccontextmanager
    async def serving(self, routes: Routes) -> AsyncIterator[Sequence[BaseRoute]]:
        """Serve the page at once if configured, or on the first request; yield the routes for the socket."""
        async with AsyncExitStack() as stack:

            async def asked(request: Request) -> Response:
                if request.method == "POST":
                    try:
                        wanted = msgspec.json.decode(await request.body(), type=OpenPage).listen
                    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
                        raise UsageError(
                            f"the body does not say where to open the page: {error}",
                            hint="send a JSON object as docs/web.md describes",
                        ) from error
                    await self._open(_listen(wanted or "0"), routes, stack)
                return Response(msgspec.json.encode(self._access or Access()), media_type="application/json")

            if self._wanted is not None:
                await self._open(self._wanted, routes, stack)
            try:
                yield [Route(PAGE, asked, methods=["GET", "POST"])]
            finally:
                self._access = None

    async def _open(self, listen: Listen, routes: Routes, stack: AsyncExitStack) -> None:
        async with self._opening:
            if self._access is not None:
                return
            token = token_in(self._file)
            hint = "name another one: --web [HOST:]PORT"
            listener = stack.enter_context(listening_on(listen.host, listen.port, hint))
            at = listen._replace(port=listener.getsockname()[1])
            ended = asyncio.Event()
            site = create_site(Guard(at, token, self._names), routes(ended), refused)
            server = HttpServer(site, protocol=PortProtocol)
            running = asyncio.ensure_future(server.run_on(listener))

            async def end() -> None:
                ended.set()
                server.stop()
                await running

            stack.push_async_callback(end)
            self._access = Access(address=at.address, token=token)


def page_at(file: Path, listen: str, names: Collection[str], *, send: bool = True) -> PageServer:
    """Return the page, served at once if `listen` names a `[HOST:]PORT`; raises UsageError for an invalid one."""
    return PageServer(file, listen=_listen(listen) if listen else None, names=names, send=send)


def _listen(text: str) -> Listen:
    try:
        return parse_listen(text)
    except ValueError as error:
        raise UsageError(str(error), hint="--web [HOST:]PORT") from error
