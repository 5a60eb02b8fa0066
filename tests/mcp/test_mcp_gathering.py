"""Gatherings by the tools of agents, with an official client and scripted agents in tmux."""

from typing import Any

import pytest

from streamrelay.service.local import LocalService
from tests.mcp.staging import Agents
from tests.service.circles import until
from tests.service.conftest import PATIENCE

NAMES = ("Sage", "Rex", "Ada")


def participants() -> list[dict[str, Any]]:
    told = [{"name": name, "number": number, "session": name} for number, name in enumerate(NAMES, 1)]
    told[-1]["role"] = "harvester"
    return told


async def held(service: LocalService, speaker: int | None, phase: str) -> None:
    async def so() -> bool:
        (one, *_) = await service.gatherings()
        return (one.speaker, one.phase) == (speaker, phase)

    await until(so, PATIENCE)


@pytest.mark.requirement("GAT-01", "OPS-04b", "GAT-12b", "GAT-03b")
@pytest.mark.timeout(120)
async def test_agents_call_a_gathering_together_and_pass_the_piece(stage: Agents) -> None:
    for name in (*NAMES, "Eve"):
        stage.start(name)
    asked = {
        "rhythm": "daily",
        "participants": participants(),
        "inhale_rounds": 1,
        "hold_rounds": 1,
        "exhale_rounds": 1,
        "beats_per_turn": 2,
        "beat_interval_seconds": 30.0,
        "opening_question": "What is alive?",
    }
    async with (
        stage.served() as service,
        stage.client("Eve") as eve,
        stage.client("Sage") as sage,
        stage.client("Rex") as rex,
    ):
        bad = await eve.call_tool("start_gathering", asked | {"participants": participants()[:2]})
        assert bad.is_error
        assert bad.structured_content["error"]["code"] in {"invalid_gathering", "usage"}
        begun = await eve.call_tool("start_gathering", asked)
        assert not begun.is_error, begun.content
        told = begun.structured_content
        assert told["gathering"].startswith("gathering-")
        assert [(one["number"], one["name"], one["session"]) for one in told["participants"]] == [
            (number, name, stage.panes[name]) for number, name in enumerate(NAMES, 1)
        ]
        nested = await sage.call_tool("start_gathering", asked)
        assert nested.structured_content["error"]["message"] == "Cannot start a gathering from within a gathering"
        refused = await sage.call_tool("send_message", {"to": "Eve", "text": "psst"})
        assert refused.structured_content["error"]["code"] == "in_gathering"
        early = await rex.call_tool("pass_piece", {})
        assert early.structured_content["error"]["code"] == "piece_not_held"
        for phase, after in (("inhale", "hold"), ("hold", "exhale"), ("exhale", "close")):
            await held(service, 1, phase)
            await stage.until_told("Sage", f"the piece is yours. Phase: {phase.upper()}")
            assert not (await sage.call_tool("pass_piece", {})).is_error
            await held(service, 2, phase)
            await stage.until_told("Rex", f"the piece is yours. Phase: {phase.upper()}")
            assert not (await rex.call_tool("pass_piece", {})).is_error
            await held(service, 1 if after != "close" else None, after)
        outside = await eve.call_tool("pass_piece", {})
        assert outside.structured_content["error"]["code"] == "piece_not_held"
    assert any("What is alive?" in got for got in stage.heard("Ada"))
