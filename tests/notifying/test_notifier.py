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
