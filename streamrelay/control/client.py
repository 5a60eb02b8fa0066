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
another session that this client did not ask for, so the connection then ends by itself.
"""

import asyncio
import contextlib
import os
import secrets
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Self

from streamrelay import errors
from streamrelay.control.blocking import BlockingCommands
from streamrelay.control.connection_end import ConnectionEnd, EndReason, explain
from streamrelay.control.notifications import Exit, Notification, SessionChanged, Stray
from streamrelay.control.pipes import PipeTransport
from streamrelay.control.protocol import ControlEvent, ControlProtocol, PaneOutput, Reply
from streamrelay.control.proxy import harmless
from streamrelay.control.pty import PtyTransport
from streamrelay.control.quoting import command_line
from streamrelay.control.reminder import Reminder
from streamrelay.control.request_slots import RequestSlots
from streamrelay.control.requests import CommandResult, OnReply, RequestQueue, lost
from streamrelay.control.tmux import ServerInfo, Tmux, environment, refusal
from streamrelay.control.transport import Eager, Intake, Transport, TransportName
from streamrelay.waiting import answer_within

Handler = Callable[[Sequence[ControlEvent], float], None]

_NOTHING = command_line(("display-message", "-p", ""))
_BY_OTHERS: frozenset[EndReason] = frozenset({"detached", "session_gone", "moved"})
"""How other clients end a connection whose server runs on."""
_STRAYS = 20
"""Lines of the client program's own words that are kept until it is attached."""


