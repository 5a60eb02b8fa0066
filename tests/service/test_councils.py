"""Sessions of the council that a service holds: several people in one, agents as members, and agents that ask it."""

import asyncio
import contextlib
from collections.abc import Callable
from pathlib import Path

import pytest

from streamrelay.council.config import CouncilConfig, parse_config
from streamrelay.council.events import AnswerBegan, AnswerGrew, CouncilEvent, Joined, MessageShown, SessionEnded
from streamrelay.errors import (
    AIKeyRefused,
    ConfigError,
    NestedGathering,
    NotAllowed,
    TargetNotFound,
    UsageError,
)
from streamrelay.events import LinkSuspended
from streamrelay.service.api import AskCouncil, Invited, OpenCouncil, StartGathering
from streamrelay.service.interface import Service
from streamrelay.testing.waiting import wait_until_async
from tests.service.conftest import PATIENCE, Stage, journaled

ECHO = '[[member]]\nname = "Echo"\nvendor = "scripted"\nscript = ["I heard {last}", "that | Sprite | too loud"]\n'
TWO = '[[member]]\nname = "Sprite"\nvendor = "pane"\nmodel = "sprite"\n' + ECHO


class Onlooker:
    """Somebody who follows a session of a service."""

    def __init__(self, service: Service, council: str) -> None:
        self.seen: list[CouncilEvent] = []
        self._task = asyncio.create_task(self._follow(service, council))

    async def _follow(self, service: Service, council: str) -> None:
        async with contextlib.aclosing(service.follow_council(council)) as events:
            async for event in events:
                self.seen.append(event)

    async def until(self, holds: Callable[[list[CouncilEvent]], object]) -> None:
        await wait_until_async(lambda: holds(self.seen), PATIENCE, "an event")

    @property
    def grown(self) -> str:
        return "".join(each.piece for each in self.seen if isinstance(each, AnswerGrew))


def council(text: str = TWO) -> CouncilConfig:
    return parse_config(text, "council.toml")


