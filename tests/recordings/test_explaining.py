"""Recordings of real programs explain their lines: by the right rule, and with the bytes that painted them."""

from collections import Counter
from functools import cache
from pathlib import Path

import pytest

from streamrelay.delta.reasons import WORDS
from streamrelay.events import Activity, Text
from streamrelay.recordings import Output, open_recording, replay
from streamrelay.recordings.alignment import rows_of
from streamrelay.recordings.excerpts import escaped, shortened
from streamrelay.recordings.explanation import Explanation, explain

CORPUS = Path(__file__).parents[1] / "corpus" / "agents"


@cache
def explained(name: str) -> list[Explanation]:
    return explain(open_recording(CORPUS / name)).lines


def about(name: str, text: str) -> list[tuple[str, str]]:
    return [(line.verdict, line.rule) for line in explained(name) if text in line.text]


@pytest.mark.requirement("DEL-09b")
@pytest.mark.parametrize(
    ("name", "text", "verdict", "rule"),
    [
        ("claude/tool", "tool-out-2", "activity", "corner"),
        ("claude/tool", "I will run one command first.", "program", "answer"),
        ("claude/tool", "Claude Code v", "unsaid", "old_transcript"),
        ("claude/tool", "✻ Baked for", "unsaid", "footer"),
        ("claude/multi", "paste again to expand", "unsaid", "composer"),
        ("claude/multi", "read the notes about the relay", "injected", "echo_whole"),
        ("codex/long3k_lines", "typed screen a must spoken", "injected", "echo_tail"),
        ("aider/short", "Please give me your view", "injected", "line_editor"),
        ("aider/short", "Aider v0", "unknown", "greeting"),
        ("aider/short", "Tokens: 95 sent", "unsaid", "footer"),
        ("bash/short", "echo hello from bash", "injected", "line_editor"),
        ("python/short", "print('hello from python')", "injected", "echo_at_once"),
        ("cat/multi", "line four", "injected", "echo_at_once"),
        ("progress/rich", "alpha ", "program", "repainted"),
        ("progress/rich", "start", "program", "repainted"),
        ("sqlite3/short", "SQLite version", "unknown", "greeting"),
        ("sqlite3/short", "sqlite>", "unsaid", "prompt"),
        ("less/file", "line 1", "unsaid", "unread"),
    ],
)
def test_the_rule_is_named(name: str, text: str, verdict: str, rule: str) -> None:
    assert (verdict, rule) in about(name, text)


def test_what_follows_an_echo_on_its_row_is_said_by_another_rule() -> None:
    [echo, behind, *_] = [line for line in explained("cat/multi") if line.rows and "line four" in _read(line)]
    assert (echo.rule, echo.text, echo.message_id) == ("echo_at_once", "line four", "recorded-1")
    assert (behind.rule, behind.text, behind.message_id) == ("behind_echo", "line one", None)
    assert echo.rows == behind.rows


def _read(line: Explanation) -> str:
    return "".join(row.states[-1].text for row in line.rows)


def test_a_message_shown_as_its_composer_showed_it() -> None:
    rules = {line.rule for line in explained("ink/relay") if line.verdict == "injected"}
    assert rules == {"echo_as_composed"}


ONE_EACH = [
    "aider/two", "bash/seq300", "bash/multi_keys", "cat/multi", "claude/resize", "claude/two", "codex/enterdelay",
    "codex/long200", "gemini/multi_80", "ink/relay", "opencode/long200", "opencode/tool", "progress/tqdm",
    "textual/long200", "textual_inline/short_80", "vim/edit",
]  # fmt: skip


@pytest.mark.sampled(4)
@pytest.mark.requirement("DEL-09b")
@pytest.mark.parametrize("name", ONE_EACH)
def test_every_line_said_is_explained_once_in_order_with_the_bytes_that_spell_it(name: str) -> None:
    recording = open_recording(CORPUS / name)
    said = [line for line in explained(name) if line.seq is not None and line.verdict != "gap"]
    events = [event for event in replay(recording) if isinstance(event, Text | Activity)]
    assert [(line.seq, line.t, line.turn, line.text) for line in said] == [
        (event.seq, event.t, event.turn, event.text) for event in events
    ]
    assert [line.verdict for line in said] == [
        event.origin if isinstance(event, Text) else "activity" for event in events
    ]
    output = b"".join(entry.data for entry in recording.entries() if isinstance(entry, Output))
    for line in said:
        assert line.rows or not line.text.strip(), line
        if line.verdict == "program":
            spans = {(painting.start, painting.stop) for row in line.rows for painting in row.paintings}
            painted = Counter(b"".join(output[start:stop] for start, stop in sorted(spans)).decode(errors="replace"))
            assert not Counter("".join(line.text.split())) - painted, line


