"""The fidelity benchmark over recordings of the corpus: figures, tables, a plot, and what cannot be heard."""

import json
import shutil
import subprocess
import sys
from concurrent.futures import Future
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from benchmarks.fidelity import measure, options
from benchmarks.fidelity.command import CORPUS, LIVES, corpora
from benchmarks.fidelity.judging import Judged, _outcome, judge, recordings
from benchmarks.fidelity.presenting import COLOURS, with_block
from benchmarks.fidelity.scoring import Answer, Injection, Truth
from benchmarks.fidelity.ways import HEARERS, WITH_WITNESSES, WITHOUT_PROFILES
from benchmarks.fidelity.witnessed import record
from benchmarks.measuring import ROOT, Table

ONLY = ("cat/short", "codex/short", "bash/seq300")
NAMES = sorted(ONLY)


@pytest.mark.requirement("BEN-05")
def test_a_run_over_recordings(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "benchmarks.fidelity", "--json", "--only", *ONLY, "--without-profiles"]
    done = subprocess.run(
        [*command, "--output", str(tmp_path / "out")], cwd=ROOT, capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr
    figures: dict[str, Any] = json.loads(done.stdout)["figures"]
    rows = {(row["recording"], row["way"]): row for row in figures["recordings"]}
    assert [*rows] == [(name, way) for name in NAMES for way in HEARERS]
    for (name, way), row in rows.items():
        assert row["error"] is None
        expected = judge(CORPUS / name, way).score
        assert row["score"] == {field: getattr(expected, field) for field in expected.__struct_fields__}
    # What every way must have of a program that prints and does nothing else.
    assert {rows["cat/short", way]["score"]["recall"] for way in HEARERS} == {1.0}
    assert [*figures["totals"]] == [*HEARERS]
    assert all(total["recordings"] == len(ONLY) and total["errors"] == 0 for total in figures["totals"].values())
    assert [*figures["programs"]] == ["bash", "cat", "codex"]

    page = (tmp_path / "out" / "fidelity.md").read_text()
    assert all(page.count(f"| {name} ") == len(HEARERS) for name in NAMES)
    plot = ElementTree.parse(tmp_path / "out" / "fidelity.svg").getroot()  # noqa: S314  # our own
    words = [element.text for element in plot.iter("{http://www.w3.org/2000/svg}text")]
    assert {"bash", "cat", "codex", *HEARERS} <= {*words}
    assert len([*plot.iter("{http://www.w3.org/2000/svg}rect")]) >= len(HEARERS) * len(NAMES)


@pytest.mark.requirement("BEN-05")
def test_what_cannot_be_heard_has_the_score_of_nothing(tmp_path: Path) -> None:
    for name in ("cat/short", "cat/unicode"):
        shutil.copytree(CORPUS / name, tmp_path / name)
    (tmp_path / "cat" / "unicode" / "stream.jsonl.gz").write_bytes(b"no recording")
    document = tmp_path / "page.md"
    document.write_text("<!-- fidelity: by a run -->\n<!-- end of fidelity -->\n")
    report = measure(
        options().parse_args([str(tmp_path), "--ways", "stream", "--workers", "1", "--document", str(document)])
    )
    good, bad = report.figures["recordings"]
    assert good.error is None
    assert good.score.recall == 1.0
    assert "RecordingError" in bad.error
    assert bad.score.recall == 0.0
    total = report.figures["totals"]["stream"]
    assert (total.recordings, total.errors, total.recall, total.whole) == (2, 1, 0.5, 1)
    *figures, errors = report.tables
    assert all(table.markdown() in document.read_text() for table in figures)
    assert [row[:2] for row in errors.rows] == [("cat/unicode", "stream")]
    assert (tmp_path / "fidelity.svg").read_text().startswith("<svg")


def test_a_worker_that_dies_is_no_recording_that_cannot_be_heard() -> None:
    future: Future[Judged] = Future()
    future.set_exception(BrokenProcessPool())
    with pytest.raises(BrokenProcessPool):
        _outcome(future, CORPUS / "cat" / "short", "stream")


def test_what_has_no_truth_to_judge_by_is_left_out() -> None:
    names = {(folder.parent.name, folder.name) for folder in recordings(CORPUS)}
    assert len(names) > 100
    assert not {program for program, _ in names} & {"less", "vim", "fzf"}
    assert not [scenario for _, scenario in names if scenario == "enterdelay"]
    assert {folder.parent.name for folder in recordings(CORPUS, ["cat"])} == {"cat"}
    assert [folder.name for folder in recordings(CORPUS, ["cat/short"])] == ["short"]


def test_a_corpus_without_recordings_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match="no recording"):
        measure(options().parse_args([str(tmp_path)]))


