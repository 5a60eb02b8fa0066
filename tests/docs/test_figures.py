"""Every figure of the README and the documents has a benchmark that makes it, as a median with its spread.

`figures.toml` says of each line with a time, a size, a rate or a share where it comes from. Requirements, the decisions
(which report what was measured then) and the tables that benchmarks write themselves are left out.
"""

import importlib
import inspect
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from benchmarks.report import PARTS

ROOT = Path(__file__).parents[2]
SOURCES = tomllib.loads((Path(__file__).parent / "figures.toml").read_text())
FIGURE = re.compile(r"[0-9](?:[0-9.,]*[0-9])? ?(?:ms|µs|MB/s|MB|KB|kB|GB|%|times|s|seconds|minutes)\b")
MIN_RUNS = 5
SPREAD = re.compile(r"\.spread\(|\"lowest\", \"highest\"|\"middle half\"")
"""How a table tells it: "median (lowest-highest)", or columns of their own."""
LEFT_OUT = {"docs/requirements.md", "docs/benchmarks.md"}
"""Aims, and the page whose figures go by section."""


def figures_of(file: str) -> Iterator[str]:
    """Yield the lines of a document that have a figure, outside of examples."""
    in_example = False
    for line in (ROOT / file).read_text().splitlines():
        if line.startswith("```"):
            in_example = not in_example
        elif not in_example and not line.startswith("    ") and FIGURE.search(line):
            yield line


def documents() -> list[str]:
    found = ["README.md", *(f"docs/{path.name}" for path in sorted((ROOT / "docs").glob("*.md")))]
    return [file for file in found if file not in LEFT_OUT]


def known(file: str) -> list[str]:
    entries = [entry for kind in ("measured", "tested") for entry in SOURCES[kind] if entry["file"] == file]
    return [*(line for entry in entries for line in entry["lines"]), *SOURCES["settings"].get(file, ())]


@pytest.mark.parametrize("file", documents())
def test_every_line_with_a_figure_says_where_it_comes_from(file: str) -> None:
    lines = list(figures_of(file))
    assert [line for line in lines if not any(piece in line for piece in known(file))] == []
    text = (ROOT / file).read_text()
    assert [piece for piece in known(file) if piece not in text] == [], "figures.toml has a line that is gone"


def test_every_section_of_the_benchmarks_with_figures_has_its_parts() -> None:
    sections = re.split(r"^##+ (.*)$", (ROOT / "docs" / "benchmarks.md").read_text(), flags=re.MULTILINE)
    with_figures = {name for name, text in zip(sections[1::2], sections[2::2], strict=True) if _has_table(text)}
    assert with_figures - SOURCES["sections"].keys() == set()
    for name, says in SOURCES["single"].items():
        assert says in sections[2 * sections[1::2].index(name) + 2], name


def _has_table(text: str) -> bool:
    return any(line.startswith("| ") and re.search(r"\d", line) for line in text.splitlines())


def test_every_named_part_exists_and_every_part_is_repeated_or_says_why_not() -> None:
    named = {part for entry in SOURCES["measured"] for part in entry["parts"].split()}
    named |= {part for parts in SOURCES["sections"].values() for part in parts.split()}
    assert named <= set(PARTS)
    assert SOURCES["unrepeated"].keys() <= set(PARTS)


@pytest.mark.parametrize("part", [part for part in PARTS if part not in SOURCES["unrepeated"]])
def test_a_part_takes_the_median_of_at_least_five_runs_and_tells_their_spread(part: str) -> None:
    module = importlib.import_module(f"benchmarks.{part}")
    assert module.options().parse_args([]).repetitions >= MIN_RUNS
    assert SPREAD.search(inspect.getsource(module)), "a table without the spread"


def test_each_test_that_counts_exists() -> None:
    assert [entry["test"] for entry in SOURCES["tested"] if not (ROOT / entry["test"]).is_file()] == []
