"""A stream whose log has grown long begins anew in another one, and nothing of it is lost or said twice."""

import pytest

from streamrelay.events import PaneOpened, RelayDelivered
from streamrelay.links.link import LinkPolicy
from streamrelay.testing.waiting import wait_until_async
from tests.service.conftest import PATIENCE, Stage, journaled


@pytest.mark.parametrize("reopened", [False, True])
async def test_what_is_said_after_a_log_was_renewed_is_heard_once(stage: Stage, *, reopened: bool) -> None:
    ann = stage.start("Ann")
    stage.start("Bob")

    async def says(service, number):
        stage.types("Ann", f"say {number}")
        await stage.until_heard("Bob", f"[From Ann] answer {number}")

    async with stage.service() as service:
        await service.create_link("Ann", "Bob", LinkPolicy(direction="from_a"))
        await says(service, 1)

        async def renewed():
            await service._core.renew(ann)
            return [event.pane for event in await journaled(service, PaneOpened)].count(ann) > 1

        await wait_until_async(renewed, PATIENCE, "Ann's stream to begin anew")
        if not reopened:
            await says(service, 2)
    async with stage.service() as service:
        await says(service, 2 if reopened else 3)
        delivered = await journaled(service, RelayDelivered)
        assert [event.text for event in delivered] == [
            f"[From Ann] answer {number}" for number in range(1, 3 if reopened else 4)
        ]
        assert len(list((stage.folder / "state" / "panes").iterdir())) == 2


async def test_where_no_new_log_can_be_opened_the_old_one_goes_on_until_one_can(stage: Stage) -> None:
    ann = stage.start("Ann")
    stage.start("Bob")
    logs = stage.folder / "state" / "panes"

    async def says(service, number):
        stage.types("Ann", f"say {number}")
        await stage.until_heard("Bob", f"[From Ann] answer {number}")

    async def opened(service):
        return [event.pane for event in await journaled(service, PaneOpened)].count(ann)

    async with stage.service() as service:
        await service.create_link("Ann", "Bob", LinkPolicy(direction="from_a"))
        await says(service, 1)
        away = logs.rename(logs.with_name("away"))
        logs.write_text("in the way")
        for _ in range(2):
            await service._core.renew(ann)
        logs.unlink()
        away.rename(logs)
        assert await opened(service) == 1
        await says(service, 2)
    async with stage.service() as service:
        await says(service, 3)

        async def renewed():
            await service._core.renew(ann)
            return await opened(service) > 1

        await wait_until_async(renewed, PATIENCE, "Ann's stream to begin anew")
        await says(service, 4)
        delivered = await journaled(service, RelayDelivered)
        assert [event.text for event in delivered] == [f"[From Ann] answer {number}" for number in range(1, 5)]
        assert len(list(logs.iterdir())) == 2
