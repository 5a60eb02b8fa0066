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

from benchmarks.report import PARTS, blocks_of

ROOT = Path(__file__).parents[2]
SOURCES = tomllib.loads((Path(__file__).parent / "figures.toml").read_text())
FIGURE = re.compile(r"[0-9](?:[0-9.,]*[0-9])? ?(?:ms|µs|MB/s|MB|KB|kB|GB|%|times|s|seconds|minutes)\b")
BENCHMARKS = (ROOT / "docs" / "benchmarks.md").read_text()
GENERATED = re.compile(
    r"^<!-- (?:bench: (?P<part>\w+)|(?=fidelity: )).*?^<!-- end of (?:bench|fidelity) -->$", re.DOTALL | re.MULTILINE
)
MIN_RUNS = 5
SPREAD = re.compile(r"\.spreads?\(|\"lowest\", \"highest\"|\"middle half\"")
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
    with_figures = {name for name, text in _sections(BENCHMARKS).items() if _has_table(text)}
    assert with_figures - SOURCES["sections"].keys() == set()


def test_every_table_of_the_benchmarks_is_written_by_a_part_or_says_why_not() -> None:
    sections = _sections(BENCHMARKS)
    for name, parts in SOURCES["sections"].items():
        written = {block.part for block in blocks_of(sections[name])}
        assert written <= set(parts.split()), name
    by_hand = {name for name, text in _sections(GENERATED.sub("", BENCHMARKS)).items() if _has_table(text)}
    assert by_hand == SOURCES["outside"].keys()


def test_every_written_table_is_of_at_least_five_runs() -> None:
    unrepeated = SOURCES["unrepeated"]
    for block in GENERATED.finditer(BENCHMARKS):
        part = block["part"] or "fidelity"
        if part not in unrepeated:
            told = re.search(r"; medians of ([0-9]+) runs, lowest and highest in brackets\.$", block[0], re.MULTILINE)
            assert told, part
            assert int(told[1]) >= MIN_RUNS, part


def _sections(text: str) -> dict[str, str]:
    parts = re.split(r"^##+ (.*)$", text, flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


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
