"""A session that cannot be heard, and so not be linked, is bound by what binds all sessions, and named to its peer."""

import sys

import pytest

from streamrelay.errors import NotAllowed
from streamrelay.service.api import SendMessage
from streamrelay.testing.agent import read_got
from streamrelay.testing.waiting import wait_until
from tests.service.conftest import PATIENCE, Stage


def start_wrapped(stage: Stage) -> str:
    """Start an agent by a shell that stays its foreground program, as far as tmux can tell."""
    log = stage.folder / "Wrapped"
    script = f"{sys.executable} -m streamrelay.testing.agent --log {log} --works 0.1; true"
    pane = stage.tmux.new_session("Wrapped", ["sh", "-c", script], columns=100, lines=40)
    wait_until(lambda: any(got.kind == "ready" for got in read_got(log)), PATIENCE)
    return pane


@pytest.mark.requirement("LNK-01c")
async def test_who_cannot_be_heard_is_named_and_not_linked(stage: Stage) -> None:
    wrapped = start_wrapped(stage)
    stage.start("Bob")
    async with stage.service() as service:
        sent = await service.send_message(SendMessage(to="Bob", text="hello", caller=wrapped, direct=True))
        assert "runs sh, a shell" in sent.warning
        assert (sent.link, sent.listening) == ("", False)
        await stage.until_heard("Bob", "[From Wrapped] hello")


@pytest.mark.parametrize("decided", ["paused", "muted"])
async def test_what_a_person_decided_holds_for_whoever_cannot_be_heard(stage: Stage, decided: str) -> None:
    wrapped = start_wrapped(stage)
    bob = stage.start("Bob")
    async with stage.service() as service:
        await (service.pause(True) if decided == "paused" else service.mute("Wrapped", True))
        with pytest.raises(NotAllowed):
            await service.send_message(SendMessage(to="Bob", text="hello", caller=wrapped, direct=True))
        if decided == "paused":
            for caller in ("%99", bob):
                with pytest.raises(NotAllowed):
                    await service.send_message(SendMessage(to="Bob", text="hello", caller=caller))
        await service.send_message(SendMessage(to="Bob", text="a person's"))
        await stage.until_heard("Bob", "a person's")
        assert stage.heard("Bob") == ["a person's"]
