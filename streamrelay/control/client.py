"""A control client on an event loop: attaches, hands on what tmux says in order, and asks tmux in between.

    bytes -> ControlProtocol -> events -> handler          (what panes print, what changes)
                                      -> RequestQueue -> on_reply   (answers, at their place between the former)

Everything happens in the callback that read the bytes, in the order of the stream. That is the point: when `on_reply`
is called, all output from before the answer has been handed to the handler, and none from after it, so a snapshot and
the output that follows it fit together exactly. For the same reason a handler or callback that raises ends the
connection: its stream would have a hole. Both have to be quick; whatever takes long belongs behind a queue of the
caller's.

Attaching leaves no trace a user could list: `-E` keeps the session's environment, `ignore-size` its size,
`refresh-client -C` is never sent, and `-N` starts no server.

A connection ends in one of the ways of `EndReason`. tmux says a bare `%exit` for several of them, so at the end one
subprocess asks what became of the session. With `detach-on-destroy off` tmux moves a client whose session is gone to
another session; nobody asked for that one, so the connection then ends by itself.
"""

import asyncio
import os
import secrets
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Self

from streamrelay import errors
from streamrelay.control.ending import End, EndReason, explain
from streamrelay.control.gate import Gate
from streamrelay.control.notifications import Exit, SessionChanged, Stray
from streamrelay.control.pipes import PipeTransport
from streamrelay.control.protocol import ControlEvent, ControlProtocol, PaneOutput, Reply
from streamrelay.control.pty import PtyTransport
from streamrelay.control.requests import CommandResult, OnReply, RequestQueue, lost
from streamrelay.control.tmux import Tmux, environment, missing, refusal
from streamrelay.control.transport import Transport, TransportName

Handler = Callable[[Sequence[ControlEvent], float], None]


