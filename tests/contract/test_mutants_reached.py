"""`tests.mutation.reach`: where the calls stand that note which tests reach a mutant."""

import ast
from pathlib import Path

import pytest

from tests.mutation.mutants import Mutant, mutants_of
from tests.mutation.reach import NOTES, marked, note, read_notes

SOURCE = b"""\
import dataclasses


@dataclasses.dataclass
class Counter:
    count: int = 0

    @property
    def next(self) -> int:
        if self.count > 9:
            return 0
        elif self.count > 5:
            return (
                self.count
                + 2
            )
        return self.count + 1
"""


def test_every_mutant_s_statement_is_noted_and_the_source_still_compiles() -> None:
    mutants = list(enumerate(mutants_of("counter.py", SOURCE)))
    text = marked(SOURCE, mutants).decode()
    ast.parse(text)
    assert {number for number, _ in mutants} == {number for number, _ in mutants if f".note({number})\n" in text}, (
        "a mutant has no note"
    )


@pytest.mark.parametrize(("line", "before"), [(10, "if self.count > 9:"), (12, "if self.count > 9:"), (15, "return (")])
def test_the_note_stands_before_the_innermost_statement_of_the_mutant(line: int, before: str) -> None:
    mutant = Mutant("counter.py", "constant", line, 0, 0, "", "")
    lines = [text.strip() for text in marked(SOURCE, [(3, mutant)]).decode().splitlines()]
    [place] = [index for index, text in enumerate(lines) if text.endswith(".note(3)")]
    assert lines[place + 1] == before


def test_what_runs_at_the_import_counts_as_reached_by_every_function_of_the_module() -> None:
    lines = [
        text.strip()
        for text in marked(SOURCE, [(3, Mutant("counter.py", "constant", 6, 0, 0, "", ""))]).decode().splitlines()
    ]
    [place] = [index for index, text in enumerate(lines) if text.endswith(".note(3)")]
    assert lines[place + 1] == "if self.count > 9:"


def test_a_note_names_the_test_that_reached_the_mutant(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(NOTES, str(tmp_path / "notes"))
    for test in (
        "tests/a.py::test_one[x y] (call)",
        "tests/a.py::test_two (setup)",
        "tests/a.py::test_one[x y] (teardown)",
    ):
        monkeypatch.setenv("PYTEST_CURRENT_TEST", test)
        note(987_654)
    assert read_notes(tmp_path / "notes") == {987_654: ["tests/a.py::test_one[x y]", "tests/a.py::test_two"]}
