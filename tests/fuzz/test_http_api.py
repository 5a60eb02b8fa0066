"""Each operation of a real daemon gets valid, invalid and mutated requests, and answers as its document says."""

import asyncio
import random
from collections import Counter

from streamrelay.service.api import CreateRelay, RelayParticipant
from tests.fuzz.http_api import fuzz_http, fuzz_requests
from tests.sampling import examples
from tests.web.conftest import Household


async def test_every_response_is_one_that_the_document_describes(house: Household) -> None:
    panes = [house.agent(name, "an answer") for name in ("one", "two", "three")]
    await house.begin()
    async with house.client() as client:
        link = await client.create_link(panes[0], panes[1])
        relay = await client.create_relay(
            CreateRelay(participants=[RelayParticipant(session=pane) for pane in panes[1:]])
        )
        known = {
            "session": panes, "to": panes, "a": panes, "b": panes, "by": panes,
            "link": [link.link_id], "relay": [relay.relay],
        }  # fmt: skip
        written: list[bytes] = []
        answered = await asyncio.to_thread(fuzz_http, house.address.socket, examples(8), 7, known, written)
        sent = await asyncio.to_thread(fuzz_requests, house.address.socket, written, examples(400), random.Random(7))
        assert sent > 10_000
        assert (await client.status()).pid
    statuses = Counter(label.rpartition(" ")[2] for label in answered.elements())
    assert {"200", "204", "400", "404"} <= statuses.keys(), answered
