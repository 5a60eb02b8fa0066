"""Two Claude Codes and a Codex in a relay: what each received is what the models of the others streamed.

They are taken from PATH, or from where $STREAMRELAY_CLAUDE and $STREAMRELAY_CODEX say; without them this is skipped.
Each has a model of its own on loopback, an empty home and an invalid key. The models answer at once, which makes Claude
Code 2.1.332 lose rows of its own transcript (docs/decisions/0044).
"""

import contextlib
from collections import Counter
from pathlib import Path

import pytest

from streamrelay.events import RelayDelivered, WitnessCompared
from streamrelay.service.api import CreateRelay, RelayParticipant, SendMessage
from streamrelay.testing.loopback_model import LoopbackModel, ModelReply, ModelRequest
from streamrelay.testing.tmux import PrivateTmux
from streamrelay.testing.waiting import wait_until_async
from tests.mcp.staging import Agents
from tests.mcp.test_mcp_real_agents import AGENTS, program_of, start
from tests.service.conftest import journaled

CAST = {"Ann": "claude", "Bob": "claude", "Eve": "codex"}
TURNS = 30
"""Answers, each of which reaches the two other participants."""
LIVE_PATIENCE = 600.0
CODE = "```python\ndef turn_{0}(rows):\n    for row in rows:\n        if row.age > {0}:\n            yield row\n```"
TABLE = "| program | bytes | turn |\n|---|---|---|\n| `cat` | 120 | {0} |\n| ink | 9100 | {0} |"
LAYOUTS = (
    f"The function of turn {{0}} is short:\n\n{CODE}\n\nIt ends at **{{0}}**.",
    f"Measured in turn {{0}}:\n\n{TABLE}\n\nThe last row of {{0}} counts.",
    f"## Turn {{0}}\n\n- first, `{{0}}`\n  - a nested item\n- second\n\n{CODE}\n\n{TABLE}",
)


class Speaker:
    """The model of one participant: each answer is another text, with code, a table or both."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.streamed: list[str] = []

    def decide(self, _: ModelRequest) -> ModelReply:
        number = len(self.streamed)
        self.streamed.append(f"{self.name} {number}: {LAYOUTS[number % len(LAYOUTS)].format(number)}")
        return ModelReply(self.streamed[-1])


@pytest.mark.slow
@pytest.mark.timeout(1200)
@pytest.mark.requirement("DEL-11", "REL-01")
async def test_each_receives_what_the_models_of_the_others_streamed(private_tmux: PrivateTmux, tmp_path: Path) -> None:
    private_tmux.new_session("keeper", ["sleep", "2000"])
    stage = Agents(private_tmux, tmp_path)
    speakers = {name: Speaker(name) for name in CAST}
    with contextlib.ExitStack() as stack:
        models = {name: stack.enter_context(LoopbackModel(speaker.decide)) for name, speaker in speakers.items()}
        for name, agent in CAST.items():
            home = tmp_path / f"home-{name}"
            (home / "work").mkdir(parents=True)
            set_up = AGENTS[agent].set_up(program_of(agent), home, models[name].url, {"command": "true", "args": []})
            start(stage, name, set_up, home)
        shown = lambda name: private_tmux.run("capture-pane", "-p", "-t", stage.panes[name])  # noqa: E731
        for name, agent in CAST.items():
            ready = lambda: AGENTS[agent].composer in shown(name)  # noqa: B023, E731
            await wait_until_async(ready, LIVE_PATIENCE, f"{name} to be ready")
        async with stage.service() as service:
            members = [RelayParticipant(session=stage.panes[name], name=name) for name in CAST]
            await service.create_relay(CreateRelay(participants=members, budget=TURNS))
            await service.send_message(SendMessage(to=stage.panes["Ann"], text="begin"))

            async def is_spent() -> bool:
                return len(await journaled(service, RelayDelivered)) >= TURNS

            await wait_until_async(is_spent, LIVE_PATIENCE, "the budget to be spent")
            deliveries = await journaled(service, RelayDelivered)
            arrived = lambda event: all(event.text in heard(models[name]) for name in listeners(event))  # noqa: E731
            await wait_until_async(lambda: all(map(arrived, deliveries)), LIVE_PATIENCE, "all messages to arrive")
            compared = await journaled(service, WitnessCompared)
    print(f"{len(deliveries)} deliveries, records: {Counter((event.outcome, event.reason) for event in compared)}")
    assert len(deliveries) == TURNS
    # One that gets messages while it answers, and is never idle, is heard all the same.
    spoke = Counter(event.speaker.partition(" ")[0] for event in deliveries)
    assert all(spoke[name] >= TURNS // 6 for name in CAST), spoke
    for event in deliveries:
        speaker = speakers[event.speaker.partition(" ")[0]]
        assert event.text.partition(":\n\n")[2] in speaker.streamed
        assert {*listeners(event), speaker.name} == CAST.keys()
        assert [heard(models[name]).count(event.text) for name in listeners(event)] == [1, 1]
    for name, model in models.items():
        assert model.errors == [], name


def heard(model: LoopbackModel) -> str:
    """Return all that the agent of a model was told, message by message."""
    return "\n".join(asked.said for asked in model.asked)


def listeners(event: RelayDelivered) -> list[str]:
    return [listener.partition(" ")[0] for listener in event.listeners]
