"""A daemon that was killed knows which text of its own it left in a composer: that is no draft of a person."""

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from streamrelay.daemon.client import DaemonClient
from streamrelay.service.api import SendMessage
from streamrelay.testing.tmux import PrivateTmux
from streamrelay.testing.waiting import wait_until
from tests.web.conftest import PATIENCE, Household, furnished

pytestmark = pytest.mark.tmux


@pytest.fixture
def house(private_tmux: PrivateTmux, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Household]:
    with furnished(private_tmux, monkeypatch, tmp_path) as house:
        yield house


async def until_receipt(client: DaemonClient, message_id: str, receipt: str) -> None:
    """Wait until a message has a receipt, "STATE REASON"."""
    told = ""
    async with asyncio.timeout(2 * PATIENCE):
        while told != receipt:
            await asyncio.sleep(0.05)
            (delivery,) = await client.get_delivery(message_id)
            told = f"{delivery.state} {delivery.reason}".strip()


async def leave_a_text(house: Household, deaf: int, *, until: str) -> str:
    """Let an agent ignore so many Enters, and kill the daemon when the first message has this receipt."""
    pane = house.agent("Ann", "an answer", options=("--deaf", str(deaf)))
    await house.begin()
    async with house.client() as client:
        await client.send_message(SendMessage(to=pane, text="the first message", message_id="m1"))
        await until_receipt(client, "m1", until)
    wait_until(lambda: "the first message" in house.tmux.run("capture-pane", "-p", "-t", pane), PATIENCE)
    house.kill()
    return pane


@pytest.mark.requirement("DLV-03a", "DLV-07a")
async def test_a_text_left_in_the_composer_is_no_draft_after_a_kill(house: Household) -> None:
    pane = await leave_a_text(house, 9, until="submitted")
    await house.begin()
    async with house.client() as client:
        await client.send_message(SendMessage(to=pane, text="the second message", message_id="m2"))
        # With `queued draft` it would wait for a person.
        await until_receipt(client, "m2", "queued not_ready")
    assert house.heard("Ann") == []


@pytest.mark.slow
@pytest.mark.timeout(300)
@pytest.mark.requirement("DLV-07a")
async def test_such_a_text_makes_room_and_each_message_arrives_once(house: Household) -> None:
    pane = await leave_a_text(house, 2, until="unconfirmed not_submitted")
    await house.begin()
    async with house.client() as client:
        await client.send_message(SendMessage(to=pane, text="the second message", message_id="m2"))
        await house.until_heard("Ann", "the first message", "the second message")
    assert house.heard("Ann") == ["the first message", "the second message"]
