"""Send one message to one pane: type it when its turn comes, and follow it for as long as the caller wants."""

import asyncio
import contextlib
import secrets
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from types import MappingProxyType

from streamrelay.delivery.lock import BRIEF_WRITERS, only_writer
from streamrelay.delivery.message import FINAL, DeliveryPolicy, Message, Progress
from streamrelay.delivery.outbox import Outbox
from streamrelay.delivery.spool import forget_old
from streamrelay.delivery.state import state_folder
from streamrelay.delivery.tty_input import MAX_LINE_BYTES
from streamrelay.delivery.writer import PaneWriter
from streamrelay.errors import (
    AnswerTimeout,
    DeliveryFailed,
    DeliveryTimeout,
    DeliveryUnconfirmed,
    PaneTaken,
    StreamrelayError,
)
from streamrelay.events import DeliveryState, Event, Injected, PaneClosed, Receipt, Text, TurnEnded
from streamrelay.panes.close_errors import closing_error
from streamrelay.panes.inventory import PaneInfo
from streamrelay.panes.publisher import Publish, Publisher
from streamrelay.panes.server import Server
from streamrelay.panes.subscription import Subscription
from streamrelay.panes.tasks import until_first

WAIT_TIMEOUT = 600.0
"""Seconds for which a command waits for an answer, unless it is told otherwise."""
GIVE_UP_TIMEOUT = 3.0
"""Seconds in which a message that is given up is cancelled, or, where it is pasted, gets its Enter."""
SENDER_NOTE = 1.0
"""Seconds for which another sender is waited for without a note, and a writer that the lock does not name at all."""
_TRY_AGAIN = 0.1
_REASONS: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        "line_too_long": (
            f"the program's terminal takes lines of at most {MAX_LINE_BYTES:,} bytes",
            "break the text into shorter lines, and send it again",
        ),
        "too_long": (
            "the text would go into a file, which a program on another machine cannot read",
            "shorten the text, or copy a file there and send its path",
        ),
        "empty": ("no text is left without its control characters", "send a text with letters that can be typed"),
        "command": (
            "the program could take the text for a command",
            "begin the text with another character than / ! # @, or allow it: --commands send, or delivery.commands",
        ),
    }
)
"""Why a text is never typed, and what to do about it; the program's state has no part in it (validation.py)."""
_PASTED: frozenset[DeliveryState] = frozenset({"pasted", "painted"})


@dataclass(slots=True)
class SentMessage:
    """What became of a message: its last receipt, and the lines of the answer, where that was waited for."""

    message_id: str
    receipt: Receipt | None = None
    answer: list[str] = field(default_factory=list)
    is_over: bool = False
    """Whether the turn that answers it has ended."""
    _turn: int | None = field(default=None, repr=False)
    """The turn that answers it."""

    def hear(self, event: Event) -> None:
        """Keep of what its pane says the answer; raises what the end of the pane means."""
        match event:
            case Injected(message_id=self.message_id, state="entering"):
                self._turn = event.turn
            case Text(origin="program") if self._turn is not None and event.turn == self._turn:
                self.answer.append(event.text)
            case TurnEnded() if self._turn is not None and event.turn == self._turn:
                self.is_over = True
            case PaneClosed():
                raise closing_error(event)
            case _:
                pass

    @property
    def is_under_way(self) -> bool:
        """Whether another receipt may follow."""
        return self.receipt is None or self.receipt.state not in FINAL

    @property
    def state(self) -> DeliveryState | None:
        """The state of its last receipt."""
        return None if self.receipt is None else self.receipt.state


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
    policy: DeliveryPolicy | None = None,
    allow_shell: bool = False,
    outbox: Outbox | None = None,
    waits: Callable[[PaneTaken], None] | None = None,
) -> SentMessage:
    """Type `text` into a pane, and return when it is submitted, or with `wait` when it is answered.

    Every receipt goes to `publish`, and what else the pane's stream says meanwhile. A message whose `message_id` the
    outbox knows is not sent again: if an earlier process died before it was submitted, the call goes on with it;
    otherwise the call reports its last receipt. `timeout` bounds all of it, in seconds.

    Another `send` to the pane is waited for; `waits` hears of it once, after `SENDER_NOTE` seconds. A daemon, relay,
    link or recording holds the pane for as long as it runs, so it is an error at once.

    Nothing is typed after this returns, raises or is cancelled: at the time limit, and when the caller is cancelled, a
    message that is not pasted is cancelled (`failed(cancelled)`), and a pasted one gets its Enter.

    Raises ShellRefused, DeliveryFailed, DeliveryUnconfirmed, PaneTaken (another process types into the pane),
    UsageError (an invalid id, or one that was used for another text), and at the time limit DeliveryTimeout (the
    message is not submitted) or AnswerTimeout.
    """
    loop = asyncio.get_running_loop()
    until = None if timeout is None else loop.time() + timeout
    message = Message(message_id or f"send-{secrets.token_hex(6)}", text)
    sent = SentMessage(message.message_id)
    settled, moved, taken_up = asyncio.Event(), asyncio.Event(), asyncio.Event()
    publish = Publisher(publish)

    def report(progress: Progress) -> None:
        # The writer sees an event before the reader of the stream does, so the receipt follows the event.
        asyncio.get_running_loop().call_soon(tell, progress)

    def tell(progress: Progress) -> None:
        publish(progress.receipt)
        if progress.message_id == message.message_id:
            sent.receipt = progress.receipt
            moved.set()
            if progress.state in FINAL:
                settled.set()

    async with _alone(server, info, until, waits), server.watch(info.pane, live=False) as stream:
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
        if message_id is not None:
            await writer.claim(message)

        async def until_done() -> None:
            if not writer.is_unsettled(message.message_id):
                await writer.put(message)
            taken_up.set()
            if writer.is_unsettled(message.message_id):
                await writer.finish()
                if wait and sent.is_under_way:
                    await settled.wait()

        async def give_up() -> None:
            with contextlib.suppress(TimeoutError, StreamrelayError):
                async with asyncio.timeout(GIVE_UP_TIMEOUT):
                    await taken_up.wait()
                    await writer.cancel(message.message_id)
                    # Receipts are told behind what the stream says.
                    await asyncio.sleep(0)
                    while sent.state in _PASTED:
                        moved.clear()
                        await moved.wait()

        work = asyncio.ensure_future(until_first(until_done(), writer.run(), _listen(server, stream, sent, publish)))
        try:
            async with asyncio.timeout_at(until):
                await asyncio.shield(work)
        except TimeoutError as error:
            await give_up()
            if wait or sent.state != "submitted":
                raise _late(sent, info.pane, timeout or 0.0) from error
        except asyncio.CancelledError:
            await give_up()
            raise
        finally:
            work.cancel()
            await asyncio.gather(work, return_exceptions=True)
    await asyncio.sleep(0)
    judge(sent)
    return sent


