"""The mutants that `python -m tests.mutation` draws: each changes the code, and what no test can notice stays."""

from pathlib import Path

from tests.mutation.mutants import draw, mutants_of

SOURCE = b'''"""A docstring with 1 < 2."""
from typing import Annotated

def limit(rows: Annotated[int, 3], deep: bool) -> int:
    """Return 7 < 8."""
    logger.info("%d", 4 + 5)
    assert rows < 6
    for row in range(rows):
        if row > 2 and deep:
            continue
    self.rows = rows
    return rows

def __repr__(self):
    return 9 + 9
'''


def test_each_kind_changes_the_code_and_nothing_else_is_touched() -> None:
    changed = {
        (mutant.kind, mutant.line, mutant.before.strip(), mutant.after.strip()) for mutant in mutants_of("a.py", SOURCE)
    }
    assert changed == {
        ("early", 6, "", "return None"),
        ("negate", 9, "row > 2 and deep", "(not (row > 2 and deep))"),
        ("logic", 9, "row > 2 and deep", "(row > 2 or deep)"),
        ("compare", 9, "row > 2", "(row >= 2)"),
        ("constant", 9, "2", "(3)"),
        ("constant", 9, "2", "(1)"),
        ("jump", 10, "continue", "break"),
        ("remove", 11, "self.rows = rows", "pass"),
        ("return", 12, "return rows", "return None"),
    }
    for mutant in mutants_of("a.py", SOURCE):
        compile(mutant.applied(SOURCE), "mutant", "exec")


def test_a_seed_draws_the_same_mutants_evenly_over_the_packages(tmp_path: Path) -> None:
    for package in ("one", "two"):
        (tmp_path / "streamrelay" / package).mkdir(parents=True)
        (tmp_path / "streamrelay" / package / "code.py").write_bytes(SOURCE)
    drawn = draw(tmp_path, ("one", "two"), 6, seed=7)
    assert [Path(mutant.file).parts[1] for mutant in drawn] == ["one", "two"] * 3
    assert draw(tmp_path, ("one", "two"), 6, seed=7) == drawn
    assert draw(tmp_path, ("one", "two"), 6, seed=8) != drawn
    assert len(draw(tmp_path, ("one", "two"), 100, seed=7)) == 2 * len(mutants_of("a.py", SOURCE))
