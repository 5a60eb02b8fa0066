"""One pane as one session of an ACP client: the pane's output becomes updates, the client's prompts become messages.

The daemon's journal decides what is said and when: this module follows it from a place, so that nothing is told twice
and a daemon that restarts costs nothing. Invariants:

* Each prompt ends with exactly one stop reason, or with one error: `end_turn` when the message is answered,
  `cancelled` after a cancel, an error where the message failed or its fate is unknown.
* A key is pressed in a dialog only for an option that the client's person chose, and only while that dialog stands.
* A message is known by its id to the daemon, so a request that is repeated after a lost connection delivers it once.
"""

import asyncio
import contextlib
import itertools
import logging
import secrets
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Coroutine
from functools import partial
from typing import Any, Literal, Protocol, TypeVar, cast

from acp import start_tool_call, text_block, tool_content, update_agent_thought_text, update_tool_call
from acp.interfaces import Client
from acp.schema import AllowedOutcome, ToolCallUpdate

from streamrelay.acp.permissions import ANSWERABLE, permission_options
from streamrelay.acp.updates import LiveThoughts, PaneUpdates, Update
from streamrelay.errors import (
    CancelTooLate,
    DaemonLost,
    DaemonMissing,
    DeliveryFailed,
    DeliveryUnconfirmed,
    PaneGone,
    StreamrelayError,
)
from streamrelay.events import AnyEvent, NeedsHuman, PaneClosed, Receipt
from streamrelay.service.api import Delivery, OpenDialog, SendMessage
from streamrelay.service.interface import Service
from streamrelay.sessions.model import Session

StopReason = Literal["end_turn", "cancelled"]
Revive = Callable[[], Awaitable[None]]
"""Have a daemon run again, or raise why it cannot."""
Answer = TypeVar("Answer")

CANCEL_TIMEOUT = 10.0
"""Seconds from the interrupt key to the end of the turn, after which a prompt is reported as cancelled anyway."""
LOOK_EVERY = 2.0
"""Seconds between two looks for a dialog while a prompt is open: the same question twice makes one event."""
PAGE = 1000
MAX_OWN = 1000
"""Messages of the client that are told from those of others by their ids."""
_log = logging.getLogger(__name__)


class LiveService(Service, Protocol):
    """A service that also gives what a screen shows before it is final."""

    def live(self, session: str) -> AsyncIterator[list[str]]:
        """Yield the lines of a session's screen that are not final, now and after every change."""
        ...


class OpenPrompt:
    """A prompt that has no stop reason yet."""

    def __init__(self, message_id: str, text: str) -> None:
        self.message_id = message_id
        self.text = text
        self.is_cancelled = False
        self.sent = asyncio.Event()
        """Set when the daemon has the message, or has refused it: before, no cancel can take it back."""
        self.settled = asyncio.Event()
        """Set unless a cancel is being carried out: a prompt that followed at once could be taken for this one."""
        self.settled.set()
        self.outcome: asyncio.Future[StopReason] = asyncio.get_running_loop().create_future()

    def end(self, reason: StopReason) -> None:
        """Set the stop reason, unless there is one already."""
        if not self.outcome.done():
            self.outcome.set_result("cancelled" if self.is_cancelled else reason)

    def fail(self, error: StreamrelayError) -> None:
        """End with an error; a prompt that was cancelled ends as cancelled."""
        if self.is_cancelled:
            self.end("cancelled")
        elif not self.outcome.done():
            self.outcome.set_exception(error)