@pytest.mark.sampled(4)
@pytest.mark.parametrize("name", ONE_EACH)
def test_no_row_is_explained_as_unread_that_was_decided_about(name: str) -> None:
    assert explained(name)
    for line in explained(name):
        if line.rule in {"erased", "unread"}:
            [row] = line.rows
            assert (row.gone is None) == (line.rule == "unread")
        assert line.text or line.verdict in {"program", "gap"}


def test_a_row_is_shown_over_time() -> None:
    [answer] = [line for line in explained("claude/tool") if "printed three lines" in line.text]
    [row] = answer.rows
    assert [state.text[:5] for state in row.states] == ["●", "● The"]
    assert all(early.t < late.t for early, late in zip(row.states, row.states[1:], strict=False))
    assert row.paintings[0].t <= row.paintings[-1].t <= answer.t
    assert answer.contains("Nothingelse   needs")
    assert not answer.contains("nothing else")


@pytest.mark.requirement("DEL-09b")
def test_the_votes_that_ended_the_turn_are_told() -> None:
    [answer] = [line for line in explained("claude/tool") if "printed three lines" in line.text]
    assert answer.turn_ended is not None
    assert (answer.turn_ended.turn, answer.turn_ended.reason) == (answer.turn, "signal")
    assert {vote.by for vote in answer.turn_ended.votes} >= {"title", "quiet"}


def test_what_people_were_shown_meanwhile_is_told() -> None:
    assert any(line.shown_live for line in explained("claude/tool") if line.rule == "answer")
    assert not any(line.shown_live for line in explained("claude/tool") if line.rule == "composer")


def test_rows_give_their_ends_to_lines() -> None:
    rows = ["● One thing", "  that goes on", "", "────", "  1 code", "  2   more"]
    lines = ["One thing that goes on", "", "code", "  more"]
    assert [list(read) for read in rows_of(lines, rows)] == [[0, 1], [], [4], [5]]
    table = ["│ a long │ b │", "│ cell   │   │"]
    assert [list(read) for read in rows_of(["a long cell\tb", "more"], table)] == [[0, 1], [0, 1]]


def test_bytes_are_shown_harmlessly_and_shortened() -> None:
    assert escaped("\x1b[1mé\\\r\n\t\u202e".encode() + b"\x07\xff") == "\\e[1mé\\\\\\r\\n\\t\\u{202e}\\x07\\xff"
    assert len(escaped(b"\x1b" * 1_000_000, 50)) == 50
    assert shortened("abcdefghij", 9) == "abcd … ij"


def test_the_page_lists_every_rule() -> None:
    page = (Path(__file__).parents[2] / "docs" / "explain.md").read_text()
    listed = {row.split("`")[1]: row.split("|")[2].strip() for row in page.splitlines() if row.startswith("| `")}
    assert {rule: listed.get(rule) for rule in WORDS} == WORDS
    assert listed.keys() - WORDS.keys() == {"erased", "unread"}


def test_a_text_is_shortened_to_the_mark_of_that_and_no_further() -> None:
    assert [len(shortened("x" * 50, longest)) for longest in (50, 20, 4, 3, 0, -20)] == [50, 20, 4, 3, 3, 3]


@pytest.mark.parametrize(
    ("name", "text", "mode"),
    [
        ("claude/tool", "I will run one command first.", "conversing"),
        ("cat/multi", "line four", "printing"),
    ],
)
def test_the_mode_is_named_with_its_evidence(name: str, text: str, mode: str) -> None:
    modes = {line.mode.split(": ")[0] for line in explained(name) if text in line.text and line.verdict == "program"}
    assert modes == {mode}