class ControlClient:
    """A control client attached to one session; an async context manager.

    `target` names the session (best its id, `$3`), or `opening` is the command that makes one and attaches to it
    (`control.hub`), with flags of its own. `handler` gets output and notifications, those of before the attach
    was complete included, and never a reply; with them the event loop's time of the read they came in. `intake` tells
    how many bytes it takes at once, and how soon (`control.transport`). `flags` are further client flags, as
    `pause-after=30`.

    Entering raises errors.TmuxMissing, NoServer, ServerLost, ConnectionLost (the client was detached at once),
    TargetNotFound, CommandFailed (tmux's own words) and CommandTimeout.
    Leaving detaches; outstanding requests are answered with errors.ConnectionLost.
    """

    def __init__(
        self,
        tmux: Tmux,
        target: str,
        handler: Handler,
        *,
        intake: Intake | None = None,
        transport: TransportName = "pipes",
        flags: Sequence[str] = (),
        opening: Sequence[str] = (),
        attach_timeout: float = 10.0,
    ) -> None:
        self._tmux = tmux
        self._open_while_attached = contextlib.AsyncExitStack()
        self._handler = handler
        self._intake = Eager() if intake is None else intake
        self._name: TransportName = transport
        self._attach_timeout = attach_timeout
        attach = ("attach-session", "-E", "-f", ",".join(("ignore-size", *flags)), "-t", target)
        self._arguments = tuple(opening) or attach
        self._protocol = ControlProtocol()
        self._requests = RequestQueue(secrets.token_hex(8))
        self._slots = RequestSlots(lambda: self._finished or not self._requests.full)
        self._reminder = Reminder(owes=lambda: bool(self._requests), remind=self._ask_for_nothing)
        self._strays: list[bytes] = []
        self._transport: Transport | None = None
        self._attached: asyncio.Future[None] | None = None
        self._attach_reply: Reply | None = None
        self._session = ""
        self._finished = False
        self._words: str | None = None
        self._concluding: asyncio.Task[None] | None = None
        self._end: asyncio.Future[ConnectionEnd] | None = None

    @property
    def session(self) -> str:
        """The id of the session this client is attached to: "$3"."""
        return self._session

    @property
    def pid(self) -> int | None:
        """The process id of the tmux client; None before it was started."""
        return None if self._transport is None else self._transport.pid

    @property
    def ended(self) -> bool:
        """Whether the connection has ended, so that it takes no more commands."""
        return self._finished

    @property
    def room(self) -> int:
        """How many bytes the transport may read at once."""
        return self._intake.room

    @property
    def pause(self) -> float:
        """For how many seconds after a read the transport may wait: not at all while a reply is expected."""
        return 0.0 if self._requests else self._intake.pause

    @property
    def outstanding(self) -> int:
        """How many requests are written and not answered."""
        return len(self._requests)

    async def __aenter__(self) -> Self:
        await self.open()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self.aclose()

    async def open(self, server: ServerInfo | None = None) -> None:
        """Attach; the same as entering. The caller has to `aclose` the client.

        `server` is what `Tmux.probe` said of the server: one that a control client can kill is attached to through a
        proxy (`control.proxy`).
        """
        loop = asyncio.get_running_loop()
        self._attached, self._end = loop.create_future(), loop.create_future()
        try:
            async with answer_within(self._attach_timeout):
                self._transport = await self._start(server)
                await self._attached
        except BaseException as error:
            await self.aclose()
            if not isinstance(error, TimeoutError):
                raise
            words = f"tmux did not attach in {self._attach_timeout:g} s"
            raise errors.CommandTimeout(words, data={"command": " ".join(self._arguments)}) from error
        if self._session and not self._finished:
            return
        await self.aclose()
        strays = b"\n".join(self._strays).decode("utf-8", "replace").strip()
        said = self._transport.stderr or strays or self._words or ""
        if (reply := self._attach_reply) is not None and not reply.ok:
            raise refusal(reply.text, command=self._arguments)
        if self._session and (await self.closed).reason in _BY_OTHERS:
            raise lost(self._words)
        raise self._tmux.refused(self._transport.status, said, command=self._arguments)

    async def _start(self, server: ServerInfo | None) -> Transport:
        mode, start = ("-C", PipeTransport.open) if self._name == "pipes" else ("-CC", PtyTransport.open)
        tmux = await self._open_while_attached.enter_async_context(harmless(self._tmux, server))
        argv = tmux.argv("-N", mode, *self._arguments, stays=True, terminal=self._name == "cc")
        try:
            return await start(argv, environment(os.environ), self._read, self._eof, self)
        except OSError as error:
            raise self._tmux.unrunnable(error) from error

    async def aclose(self) -> None:
        """Detach, and return when the child is gone and nothing is open; the same as leaving."""
        if self._transport is None:
            await self._open_while_attached.aclose()
            return
        self._finish("left", "")
        await self.closed

    @property
    def closed(self) -> asyncio.Future[ConnectionEnd]:
        """Done when the connection has ended, however it did; await it as often as you like, it can't be cancelled."""
        if self._end is None:
            raise errors.UsageError("the client was never opened", hint="use it in `async with`")
        return asyncio.shield(self._end)

    def pause_reading(self) -> None:
        """Read no more until `resume_reading`; tmux keeps what it has to say, its end included. May be called again."""
        if self._transport is not None:
            self._transport.pause_reading()

    def resume_reading(self) -> None:
        """Go on reading."""
        if self._transport is not None:
            self._transport.resume_reading()

    def lend(self) -> BlockingCommands:
        """Stop reading, and return what runs commands in any thread, without the event loop in between.

        No event comes any more; the client can only be closed, after the end of what it lent (`BlockingCommands.end`).
        Raises errors.ConnectionLost where the connection has ended.
        """
        if self._finished or self._transport is None:
            raise lost(self._words)
        self._transport.pause_reading()
        self._reminder.stop()
        return BlockingCommands(*self._transport.descriptors, self._protocol, self._requests)

    def request(self, line: str, on_reply: OnReply) -> None:
        """Write one line of commands; `on_reply` is called with what became of it, at its place in the stream.

        Raises errors.BadCommand for what is not one line, errors.CommandTimeout where too many requests wait already,
        errors.ConnectionLost where the connection has ended.
        """
        if self._finished:
            raise lost(self._words)
        if self._transport is None or not self._session:
            raise errors.UsageError("the client is not attached", hint="use it in `async with`")
        self._transport.write(self._requests.submit(line, on_reply))
        self._reminder.asked()

    async def command(self, line: str, *, timeout: float = 10.0) -> CommandResult:  # noqa: ASYNC109
        """Write one line of commands and return what became of it; waits for a slot where too many wait already.

        Raises errors.CommandFailed with tmux's own words, errors.CommandTimeout after `timeout` seconds (tmux may
        still run the line), errors.BadCommand and errors.ConnectionLost.
        """
        answer: asyncio.Future[CommandResult] = asyncio.get_running_loop().create_future()

        def on_reply(result: CommandResult) -> None:
            if not answer.done():
                answer.set_result(result)

        try:
            async with answer_within(timeout):
                await self._slots.enter(lambda: self.request(line, on_reply))
                result = await answer
        except TimeoutError as error:
            raise errors.CommandTimeout(f"tmux did not answer in {timeout:g} s", data={"line": line}) from error
        return result.unwrap()

    def _ask_for_nothing(self) -> None:
        with contextlib.suppress(errors.StreamrelayError):
            self.request(_NOTHING, lambda _result: None)

    def _read(self, data: bytes) -> None:
        self._reminder.heard()
        self._take(self._protocol.receive(data))

    def _eof(self) -> None:
        self._take(self._protocol.receive_eof())

    def _take(self, events: Sequence[ControlEvent]) -> None:
        """Pass on the events of one read, each to whom it belongs, in order."""
        now = asyncio.get_running_loop().time()
        batch: list[ControlEvent] = []
        ending: tuple[EndReason, str | None] | None = None
        try:
            for event in events:
                if isinstance(event, PaneOutput):
                    batch.append(event)
                elif isinstance(event, Reply):
                    if self._requests.claims(event):
                        if batch:
                            self._handler(batch, now)
                            batch = []
                        self._requests.receive(event)
                    elif self._attach_reply is None:
                        self._attach_reply = event
                else:
                    batch.append(event)
                    ending = self._notice(event)
                    if ending is not None:
                        break
            if batch:
                self._handler(batch, now)
        except BaseException as error:
            self._finish("failed", repr(error))
            raise
        if ending is not None:
            self._finish(*ending)
        if self._attach_reply is not None and (self._session or not self._attach_reply.ok):
            self._attach_is_decided()
        self._slots.admit_next()

    def _notice(self, event: Notification) -> tuple[EndReason, str | None] | None:
        """Follow what is said of this client itself; return how the connection ends, if it does."""
        match event:
            case SessionChanged(session=session) if not self._session:
                self._session = session
            case SessionChanged(session=session) if session != self._session:
                return "moved", f"moved to session {session}"
            case Exit(reason=words):
                return "detached", words
            case Stray(line=line) if not self._session and len(self._strays) < _STRAYS:
                self._strays.append(line)
            case _:
                pass
        return None

    def _attach_is_decided(self) -> None:
        if self._attached is not None and not self._attached.done():
            self._attached.set_result(None)

    def _finish(self, guess: EndReason, words: str | None) -> None:
        """End the connection, once: deliver no more events and fail all pending requests."""
        if self._finished:
            return
        self._finished, self._words = True, words
        self._reminder.stop()
        self._attach_is_decided()
        if self._transport is not None and self._end is not None:
            ending = self._conclude(self._transport, self._end, guess)
            self._concluding = asyncio.get_running_loop().create_task(ending)
        try:
            self._requests.fail(words)
        finally:
            self._slots.admit_next()

    async def _conclude(self, transport: Transport, end: asyncio.Future[ConnectionEnd], guess: EndReason) -> None:
        try:
            try:
                await transport.close()
            finally:
                await self._open_while_attached.aclose()
            if guess in {"left", "failed"} or not self._session:
                end.set_result(ConnectionEnd(guess, self._words or ""))
            else:
                end.set_result(await explain(self._tmux, self._session, self._words, guess))
        finally:
            end.cancel()  # nothing to cancel, unless this task was
