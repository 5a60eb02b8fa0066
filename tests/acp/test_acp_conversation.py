"""One conversation over a service whose answers a test times: what overtakes what, and what fails in between."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from typing import Any, cast

import pytest
from acp.interfaces import Client

from streamrelay.acp.conversation import ClientMessages, LiveService, PaneConversation
from streamrelay.errors import CancelTooLate, DaemonLost, NoServer, StreamrelayError, TargetNotFound
from streamrelay.events import AnyEvent, Receipt
from streamrelay.service.api import Delivery, OpenDialog, SendMessage, Status
from streamrelay.sessions.model import Session
from streamrelay.testing.waiting import wait_until_async
from tests.acp.client import RecordingClient

PATIENCE = 20.0
HERE = Session(session="s1", pane="%1", title="it", session_name="it", program="cat", state="idle")


class TimedService:
    """A service that takes messages when `takes` is set, and answers each at once."""

    def __init__(self) -> None:
        self.takes = asyncio.Event()
        self.takes.set()
        self.has: list[str] = []
        self.calls: list[str] = []
        self.shown: list[OpenDialog] = []
        self.answers = True
        self.lost: StreamrelayError | None = None
        self._journal: list[Receipt] = []
        self._more = asyncio.Event()

    async def watch(self, session: str, watched: bool) -> None:
        """Take note."""

    async def status(self) -> Status:
        counts = dict.fromkeys(("pid", "sessions", "watched", "links", "relays", "subscribers"), 1)
        return Status(
            version="9", started_at=0.0, tmux="/tmp/x", seq=len(self._journal), paused=False, deliveries={}, **counts
        )

    async def dialogs(self, session: str) -> list[OpenDialog]:
        return self.shown

    async def get_delivery(self, message_id: str) -> list[Delivery]:
        return []

    async def interrupt(self, session: str, text: str) -> None:
        self.calls.append("interrupt")

    async def send_message(self, request: SendMessage) -> None:
        await self.takes.wait()
        self.has.append(request.message_id or "")
        self.calls.append("send")
        if self.answers:
            self.tell(request.message_id or "", "answered")

    async def cancel_delivery(self, message_id: str) -> list[Delivery]:
        if message_id not in self.has:
            raise TargetNotFound("unknown")
        self.calls.append("cancel")
        raise CancelTooLate("it is typed")

    def tell(self, message_id: str, state: Any) -> None:
        self._journal.append(Receipt(message_id=message_id, state=state, pane="%1", seq=len(self._journal) + 1))
        self.wake()

    def wake(self) -> None:
        self._more.set()
        self._more = asyncio.Event()

    async def events(self, after: int) -> AsyncGenerator[AnyEvent, None]:
        while True:
            if self.lost is not None:
                raise self.lost
            while after < len(self._journal):
                after += 1
                yield self._journal[after - 1]
            await self._more.wait()

    async def live(self, session: str) -> AsyncGenerator[list[str], None]:
        await asyncio.Event().wait()
        yield []


def conversation(
    service: TimedService,
    client: RecordingClient,
    revive: Callable[[], Awaitable[None]],
    messages: ClientMessages | None = None,
) -> PaneConversation:
    return PaneConversation(cast(LiveService, service), cast(Client, client), HERE, revive=revive, messages=messages)


async def revived() -> None:
    """Have a daemon that runs."""


async def test_a_cancel_that_overtakes_its_prompt_takes_it_back_when_it_is_there() -> None:
    service = TimedService()
    service.answers = False
    service.takes.clear()
    talk = conversation(service, RecordingClient(), revived)
    await talk.open()
    prompting = asyncio.ensure_future(talk.prompt("hello"))
    await asyncio.sleep(0)
    cancelling = asyncio.ensure_future(talk.cancel())
    await asyncio.sleep(0.05)
    assert not prompting.done()
    service.takes.set()
    await cancelling
    assert service.calls == ["send", "cancel", "interrupt"]
    service.tell(service.has[0], "answered")
    assert await prompting == "cancelled"
    await talk.close()


async def test_a_conversation_that_lost_its_daemon_goes_on_with_the_next_prompt() -> None:
    service = TimedService()
    failures: list[StreamrelayError] = [NoServer("no tmux server")]

    async def revive() -> None:
        if failures:
            raise failures.pop()

    talk = conversation(service, RecordingClient(), revive)
    await talk.open()
    assert await talk.prompt("one") == "end_turn"
    service.lost = DaemonLost("gone")
    service.wake()
    await wait_until_async(lambda: not failures, PATIENCE)
    service.lost = None
    async with asyncio.timeout(PATIENCE):
        assert await talk.prompt("two") == "end_turn"
    assert len(service.has) == 2
    await talk.close()


async def test_a_conversation_that_could_not_be_opened_is_opened_by_the_next_prompt() -> None:
    service = TimedService()
    talk = conversation(service, RecordingClient(), revived)
    async with asyncio.timeout(PATIENCE):
        assert await talk.prompt("one") == "end_turn"
    await talk.close()


async def test_a_prompt_during_the_opening_begins_no_second_follower() -> None:
    service = TimedService()
    followers: list[int] = []
    follow = service.events

    def counted(after: int) -> AsyncGenerator[AnyEvent, None]:
        followers.append(after)
        return follow(after)

    service.events = counted  # type: ignore[method-assign]
    talk = conversation(service, RecordingClient(), revived)
    async with asyncio.timeout(PATIENCE):
        _, first, second = await asyncio.gather(talk.open(), talk.prompt("one"), talk.prompt("two"))
    assert (first, second) == ("end_turn", "end_turn")
    assert len(followers) == 1
    await talk.close()
    # Its prompts are the next conversation's.
    await talk._follow_on()
    assert len(followers) == 1


async def test_a_dialog_is_asked_about_again_by_the_conversation_that_takes_over() -> None:
    service, client = TimedService(), RecordingClient()
    service.answers = False
    service.shown = [
        OpenDialog(session="s1", pane="%1", dialog="d1", kind="permission", question="?", choices=["Yes", "No"])
    ]
    first = conversation(service, client, revived)
    await first.open()
    prompting = asyncio.ensure_future(first.prompt("hello"))
    await wait_until_async(lambda: len(client.asked) == 1, PATIENCE)
    await first.close()
    second = conversation(service, client, revived, first.messages)
    await second.open()
    await wait_until_async(lambda: len(client.asked) == 2, PATIENCE)
    service.tell(service.has[0], "answered")
    assert await prompting == "end_turn"
    # The search for dialogs ends with the last open prompt.
    await wait_until_async(lambda: second._looking is not None and second._looking.done(), PATIENCE)
    await second.close()


@pytest.mark.parametrize("error", [TargetNotFound("no such session")])
async def test_a_prompt_that_is_refused_leaves_nothing_open(error: StreamrelayError) -> None:
    service = TimedService()

    async def refuse(request: SendMessage) -> None:
        raise error

    service.send_message = refuse  # type: ignore[method-assign]
    talk = conversation(service, RecordingClient(), revived)
    await talk.open()
    with pytest.raises(TargetNotFound):
        await talk.prompt("hello")
    assert talk.messages.none_open.is_set()
    await talk.close()
