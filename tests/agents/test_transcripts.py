"""Agents' own transcripts: each in its form, whatever else stands in them, and searched newest first."""

import json
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamrelay.agents import shipped_profiles
from streamrelay.agents.transcripts import Passage, last_answer, read_passages, search_transcripts

CLAUDE = [
    {"type": "mode", "mode": "normal"},
    {
        "type": "user",
        "timestamp": "2026-11-22T04:36:59.678Z",
        "message": {"role": "user", "content": "Where is the Key?"},
    },
    {"type": "attachment", "timestamp": "2026-11-22T04:36:59Z", "rendered": [{"content": "key"}]},
    {"type": "user", "isMeta": True, "message": {"content": "a key that nobody said"}},
    {"type": "assistant", "isSidechain": True, "message": {"content": [{"type": "text", "text": "a helper's key"}]}},
    {
        "type": "assistant",
        "timestamp": "2026-11-22T04:37:01.203Z",
        "message": {
            "content": [
                {"type": "thinking", "thinking": "the key?"},
                {"type": "text", "text": "The key is é under the mat."},
                {"type": "tool_use", "input": {"command": "find key"}},
            ]
        },
    },
    {"type": "user", "message": {"content": [{"type": "tool_result", "content": "key key key"}]}},
    {"type": "user", "message": {"content": "<command-name>/key</command-name>"}},
    {
        "type": "user",
        "timestamp": "2026-11-22T04:38:00Z",
        "message": {"content": '\n<pasted_content id="9e">\n[Ann] key\n</pasted_content id="9e">'},
    },
]
CODEX = [
    {"type": "session_meta", "payload": {"base_instructions": {"text": "key"}}},
    {
        "timestamp": "2026-11-22T05:00:00Z",
        "type": "response_item",
        "payload": {
            "type": "message",
            "role": "user",
            "content": [{"type": "input_text", "text": "<environment_context>key</environment_context>"}],
        },
    },
    {
        "timestamp": "2026-11-22T05:00:01Z",
        "type": "response_item",
        "payload": {"type": "message", "role": "developer", "content": [{"type": "input_text", "text": "key"}]},
    },
    {
        "timestamp": "2026-11-22T05:00:02Z",
        "type": "response_item",
        "payload": {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "the codex key?"}]},
    },
    {
        "timestamp": "2026-11-22T05:00:03Z",
        "type": "response_item",
        "payload": {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "No key."}]},
    },
    {"type": "event_msg", "payload": {"type": "task_complete", "last_agent_message": "No key."}},
]
GEMINI = [
    {"sessionId": "x", "kind": "main"},
    {"$set": {"messages": [{"type": "user", "content": [{"text": "<session_context>\nkey"}]}]}},
    {"id": "1", "timestamp": "2026-11-22T06:00:00Z", "type": "user", "content": [{"text": "the gemini key?"}]},
    {"id": "2", "timestamp": "2026-11-22T06:00:01Z", "type": "gemini", "content": "Here is the key."},
    {"id": "2", "timestamp": "2026-11-22T06:00:01Z", "type": "gemini", "content": "Here is the key.", "tokens": {}},
    {"$set": {"lastUpdated": "2026-11-22T06:00:02Z"}},
]
PLACES = {
    ".claude/projects/-home-x/1.jsonl": CLAUDE,
    ".codex/sessions/2026/11/22/rollout-1.jsonl": CODEX,
    ".gemini/tmp/x/chats/session-1.jsonl": GEMINI,
}


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    # What looks like a pattern in a user's name is none.
    home = tmp_path / "[h]ome"
    monkeypatch.setenv("HOME", str(home))
    for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME"):
        monkeypatch.delenv(name, raising=False)
    for hour, (place, lines) in enumerate(PLACES.items()):
        file = home / place
        file.parent.mkdir(parents=True)
        file.write_text("".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines))
        os.utime(file, (1795322000 + hour * 3600,) * 2)
    return home


def found(words: str, **options: object) -> list[tuple[str, str, str]]:
    hits = search_transcripts(shipped_profiles(), words, **options)  # type: ignore[arg-type]
    return [(hit.agent, hit.speaker, hit.text) for hit in hits]


@pytest.mark.requirement("HIS-02")
def test_what_was_said_is_found_in_all_three_and_nothing_else(home: Path) -> None:
    assert found("KEY") == [
        ("gemini", "agent", "Here is the key."),
        ("gemini", "person", "the gemini key?"),
        ("codex", "agent", "No key."),
        ("codex", "person", "the codex key?"),
        ("claude", "person", "[Ann] key"),
        ("claude", "agent", "The key is é under the mat."),
        ("claude", "person", "Where is the Key?"),
    ]
    assert found("mat É key") == [("claude", "agent", "The key is é under the mat.")]
    assert found("key", agent="codex", limit=1) == [("codex", "agent", "No key.")]
    assert [agent for agent, _, _ in found("key", since=1795327200.0)] == ["gemini", "gemini"]
    assert found("") == found("nobody said that") == []


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
    assert len(found("key", agent="claude")) == 3
    assert last_answer(file) == "The key is é under the mat."


def test_the_variable_that_moves_an_agents_folder_is_followed(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "elsewhere"))
    assert found("key", agent="claude") == []
    (home / ".claude").rename(tmp_path / "elsewhere")
    assert len(found("key", agent="claude")) == 3


KNOWN = ["type", "message", "content", "text", "$set", "messages", "payload", "role", "timestamp", "user", "gemini"]
WORDS = st.sampled_from(KNOWN) | st.text(max_size=3)
JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | WORDS,
    lambda inner: st.lists(inner) | st.dictionaries(WORDS, inner),
    max_leaves=12,
)


@given(JSON)
def test_any_line_is_read_without_raising(value: object) -> None:
    assert all(isinstance(passage, Passage) for passage in read_passages(json.dumps(value)))


@given(st.binary(max_size=60))
def test_any_bytes_are_read_without_raising(line: bytes) -> None:
    read_passages(line)
