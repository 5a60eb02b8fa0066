"""A stream whose log has grown long begins anew in another one, and nothing of it is lost or said twice."""

import pytest

from streamrelay.events import PaneOpened, RelayDelivered
from streamrelay.links.link import Policy
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
        await service.create_link("Ann", "Bob", Policy(direction="from_a"))
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
