"""How a message reaches the status lines of people's clients. The board that wants it is tested in test_board.py."""

import asyncio
from collections.abc import Sequence

import pytest

from streamrelay.errors import BadCommand
from streamrelay.events import LinkSpent
from streamrelay.notifying.board import ConversationBoard
from streamrelay.notifying.notifier import Notifier


class FakeServer:
    """A server with two panes in the session of one person's client, which keeps what it was told to display."""

    def __init__(self, *, draws_panes: bool) -> None:
        self._draws_panes = draws_panes
        self.displayed: list[Sequence[str]] = []
        self.has_displayed = asyncio.Event()

    async def query(self, words: Sequence[str]) -> list[str]:
        match words[0]:
            case "list-panes":
                return ["%1 $1", "%2 $1"]
            case "list-clients":
                return ["0 $1 /dev/pts/1", "1 $1 client-2"]
            case "display-message":
                if "-C" in words and not self._draws_panes:
                    raise BadCommand("command display-message: unknown flag -C")
                self.displayed.append(words)
                self.has_displayed.set()
        return []


@pytest.mark.requirement("OPS-09")
@pytest.mark.parametrize(
    ("draws_panes", "options"), [(True, ["-C", "-d", "8000"]), (False, ["-d", "3000"])], ids=["newer tmux", "tmux 3.3a"]
)
async def test_a_message_is_short_where_tmux_does_not_draw_the_panes_meanwhile(
    draws_panes: bool, options: list[str]
) -> None:
    server = FakeServer(draws_panes=draws_panes)
    async with Notifier(server, ConversationBoard({"%1": "Ann", "%2": "Bob"})) as notifier:  # type: ignore[arg-type]
        notifier.take(LinkSpent(link="l", deliveries=1))
        await asyncio.wait_for(server.has_displayed.wait(), 10)
    [words] = server.displayed
    text = "streamrelay: Ann and Bob: the budget of 1 delivery is spent"
    assert list(words) == ["display-message", "-c", "/dev/pts/1", *options, "--", text]


class SlowServer:
    """A server that runs what it was asked to run even if nobody waits for it any more, as tmux does."""

    def __init__(self) -> None:
        self.goes_on = asyncio.Event()
        self.was_asked = asyncio.Event()
        self.options: dict[str, Sequence[str]] = {}
        self.commands: list[asyncio.Future[None]] = []

    async def query(self, words: Sequence[str]) -> list[str]:
        self.commands.append(asyncio.ensure_future(self._run(words)))
        await asyncio.shield(self.commands[-1])
        return []

    async def _run(self, words: Sequence[str]) -> None:
        if words[0] == "set-option":
            if "-u" not in words:
                self.was_asked.set()
                await self.goes_on.wait()
            self.options[words[words.index("-t") + 1]] = words


@pytest.mark.requirement("OPS-09")
async def test_a_status_that_is_on_its_way_at_the_end_is_taken_back_after_it() -> None:
    server = SlowServer()
    async with Notifier(server, ConversationBoard({"%1": "Ann", "%2": "Bob"})) as notifier:  # type: ignore[arg-type]
        notifier.take(LinkSpent(link="l", deliveries=1))
        await asyncio.wait_for(server.was_asked.wait(), 10)
        asyncio.get_running_loop().call_later(0.05, server.goes_on.set)
    await asyncio.gather(*server.commands)
    assert {pane: "-u" in words for pane, words in server.options.items()} == {"%1": True, "%2": True}
