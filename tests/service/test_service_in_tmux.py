"""What people in tmux see of the conversations of a service, as the panes' options have it."""

import pytest

from streamrelay.config.settings import HistoryTable
from streamrelay.links.link import LinkPolicy, NoticeTexts
from streamrelay.relay.rules import Rules
from streamrelay.service.api import CreateRelay, RelayParticipant, SendMessage
from streamrelay.testing.waiting import wait_until_async
from tests.service.conftest import PATIENCE, Stage


def shows(stage: Stage, *panes: str) -> list[str]:
    return [stage.tmux.run("show-options", "-pqv", "-t", pane, "@streamrelay").strip() for pane in panes]


async def until_shown(stage: Stage, panes: list[str], texts: list[str]) -> None:
    await wait_until_async(lambda: shows(stage, *panes) == texts, PATIENCE, f"{texts} in {panes}")


@pytest.mark.requirement("OPS-09")
async def test_links_and_relays_are_shown_as_they_stand_and_nothing_afterwards(stage: Stage):
    panes = [stage.start("Ann"), stage.start("Bob"), stage.start("Cyd")]
    async with stage.service(notify=True) as service:
        link = await service.create_link("Ann", "Bob", LinkPolicy(budget=2))
        other = await service.create_link("Bob", "Cyd")
        await until_shown(stage, panes, ["Bob 0/2", "Ann 0/2; Cyd 0/8", "Bob 0/8"])
        await service.close_link(other.link_id)
        await service.pause(True, link.link_id)
        await until_shown(stage, panes, ["Bob 0/2 paused", "Ann 0/2 paused", ""])
        await service.pause(False, link.link_id)
        await service.send_message(SendMessage(to="Bob", text="hello", caller="Ann", direct=True))
        await until_shown(stage, panes, ["Bob 2/2 spent", "Ann 2/2 spent", ""])
        await service.extend_link(link.link_id, 100)
        await service.close_link(link.link_id)
        relay = await service.create_relay(CreateRelay(participants=[RelayParticipant(session=p) for p in panes]))
        await service.mute("Ann", True)
        ann, bob, cyd = (f"{name} ({number})" for number, name in enumerate(("Ann", "Bob", "Cyd"), 1))
        await until_shown(stage, panes, [f"{bob}, {cyd} 0 muted", f"{ann}, {cyd} 0", f"{ann}, {bob} 0"])
        assert relay.relay
    assert shows(stage, *panes) == ["", "", ""]


@pytest.mark.requirement("OPS-09")
async def test_a_dialog_is_shown_whether_or_not_its_program_converses(stage: Stage):
    pane = stage.start("Ann", "--dialog")
    async with stage.service(notify=True) as service:
        await service.send_message(SendMessage(to="Ann", text="hello"))
        await until_shown(stage, [pane], ["waits for you: permission"])
    assert shows(stage, pane) == [""]


async def test_nothing_is_shown_unless_it_is_wanted(stage: Stage):
    panes = [stage.start("Ann"), stage.start("Bob")]
    async with stage.service() as service:
        await service.create_link("Ann", "Bob")
        await service.send_message(SendMessage(to="Bob", text="hello"))
        await stage.until_heard("Bob", "hello")
        assert shows(stage, *panes) == ["", ""]


async def test_links_and_relays_are_as_was_said_where_nothing_else_is(stage: Stage):
    panes = [stage.start("Ann"), stage.start("Bob")]
    texts, rules = NoticeTexts(frame="{name} - {text}"), Rules(frame="<{name}> {text}")
    async with stage.service(texts=texts) as service:
        service.configure(policy=LinkPolicy(budget=5), rules=rules, retention=HistoryTable())
        await service.send_message(SendMessage(to="Bob", text="hello", caller="Ann", direct=True))
        await stage.until_heard("Bob", "Ann - hello")
        (link,) = await service.links()
        assert link.policy.budget == 5
        await service.close_link(link.link_id)
        participants = [RelayParticipant(session=pane) for pane in panes]
        await service.create_relay(CreateRelay(participants=participants, budget=1))
        stage.types("Ann", "speak")

        def heard() -> bool:
            texts = stage.heard("Ann") + stage.heard("Bob")
            return any(text.startswith(("<Ann> ", "<Bob> ")) for text in texts)

        await wait_until_async(heard, PATIENCE, "the relay's frame")
