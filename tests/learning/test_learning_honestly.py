"""What a recording does not show is not claimed, and what a pane printed stays data."""

import tomllib
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from streamrelay.agents import parse_profile
from streamrelay.delta.inputs import Began, Ran
from streamrelay.errors import RecordingError
from streamrelay.learning import learn
from streamrelay.learning.findings import FoundValue, NoFinding
from streamrelay.learning.observation import observe
from streamrelay.learning.profile_writer import write_profile
from streamrelay.recordings import Input, Output, Pasted, Submitted, open_recording
from streamrelay.vt.engine import Cursor, Snapshot

CORPUS = Path(__file__).parents[1] / "corpus" / "agents"
BLANK = Snapshot(80, 24, (b"",) * 24, (False,) * 24, Cursor(0, 0))
HOSTILE = "evil\"'\\ ] = 1\n[state]\u202e\x1b[31m\x7f {3}(?P<draft>.*)+"


class Held:
    columns, lines = 80, 24

    def __init__(self, entries: Sequence[Input]) -> None:
        self.held = entries

    def entries(self) -> Iterator[Input]:
        yield from self.held


def began(command: str, title: str = "") -> Began:
    return Began(0.0, "%0", "work", command, title, BLANK)


def test_a_program_of_which_nothing_is_seen_is_known_by_its_command_alone() -> None:
    proposal = learn(Held([began("sprite"), Output(1.0, "%0", b"hello\r\n")]), name="sprite", source="nothing")
    assert proposal.profile.reading.commands == {"sprite"}
    assert [pattern for pattern in proposal.profile.patterns if not pattern.key.startswith("recognise")] == []
    for words in ("no message was answered", "no composer showed itself", "no title, state or banner"):
        assert words in proposal.text


@pytest.mark.parametrize("entries", [[], [Output(1.0, "%0", b"hi\r\n")], [began("node")], [began("python3", "host")]])
def test_a_program_that_cannot_be_told_from_others_gets_no_profile(entries: list[Input]) -> None:
    with pytest.raises(RecordingError, match="has no sign of its program") as refused:
        learn(Held(entries), name="x", source="x")
    assert "--command" in refused.value.hint
    assert learn(Held(entries), name="x", source="x", command="sprite").profile.reading.commands == {"sprite"}


def test_an_interpreter_is_no_command_of_the_program() -> None:
    entries = [began("sh"), Ran(0.5, "%0", "node"), Output(1.0, "%0", b"Sprite v1.2.3\r\n> ")]
    profile = learn(Held([*entries, Pasted(2.0, "%0", "m", "hello there")]), name="sprite", source="x").profile
    assert profile.reading.commands == frozenset()
    assert profile.reading.interpreters == {"node"}
    assert profile.title == "Sprite"


def test_a_title_that_names_a_place_is_no_sign() -> None:
    output = Output(1.0, "%0", b"\x1b]0;Projects\x07Sprite v1.2.3 in /home/me/Projects\r\n> ")
    proposal = learn(Held([began("sprite"), output]), name="sprite", source="x")
    assert "Projects" not in proposal.text.replace(output.data.decode(), "").partition("seen")[0]


def test_a_row_of_an_answer_is_never_furniture() -> None:
    for agent in ("claude", "gemini", "ink"):
        recording = open_recording(CORPUS / agent / "short")
        seen = observe(recording)
        profile = learn(recording, name=agent, source=agent, command=agent).profile.reading
        said = [text.text for text in seen.said if text.origin == "program"]
        assert said
        assert not any(pattern.search(row) for row in said for pattern in (*profile.chrome, *profile.footers))


@pytest.mark.parametrize("program", ["cat", "bash", "less", "textual", "ink", "sqlite3", "progress"])
def test_any_recording_is_read_to_its_end(program: str) -> None:
    for folder in sorted((CORPUS / program).iterdir())[:2]:
        proposal = learn(open_recording(folder), name=program, source=folder.name, command=program)
        assert proposal.proof.with_profile.is_no_worse_than(proposal.proof.without)


def test_hostile_rows_stay_data() -> None:
    found = [
        FoundValue("recognise.commands", HOSTILE, HOSTILE),
        FoundValue("recognise.signs", r"^evil", HOSTILE, HOSTILE, 1.0),
        NoFinding("state.busy_titles", HOSTILE),
    ]
    text = write_profile(HOSTILE, HOSTILE, "about", found)
    assert all(line.isprintable() for line in text.split("\n"))
    loaded = tomllib.loads(text)
    assert loaded["title"] == HOSTILE
    assert loaded["recognise"]["signs"][0]["seen"] == HOSTILE
    assert set(loaded) == {"title", "recognise", "state"}
    assert parse_profile("evil", text, source="x").reading.commands == {HOSTILE}


def test_a_hostile_recording_is_learnt_from_harmlessly() -> None:
    rows = "\r\n".join([HOSTILE, "Sprite v1.2 " + HOSTILE, "> "]).encode()
    entries = [
        began("sprite", HOSTILE),
        Output(1.0, "%0", rows),
        Pasted(2.0, "%0", "m", HOSTILE),
        Output(2.1, "%0", HOSTILE.encode()),
        Submitted(2.5, "%0", "m"),
        Output(2.6, "%0", f"\r\n\x1b]0;{HOSTILE}\x07{HOSTILE * 3}\r\n> ".encode()),
    ]
    proposal = learn(Held(entries), name="sprite", source=HOSTILE)
    assert tomllib.loads(proposal.text)["recognise"]["commands"] == ["sprite"]


def test_what_makes_the_replay_worse_is_left_out_and_said(monkeypatch: pytest.MonkeyPatch) -> None:
    bad = FoundValue("screen.furniture", r"^ *\p{L}", "it was made up", "  a word", 1.0)
    good = FoundValue("screen.furniture", r"^• Nothing of this", "it was made up too", "• Nothing of this", 1.0)
    monkeypatch.setattr("streamrelay.learning.fading", lambda _seen: iter([bad, good]))
    proposal = learn(open_recording(CORPUS / "codex" / "short"), name="codex", source="codex/short")
    assert [pattern.pattern for pattern in proposal.profile.reading.chrome] == [good.value]
    assert "was left out: the replay gets worse with it" in proposal.text


def test_a_hint_is_known_again_whatever_it_counts() -> None:
    recording = open_recording(CORPUS / "ink" / "relay")
    profile = learn(recording, name="ink", source="ink/relay", command="x").profile.reading
    assert any(pattern.search("⠹ Thinking… (esc to interrupt · 99 tokens)") for pattern in profile.chrome)


def test_a_long_label_is_not_taken_for_the_next_one() -> None:
    recording = open_recording(CORPUS.parent / "dialogs" / "qwen" / "permission")
    assert "programmers" not in learn(recording, name="qwen", source="x").text.partition("[screen]")[2]


def test_a_composer_in_a_box_is_known_in_any_width() -> None:
    recording = open_recording(CORPUS / "textual" / "short")
    delivery = learn(recording, name="textual", source="textual/short", command="x").profile.delivery
    assert delivery.composer is not None
    for width in (40, 200):
        found = delivery.composer.search("▊  a draft" + " " * width + "▎")
        assert found is not None
        assert found["draft"] == "a draft"
        assert any(pattern.search("▊  Ask something" + " " * width + "▎") for pattern in delivery.ready)
        empty = delivery.composer.search("▊  Ask something" + " " * width + "▎")
        assert empty is not None
        assert not empty["draft"]
