"""Readers that are not ours: what they print is judged, and what goes wrong with one is an error of its own."""

import sys
from pathlib import Path

import pytest

from benchmarks.fidelity import measure, options
from benchmarks.fidelity.command import CORPUS
from benchmarks.fidelity.judging import judge
from benchmarks.fidelity.reader import CommandReader, ReaderFailed, parse_events
from benchmarks.measuring import ROOT
from streamrelay.events import Gap, Text, TurnEnded

EXAMPLE = f"mine={sys.executable} {ROOT / 'examples' / 'reader_to_judge.py'} {{dir}}"


@pytest.mark.requirement("BEN-05")
def test_a_command_is_judged_beside_the_others(tmp_path: Path) -> None:
    asked = ["--only", "cat/short", "codex/short", "--ways", "stream", "--reader", EXAMPLE, "--output", str(tmp_path)]
    report = measure(options().parse_args(asked))
    assert [*report.figures["totals"]] == ["stream", "mine"]
    rows = {(row.recording, row.way): row for row in report.figures["recordings"]}
    assert {row.error for row in rows.values()} == {None}
    assert rows["cat/short", "mine"].score.recall == 1.0
    # Codex repaints its rows in place, so a reader without a terminal hears next to nothing of it.
    assert rows["codex/short", "mine"].score.recall < 0.5 < rows["codex/short", "stream"].score.recall
    assert "mine" in (tmp_path / "fidelity.svg").read_text()


def test_the_streams_own_command_scores_what_the_stream_does() -> None:
    words = (sys.executable, "-m", "streamrelay_cli", "replay", "{dir}", "--json")
    reader = CommandReader("replayed", words)
    for name in ("cat/multi", "codex/short"):
        assert judge(CORPUS / name, reader).score == judge(CORPUS / name, "stream").score


def test_only_what_counts_is_taken() -> None:
    lines = [
        b'{"event": "text", "text": "said", "t": 1}', b"", b'{"event": "text", "text": "typed", "origin": "injected"}',
        b'{"event": "live", "text": "half"}', b'{"event": "turn_ended", "t": 2.5, "reason": "x"}', b'{"event": "gap"}',
    ]  # fmt: skip
    found = parse_events(lines)
    assert [type(event) for event in found] == [Text, TurnEnded, Gap]
    assert [event.t for event in found] == [1.0, 2.5, 0.0]


@pytest.mark.parametrize("line", [b"said", b"[1]", b'{"event": "text", "text": 5}', b'{"event": "text"', b"\xff"])
def test_what_is_no_event_is_an_error_with_its_line(line: bytes) -> None:
    with pytest.raises(ReaderFailed, match="line 2 of its output"):
        parse_events([b'{"event": "gap"}', line])


@pytest.mark.parametrize(
    ("script", "reason"),
    [
        ("import sys; sys.exit('no such pane')", "exit status 1: no such pane"),
        ("import sys; sys.exit(3)", "exit status 3: no message"),
        ("import time; time.sleep(60)", "timed out"),
    ],
)
def test_a_command_that_fails_says_why(script: str, reason: str) -> None:
    reader = CommandReader("x", (sys.executable, "-c", script, "{dir}"), seconds=1.0)
    with pytest.raises(ReaderFailed, match=reason):
        reader.events(CORPUS / "cat" / "short")


def test_a_command_that_is_not_there_is_an_error_of_each_recording() -> None:
    asked = ["--only", "cat/short", "--ways", "stream", "--workers", "1", "--reader", "none=/nowhere/reader {dir}"]
    report = measure(options().parse_args(asked))
    (row,) = [row for row in report.figures["recordings"] if row.way == "none"]
    assert "No such file" in row.error
    assert row.score.recall == 0.0


@pytest.mark.parametrize(
    ("option", "reason"),
    [
        ("my-reader {dir}", "is not NAME=COMMAND"),
        ("=my-reader {dir}", "is not NAME=COMMAND"),
        ("mine=my-reader", "does not contain {dir}"),
        ("stream=my-reader {dir}", "same name"),
    ],
)
def test_a_reader_that_cannot_be_run_is_refused(option: str, reason: str) -> None:
    with pytest.raises(SystemExit, match=reason):
        measure(options().parse_args(["--only", "cat/short", "--reader", option]))
