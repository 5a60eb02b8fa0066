"""A `send` that is given up leaves nothing behind that would be typed later, and nothing half-typed."""

import asyncio
import os
import signal
import sys
from pathlib import Path

import pytest

import streamrelay
from streamrelay.delivery.outbox import Outbox
from streamrelay.delivery.sending import send
from streamrelay.errors import DeliveryTimeout
from streamrelay.events import Event, Receipt
from streamrelay.testing.agent import read_got
from streamrelay.testing.tmux import PrivateTmux
from streamrelay.testing.waiting import wait_until_async

PATIENCE = 30.0


@pytest.mark.requirement("DLV-09c")
async def test_what_is_not_pasted_is_cancelled_and_what_is_pasted_gets_its_enter(
    private_tmux: PrivateTmux, tmp_path: Path
) -> None:
    log = tmp_path / "log"
    words = [sys.executable, "-m", "streamrelay.testing.agent", "--log", str(log), "--works", "0.1"]
    pane = private_tmux.new_session("agent", [*words, "--draft", "a person's"])
    await wait_until_async(lambda: any(got.kind == "ready" for got in read_got(log)), PATIENCE)
    connection = streamrelay.connect(tmux=private_tmux.binary, socket_path=private_tmux.socket_path, profiles=())

    async with connection as server, Outbox(tmp_path / "outbox.db") as outbox:
        info = await server.find(pane)

        async def give_up_at(message_id: str, state: str, reason: str = "") -> list[str]:
            """Send, cancel at that receipt, and return all receipts."""
            told: list[str] = []

            def publish(event: Event) -> None:
                if isinstance(event, Receipt) and event.message_id == message_id:
                    told.append(f"{event.state} {event.reason}".strip())
                    if (event.state, event.reason) == (state, reason):
                        sending.cancel()

            sending = asyncio.ensure_future(
                send(server, info, message_id, publish=publish, message_id=message_id, outbox=outbox)
            )
            with pytest.raises(asyncio.CancelledError):
                await asyncio.wait_for(sending, PATIENCE)
            return told

        assert await give_up_at("m1", "queued", "draft") == ["queued", "queued draft", "failed cancelled"]
        with pytest.raises(DeliveryTimeout) as late:
            await send(server, info, "m2", publish=lambda _: None, message_id="m2", outbox=outbox, timeout=0.5)
        assert late.value.data["queued"] is False
        # The person clears the draft.
        os.kill(info.pid, signal.SIGUSR1)
        assert (await give_up_at("m3", "pasted"))[-1] == "submitted"
        assert [entry.state for one in ("m1", "m2", "m3") for entry in await outbox.find(one)] == [
            "failed", "failed", "submitted",
        ]  # fmt: skip
        # Whoever types next finds nothing left of the others.
        await send(server, info, "m4", publish=lambda _: None, outbox=outbox, timeout=PATIENCE)
    await wait_until_async(
        lambda: [got.text for got in read_got(log) if got.kind == "message"] == ["m3", "m4"], PATIENCE
    )
