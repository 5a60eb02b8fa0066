"""What was said in sessions that are no more: asked for as of those that are there."""

import json

import pytest

from streamrelay.errors import TargetNotFound
from streamrelay.events import PaneClosed, Text
from streamrelay.service.api import SearchHistory, SendMessage
from streamrelay.sessions.model import StartSession
from streamrelay.testing.waiting import wait_until_async
from tests.service.conftest import PATIENCE, Stage, journaled


async def texts(service, session):
    return [
        one.text for one in await service.read_since(0, session) if isinstance(one, Text) and one.origin == "program"
    ]


async def found(service, session):
    search = SearchHistory(words="answer", session=session, transcripts=False)
    return [one.text for one in (await service.search_history(search)).found]


async def answers(service, session, count):
    async def answered():
        return len(await texts(service, session)) == count

    await wait_until_async(answered, PATIENCE, f"{count} answers")


@pytest.mark.requirement("HIS-01")
async def test_an_ended_session_is_read_and_searched_by_its_id_its_title_and_its_pane(stage: Stage):
    start = StartSession(agent="sprite", title="Bob", arguments=[str(stage.folder / "Bob")], cwd=str(stage.folder))
    async with stage.service() as service:
        bob = await service.start_session(start)
        await service.send_message(SendMessage(to="Bob", text="hello"))
        await answers(service, "Bob", 1)
        await service.end_session(bob.session)
        await wait_until_async(lambda: _closed(service), PATIENCE, "the pane to be gone")
        for name in (bob.session, bob.pane, "Bob"):
            assert await texts(service, name) == ["answer 1"], name
            assert await found(service, name) == ["answer 1"], name
        with pytest.raises(TargetNotFound):
            await service.read_since(0, "Bobby")
        # Another one of that title is another one, and goes before.
        again = await service.start_session(start)
        assert again.session != bob.session
        assert await texts(service, "Bob") == await found(service, "Bob") == []
        assert await found(service, bob.session) == ["answer 1"]
    async with stage.service() as service:
        assert await found(service, bob.session) == ["answer 1"]


async def test_a_pane_of_that_id_in_another_server_is_another_session(stage: Stage):
    ann = stage.start("Ann")
    async with stage.service() as service:
        await service.send_message(SendMessage(to="Ann", text="hello"))
        await answers(service, "Ann", 1)
    stage.tmux.kill()
    stage.tmux.new_session("keeper", ["sleep", "1000"])
    (stage.folder / "Eve").unlink(missing_ok=True)
    eve = stage.start("Eve")
    assert eve == ann
    async with stage.service() as service:
        assert await texts(service, "Ann") == ["answer 1"]
        for text in ("one", "two"):
            await service.send_message(SendMessage(to="Eve", text=text))
        await answers(service, eve, 2)
        assert await texts(service, eve) == ["answer 1", "answer 2"]
        assert await found(service, "Ann") == ["answer 1"]


async def test_a_conversation_that_an_agent_wrote_down_is_asked_for_by_its_own_id(stage: Stage, tmp_path, monkeypatch):
    conversation = "9c540f39-0b50-445c-8455-e3cf5304996e"
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("CLAUDE_CONFIG_DIR", raising=False)
    file = tmp_path / ".sprite" / f"{conversation}.jsonl"
    file.parent.mkdir()
    file.write_text(json.dumps({"type": "assistant", "message": {"content": "an answer that was written down"}}))
    async with stage.service() as service:
        history = await service.search_history(SearchHistory(words="answer", session=conversation))
        assert [(one.agent, one.file) for one in history.found] == [("sprite", str(file))]
        with pytest.raises(TargetNotFound):
            await service.search_history(SearchHistory(words="answer", session="nobody"))


async def _closed(service):
    return await journaled(service, PaneClosed) != []
