"""The benchmarks measure what they say: run small, they lose no line and their figures have the promised shape."""

import importlib
import json
import os
import pkgutil
import shutil
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from benchmarks.report import PARTS, chosen
from streamrelay.testing.waiting import wait_until

ROOT = Path(__file__).resolve().parents[2]
ONCE: dict[str, list[str]] = {"memory": [], "soak": []}
SAMPLE = {"median", "low", "high", "p99", "n"}

pytestmark = pytest.mark.tmux


def run(name: str, *options: str) -> dict[str, Any]:
    """Run a benchmark as a user would, and return its JSON."""
    command = [sys.executable, "-m", f"benchmarks.{name}", "--json", *ONCE.get(name, ["--repetitions", "1"]), *options]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    report: dict[str, Any] = json.loads(done.stdout)
    assert report["benchmark"] == name
    assert report["machine"]["python"]
    return report


def assert_samples(row: dict[str, Any], names: Sequence[str], *, n: int = 1, least: float = 0.0) -> None:
    for name in names:
        sample = row[name]
        assert set(sample) == SAMPLE
        assert sample["n"] == n
        assert least <= sample["low"] <= sample["median"] <= sample["high"]


@pytest.mark.sampled(1)
@pytest.mark.parametrize("asked", [["scale", "--idle", "2", "--chattering", "--settle", "60"], ["report", "scale"]])
def test_a_benchmark_that_is_told_to_end_leaves_no_server_behind(asked: list[str], tmp_path: Path) -> None:
    tmux, told, recording = shutil.which(os.environ.get("STREAMRELAY_TMUX", "tmux")), tmp_path / "told", tmp_path / "t"
    recording.write_text(f'#!/bin/sh\nprintf "%s\\n" "$*" >>{told}\nexec {tmux} "$@"\n')
    recording.chmod(0o700)
    environment = os.environ | {"STREAMRELAY_TMUX": str(recording)}
    command = [sys.executable, "-m", f"benchmarks.{asked[0]}", *asked[1:]]
    with subprocess.Popen(command, cwd=ROOT, env=environment, stdout=subprocess.DEVNULL) as benchmark:
        wait_until(lambda: told.exists() and "new-session" in told.read_text(), 30, "a server")
        socket = told.read_text().partition("-S ")[2].split()[0]
        wait_until(lambda: _serves(socket), 30, "a session")
        benchmark.send_signal(signal.SIGTERM)
        assert benchmark.wait(30) == 128 + signal.SIGTERM
    assert not _serves(socket)


def _serves(socket: str) -> bool:
    tmux = os.environ.get("STREAMRELAY_TMUX", "tmux")
    return subprocess.run([tmux, "-S", socket, "list-sessions"], capture_output=True, check=False).returncode == 0


@pytest.mark.sampled(1)
@pytest.mark.requirement("BEN-01a")
@pytest.mark.parametrize(("transport", "panes"), [("pipes", 1), ("cc", 1), ("pipes", 3)])
def test_throughput(transport: str, panes: int) -> None:
    report = run("throughput", "--megabytes", "0.1", "--transports", transport, "--panes", str(panes))
    rows = {row["input"]: row for row in report["figures"]["throughput"]}
    assert set(rows) == {"plain", "sgr", "cjk+emoji", "tui"}
    for name, row in rows.items():
        assert_samples(row, ("delta", "discard", "ratio", "delta_cpu", "discard_cpu"))
        assert (row["transport"], row["panes"]) == (transport, panes)
        assert row["bytes"] >= 99_999
        assert row["gaps"] == 0
        assert (row["lost"], row["repeated"], row["differing"]) == (0, 0, 0)
        assert (row["lines"] is None) == (name == "tui")


@pytest.mark.requirement("BEN-02")
def test_latency() -> None:
    report = run("latency", "--lines", "10", "--interval", "0.02", "--deliveries", "4")
    rows = {(row["reader"], row["transport"], row["beside"]): row for row in report["figures"]["printed_to_seen"]}
    idle = {(name, way, "idle") for name in ("discard", "delta") for way in ("pipes", "cc")}
    assert set(rows) == idle | {(name, "pipes", "flood") for name in ("discard", "delta")}
    for (reader, _, beside), row in rows.items():
        assert row["printed"] == 10
        if reader == "delta" or beside == "idle":  # what a flood cuts in two the reader that only searches does not see
            assert_samples(row, ("latency",), n=10)
            assert (row["lost"], row["repeated"]) == (0, 0)
    pasted = report["figures"]["heard_to_pasted"]
    assert pasted["deliveries"] == 4
    assert_samples(pasted, ("latency",), n=4)


