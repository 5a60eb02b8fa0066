"""Agents' own transcripts: each in its form, whatever else stands in them."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamrelay.agents.transcripts import TranscriptPassage, conversation_of, last_answer, read_passages
from tests.agents.transcript_samples import PLACES

RECORDED = sorted((Path(__file__).parents[1] / "corpus" / "transcripts").rglob("*.jsonl"))
"""Written by Claude Code 2.1.197 and 2.1.330, Codex 0.169.0 and Gemini CLI 0.61.0; long texts nobody said are cut."""


@pytest.fixture
def home(tmp_path: Path) -> Path:
    for place, lines in PLACES.items():
        file = tmp_path / place
        file.parent.mkdir(parents=True)
        file.write_text("".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines))
    return tmp_path


def said(file: Path) -> list[tuple[str, str]]:
    return [(one.speaker, one.text) for line in file.read_bytes().splitlines() for one in read_passages(line)]


def test_what_was_said_is_read_of_all_three_and_nothing_else(home: Path) -> None:
    assert [said(home / place) for place in PLACES] == [
        [("person", "Where is the Key?"), ("agent", "The key is é under the mat."), ("person", "[Ann] key")],
        [("person", "the codex key?"), ("agent", "No key.")],
        [("person", "the gemini key?"), ("agent", "Here is the key."), ("agent", "Here is the key.")],
    ]


@pytest.mark.requirement("HIS-02a")
@pytest.mark.parametrize("file", RECORDED, ids=lambda file: file.stem[:30])
def test_of_what_the_agents_themselves_wrote_every_turn_is_read_and_nothing_they_were_told(file: Path) -> None:
    passages = said(file)
    asked = [text for speaker, text in passages if speaker == "person"]
    # The agent lab asks, each time with a topic, and each question has its answer.
    assert len(asked) >= 4
    assert all("topic:" in text for text in asked)
    assert {"person", "agent"} == {speaker for speaker, _ in passages}
    assert last_answer(file) == [text for speaker, text in passages if speaker == "agent"][-1]
    assert not any(mark in text for _, text in passages for mark in ("<environment_context", "<system-reminder", "cwd"))


@pytest.mark.parametrize(
    ("name", "conversation"),
    [
        ("9c540f39-0b50-445c-8455-e3cf5304996e.jsonl", "9c540f39-0b50-445c-8455-e3cf5304996e"),
        (
            "rollout-2026-11-22T01-58-59-01a200fa-6511-75d3-b103-9e3c71e113ab.jsonl",
            "01a200fa-6511-75d3-b103-9e3c71e113ab",
        ),
        ("session-2026-11-22T01-08-7e03971e.jsonl", "7e03971e"),
        ("notes.jsonl", "notes"),
    ],
)
def test_a_conversation_is_named_by_its_file(name: str, conversation: str) -> None:
    assert conversation_of(Path("/x", name)) == conversation


def test_a_text_that_was_cut_in_an_emoji_is_read_all_the_same() -> None:
    line = rb'{"type":"assistant","message":{"content":"half \ud83d of it"}}'
    assert [one.text for one in read_passages(line)] == ["half ? of it"]


def test_the_last_answer_is_read_from_the_end(home: Path) -> None:
    assert [last_answer(home / place) for place in PLACES] == [
        "The key is é under the mat.", "No key.", "Here is the key.",
    ]  # fmt: skip
    assert last_answer(home / "nowhere") == ""


def test_a_file_that_is_being_written_or_broken_is_read_as_far_as_it_goes(home: Path) -> None:
    file = home / ".claude/projects/-home-x/1.jsonl"
    file.write_bytes(
        b"\x00\xff\n{\n[1]\n3\n" + b"[" * 100_000 + b"\n" + file.read_bytes() + b'{"type": "assistant", "mess'
    )
    assert len(said(file)) == 3
    assert last_answer(file) == "The key is é under the mat."


KNOWN = ["type", "message", "content", "text", "$set", "messages", "payload", "role", "timestamp", "user", "gemini"]
WORDS = st.sampled_from(KNOWN) | st.text(max_size=3)
JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | WORDS,
    lambda inner: st.lists(inner) | st.dictionaries(WORDS, inner),
    max_leaves=12,
)


@given(JSON)
def test_any_line_is_read_without_raising(value: object) -> None:
    assert all(isinstance(passage, TranscriptPassage) for passage in read_passages(json.dumps(value)))


@given(st.binary(max_size=60))
def test_any_bytes_are_read_without_raising(line: bytes) -> None:
    read_passages(line)
