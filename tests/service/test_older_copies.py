"""A service that goes on with an older copy of its state, as after a loss of power: each later message arrives."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from streamrelay.errors import TargetNotFound
from streamrelay.events import RelayDelivered
from streamrelay.service.local import LocalService
from tests.service.conftest import Stage, journaled

LISTENS = ("--answers-to", "no message ends so")


@contextmanager
def undone(folder: Path) -> Iterator[None]:
    """Put a copy of the folder back afterwards; no service runs before or after."""
    copy = folder.with_name("copy")
    shutil.copytree(folder, copy)
    yield
    shutil.rmtree(folder)
    copy.rename(folder)


async def say(stage: Stage, number: int) -> None:
    stage.types("Ann", "speak")
    await stage.until_heard("Bob", f"[From Ann] answer {number}")


async def close(stage: Stage, service: LocalService, link_id: str, last_words: str) -> None:
    await service.close_link(link_id, by="Ann", last_words=last_words)
    await stage.until_heard("Bob", f"[From Ann] {last_words}")
    with pytest.raises(TargetNotFound):
        service._core.machine.found(link_id)


@pytest.mark.requirement("REL-07")
@pytest.mark.parametrize("outbox", ["outbox.db", "state/outbox.db"], ids=["the outbox is kept", "the outbox goes back"])
async def test_a_link_whose_number_went_back_loses_no_message(stage: Stage, outbox: str) -> None:
    stage.start("Ann")
    stage.start("Bob", *LISTENS)
    said = {"outbox": stage.folder / outbox}
    async with stage.service(**said) as service:
        link = await service.create_link("Ann", "Bob")
        await say(stage, 1)
    with undone(stage.folder / "state"):
        async with stage.service(**said) as service:
            await say(stage, 2)
            await close(stage, service, link.link_id, "goodbye, and forgotten")
    async with stage.service(**said) as service:
        assert [again.link_id for again in await service.links()] == [link.link_id]
        await say(stage, 3)
        await close(stage, service, link.link_id, "goodbye under the same number")
        ids = [event.message_id for event in await journaled(service, RelayDelivered)]
    assert len(ids) == len(set(ids))
    assert all(one.startswith(f"{link.link_id}-") for one in ids)
