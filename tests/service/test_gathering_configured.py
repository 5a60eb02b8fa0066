"""What is configured of gatherings holds for one, unless it is asked for otherwise."""

import pytest

from streamrelay.config.settings import GatheringTable, HistoryTable
from streamrelay.errors import InvalidGathering
from streamrelay.links.link import LinkPolicy
from streamrelay.relay.rules import Rules
from streamrelay.service.api import Invited, StartGathering
from tests.service.conftest import Stage


@pytest.mark.requirement("GAT-13b")
async def test_what_is_configured_holds_unless_it_is_asked_for_otherwise(stage: Stage) -> None:
    panes = [stage.start(name) for name in ("sage", "rex", "ada")]
    circle = [
        Invited(name=name, number=number, session=pane, role="harvester" if number == 3 else "speaker")
        for number, (name, pane) in enumerate(zip(("Sage", "Rex", "Ada"), panes, strict=True), 1)
    ]
    async with stage.service() as service:
        usual = GatheringTable(listening="digest", last_words=17.0, reach_timeout=9.0, harvest_timeout=33.0)
        service.configure(policy=LinkPolicy(), rules=Rules(), retention=HistoryTable(), gathering=usual)
        with pytest.raises(InvalidGathering, match="last_words_seconds"):
            await service.start_gathering(StartGathering(participants=circle, last_words_seconds=-1.0))
        held = await service.start_gathering(StartGathering(participants=circle, harvest_seconds=44.0))
        plan = service._core.machine.circles.found(held.gathering).ceremony.plan
        assert held.listening == plan.listening == "digest"
        assert (plan.last_words_seconds, plan.reach_seconds, plan.harvest_seconds) == (17.0, 9.0, 44.0)
        await service.close_gathering(held.gathering)
        await service.close_gathering(held.gathering)
