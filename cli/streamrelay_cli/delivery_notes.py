"""Notes for the user about a message in flight: its receipts, why it waits, what to do, and how to cancel it.

notes = DeliveryNotes(output, message_id, sessions=service.sessions, queues=True)
await notes.beside(send_through(service, request, publish=notes.take))
"""

import asyncio
import contextlib
import shlex
from collections.abc import Awaitable, Callable, Coroutine, Iterator, Sequence
from typing import Any, NoReturn, TypeVar

from streamrelay.errors import PaneTaken, StreamrelayError
from streamrelay.events import Event, NeedsHuman, Receipt
from streamrelay.panes.tasks import until_first
from streamrelay.service.api import Delivery
from streamrelay.sessions.model import Session
from streamrelay_cli.attention import attention_lines, reachable, session_label
from streamrelay_cli.options import ServerOptions
from streamrelay_cli.output import CommandOutput

ANSWER_NOTE = 5.0
"""Seconds until a note says that the command waits for the answer."""
STATE_TIMEOUT = 3.0
"""Seconds to wait for the daemon's state of a message when the command is interrupted."""

Result = TypeVar("Result")


class DeliveryNotes:
    """Notes on one message. `sessions` lists the sessions; `queues` says whether a daemon types the message later."""

    def __init__(
        self,
        output: CommandOutput,
        message_id: str,
        *,
        sessions: Callable[[], Awaitable[Sequence[Session]]],
        queues: bool,
        receipts: bool = True,
        waits: bool = False,
        limit: float | None = None,
        name: str = "",
        server: ServerOptions | None = None,
    ) -> None:
        """Take the message; with `waits` the command waits for the answer, at most `limit` seconds in all."""
        self.receipt: Receipt | None = None
        self._output = output
        self._message_id = message_id
        self._sessions = sessions
        self._queues = queues
        self._receipts = receipts
        self._waits = waits
        self._limit = limit
        self._name = name or message_id
        self._options = _server_words(server)
        self._held: asyncio.Queue[str] = asyncio.Queue()
        self._saying = ""
        self._said: set[str] = set()
        self._pane = ""

    @property
    def cancel_command(self) -> str:
        """The command that cancels the message."""
        return f"streamrelay delivery cancel {self._message_id}{self._options}"

    def take(self, event: Event) -> None:
        """Take an event of the message's pane."""
        if isinstance(event, Receipt) and event.message_id == self._message_id:
            self.receipt, self._pane = event, event.pane
            if self._receipts:
                self._output.note(f"{self._name}: {event.state}{f' ({event.reason})' if event.reason else ''}")
            if event.state == "queued" and event.reason:
                self._held.put_nowait(event.reason)
            elif event.state == "submitted" and self._waits:
                self._held.put_nowait("answer")
        elif isinstance(event, NeedsHuman):
            self._pane = event.pane
            self._held.put_nowait("needs_human")

    def say_who_types(self, taken: PaneTaken) -> None:
        """Print which other sender the message waits for."""
        self._output.note(
            f"waiting: a sender (pid {taken.data['pid']}) types into {taken.data['pane']}; Ctrl-C stops the waiting"
        )

    async def beside(self, delivering: Coroutine[Any, Any, Result]) -> Result:
        """Run the delivery, and print meanwhile why the message waits."""
        result = await until_first(delivering, self._explain())
        # The end of the delivery may have cut off a note.
        unsaid = [self._saying, *(self._held.get_nowait() for _ in range(self._held.qsize()))]
        for why in unsaid:
            if why not in {"", "answer"}:
                await self._say(why)
        return result

    async def _explain(self) -> NoReturn:
        while True:
            self._saying = ""
            self._saying = why = await self._held.get()
            if why == "answer":
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(ANSWER_NOTE):
                        self._saying = why = await self._held.get()
            await self._say(why)

    async def _say(self, why: str) -> None:
        """Print why the message waits, each line once."""
        session: Session | None = None
        # The delivering process reports a lost connection itself.
        with contextlib.suppress(StreamrelayError):
            session = next((one for one in await self._sessions() if one.pane == self._pane), None)
        for line in self._lines(why, session):
            if line not in self._said:
                self._said.add(line)
                self._output.note(line)

    def _lines(self, why: str, session: Session | None) -> Iterator[str]:
        who = self._pane if session is None else session_label(session)
        there = "" if session is None else f": {reachable(session.attach)}"
        match why:
            case "needs_human" if session is not None:
                yield from attention_lines([session])
            case "draft":
                yield f"the input box of {who} contains a draft"
                yield f"  send it or delete it there{there}"
            case "at_work":
                yield f"{who} is at work; the message is typed when it accepts messages again"
            case "not_ready":
                yield f"{who} does not show that it accepts messages"
                yield f"  check its screen{there}"
            case "answer":
                limit = f", for {self._limit:g} s in all" if self._limit else ""
                yield f"waiting for the answer of {who}{limit}; Ctrl-C stops the waiting"
            case _:
                pass
        if self.receipt is not None and self.receipt.state == "queued":
            yield from self._ways_out()

    def _ways_out(self) -> Iterator[str]:
        if not self._queues:
            yield f"{self._message_id} is typed as soon as possible; Ctrl-C cancels it"
            return
        yield f"{self._message_id} stays queued until then; cancel it with: {self.cancel_command}"
        yield f"list waiting messages with: streamrelay delivery list{self._options}"

    # When the command is interrupted

    def say_what_became_of_it(self) -> None:
        """Print the final state of a message that this process itself delivers, when the command gives up."""
        state = self.receipt.state if self.receipt is not None else None
        match state:
            case None:
                words = "was not sent"
            case "failed" | "queued":
                words = "is cancelled: nothing of it is typed"
            case "pasted" | "painted":
                words = (
                    "is pasted without its Enter, which this command presses no more; if the text still stands there, "
                    "the next message to that pane submits it first"
                )
            case "unconfirmed":
                words = "may have been submitted: look at the pane"
            case "submitted":
                words = "had been submitted already"
            case _:
                words = f"had been submitted already ({state})"
        self._output.log(f"interrupted; {self._message_id} {words}")

    async def say_what_remains(self, get_delivery: Callable[[str], Awaitable[list[Delivery]]]) -> None:
        """Print whether a message that the daemon delivers stays queued, and how to cancel it."""
        found: list[Delivery] = []
        with contextlib.suppress(TimeoutError, StreamrelayError):
            async with asyncio.timeout(STATE_TIMEOUT):
                found = await get_delivery(self._message_id)
        of_pane = [one for one in found if one.pane == self._pane] or found
        state = of_pane[-1].state if of_pane else None
        show = f"streamrelay delivery show {self._message_id}{self._options}"
        match state:
            case None:
                self._output.log(f"message {self._message_id} may be queued; see: {show}")
            case "queued":
                self._output.log(f"message {self._message_id} is still queued; cancel it with: {self.cancel_command}")
            case "pasted" | "painted":
                self._output.log(f"message {self._message_id} is pasted, and the daemon presses Enter; see: {show}")
            case "failed" | "unconfirmed":
                self._output.log(f"message {self._message_id}: {state}; see: {show}")
            case _:
                self._output.log(f"message {self._message_id} had been submitted already ({state}); see: {show}")


def _server_words(server: ServerOptions | None) -> str:
    """Return the options that name the same tmux server, to append to a command."""
    if server is None:
        return ""
    given = (("-L", server.socket_name), ("-S", server.socket_path))
    return "".join(f" {option} {shlex.quote(value)}" for option, value in given if value)