def test_profiles_can_be_left_out() -> None:
    folder = CORPUS / "gemini" / "long3k"
    assert judge(folder, "stream").score.noise < judge(folder, WITHOUT_PROFILES).score.noise
    assert WITHOUT_PROFILES not in options().parse_args([]).ways
    assert options().parse_args(["--without-profiles"]).without_profiles


def test_every_way_has_a_colour_of_its_own() -> None:
    assert set(COLOURS) == set(HEARERS)
    assert len(set(COLOURS.values())) == len(COLOURS)


def test_only_the_generated_part_of_a_document_is_renewed() -> None:
    table = Table("figures", ("a", "b"), [("1", "2")])
    document = "before\n<!-- fidelity: by a run -->\nold\n<!-- end of fidelity -->\nafter\n"
    renewed = with_block(document, [table], table)
    assert renewed.startswith("before\n<!-- fidelity: by a run -->\n\n**figures**")
    assert renewed.endswith("\n\n<!-- end of fidelity -->\nafter\n")
    assert "old" not in renewed
    assert with_block(renewed, [table], table) == renewed
    with pytest.raises(ValueError, match="no part"):
        with_block("nothing generated here", [table], table)


def test_the_benchmarks_page_has_a_part_to_renew() -> None:
    table = Table("figures", ("a", "b"), [("1", "2")])
    assert "**figures**" in with_block((ROOT / "docs" / "benchmarks.md").read_text(), [table], table)


def test_every_fifth_life_is_held_out_whichever_are_asked_for() -> None:
    every = recordings(LIVES)
    kinds = corpora(options().parse_args([]))
    assert list(kinds) == ["", "lifecycle", "hold-out"]
    assert kinds["hold-out"] == every[4::5]
    assert sorted([*kinds["lifecycle"], *kinds["hold-out"]]) == every
    asked = [f"{folder.parent.name}/{folder.name}" for folder in every[3:5]]
    kinds = corpora(options().parse_args(["--only", *asked]))
    assert kinds == {"lifecycle": every[3:4], "hold-out": every[4:5]}


@pytest.mark.requirement("DEL-11")
def test_with_witnesses_an_answer_is_its_source_line_for_line() -> None:
    alone, both = (judge(CORPUS / "codex" / "short", way).score for way in ("stream", WITH_WITNESSES))
    assert both.source_lines == both.truth_lines > 0
    assert both.source_lines >= alone.source_lines
    assert (both.recall, both.noise, both.leak, both.dup) == (1.0, 0, 0.0, 0)


def test_a_record_is_written_message_by_message_as_each_answer_ends() -> None:
    truth = Truth(
        program="claude",
        truth=[
            Answer("I look.", 1.1, 1.5, tool_call="ls"),
            Answer("It is there.", 2.0, 2.5),
            Answer("Never m", 4.0, None),
        ],
        injected=[
            Injection("where?", 0.5, 1.0, "paste"),
            Injection("and?", 3.5, None, "typed"),
            Injection(None, 4.5, None, "key"),
        ],
    )
    assert [(one.at, one.passage.speaker, one.passage.text) for one in record(truth)] == [
        (1.0, "person", "where?"),
        (1.5, "agent", "I look."),
        (2.5, "agent", "It is there."),
        (2.5, "end", ""),
        (3.5, "person", "and?"),
    ]