class ClientMessages:
    """The client's messages in one session; they outlive a conversation that another one replaces."""

    def __init__(self) -> None:
        self.own: dict[str, None] = {}
        """The ids of the latest `MAX_OWN` messages."""
        self.prompts: dict[str, OpenPrompt] = {}
        """The open prompts by the id of their message."""
        self.none_open = asyncio.Event()
        """Set while no prompt is open."""
        self.none_open.set()

    def open(self, prompt: OpenPrompt) -> None:
        """Note a prompt and its message."""
        self.own[prompt.message_id] = None
        while len(self.own) > MAX_OWN:
            del self.own[next(iter(self.own))]
        self.prompts[prompt.message_id] = prompt
        self.none_open.clear()

    def close(self, prompt: OpenPrompt) -> None:
        """Forget a prompt that is over."""
        del self.prompts[prompt.message_id]
        if not self.prompts:
            self.none_open.set()


class PaneConversation:
    """One ACP session: a pane, and the client that talks to it."""

    def __init__(
        self,
        service: LiveService,
        client: Client,
        session: Session,
        *,
        revive: Revive,
        allow_shell: bool = False,
        messages: ClientMessages | None = None,
    ) -> None:
        """`messages` are those of a closed conversation that this one replaces: its open prompts end here."""
        self.messages = ClientMessages() if messages is None else messages
        self.session = session
        self._service = service
        self._client = client
        self._revive = revive
        self._allow_shell = allow_shell
        self._updates = PaneUpdates(self.messages.own)
        self._thoughts = LiveThoughts()
        self._prompts = self.messages.prompts
        self._seq = 0
        self._tool_calls = itertools.count(1)
        self._following: asyncio.Task[None] | None = None
        """Follows the pane from the opening on; it fails if no daemon can be started."""
        self._looking: asyncio.Task[None] | None = None
        """Looks for dialogs while a prompt is open."""
        self._asking: asyncio.Task[None] | None = None
        self._asked = ""
        """The dialog that the client's person was asked about last."""
        self._tasks: set[asyncio.Task[Any]] = set()
        self._beginning = asyncio.Lock()
        self._closed = False

    @property
    def session_id(self) -> str:
        """The id of the session: streamrelay's own, so that each client of a pane has the same one."""
        return self.session.session

    async def open(self, *, replay: bool = False) -> None:
        """Follow the pane from now on; with `replay`, tell the client first what the journal holds of it."""
        async with self._beginning:
            await self._open(replay=replay)

    async def _open(self, *, replay: bool = False) -> None:
        await self._ask(lambda service: service.watch(self.session_id, watched=True))
        self._seq = (await self._ask(lambda service: service.status())).seq
        if replay:
            await self._replay(self._seq)
        self._following = self._begin(self._follow())
        self._begin(self._show_live())
        for prompt in list(self._prompts.values()):
            await self._catch_up(prompt)
        self._look_while_prompts_are_open()

    async def _follow_on(self) -> None:
        """Follow the pane where that has failed before."""
        async with self._beginning:
            if self._closed:
                return  # Another conversation has taken over the prompts.
            if self._following is None:
                await self._open()
            elif self._following.done():
                self._following = self._begin(self._follow())

    async def _catch_up(self, prompt: OpenPrompt) -> None:
        """End a prompt of the conversation before whose last receipt came when neither followed the pane."""
        for delivery in await self._ask(lambda service: service.get_delivery(prompt.message_id)):
            await self._advance(
                prompt, Receipt(message_id=prompt.message_id, state=delivery.state, reason=delivery.reason)
            )

    async def close(self) -> None:
        """Stop following the pane; a message that was sent stays on its way, and its prompt open."""
        self._closed = True
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def prompt(self, text: str) -> StopReason:
        """Deliver a prompt and return its stop reason; raises DeliveryFailed, DeliveryUnconfirmed and PaneGone."""
        await self._follow_on()
        prompt = OpenPrompt(f"acp-{secrets.token_hex(6)}", text)
        self.messages.open(prompt)
        self._look_while_prompts_are_open()
        # The client can answer a dialog only while its prompt is open.
        request = SendMessage(
            to=self.session_id,
            text=text,
            message_id=prompt.message_id,
            needs_human="hold",
            allow_shell=self._allow_shell,
        )
        try:
            try:
                await self._ask(lambda service: service.send_message(request))
            finally:
                prompt.sent.set()
            reason = await prompt.outcome
            await prompt.settled.wait()
            return reason
        finally:
            self.messages.close(prompt)

    async def cancel(self) -> None:
        """Take back the open prompts that are not typed yet, and interrupt the program at the others.

        A cancel that is being carried out is not repeated.
        """
        for prompt in [each for each in self._prompts.values() if each.settled.is_set()]:
            prompt.is_cancelled = True
            prompt.settled.clear()
            take_back = partial(_take_back, prompt.message_id)
            try:
                await prompt.sent.wait()
                await self._ask(take_back)
            except CancelTooLate:
                await self._interrupt(prompt.text)
                asyncio.get_running_loop().call_later(CANCEL_TIMEOUT, prompt.end, "cancelled")
            except StreamrelayError as error:
                _log.info("a message was not cancelled: %s", error.code)
                prompt.end("cancelled")
            finally:
                prompt.settled.set()

    async def _interrupt(self, text: str) -> None:
        try:
            await self._ask(lambda service: service.interrupt(self.session_id, text))
        except StreamrelayError as error:
            await self._think(f"[streamrelay could not interrupt the program: {error.message}]\n")

    # What the pane says

    async def _replay(self, until: int) -> None:
        updates, place = PaneUpdates(), 0
        while place < until:
            after = place
            events = await self._ask(lambda service: service.read_since(after, self.session_id, PAGE))  # noqa: B023
            for event in events:
                if event.seq > until:
                    break
                for update in updates.take(event):
                    await self._tell(update)
            place = events[-1].seq if events else until

    async def _follow(self) -> None:
        """Tell the client every event of the pane, over restarts of the daemon."""
        while True:
            events = cast(AsyncGenerator[AnyEvent], self._service.events(self._seq))
            with contextlib.suppress(DaemonLost, DaemonMissing):
                async with contextlib.aclosing(events):
                    async for event in events:
                        self._seq = event.seq or self._seq
                        if event.pane == self.session.pane:
                            await self._take(event)
            await self._revive()

    async def _take(self, event: AnyEvent) -> None:
        for update in self._updates.take(event):
            await self._tell(update)
        match event:
            case Receipt() if (prompt := self._prompts.get(event.message_id)) is not None:
                await self._advance(prompt, event)
            case NeedsHuman() if self._prompts:
                self._ask_person()
            case PaneClosed():
                for prompt in self._prompts.values():
                    prompt.fail(PaneGone(f"pane {event.pane} was closed", data={"pane": event.pane}))
            case _:
                pass

    async def _advance(self, prompt: OpenPrompt, receipt: Receipt) -> None:
        data = {"message_id": receipt.message_id, "state": receipt.state, "reason": receipt.reason}
        match receipt.state:
            case "answered":
                prompt.end("end_turn")
            case "failed" if receipt.reason == "cancelled":
                prompt.end("cancelled")
            case "failed":
                prompt.fail(DeliveryFailed(f"the message was not delivered: {receipt.reason}", data=data))
            case "unconfirmed":
                prompt.fail(DeliveryUnconfirmed(f"the fate of the message is unknown: {receipt.reason}", data=data))
            case "queued" if receipt.reason == "draft":
                await self._think("[the message waits: a person's draft stands in the composer]\n")
            case _:
                pass

    async def _show_live(self) -> None:
        """Tell the client, while one of its prompts is open, what the screen shows that is not final yet."""
        while True:
            with contextlib.suppress(DaemonLost, DaemonMissing):
                lines = cast(AsyncGenerator[list[str]], self._service.live(self.session_id))
                async with contextlib.aclosing(lines):
                    async for shown in lines:
                        if not self._prompts or self._updates.said:
                            self._thoughts.end()
                        elif shown and (more := self._thoughts.take(shown[-1])):
                            await self._think(more)
            await asyncio.sleep(LOOK_EVERY)

    # What the program asks a person

    def _look_while_prompts_are_open(self) -> None:
        if self._prompts and not self._closed and (self._looking is None or self._looking.done()):
            self._looking = self._begin(self._look_for_dialogs())

    async def _look_for_dialogs(self) -> None:
        """Look for a dialog that no event announces: one that was already open, or the same question again."""
        try:
            while self._prompts:
                self._ask_person()
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(LOOK_EVERY):
                        await self.messages.none_open.wait()
        finally:
            if self._asking is not None:
                self._asking.cancel()

    def _ask_person(self) -> None:
        if self._asking is None or self._asking.done():
            self._asking = self._begin(self._ask_about_dialog())

    async def _ask_about_dialog(self) -> None:
        dialogs = await self._ask(lambda service: service.dialogs(self.session_id))
        if not dialogs:
            self._asked = ""
            return
        (dialog,) = dialogs
        if dialog.dialog == self._asked:
            return
        self._asked = dialog.dialog
        tool_call = f"dialog-{next(self._tool_calls)}"
        content = [tool_content(text_block("\n".join(dialog.context)))] if dialog.context else None
        title = dialog.question or "the program waits for a person"
        await self._tell(start_tool_call(tool_call, title, kind="other", status="pending", content=content))
        if dialog.kind not in ANSWERABLE or not dialog.choices:
            advice = f"a {dialog.kind} is asked for in the terminal: {self.session.attach}"
            await self._tell(update_tool_call(tool_call, content=[tool_content(text_block(advice))]))
            return
        await self._answer(tool_call, title, dialog)

    async def _answer(self, tool_call: str, title: str, dialog: OpenDialog) -> None:
        """Ask the client's person, and press the key of the option that they chose; press nothing otherwise."""
        response = await self._client.request_permission(
            session_id=self.session_id,
            tool_call=ToolCallUpdate(tool_call_id=tool_call, title=title, status="pending"),
            options=permission_options(dialog),
        )
        if not isinstance(response.outcome, AllowedOutcome):
            await self._tell(update_tool_call(tool_call, status="failed"))
            return
        place = response.outcome.option_id
        if not place.isdecimal() or int(place) >= len(dialog.choices):
            await self._tell(update_tool_call(tool_call, status="failed"))
            return
        try:
            await self._ask(lambda service: service.answer_dialog(self.session_id, dialog.dialog, int(place)))
        except StreamrelayError as error:
            told = [tool_content(text_block(error.message))]
            await self._tell(update_tool_call(tool_call, status="failed", content=told))
        else:
            self._asked = ""
            chosen = [tool_content(text_block(dialog.choices[int(place)]))]
            await self._tell(update_tool_call(tool_call, status="completed", content=chosen))

    # Plumbing

    async def _tell(self, update: Update) -> None:
        await self._client.session_update(session_id=self.session_id, update=update)

    async def _think(self, text: str) -> None:
        await self._tell(update_agent_thought_text(text))

    async def _ask(self, call: Callable[[Service], Awaitable[Answer]]) -> Answer:
        """Call the daemon; if none answers, start one and call again, because each call may be repeated."""
        try:
            return await call(self._service)
        except (DaemonMissing, DaemonLost):
            await self._revive()
            return await call(self._service)

    def _begin(self, work: Coroutine[Any, Any, Answer]) -> asyncio.Task[Answer]:
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._ended)
        return task

    def _ended(self, task: asyncio.Task[Any]) -> None:
        self._tasks.discard(task)
        if task.cancelled() or (error := task.exception()) is None:
            return
        failure = (
            error
            if isinstance(error, StreamrelayError)
            else StreamrelayError(f"{type(error).__name__}", hint="the log has the whole error")
        )
        for prompt in self._prompts.values():
            prompt.fail(failure)
        _log.error("a task of a conversation failed: %s", type(error).__name__, exc_info=error)


def _take_back(message_id: str, service: Service) -> Awaitable[list[Delivery]]:
    return service.cancel_delivery(message_id)
