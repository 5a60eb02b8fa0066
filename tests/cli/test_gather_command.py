"""`streamrelay gather` as a person types it: a daemon, agents in tmux, and a seat at the terminal."""

import io
import json
import os
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from rich.console import Console
from streamrelay_cli.gather import person_of
from streamrelay_cli.gathering_view import GatheringView
from streamrelay_cli.output import CommandOutput

from streamrelay.errors import UsageError
from streamrelay.events import Piece
from streamrelay.service.api import Gathering
from streamrelay.service.gathering_api import GatheringMember
from streamrelay.testing.agent import read_got
from streamrelay.testing.tmux import PrivateTmux
from streamrelay.testing.waiting import wait_until
from tests.cli.conftest import COMMAND, PATIENCE
from tests.cli.test_daemon_commands import Daemon
from tests.daemon.conftest import MemoryService


class Hall(Daemon):
    """A daemon that holds gatherings."""

    def __init__(self, tmux: PrivateTmux, folder: Path) -> None:
        super().__init__(tmux, folder)
        self.tmux, self.folder = tmux, folder

    def agent(self, name: str) -> str:
        words = [sys.executable, "-m", "streamrelay.testing.agent", "--works", "0.1", "--log", str(self.folder / name)]
        return f"{name}={shlex.join([*words, '--answer', f'words {{number}} of {name}'])}"

    def gather(self, *more: str) -> str:
        return self.asks(
            "gather", "start", "--structure", "1-1-1", "--beats", "2", "--interval", "1.5", "--last-words", "8",
            "--speaker", self.agent("Sage"), "--human", "You", "--harvester", self.agent("Ada"), *more,
        ).strip()  # fmt: skip

    def now(self, gathering: str) -> dict[str, Any]:
        return self.shown("gather", "status", gathering)[0]

    def until(self, gathering: str, **said: object) -> None:
        wait_until(lambda: said.items() <= self.now(gathering).items(), PATIENCE, str(said))

    def heard(self, name: str) -> list[str]:
        return [got.text for got in read_got(self.folder / name) if got.kind == "message"]


@pytest.fixture
def hall(daemon_folders: Path, private_tmux: PrivateTmux) -> Iterator[Hall]:
    one = Hall(private_tmux, daemon_folders)
    one.start()
    yield one
    one.close()


@pytest.mark.requirement("GAT-14", "GAT-16b", "GAT-17")
@pytest.mark.timeout(120)
def test_a_gathering_is_held_from_the_command_line(hall: Hall, tmp_path: Path) -> None:
    refused = hall.asks("gather", "start", "--speaker", "A=x", "--speaker", "B=y", code=35)
    assert "exactly one harvester" in refused
    assert "--harvester NAME=AGENT" in refused
    assert "`streamrelay gather start` holds one" in hall.asks("gather", "pass", code=20)
    gathering = hall.gather("What is alive?")
    assert gathering.startswith("gathering-")
    now = hall.now(gathering)
    assert [(one["number"], one["name"], one["role"]) for one in now["participants"]] == [
        (1, "Sage", "speaker"), (2, "You", "speaker"), (3, "Ada", "harvester"),
    ]  # fmt: skip
    assert (now["opening_question"], now["speaker"]) == ("What is alive?", 1)
    (line,) = hall.asks("gather", "list").splitlines()
    first, *members = hall.asks("gather", "status").splitlines()
    assert line.split("  ")[:2] == first.split("  ")[:2] == [gathering, "daily"]
    assert [member.split()[0] for member in members] == ["Sage", "You", "Ada"]
    assert "You (2)   speaker, a person  by gather say or the web page  " in members[1]
    assert len({member.index(" contribution") for member in members}) == 1, members
    hall.asks("gather", "pause")
    assert hall.now(gathering)["state"] == "paused"
    hall.asks("gather", "resume")
    assert "does not hold the piece" in hall.asks("gather", "say", "too early", code=37)
    hall.asks("gather", "pass", "--number", "1")
    hall.asks("gather", "say", "I see a thing.")
    wait_until(lambda: "You (2):\n\nI see a thing." in hall.heard("Ada"), PATIENCE, "Ada to hear it")
    hall.asks("gather", "pass", gathering)
    hall.until(gathering, phase="hold", speaker=1)
    hall.asks("gather", "close")
    hall.until(gathering, state="closed", reason="stopped")
    assert "I see a thing." in hall.asks("gather", "transcript")
    told = json.loads(hall.asks("gather", "transcript", gathering, "--json"))
    assert told["gathering"]["harvest"].startswith("words ")
    file = tmp_path / "told.md"
    hall.asks("gather", "transcript", gathering, "-o", str(file))
    assert file.read_text() == told["markdown"]
    assert "file exists" in hall.asks("gather", "transcript", gathering, "-o", str(file), code=2)
    assert "closed (stopped)" in hall.asks("gather", "status")
    assert hall.asks("gather", "list") == hall.asks("gather", "status")
    (listed,) = hall.shown("gather", "list")
    assert (listed["gathering"], listed["state"], listed["reason"]) == (gathering, "closed", "stopped")


