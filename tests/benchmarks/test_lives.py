"""The recorder of whole lives: what its model says, what its programs never painted, how its recordings are heard."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from benchmarks.fidelity.witnessed import ScreenAlone, has_record
from benchmarks.lives import tool_server
from benchmarks.lives.agents import AGENTS, Wanted
from benchmarks.lives.life import _program
from benchmarks.lives.painted import painted_since_attach, unpainted
from benchmarks.lives.scenarios import SCENARIOS
from benchmarks.lives.texts import decide, is_side, text_of
from streamrelay.agents import shipped_profiles
from streamrelay.delta.inputs import Began, Input, Output
from streamrelay.events import Event, Text, TurnEnded, WitnessCompared
from streamrelay.recordings import open_recording, replay
from streamrelay.testing.loopback_model import ModelRequest
from streamrelay.vt.engine import Cursor, Snapshot

RELAYS = Path(__file__).parents[1] / "corpus" / "relay"
PROFILES = [profile.reading for profile in shipped_profiles()]


def asked(said: str, *before: str, result: str = "", tools: tuple[str, ...] = ("Bash",)) -> ModelRequest:
    return ModelRequest(said, result, tools, (*before, said))


def test_the_last_topic_is_answered() -> None:
    assert decide(asked("of topic:n3, then topic:n4")).text == text_of("n4")[0]
    assert decide(asked("go on", "of topic:n5")).text == text_of("n5")[0]
    assert len({text_of(f"n{number}")[0] for number in range(40)}) == 40
    assert len(text_of("long400")[0].split("\n")) == 400
    assert text_of("para")[0].count("\n") == 0


def test_a_tool_is_called_once_and_then_spoken_of() -> None:
    first = decide(asked("do topic:tool1"))
    assert first.call is not None
    assert first.call[0] == "Bash"
    assert decide(asked("do topic:tool1", result="out-1")).call is None


@pytest.mark.parametrize(
    ("topic", "tools", "name"),
    [
        ("served", ("Bash", "mcp__tiny__lookup"), "mcp__tiny__lookup"), ("served", ("Bash",), "mcp__tiny__lookup"),
        ("written", ("Bash", "Write"), "Write"), ("written", ("bash", "write"), "write"),
    ],
)  # fmt: skip
def test_a_servers_tool_or_a_writer_of_files_is_called_once(topic: str, tools: tuple[str, ...], name: str) -> None:
    first = decide(asked(f"do topic:{topic}", tools=tools))
    assert first.call is not None
    assert first.call[0] == name
    assert decide(asked(f"do topic:{topic}", result="made", tools=tools)).call is None
    assert decide(asked("do topic:written", tools=("Bash",))).call is None


def test_the_server_with_a_tool_is_spoken_to_as_agents_do() -> None:
    requests = [
        {"id": 0, "method": "initialize", "params": {"protocolVersion": "2025-03-26"}},
        {"method": "notifications/initialized"}, {"id": 1, "method": "tools/list"},
        {"id": 2, "method": "tools/call", "params": {"name": "lookup", "arguments": {}}}, {"id": 3, "method": "no"},
    ]  # fmt: skip
    words = [sys.executable, str(Path(tool_server.__file__))]
    spoken = "".join(json.dumps(request) + "\n" for request in requests)
    done = subprocess.run(words, input=spoken, capture_output=True, text=True, check=True, timeout=30.0)
    answers = {answer["id"]: answer for answer in map(json.loads, done.stdout.splitlines())}
    assert sorted(answers) == [0, 1, 2, 3]
    assert answers[0]["result"]["protocolVersion"] == "2025-03-26"
    assert [tool["name"] for tool in answers[1]["result"]["tools"]] == ["lookup"]
    assert "forty-two" in answers[2]["result"]["content"][0]["text"]
    assert answers[3]["error"]["code"] == -32601


@pytest.mark.parametrize(
    ("request_", "without_tools", "expected"),
    [
        (asked("tell me of topic:n1"), False, False),
        (asked("tell me of topic:n1", tools=()), False, True),
        (asked("tell me of topic:n1", tools=()), True, False),
        (asked("Create a detailed summary of the conversation so far"), False, True),
    ],
)
def test_what_agents_ask_for_themselves_is_told_apart(
    request_: ModelRequest, without_tools: bool, expected: bool
) -> None:
    assert is_side(request_, without_tools=without_tools) is expected


@pytest.mark.parametrize("name", AGENTS)
def test_an_agent_is_set_up_in_its_home_alone(name: str, tmp_path: Path) -> None:
    home = tmp_path / "home"
    start = AGENTS[name].set_up(tmp_path / "node", home, "http://127.0.0.1:9", Wanted(trusts=False, allows=False))
    files = [path.read_text() for path in home.rglob("*") if path.is_file()]
    assert any("127.0.0.1:9" in text for text in [*start.variables.values(), *files])
    assert {path.relative_to(tmp_path).parts[0] for path in tmp_path.rglob("*")} <= {"home"}
    assert [scenario for scenario, how in SCENARIOS.items() if how.fits(AGENTS[name])][:3] == [
        "long400", "turns20", "interrupt",
    ]  # fmt: skip


def test_renderers_and_versions_of_an_agent_are_judged_as_that_agent() -> None:
    names = ["claude197_fullscreen", "gemini_alternate", "codex_inline", "qwen"]
    assert [_program(name) for name in names] == ["claude", "gemini", "codex_inline", "qwen"]


class Painted:
    """A recording of a pane of 20 by 4 cells."""

    columns, lines = 20, 4

    def __init__(self, *printed: bytes) -> None:
        self._printed = printed

    def entries(self) -> list[Input]:
        empty = Snapshot(20, 4, (), (), Cursor(0, 0))
        began: Input = Began(0.0, "%0", "s", "sh", "", empty)
        return [began, *(Output(float(at), "%0", data) for at, data in enumerate(self._printed, 1))]


def answer(text: str) -> dict[str, Any]:
    return {"text": text, "t0": 0.5, "t1": 9.0}


@pytest.mark.parametrize(
    ("printed", "text", "expected"),
    [
        ([b"one two\r\nthree"], "one two\nthree\nfour", ["four"]),
        ([b"a line that is wrapped by its terminal"], "a line that is wrapped by its terminal", []),
        ([b"| a line that is |\r\n| wrapped in a box |"], "a line that is wrapped in a box", []),
        ([b"1\r\n2\r\n3\r\n4\r\n5\r\n6"], "1\n2\n6\n7", ["7"]),
        ([b"begun\x1b[2K\r", b"whole"], "begun and ended\nwhole", ["begun and ended"]),
        ([b"print(1)"], "```python\nprint(1)\n```", []),
    ],
    ids=["one line is missing", "wrapped", "wrapped in a box", "scrolled away", "erased", "a fence"],
)
def test_a_line_that_no_screen_showed_was_not_painted(printed: list[bytes], text: str, expected: list[str]) -> None:
    assert unpainted(Painted(*printed), [answer(text)]) == expected


def test_of_a_line_that_was_begun_at_the_attach_the_rest_was_painted_later() -> None:
    rows = (b"> one two", b"three", b"four fi", b"seven")
    first = Snapshot(20, 4, rows, (False,) * 4, Cursor(0, 3))

    class Joined(Painted):
        def entries(self) -> list[Input]:
            return [Began(0.0, "%0", "s", "sh", "", first)]

    lines = ["one two three", "three four five six", "seven eight nine", "ten", ""]
    assert painted_since_attach(Joined(), lines) == {"one two three": "", "three four five six": "five six"}


@pytest.mark.requirement("BEN-05")
@pytest.mark.parametrize("name", ["claude_lost_rows", "claude_lost_echoes"])
def test_a_recording_with_a_record_is_heard_by_the_screen_alone(name: str) -> None:
    """Its turns end when the screen says so, not when the live stream had waited for the record."""
    recording = open_recording(RELAYS / f"{name}.jsonl.gz")
    assert has_record(recording)
    assert not has_record(ScreenAlone(recording))
    with_record = [*replay(recording, PROFILES)]
    alone = [*replay(ScreenAlone(recording), PROFILES, retimed=True)]
    assert [event for event in alone if isinstance(event, WitnessCompared)] == []
    assert {event.witnesses for event in alone if isinstance(event, Text)} == {("screen",)}
    assert ends(alone)[0] <= ends(with_record)[0]
    assert alone == [*replay(ScreenAlone(recording), PROFILES, retimed=True)]


def ends(events: list[Event]) -> list[float]:
    return [event.t for event in events if isinstance(event, TurnEnded)]
