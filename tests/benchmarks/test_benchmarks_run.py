"""The benchmarks measure what they say: run small, they lose no line and their figures have the promised shape."""

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
SAMPLE = {"median", "low", "high", "p99", "n"}

pytestmark = pytest.mark.tmux


def run(name: str, *options: str) -> dict[str, Any]:
    """Run a benchmark as a user would, and return its JSON."""
    command = [sys.executable, "-m", f"benchmarks.{name}", "--json", "--repetitions", "1", *options]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    report: dict[str, Any] = json.loads(done.stdout)
    assert report["benchmark"] == name
    assert report["machine"]["python"]
    return report


def assert_samples(row: dict[str, Any], names: Sequence[str], *, n: int = 1) -> None:
    for name in names:
        sample = row[name]
        assert set(sample) == SAMPLE
        assert sample["n"] == n
        assert 0 <= sample["low"] <= sample["median"] <= sample["high"]


@pytest.mark.requirement("BEN-01a", "BEN-01b")
@pytest.mark.parametrize("transport", ["pipes", "cc"])
def test_throughput(transport: str) -> None:
    report = run("throughput", "--megabytes", "0.1", "--transports", transport, "--interval", "0.2")
    rows = {row["input"]: row for row in report["figures"]["throughput"]}
    assert set(rows) == {"plain", "sgr", "cjk+emoji", "tui"}
    for name, row in rows.items():
        assert_samples(row, ("delta", "discard", "ratio", "delta_cpu", "discard_cpu"))
        assert row["transport"] == transport
        assert row["bytes"] >= 100_000
        assert row["gaps"] == 0
        assert (row["lost"], row["repeated"]) == (0, 0)
        assert (row["lines"] is None) == (name == "tui")
    for row in report["figures"]["polling"]:
        assert_samples(row, ("seen_share", "looks", "cpu"))
        assert 0 < row["seen_share"]["median"] < 1, "the screen holds the end of a flood, and not all of it"


@pytest.mark.requirement("BEN-02")
def test_latency() -> None:
    report = run("latency", "--lines", "10", "--interval", "0.02", "--poll-interval", "0.1", "--deliveries", "4")
    rows = {(row["reader"], row["transport"]): row for row in report["figures"]["printed_to_seen"]}
    assert set(rows) == {(name, way) for name in ("discard", "delta") for way in ("pipes", "cc")} | {("polling", "-")}
    for row in rows.values():
        assert_samples(row, ("latency",), n=10)
        assert (row["printed"], row["lost"], row["repeated"]) == (10, 0, 0)
    pasted = report["figures"]["heard_to_pasted"]
    assert pasted["deliveries"] == 4
    assert_samples(pasted, ("latency",), n=4)


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