@pytest.mark.requirement("BEN-08")
def test_daemon() -> None:
    report = run("daemon", "--subscribers", "1", "10", "--events", "1000")
    rows = {row["subscribers"]: row for row in report["figures"]}
    assert set(rows) == {1, 10}
    for subscribers, row in rows.items():
        assert_samples(row, ("process", "socket"))
        assert min(row["ratio"], row["process_cpu"], row["socket_cpu"]) > 0
        assert (row["apart"] is None) == (subscribers == 1), "one of ten does not read"


@pytest.mark.slow
@pytest.mark.requirement("BEN-06")
def test_relaying() -> None:
    report = run("relaying", "--listeners", "1", "4", "--lines", "3", "--interval", "0.3")
    rows = {row["listeners"]: row for row in report["figures"]["fan_out"]}
    assert set(rows) == {1, 4}
    for row in rows.values():
        assert_samples(row, ("first", "last", "pasted", "heard"), n=3)
        assert row["messages"] == 3
        medians = [row[name]["median"] for name in ("first", "last", "pasted", "heard")]
        assert medians == sorted(medians)
    assert rows[1]["first"] == rows[1]["last"]


@pytest.mark.slow
def test_gathering() -> None:
    report = run("gathering", "--gatherings", "1", "--beats", "1", "--interval", "0.4")
    (row,) = report["figures"]["lateness"]
    assert row["beats"] == 12, "one in each of twelve tenures"
    # From the moment the beat before was told, which may itself have been late.
    assert_samples(row, ("late",), n=12, least=-400.0)
    assert_samples(row, ("typed",), n=12 - row["superseded"])


@pytest.mark.slow
@pytest.mark.requirement("BEN-03")
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="/proc tells what is used")
def test_scale() -> None:
    report = run("scale", "--idle", "1", "30", "--chattering", "3", "--seconds", "1.5", "--settle", "0")
    rows = {(row["panes"], row["chattering"]): row for row in report["figures"]["scale"]}
    assert set(rows) == {(1, False), (30, False), (3, True)}
    for row in rows.values():
        assert row["ready"]["n"] == row["memory"]["n"] == row["reader"]["n"] == 1
        assert row["ready"]["median"] > 0
        assert row["gaps"] == 0
    assert rows[30, False]["memory"]["median"] < 60
    assert rows[30, False]["lines"]["median"] == 0
    assert rows[3, True]["lines"]["median"] >= 3


@pytest.mark.slow
@pytest.mark.requirement("ENG-10b")
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="/proc tells what is used")
def test_memory_is_bounded_under_a_flood_with_a_slow_subscriber() -> None:
    report = run("memory", "--seconds", "9")
    alone, seen = report["figures"]["memory"]
    for row in (alone, seen):
        assert row["lost"] > 0, "the subscriber was too slow"
        assert row["lines"] > 0
        assert row["reader"][2] < 1.3 * row["reader"][1]
        # tmux may be five seconds behind before it pauses a pane.
        assert row["server"][2] < row["server"][0] + (16 << 20)


@pytest.mark.slow
@pytest.mark.requirement("BEN-01b")
def test_polling() -> None:
    report = run("polling", "--panes", "3", "--seconds", "3", "--interval", "0.4")
    rows = {row["way"]: row for row in report["figures"]}
    assert len(rows) == 5
    stream = rows.pop("stream")
    assert (stream["lost"], stream["doubled"], stream["garbled"], stream["gaps"]) == (0, 0, 0, 0)
    assert stream["printed"] > 100
    for row in rows.values():
        assert row["lost"] > 0, "a burst higher than the screen goes by between two looks"
        assert row["latency"]["median"] > stream["latency"]["median"]


@pytest.mark.slow
@pytest.mark.requirement("BEN-03")
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="/proc tells what is used")
def test_agents() -> None:
    report = run("agents", "--agents", "4", "--seconds", "3")
    rows = {row["way"]: row for row in report["figures"]}
    assert list(rows) == ["nothing", "polling", "terminal", "stream"]
    assert rows["stream"]["texts"]["median"] > 0
    assert rows["stream"]["cpu"]["median"] > 0
    assert rows["nothing"]["latency"] is rows["terminal"]["latency"] is None
    assert rows["stream"]["latency"]["median"] < rows["polling"]["latency"]["median"]