@pytest.mark.requirement("GAT-14")
@pytest.mark.timeout(120)
def test_the_live_view_has_a_seat(hall: Hall) -> None:
    gathering = hall.gather()
    words = [str(COMMAND), "gather", "watch", gathering, "-S", hall.address.tmux]
    own = {name: value for name, value in os.environ.items() if name.startswith("XDG_")}
    pane = hall.tmux.new_session("viewer", words, columns=100, lines=40, environment=own)

    def screen() -> str:
        return hall.tmux.run("capture-pane", "-p", "-t", pane)

    wait_until(lambda: "● Sage (1)" in screen() and "beat" in screen(), PATIENCE, "the circle to be shown")
    hall.asks("gather", "pass", "--number", "1")
    wait_until(lambda: "● You (2)" in screen() and "s speaks" in screen(), PATIENCE, "the piece")
    hall.tmux.run("send-keys", "-t", pane, "s")
    wait_until(lambda: "You>" in screen(), PATIENCE, "the seat")
    hall.tmux.run("send-keys", "-l", "-t", pane, "From my seat: ü.")
    hall.tmux.run("send-keys", "-t", pane, "Enter")
    wait_until(lambda: "You (2):\n\nFrom my seat: ü." in hall.heard("Sage"), PATIENCE, "Sage to hear it")
    wait_until(lambda: "From my seat" in screen(), PATIENCE, "it to be shown")
    hall.tmux.run("send-keys", "-t", pane, "n")
    wait_until(lambda: "hold 1/1" in screen() and "● Sage (1)" in screen(), PATIENCE, "the next round")
    hall.tmux.run("send-keys", "-t", pane, "p")
    hall.until(gathering, state="paused")
    hall.tmux.run("send-keys", "-t", pane, "q")
    wait_until(lambda: "viewer" not in hall.tmux.run("list-sessions"), PATIENCE, "the view to end")
    assert hall.now(gathering)["state"] == "paused", "the gathering is still there"


@pytest.mark.requirement("GAT-14")
def test_the_live_view_tells_people_that_their_time_is_up() -> None:
    members = [
        GatheringMember(number=1, name="Sage", role="speaker"),
        GatheringMember(number=2, name="You", role="speaker", is_human=True),
        GatheringMember(number=3, name="Mo", role="speaker", is_human=True, pane="%3"),
    ]
    gathering = Gathering(
        gathering="g", rhythm="daily", inhale_rounds=1, hold_rounds=1, exhale_rounds=1, beats_per_turn=2,
        beat_interval_seconds=60.0, listening="each", opening_question="?", state="running", phase="hold", round=1,
        rounds=1, participants=members,
    )  # fmt: skip
    view = GatheringView(CommandOutput(), MemoryService(), gathering)

    def shown(speaker: str, how: str) -> bool:
        view._take(Piece(gathering="g", speaker=speaker, state="given", beat=0, beats=2))
        before = drawn(view)
        view._take(Piece(gathering="g", speaker=speaker, state="passed", beat=2, beats=2, how=how))
        assert "Your time is up." not in before
        return "Your time is up." in drawn(view)

    assert shown("You (2)", "time")
    assert not shown("You (2)", "phrase")
    assert not shown("Sage (1)", "time")
    assert not shown("Mo (3)", "time")


@pytest.mark.requirement("GAT-14")
def test_who_speaks_by_gather_say_is_found_or_the_error_says_why() -> None:
    sage = GatheringMember(number=1, name="Sage", role="speaker")
    you = GatheringMember(number=2, name="You", role="speaker", is_human=True)
    there = GatheringMember(number=3, name="Mo", role="speaker", is_human=True, session="s-1", pane="%3")
    away = GatheringMember(number=4, name="Di", role="speaker", is_human=True, node="beta")

    def held(*members: GatheringMember) -> Gathering:
        return Gathering(
            gathering="g", rhythm="daily", inhale_rounds=1, hold_rounds=1, exhale_rounds=1, beats_per_turn=2,
            beat_interval_seconds=60.0, listening="each", opening_question="?", state="running", phase="hold", round=1,
            rounds=1, participants=members,
        )  # fmt: skip

    assert person_of(held(sage, you, there)) == 2
    with pytest.raises(UsageError, match=r"^this gathering has no person$") as raised:
        person_of(held(sage))
    assert "--human NAME" in raised.value.hint
    with pytest.raises(UsageError, match="no person of this gathering speaks by this command") as raised:
        person_of(held(sage, there, away))
    assert raised.value.hint == "each speaks in a place of their own: Mo in s-1, Di on the web page of beta"
    with pytest.raises(UsageError, match="several people") as raised:
        person_of(held(you, msgspec.structs.replace(you, number=5)))
    assert "--number N" in raised.value.hint


def drawn(view: GatheringView) -> str:
    console = Console(width=80, file=io.StringIO(), color_system=None)
    with console.capture() as capture:
        console.print(view.rendered(0.0))
    return capture.get()
