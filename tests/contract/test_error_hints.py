"""Every error that a user can see has a hint: its class has one, or the place that raises it.

The test reads the sources: each construction of a class of the error tree, under whatever name it is imported.
"""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from streamrelay import errors

ROOT = Path(__file__).resolve().parents[2]
SOURCES = [
    path for part in ("streamrelay", "cli") for path in (ROOT / part).rglob("*.py") if "testing" not in path.parts
]
TREE = {name: getattr(errors, name) for name in errors.__all__ if isinstance(getattr(errors, name), type)}


def without_hint(source: str) -> Iterator[tuple[int, str]]:
    """Return the line and class of each error of the tree that is constructed without a hint."""
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.Call):
            continue
        name = node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")
        if name not in TREE or not node.args:
            continue
        given = [keyword.value for keyword in node.keywords if keyword.arg in {"hint", None}]
        empty = not given or (isinstance(given[0], ast.Constant) and not given[0].value)
        if empty and (given or not TREE[name].default_hint):
            yield node.lineno, name


def test_each_error_has_a_hint() -> None:
    found = [
        f"{path.relative_to(ROOT)}:{line}: {name} without a hint"
        for path in SOURCES
        for line, name in without_hint(path.read_text(encoding="utf-8"))
    ]
    assert not found, "\n".join(found)


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ('UsageError("wrong")', [(1, "UsageError")]),
        ('errors.UsageError("wrong", data={})', [(1, "UsageError")]),
        ('TargetNotFound("none", hint="")', [(1, "TargetNotFound")]),
        ('TargetNotFound("none")', []),
        ('UsageError("wrong", hint="do it right")', []),
        ('UsageError("wrong", **known)', []),
    ],
)
def test_an_error_without_a_hint_is_found(source: str, found: list[tuple[int, str]]) -> None:
    assert list(without_hint(source)) == found