@pytest.fixture(autouse=True)
def no_file(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Give the user an empty folder for their configuration."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    (tmp_path / "config" / "streamrelay").mkdir(parents=True)
    return tmp_path / "config" / "streamrelay" / "council.toml"


@pytest.mark.requirement("COU-01b", "COU-12a")
async def test_two_people_and_an_agent_are_in_one_session_of_a_service(stage: Stage) -> None:
    pane = stage.start("sprite")
    async with stage.service() as service:
        opened = await service.open_council(OpenCouncil(config=council()))
        assert (opened.is_open, opened.joined, opened.members) == (True, False, ("Sprite", "Echo"))
        first = Onlooker(service, opened.council)
        await first.until(lambda seen: seen)
        await service.enter_council(opened.council, "Good morning")
        await first.until(lambda seen: any(isinstance(each, AnswerBegan) for each in seen))
        second = Onlooker(service, opened.council)
        await second.until(lambda seen: len(seen) > 1)
        joined = second.seen[0]
        assert isinstance(joined, Joined)
        assert [entry.text for entry in joined.entries] == ["Good morning"]
        assert isinstance(second.seen[1], AnswerBegan)
        await service.enter_council(opened.council, "And you?")
        assert await service.rest_council(opened.council, PATIENCE)
        await second.until(lambda seen: "I heard" in second.grown)
        assert second.grown == first.grown
        assert [each.entry.text for each in second.seen if isinstance(each, MessageShown)] == ["And you?"]
        assert stage.heard("sprite")[0].endswith("[You]: Good morning")
        again = await service.open_council(OpenCouncil(resume=opened.council))
        assert again.joined
        assert (await service.enter_council(opened.council, "/cost")).shown.startswith("Sprite: 1 answer")
        with pytest.raises(UsageError, match=r"cannot write .* from here"):
            await service.enter_council(opened.council, "/export x.md")
        # What takes part in a council begins nothing of its own.
        with pytest.raises(NestedGathering):
            await service.ask_council(AskCouncil(question="?", caller=pane))
        circle = [Invited(name=name, number=number, agent="sprite") for number, name in enumerate("AB", 1)]
        scribe = Invited(name="C", number=3, role="harvester", agent="sprite")
        with pytest.raises(NestedGathering):
            await service.start_gathering(StartGathering(participants=[*circle, scribe], caller=pane))
        await service.enter_council(opened.council, "/bye")
        await second.until(lambda seen: isinstance(seen[-1], SessionEnded))
        await wait_until_async(lambda: not service._councils._held, PATIENCE, "the session to be closed")
        (listed,) = await service.councils()
        assert (listed.is_open, listed.messages, listed.title) == (False, 4, "Good morning")
        told = await service.council_transcript(opened.council)
        assert [entry.author for entry in told.entries] == ["You", "Sprite", "You", "Echo"]
        with pytest.raises(TargetNotFound):
            await service.enter_council(opened.council, "hello")
        resumed = await service.open_council(OpenCouncil(resume=opened.council))
        assert not resumed.joined
    # The end of the service ended the session, and it is stored.
    async with stage.service() as service:
        assert not (await service.councils())[0].is_open


@pytest.mark.requirement("COU-01b")
async def test_what_a_member_answers_does_not_cross_its_links(stage: Stage) -> None:
    stage.start("sprite"), stage.start("Keeper")
    async with stage.service() as service:
        link = await service.create_link("sprite", "Keeper")
        opened = await service.open_council(OpenCouncil(config=council()))
        await service.enter_council(opened.council, "Good morning")
        assert await service.rest_council(opened.council, PATIENCE)
        assert [entry.text for entry in (await service.council_transcript(opened.council)).entries][1] == "answer 1"
        suspended = [each.by for each in await journaled(service, LinkSuspended) if each.link == link.link_id]
        assert len(suspended) == 2
        assert suspended[0].startswith("council-")
        assert suspended[1] == ""
        stage.types("sprite", "speak")
        await stage.until_heard("Keeper", "[From sprite] answer 2")
    assert not any("answer 1" in text for text in stage.heard("Keeper"))


@pytest.mark.requirement("COU-10", "COU-12b")
async def test_an_agent_asks_the_council_of_its_user(stage: Stage, no_file: Path) -> None:
    stage.start("sprite")
    keeper = stage.start("Keeper")
    async with stage.service() as service:
        with pytest.raises(ConfigError, match="no such file"):
            await service.ask_council(AskCouncil(question="Which one?", caller=keeper))
        no_file.write_text(TWO)
        told = await service.ask_council(AskCouncil(question="Which one?", caller=keeper, wait_seconds=0.0))
        assert told.state == "answering"
        told = await service.ask_council(AskCouncil(council=told.council, caller=keeper, wait_seconds=PATIENCE))
        assert told.state == "answered"
        assert [(each.member, each.text) for each in told.answers] == [
            ("Sprite", "answer 1"),
            ("Echo", "I heard [Sprite]: answer 1"),
        ]
        (disputed,) = told.dissent
        assert (disputed.claim, disputed.made_by, disputed.disputed_by) == ("that", "Sprite", "Echo")
        assert told.missing == []
        await wait_until_async(lambda: not service._councils._held, PATIENCE, "the session to be closed")
        with pytest.raises(UsageError, match="nothing to ask"):
            await service.ask_council(AskCouncil(caller=keeper))
        await service.mute(keeper, True)
        with pytest.raises(NotAllowed, match="muted you"):
            await service.ask_council(AskCouncil(question="And now?", caller=keeper))
        assert len(await service.councils()) == 1


@pytest.mark.requirement("COU-02b")
async def test_a_key_comes_with_the_request_and_stays_in_memory(
    stage: Stage, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv("XAI_API_KEY", raising=False)
    config = council('[[member]]\nname = "G"\nvendor = "xai"\nmodel = "grok-x"\nbase_url = "http://127.0.0.1:1/v1"\n')
    async with stage.service() as service:
        with pytest.raises(AIKeyRefused):
            await service.open_council(OpenCouncil(config=config))
        assert await service.councils() == []
        request = OpenCouncil(config=config, keys={"XAI_API_KEY": "sk-very-secret"})
        assert "secret" not in repr(request)
        await service.open_council(request)
    for file in (tmp_path / "state").rglob("*"):
        assert not file.is_file() or b"sk-very-secret" not in file.read_bytes()