@asynccontextmanager
async def _alone(
    server: Server, info: PaneInfo, until: float | None, waits: Callable[[PaneTaken], None] | None
) -> AsyncIterator[None]:
    """Be the only writer of a pane; another sender is waited for, until that loop time.

    Raises PaneTaken at that time, and at once for a writer that does not end by itself.
    """
    loop = asyncio.get_running_loop()
    noted_at = loop.time() + SENDER_NOTE
    while True:
        with contextlib.ExitStack() as entered:
            try:
                entered.enter_context(only_writer(server.info, info.pane, "send"))
            except PaneTaken as error:
                now = loop.time()
                if not _may_end(error, now < noted_at) or (until is not None and now >= until):
                    raise
                if waits is not None and now >= noted_at:
                    waits(error)
                    waits = None
            else:
                yield
                return
        await asyncio.sleep(_TRY_AGAIN)


def _may_end(taken: PaneTaken, is_early: bool) -> bool:
    """Return whether the writer of a pane may let go by itself; one without a name may be writing it just now."""
    holder = taken.data["holder"]
    return is_early if holder is None else holder in BRIEF_WRITERS


def _late(sent: SentMessage, pane: str, seconds: float) -> StreamrelayError:
    """Return the error for a message of this process that is not where it was to be in time."""
    data = {"message_id": sent.message_id, "pane": pane, "state": sent.state, "queued": False}
    if sent.state in {"submitted", "turn_started", "answered"}:
        return AnswerTimeout(f"no answer in {seconds:g} s", data=data)
    if sent.state in _PASTED:
        return unsubmitted(sent.message_id, seconds, data)
    return DeliveryTimeout(
        f"{sent.message_id} was not typed in {seconds:g} s and is cancelled",
        hint="send it again when the session takes messages, or give it longer: --timeout SECONDS",
        data=data,
    )


def unsubmitted(message_id: str, seconds: float, data: Mapping[str, object]) -> DeliveryTimeout:
    """Return the error for a message that is pasted and has not got its Enter in time."""
    return DeliveryTimeout(
        f"message {message_id} is pasted, but not submitted after {seconds:g} s",
        hint=f"look at the pane before you send it again; its state: streamrelay delivery show {message_id}",
        data=data,
    )


async def _listen(server: Server, stream: Subscription, sent: SentMessage, publish: Publish) -> None:
    async for event in stream:
        publish(event)
        if isinstance(event, PaneClosed):
            raise server.closing_error(event)
        sent.hear(event)


def check_can_be_typed(reason: str, what: str) -> None:
    """Raise DeliveryFailed if a failed message has a `reason` for which its text is never typed."""
    if reason in _REASONS:
        words, hint = _REASONS[reason]
        raise DeliveryFailed(f"{what} is not typed: {words} ({reason})", hint=hint, data={"reason": reason})


def judge(sent: SentMessage) -> None:
    """Raise what a last receipt means: DeliveryFailed or DeliveryUnconfirmed; some reasons are told in words."""
    receipt = sent.receipt
    if receipt is None or receipt.state not in {"failed", "unconfirmed"}:
        return
    data = {"message_id": sent.message_id, "pane": receipt.pane, "reason": receipt.reason}
    kind = DeliveryFailed if receipt.state == "failed" else DeliveryUnconfirmed
    words, hint = _REASONS.get(receipt.reason, ("", None))
    why = f"{words} ({receipt.reason})" if words else receipt.reason
    raise kind(f"{sent.message_id} to pane {receipt.pane}: {why}", hint=hint, data=data)