class ControlClient:
    """A control client attached to one session; an async context manager.

    `target` names the session (best its id, `$3`); `handler` gets every event that answers no request, with the event
    loop's time of the read it came in; `flags` are further client flags, as `pause-after=30`.

    Entering raises errors.TmuxMissing, NoServer, TargetNotFound, CommandFailed (tmux's own words) and CommandTimeout.
    Leaving detaches; outstanding requests are answered with errors.ServerLost.
    """

    def __init__(
        self,
        tmux: Tmux,
        target: str,
        handler: Handler,
        *,
        transport: TransportName = "pipes",
        flags: Sequence[str] = (),
        attach_timeout: float = 10.0,
    ) -> None:
        self._tmux = tmux
        self._handler = handler
        self._name: TransportName = transport
        self._attach_timeout = attach_timeout
        self._arguments = ("attach-session", "-E", "-f", ",".join(("ignore-size", *flags)), "-t", target)
        self._protocol = ControlProtocol()
        self._requests = RequestQueue(secrets.token_hex(8))
        self._gate = Gate(lambda: self._words is not None or not self._requests.full)
        self._strays: list[bytes] = []
        self._transport: Transport | None = None
        self._attached: asyncio.Future[Reply | None] | None = None
        self._attach_reply: Reply | None = None
        self._session = ""
        self._words: str | None = None
        self._concluding: asyncio.Task[None] | None = None
        self._end: asyncio.Future[End] | None = None

    @property
    def session(self) -> str:
        """The id of the session this client is attached to: "$3"."""
        return self._session

    @property
    def pid(self) -> int | None:
        """The process id of the tmux client; None before it was started."""
        return None if self._transport is None else self._transport.pid

    @property
    def outstanding(self) -> int:
        """How many requests are written and not answered."""
        return len(self._requests)

    async def __aenter__(self) -> Self:
        loop = asyncio.get_running_loop()
        self._attached, self._end = loop.create_future(), loop.create_future()
        mode, start = ("-C", PipeTransport.open) if self._name == "pipes" else ("-CC", PtyTransport.open)
        argv = self._tmux.argv("-N", mode, *self._arguments)
        try:
            self._transport = await start(argv, environment(os.environ), self._read, self._eof)
        except OSError as error:
            raise missing(self._tmux.binary, error) from error
        try:
            async with asyncio.timeout(self._attach_timeout):
                reply = await self._attached
        except TimeoutError as error:
            await self._transport.close()
            words = f"tmux did not attach in {self._attach_timeout:g} s"
            raise errors.CommandTimeout(words, data={"command": " ".join(self._arguments)}) from error
        except BaseException:
            await self._transport.close()
            raise
        if reply is None or not reply.ok:
            await self._transport.close()
            said = self._transport.stderr or b"\n".join(self._strays).decode("utf-8", "replace").strip()
            raise refusal(said if reply is None else reply.text, command=self._arguments)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._finish("left", "left")
        await self.wait_closed()

    async def wait_closed(self) -> End:
        """Wait until the connection has ended, however it does; its child is then gone and nothing is open."""
        if self._end is None:
            raise errors.UsageError("the client was never attached")
        return await asyncio.shield(self._end)

    def request(self, line: str, on_reply: OnReply) -> None:
        """Write one line of commands; `on_reply` is called with what became of it, at its place in the stream.

        Raises errors.BadCommand for what is not one line, errors.CommandTimeout where too many requests wait already,
        errors.ServerLost where the connection has ended.
        """
        if self._words is not None:
            raise lost(self._words)
        if self._transport is None or not self._session:
            raise errors.UsageError("the client is not attached")
        self._transport.write(self._requests.submit(line, on_reply))

    async def command(self, line: str, *, timeout: float = 10.0) -> CommandResult:  # noqa: ASYNC109
        """Write one line of commands and return what became of it; waits for a slot where too many wait already.

        Raises errors.CommandFailed with tmux's own words, errors.CommandTimeout after `timeout` seconds (tmux may
        still run the line), errors.BadCommand and errors.ServerLost.
        """
        answer: asyncio.Future[CommandResult] = asyncio.get_running_loop().create_future()

        def on_reply(result: CommandResult) -> None:
            if not answer.done():
                answer.set_result(result)

        try:
            async with asyncio.timeout(timeout):
                await self._gate.enter(lambda: self.request(line, on_reply))
                result = await answer
        except TimeoutError as error:
            raise errors.CommandTimeout(f"tmux did not answer in {timeout:g} s", data={"line": line}) from error
        return result.unwrap()

    def _read(self, data: bytes) -> None:
        self._take(self._protocol.receive(data))

    def _eof(self) -> None:
        self._take(self._protocol.receive_eof())
        if self._words is None:
            self._finish("detached", "")

    def _take(self, events: Sequence[ControlEvent]) -> None:
        """Pass on the events of one read, each to whom it belongs, in order."""
        now = asyncio.get_running_loop().time()
        batch: list[ControlEvent] = []
        try:
            for event in events:
                if isinstance(event, Reply) and self._requests.claims(event):
                    if batch:
                        self._handler(batch, now)
                        batch = []
                    self._requests.receive(event)
                else:
                    batch.append(event)
                    if not isinstance(event, PaneOutput):
                        self._notice(event)
                if self._words is not None:
                    break
            if batch:
                self._handler(batch, now)
        except BaseException as error:
            self._finish("failed", repr(error))
            raise
        self._gate.look()

    def _notice(self, event: ControlEvent) -> None:
        """Follow what the events say of this client itself."""
        match event:
            case SessionChanged(session=session) if not self._session:
                self._session = session
                self._attach_is(self._attach_reply)
            case SessionChanged(session=session) if session != self._session:
                self._finish("moved", f"moved to session {session}")
            case Reply(flags=0) if self._attach_reply is None:
                self._attach_reply = event
                if not event.ok:
                    self._attach_is(event)
            case Stray(line=line) if not self._session and len(self._strays) < 20:
                self._strays.append(line)
            case Exit(reason=reason):
                self._finish("detached", reason or "")
            case _:
                pass

    def _attach_is(self, reply: Reply | None) -> None:
        if self._attached is not None and not self._attached.done():
            self._attached.set_result(reply)

    def _finish(self, guess: EndReason, words: str) -> None:
        """End the connection, once: nothing is handed on any more, and whoever waits for an answer is told."""
        if self._words is not None:
            return
        self._words = words
        self._attach_is(self._attach_reply if self._attach_reply and not self._attach_reply.ok else None)
        if self._transport is not None:
            self._concluding = asyncio.get_running_loop().create_task(self._conclude(self._transport, guess, words))
        try:
            self._requests.fail(words)
        finally:
            self._gate.look()

    async def _conclude(self, transport: Transport, guess: EndReason, words: str) -> None:
        await transport.close()
        known = guess in {"left", "failed"} or not self._session
        end = End(guess, words) if known else await explain(self._tmux, self._session, words, guess)
        if self._end is not None and not self._end.done():
            self._end.set_result(end)
