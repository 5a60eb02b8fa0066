"""`streamrelay bench --document` renews the blocks of the parts that were measured, and nothing else."""

import sys
from pathlib import Path

import pytest

from benchmarks import report
from benchmarks.latency import Pasted, Printed
from benchmarks.measuring import Report, Runs, Sample, Table
from benchmarks.report import Block, blocks_of, check_document, document_part, renewed

MACHINE = {"python": "3.11.2", "system": "Linux", "cpus": "2", "tmux": "3.3a"}
DOCUMENT = """before
<!-- bench: latency -->
old latency
<!-- end of bench -->
between
<!-- bench: council -->
old council
<!-- end of bench -->
<!-- bench: council, tmux 3.8 -->
old council on 3.8
<!-- end of bench -->
after
"""


def council(tmux: str = "3.3a") -> Report:
    table = Table("Council", ("ms", "added"), [("first token", "16.8 (-9.0-43.3)")])
    return Report("council", MACHINE | {"tmux": tmux}, [], (table,), runs=5)


def test_only_the_blocks_of_measured_parts_are_renewed() -> None:
    text = renewed(DOCUMENT, {"council": council()})
    begin, _, rest = text.partition("<!-- bench: council -->\n")
    assert begin == DOCUMENT.partition("<!-- bench: council -->\n")[0], "latency was not measured"
    assert "16.8 (-9.0-43.3)" in rest
    assert "old council on 3.8" in rest
    assert "old council\n" not in rest
    assert text.endswith("<!-- end of bench -->\nafter\n")
    assert renewed(text, {"council": council()}) == text


def test_figures_of_a_version_go_to_its_block_alone() -> None:
    text = renewed(DOCUMENT, {"council": council("3.8")})
    assert "old council\n" in text
    assert "old council on 3.8" not in text
    assert "tmux 3.8, Python 3.11.2; medians of 5 runs, lowest and highest in brackets." in text
    assert "old council\n" not in renewed(DOCUMENT, {"council": council("3.5")}), "a version without a block of its own"


def test_the_blocks_of_a_document() -> None:
    assert blocks_of(DOCUMENT) == [Block("latency", ""), Block("council", ""), Block("council", "3.8")]


def test_a_document_without_a_place_for_the_figures_is_refused_before_measuring() -> None:
    check_document(DOCUMENT, (), ("latency", "soak"))
    with pytest.raises(ValueError, match="no block <!-- bench: soak -->"):
        check_document(DOCUMENT, ("latency", "soak"), ("latency", "soak"))
    with pytest.raises(ValueError, match="no block <!-- bench: PART -->"):
        check_document("text", (), ("latency",))


def test_the_command_refuses_such_a_document(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    document = tmp_path / "benchmarks.md"
    document.write_text("no block")
    monkeypatch.setattr(sys, "argv", ["report", "prompt", "--document", str(document)])
    with pytest.raises(SystemExit) as ended:
        report.main()
    assert ended.value.code == 2
    assert "no block <!-- bench: prompt -->" in capsys.readouterr().err
    assert document.read_text() == "no block"


def test_a_latency_is_the_median_of_its_runs_with_their_spread() -> None:
    runs = [[5.0, 5.5, 6.0], [5.0, 6.0, 9.0], [4.0, 5.0, 6.0]]
    every = Sample.of(value for run in runs for value in run)
    printed = Printed("delta", "pipes", "idle", every, Runs.of(runs), 9, 0, 0)
    pasted = Pasted(every, Runs.of(runs), 9)
    text = document_part(
        Report("latency", MACHINE, {"printed_to_seen": [printed], "heard_to_pasted": pasted}, (), runs=3)
    )
    assert "5.50 (5.00-6.00) | 6.00 (6.00-9.00)" in text
    assert "from the last line heard to the paste: 5.5 (5.0-6.0) ms, p99 6.0 (6.0-9.0) ms." in text


def test_a_run_without_values_does_not_count() -> None:
    assert Runs.of([[], [1.0, 3.0]]) == Runs(Sample.of([2.0]), Sample.of([3.0]))
