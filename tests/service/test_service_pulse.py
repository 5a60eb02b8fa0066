"""The pulse of a running service: sessions in real panes, their folders' repositories, the journal."""

import pytest

from streamrelay.config.settings import HistoryTable, PulseTable
from streamrelay.links.link import LinkPolicy
from streamrelay.relay.rules import Rules
from streamrelay.service.api import SendMessage, TakePulse
from streamrelay.testing.waiting import wait_until_async
from tests.pulse.test_repositories import commit, git
from tests.service.conftest import PATIENCE, Stage


@pytest.mark.requirement("GAT-06")
async def test_what_sessions_do_where_they_work_and_what_they_said_before(stage: Stage, tmp_path, monkeypatch):
    home = tmp_path / "home"
    work = home / "kiosk"
    work.mkdir(parents=True)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", "/dev/null")
    git(work, "init", "-q", "-b", "answer-desk")
    commit(work, "Open the kiosk")
    monkeypatch.chdir(home)
    ann = stage.start("Ann")
    stage.tmux.run("respawn-pane", "-k", "-t", "keeper:", "-c", str(work), "sleep 1000")
    keeper = stage.tmux.run("display-message", "-p", "-t", "keeper:", "#{pane_id}")
    async with stage.service() as service:
        pulse = PulseTable(seconds=PATIENCE, pipelines={"desk": ("echo", "open")})
        service.configure(policy=LinkPolicy(), rules=Rules(), retention=HistoryTable(), pulse=pulse)
        await service.send_message(SendMessage(to="Ann", text="hello", message_id="m"))

        async def answered():
            return [one.state for one in await service.get_delivery("m")] == ["answered"]

        await wait_until_async(answered, PATIENCE, "the answer")
        pulse = await service.pulse(TakePulse(scope=["friction"]))
        told = {one.title: one for one in pulse.sessions}
        assert (told["Ann"].program, told["Ann"].said) == ("sprite", "answer 1")
        assert told["Ann"].quiet is not None
        assert (told["keeper"].folder, told["keeper"].said, told["keeper"].quiet) == (str(work), "", None)
        assert [(one.folder, one.branch, list(one.commits)) for one in pulse.repositories] == [
            (str(work), "answer-desk", ["Open the kiosk"])
        ]
        assert pulse.keywords[0] == "friction"
        assert {"answer", "desk", "kiosk"} <= set(pulse.keywords)
        # What Ann said is in the journal, and found by what is worked on.
        assert pulse.history is not None
        assert pulse.history.found == 1
        assert [(one.name, one.output) for one in pulse.pipelines] == [("desk", "open\n")]
        assert pulse.missing == ()
        assert "History signals: 1 found for friction, " in pulse.text()
        alone = await service.pulse(TakePulse(parts=["sessions", "repositories"], among=[ann]))
        assert ([one.title for one in alone.sessions], alone.repositories, alone.history) == (["Ann"], (), None)
        assert [one.title for one in (await service.pulse(TakePulse(parts=["sessions"], among=[keeper]))).sessions] == [
            "keeper"
        ]