@pytest.mark.slow
@pytest.mark.requirement("OPS-02e")
def test_the_report_of_some_parts(tmp_path: Path) -> None:
    document = tmp_path / "benchmarks.md"
    document.write_text("before\n<!-- bench: screen -->\nold\n<!-- end of bench -->\nafter\n")
    output = tmp_path / "report"
    command = [Path(sys.executable).with_name("streamrelay"), "bench", "screen", "--quick", "--output", "report"]
    done = subprocess.run(
        [*command, "--document", "benchmarks.md"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == (output / "report.md").read_text()
    assert "[" in done.stderr
    assert "1/1 screen" in done.stderr
    assert [report["benchmark"] for report in json.loads((output / "report.json").read_text())] == ["screen"]
    renewed = document.read_text()
    assert renewed.startswith("before\n<!-- bench: screen -->\n")
    assert renewed.endswith("<!-- end of bench -->\nafter\n")
    assert "old" not in renewed


def test_a_quick_run_measures_the_main_figures_alone_unless_parts_are_named() -> None:
    assert chosen([], quick=True) == ["throughput", "latency", "relaying"]
    assert chosen([], quick=False) == list(PARTS)
    assert chosen(["soak", "agents"], quick=True) == ["agents", "soak"]


def test_a_part_that_is_not_there() -> None:
    command = [Path(sys.executable).with_name("streamrelay"), "bench", "nothing"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 2
    assert "no such part: nothing" in done.stderr


@pytest.mark.slow
@pytest.mark.requirement("BEN-04")
def test_terminals(tmp_path: Path) -> None:
    plot = tmp_path / "speed.svg"
    report = run("terminals", "--megabytes", "0.05", "--pyte-megabytes", "0.005", "--rows", "500", "--plot", str(plot))
    rows = {row["input"]: row for row in report["figures"]["speed"]}
    assert set(rows) == {"plain", "sgr", "cjk+emoji", "tui", "recorded"}
    for row in rows.values():
        assert_samples(row, ("whole", "chunked", "with_texts", "native"))
    for row in report["figures"]["memory"]:
        assert_samples(row["history"], ("plain", "sgr", "cjk+emoji"))
    weights = {row["engine"]: row["history"]["plain"]["median"] for row in report["figures"]["memory"]}
    assert not weights or weights["pyte"] > 3 * weights["TmuxScreen"]
    assert plot.read_text().startswith("<svg")


def test_a_report_has_a_part_for_every_benchmark() -> None:
    modules = [f"benchmarks.{found.name}" for found in pkgutil.iter_modules([str(ROOT / "benchmarks")])]
    parts = {
        name.rpartition(".")[2]
        for name in modules
        if not name.rpartition(".")[2].startswith("bench_")
        and hasattr(importlib.import_module(name), "measure")
        and hasattr(importlib.import_module(name), "options")
    }
    assert parts == {*PARTS}


def test_each_command_of_libtmux_is_timed_on_both_servers() -> None:
    report = run("libtmux_commands", "--repetitions", "2")
    assert {"capture_pane", "send_keys", "list-panes"} <= {row["name"] for row in report["figures"]}
    for row in report["figures"]:
        assert_samples(row, ("stock", "control", "times"), n=2)


def test_the_prompts_rows_are_compared() -> None:
    command = [sys.executable, "-m", "benchmarks.prompt", "--json", "--repetitions", "1"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120, check=False)
    rows = {row["name"]: row for row in json.loads(done.stdout)["figures"]}
    assert rows["import typer"]["ratio"] is None
    for name in ("streamrelay --help", "streamrelay --version", "import streamrelay"):
        assert rows[name]["ratio"] > 0
    missed = {name for name, row in rows.items() if row["bar"] and row["ratio"] > row["bar"]}
    assert {line.removeprefix("above its limit: ") for line in done.stderr.splitlines() if "limit" in line} == missed
    assert done.returncode == bool(missed)


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="/proc tells the descriptors")
def test_a_daemon_at_work_is_sampled_to_its_end() -> None:
    report = run("soak", "--seconds", "8")
    figures = {one["name"]: one["thirds"] for one in report["figures"]["figures"]}
    assert all(value > 0 for thirds in figures.values() for value in thirds)
    assert report["figures"]["done"]["messages"] > 0
    assert report["figures"]["done"]["errors"] == 0
    assert report["figures"]["events"] > 0
