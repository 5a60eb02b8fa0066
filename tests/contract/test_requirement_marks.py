"""Requirements and tests name each other: no id without a test, no mark without an id.

Marks are read from the source, so that this holds whatever part of the suite is run. The rule for ids is in
docs/requirements.md; `audit` is pure, so that it can be shown to fail.
"""

import ast
import re
from collections.abc import Iterator, Set
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
DOCUMENT = ROOT / "docs" / "requirements.md"
_ID = re.compile(r"[A-Z]{2,3}-\d\d[a-z]?")
_CLAUSE = re.compile(rf"^- ({_ID.pattern}) ", re.MULTILINE)
_NOT_BUILT = "\n## Not built yet\n"


def clauses(document: str) -> list[str]:
    """The ids of all clauses, in order."""
    return _CLAUSE.findall(document.partition(_NOT_BUILT)[0])


def not_built(document: str) -> set[str]:
    return set(_ID.findall(document.partition(_NOT_BUILT)[2]))


def marks(source: str) -> Iterator[str]:
    """The ids that `pytest.mark.requirement(...)` names anywhere in a file: decorators, pytestmark, parameters."""
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Call(func=ast.Attribute(value=ast.Attribute(attr="mark"), attr="requirement"), args=args):
                for arg in args:
                    assert isinstance(arg, ast.Constant), (
                        f"line {arg.lineno}: an id is written out, so that it is found"
                    )
                    yield str(arg.value)


def marks_by_file() -> dict[str, set[str]]:
    files = sorted(path for part in ("tests", "benchmarks") for path in (ROOT / part).rglob("*.py"))
    found = {str(path.relative_to(ROOT)): set(marks(path.read_text())) for path in files}
    return {path: ids for path, ids in found.items() if ids}


def audit(known: Set[str], unbuilt: Set[str], claimed: Set[str]) -> list[str]:
    """What is wrong, a line each."""
    rows = {clause.rstrip("abcdefghijklmnopqrstuvwxyz") for clause in known}

    def unknown(name: str) -> str:
        return f"{name} is split: claim its clauses" if name in rows else f"{name} is no requirement"

    return [
        *(f"claimed: {unknown(name)}" for name in sorted(claimed - known)),
        *(f"listed as not built: {unknown(name)}" for name in sorted(unbuilt - known)),
        *(f"{name} has no test, and is not listed as not built" for name in sorted(known - claimed - unbuilt)),
        *(f"{name} has a test, and is listed as not built" for name in sorted(known & claimed & unbuilt)),
    ]


def test_requirements_and_tests_name_each_other() -> None:
    document = DOCUMENT.read_text()
    by_file = marks_by_file()
    complaints = audit(set(clauses(document)), not_built(document), set().union(*by_file.values()))
    where = {line: [path for path, ids in by_file.items() if line.split()[1] in ids] for line in complaints}
    assert not complaints, "\n".join(f"{line}  {', '.join(where[line])}".rstrip() for line in complaints)


def test_every_clause_has_one_id() -> None:
    ids = clauses(DOCUMENT.read_text())
    assert len(ids) == len(set(ids))
    whole = {name for name in ids if name[-1].isdigit()}
    assert not [name for name in ids if name[:-1] in whole and name not in whole]


@pytest.mark.parametrize(
    ("unbuilt", "claimed", "complaint"),
    [
        (set(), {"ENG-01a", "ENG-01b", "ENG-02"}, None),
        ({"ENG-02"}, {"ENG-01a", "ENG-01b"}, None),
        (set(), {"ENG-01a", "ENG-01b", "ENG-02", "ENG-77"}, "claimed: ENG-77 is no requirement"),
        ({"ENG-78"}, {"ENG-01a", "ENG-01b", "ENG-02"}, "listed as not built: ENG-78 is no requirement"),
        (set(), {"ENG-01", "ENG-01a", "ENG-01b", "ENG-02"}, "claimed: ENG-01 is split: claim its clauses"),
        (set(), {"ENG-01a", "ENG-02"}, "ENG-01b has no test, and is not listed as not built"),
        ({"ENG-02"}, {"ENG-01a", "ENG-01b", "ENG-02"}, "ENG-02 has a test, and is listed as not built"),
    ],
)
def test_the_check_finds(unbuilt: set[str], claimed: set[str], complaint: str | None) -> None:
    assert audit({"ENG-01a", "ENG-01b", "ENG-02"}, unbuilt, claimed) == ([complaint] if complaint else [])


def test_marks_are_found_wherever_they_stand() -> None:
    source = """
pytestmark = [pytest.mark.requirement("AA-01")]
@pytest.mark.requirement("AA-02", "AA-03")
class TestIt:
    @pytest.mark.parametrize("x", [pytest.param(1, marks=pytest.mark.requirement("AA-04"))])
    def test_it(self, x): ...
def helper():
    return 'pytest.mark.requirement("AA-99")'
"""
    assert sorted(marks(source)) == ["AA-01", "AA-02", "AA-03", "AA-04"]
