"""One message to one pane, from whoever asks: typed in when its turn comes, and followed for as long as is wanted."""

import asyncio
import contextlib
import secrets
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from streamrelay.delivery.lock import only_writer
from streamrelay.delivery.message import FINAL, Message, Policy, Progress
from streamrelay.delivery.outbox import Outbox
from streamrelay.delivery.spool import forget_old
from streamrelay.delivery.state import state_folder
from streamrelay.delivery.writer import PaneWriter
from streamrelay.errors import AnswerTimeout, DeliveryFailed, DeliveryUnconfirmed, PaneTaken
from streamrelay.events import Event, Injected, PaneClosed, Receipt, Text
from streamrelay.panes.closing import closing_error
from streamrelay.panes.inventory import PaneInfo
from streamrelay.panes.publishing import Publish, Publisher
from streamrelay.panes.server import Server
from streamrelay.panes.subscription import Subscription
from streamrelay.panes.tasks import until_first

_TRY_AGAIN = 0.1


@dataclass(slots=True)
class Sent:
    """What became of a message: its last receipt, and the lines of the answer, where that was waited for."""

    message_id: str
    receipt: Receipt | None = None
    answer: list[str] = field(default_factory=list)
    _turn: int | None = field(default=None, repr=False)
    """The turn that answers it."""

    def hear(self, event: Event) -> None:
        """Keep of what its pane says the answer; raises what the end of the pane means."""
        match event:
            case Injected(message_id=self.message_id, state="entering"):
                self._turn = event.turn
            case Text(origin="program") if self._turn is not None and event.turn == self._turn:
                self.answer.append(event.text)
            case PaneClosed():
                raise closing_error(event)
            case _:
                pass

    @property
    def is_under_way(self) -> bool:
        """Whether another receipt may follow."""
        return self.receipt is None or self.receipt.state not in FINAL


def open_outbox() -> Outbox:
    """Return the user's outbox (`$XDG_STATE_HOME/streamrelay/outbox.db`), to be entered; old files are deleted."""
    forget_old(state_folder("spool"))
    return Outbox(state_folder() / "outbox.db")


async def send(
    server: Server,
    info: PaneInfo,
    text: str,
    *,
    publish: Publish,
    message_id: str | None = None,
    wait: bool = False,
    timeout: float | None = None,  # noqa: ASYNC109  # of two different kinds of waiting
    policy: Policy | None = None,
    allow_shell: bool = False,
    outbox: Outbox | None = None,
) -> Sent:
    """Type `text` into a pane, and return when it is submitted, or with `wait` when it is answered.

    Every receipt goes to `publish`, and what else the pane's stream says meanwhile. A message whose `message_id` the
    outbox knows is not sent again: its receipt is what it was. `timeout` bounds in seconds the waiting of others for
    the pane and the waiting for the answer; the policy's patience that of the message.

    Raises PaneTaken, ShellRefused, DeliveryFailed, DeliveryUnconfirmed and AnswerTimeout.
    """
    message = Message(message_id or f"send-{secrets.token_hex(6)}", text)
    sent = Sent(message.message_id)
    settled = asyncio.Event()
    publish = Publisher(publish)

    def report(progress: Progress) -> None:
        # The writer hears an event before whoever reads the stream does: its receipt is told behind the event.
        asyncio.get_running_loop().call_soon(tell, progress)

    def tell(progress: Progress) -> None:
        publish(progress.receipt)
        if progress.message_id == message.message_id:
            sent.receipt = progress.receipt
            if progress.state in FINAL:
                settled.set()

    async with _alone(server, info, timeout), server.watch(info.pane) as stream:
        writer = PaneWriter(
            server,
            server.pipeline(info.pane),
            program=info.command,
            report=report,
            policy=policy,
            outbox=outbox,
            allow_shell=allow_shell,
        )
        await writer.recover()

        async def until_done() -> None:
            if await writer.put(message):
                await writer.finish()
                if wait and sent.is_under_way:
                    await _until_answered(settled, timeout)

        await until_first(until_done(), writer.run(), _listen(stream, sent, publish))
    await asyncio.sleep(0)
    judge(sent)
    return sent


@asynccontextmanager
async def _alone(server: Server, info: PaneInfo, timeout: float | None) -> AsyncIterator[None]:  # noqa: ASYNC109
    """Be the only writer of a pane; another one is waited for."""
    loop = asyncio.get_running_loop()
    patient_until = None if timeout is None else loop.time() + timeout
    while True:
        with contextlib.ExitStack() as entered:
            try:
                entered.enter_context(only_writer(server.info, info.pane))
            except PaneTaken:
                if patient_until is not None and loop.time() >= patient_until:
                    raise
            else:
                yield
                return
        await asyncio.sleep(_TRY_AGAIN)


async def _until_answered(settled: asyncio.Event, timeout: float | None) -> None:  # noqa: ASYNC109
    try:
        async with asyncio.timeout(timeout):
            await settled.wait()
    except TimeoutError as error:
        raise AnswerTimeout(f"no answer in {timeout:g} s") from error


async def _listen(stream: Subscription, sent: Sent, publish: Publish) -> None:
    async for event in stream:
        publish(event)
        sent.hear(event)


def judge(sent: Sent) -> None:
    """Raise what a last receipt means: DeliveryFailed or DeliveryUnconfirmed."""
    receipt = sent.receipt
    if receipt is None or receipt.state not in {"failed", "unconfirmed"}:
        return
    data = {"message_id": sent.message_id, "pane": receipt.pane, "reason": receipt.reason}
    kind = DeliveryFailed if receipt.state == "failed" else DeliveryUnconfirmed
    raise kind(f"{sent.message_id} to pane {receipt.pane}: {receipt.reason}", data=data)
