"""A class name exists once in the product, so that a name in a log, an error or a search means one class."""

import ast
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

WIRE = "its name is the tag of an entry or a message"
ELSEWHERE = "one of the two is in a package whose names are not swept yet"
PUBLIC = "the public facade has the name, the class behind it too"

ALLOWED: Mapping[str, str] = {
    "Answer": WIRE,
    "Ask": ELSEWHERE,
    "Began": WIRE,
    "Block": ELSEWHERE,
    "Deliver": WIRE,
    "End": WIRE,
    "Ended": WIRE,
    "Left": WIRE,
    "Member": ELSEWHERE,
    "Message": PUBLIC,
    "Output": WIRE,
    "Painted": ELSEWHERE,
    "Piece": ELSEWHERE,
    "Ran": WIRE,
    "Recorder": ELSEWHERE,
    "Rows": ELSEWHERE,
    "Saved": ELSEWHERE,
    "Server": PUBLIC,
    "Start": WIRE,
    "Submitted": WIRE,
}
"""Names that several classes have, each with the reason."""


def class_names(source: str) -> Iterator[str]:
    """The names of the classes of a module, without those that only the module itself uses."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
            yield node.name


def repeated(sources: Iterable[tuple[str, str]]) -> dict[str, list[str]]:
    """The names that several classes have, with the files."""
    files: dict[str, list[str]] = defaultdict(list)
    for path, source in sources:
        for name in class_names(source):
            files[name].append(path)
    return {name: paths for name, paths in sorted(files.items()) if len(paths) > 1}


def test_a_class_name_exists_once() -> None:
    paths = sorted(path for part in ("streamrelay", "cli") for path in (ROOT / part).rglob("*.py"))
    found = repeated((str(path.relative_to(ROOT)), path.read_text()) for path in paths)
    assert {name: files for name, files in found.items() if name not in ALLOWED} == {}


def test_a_name_that_two_files_have_is_found() -> None:
    sources = [("a.py", "class A: ...\nclass _B: ...\nclass C: ..."), ("b.py", "class A: ...\nclass _B: ...")]
    assert repeated(sources) == {"A": ["a.py", "b.py"]}
