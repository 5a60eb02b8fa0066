"""No test holds an assertion that cannot fail, or that fails on a slow machine.

The checks look at the syntax tree and know four kinds, each of which this suite once had:

* an upper bound on the difference of two clock readings (CONTRIBUTING: no test asserts an absolute time);
* `in {True, False}`, and other lists of outcomes that hold all there are;
* `len(...) >= 0`, or the same expression on both sides of a comparison;
* `pytest.raises(Exception)` without `match`, which accepts the test's own typing errors.
"""

import ast
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parents[1]
CLOCKS = {"monotonic", "monotonic_ns", "perf_counter", "perf_counter_ns", "process_time", "time"}


def reads_clock(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in CLOCKS


def is_elapsed(node: ast.AST, elapsed: set[str]) -> bool:
    """Return whether an expression is a duration: a difference that begins at a clock, or a name that holds one."""
    if isinstance(node, ast.Name):
        return node.id in elapsed
    return isinstance(node, ast.BinOp) and isinstance(node.op, ast.Sub) and reads_clock(node.left)


def is_number(node: ast.AST) -> bool:
    """Return whether an expression is a number, a constant, or made of these: an absolute bound."""
    if isinstance(node, ast.BinOp):
        return is_number(node.left) and is_number(node.right)
    if isinstance(node, ast.Name):
        return node.id.isupper()
    return isinstance(node, ast.Constant) and isinstance(node.value, int | float)


def bounds_time(compare: ast.Compare, elapsed: set[str]) -> bool:
    sides = [compare.left, *compare.comparators]
    for (left, right), operator in zip(pairwise(sides), compare.ops, strict=True):
        if isinstance(operator, ast.Lt | ast.LtE) and is_elapsed(left, elapsed) and is_number(right):
            return True
        if isinstance(operator, ast.Gt | ast.GtE) and is_elapsed(right, elapsed) and is_number(left):
            return True
    return False


def holds_all_outcomes(compare: ast.Compare) -> bool:
    """Return whether a comparison is true whatever its left side: both truth values, a length of at least 0, itself."""
    if len(compare.ops) != 1:
        return False
    left, operator, right = compare.left, compare.ops[0], compare.comparators[0]
    if isinstance(operator, ast.In) and isinstance(right, ast.Tuple | ast.List | ast.Set):
        return {True, False} <= {item.value for item in right.elts if isinstance(item, ast.Constant)}
    if isinstance(operator, ast.GtE) and isinstance(left, ast.Call) and ast.unparse(left.func) == "len":
        return isinstance(right, ast.Constant) and right.value == 0
    has_calls = any(isinstance(node, ast.Call | ast.Await) for node in ast.walk(left))
    equal = isinstance(operator, ast.Eq | ast.LtE | ast.GtE | ast.Is)
    return equal and not has_calls and ast.unparse(left) == ast.unparse(right)


def raises_anything(call: ast.Call) -> bool:
    return (
        isinstance(call.func, ast.Attribute)
        and ast.unparse(call.func) == "pytest.raises"
        and bool(call.args)
        and ast.unparse(call.args[0]) in {"Exception", "BaseException"}
        and not any(keyword.arg == "match" for keyword in call.keywords)
    )


def weak(source: str) -> Iterator[tuple[int, str]]:
    """Yield the line and the fault of every assertion of a module that cannot fail or depends on the machine."""
    nodes = [*ast.walk(ast.parse(source))]
    elapsed = {
        target.id
        for node in nodes
        if isinstance(node, ast.Assign) and is_elapsed(node.value, set())
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    for node in nodes:
        if isinstance(node, ast.Call) and raises_anything(node):
            yield node.lineno, "pytest.raises(Exception) needs `match`, or the class of the error"
        if not isinstance(node, ast.Assert):
            continue
        for compare in (inner for inner in ast.walk(node.test) if isinstance(inner, ast.Compare)):
            if bounds_time(compare, elapsed):
                yield node.lineno, "an upper bound on a time fails on a slow machine: await the event, bounded"
            if holds_all_outcomes(compare):
                yield node.lineno, f"`{ast.unparse(compare)}` is always true"


def test_no_assertion_is_weak() -> None:
    found = {
        f"{path.relative_to(TESTS.parent)}:{line}: {fault}"
        for path in sorted(TESTS.rglob("*.py"))
        for line, fault in weak(path.read_text(encoding="utf-8"))
    }
    assert not found, "\n".join(sorted(found))


@pytest.mark.parametrize(
    "statement",
    [
        "assert time.monotonic() - began < 15",
        "assert 0.3 <= loop.time() - began <= PATIENCE + 1",
        "took = perf() - a\n    took = time.perf_counter() - began\n    assert took < 0.5",
        "assert 2 > time.process_time() - began",
        "assert acknowledges(text) in {True, False}",
        "assert len(rows) >= 0",
        "assert rows == rows",
        "with pytest.raises(Exception):\n        parse(text)",
    ],
)
def test_a_weak_assertion_is_found(statement: str) -> None:
    assert len([*weak(f"def test_it():\n    {statement}\n")]) == 1


@pytest.mark.parametrize(
    "statement",
    [
        "assert time.monotonic() - began >= delay",
        "assert time.monotonic() - began >= 0.3",
        "assert cost(text) < 50 * cost(prose)",
        "assert time.process_time() - began < 3 * other",
        "assert state in {'pane_gone', 'session_gone'}",
        "assert [*replay(recording)] == [*replay(recording)]",
        "assert len(rows) >= 1",
        "with pytest.raises(Exception, match='no such command'):\n        parse(text)",
        "until = loop.time() + 3\n    assert until < 9",
    ],
)
def test_a_sound_assertion_is_not(statement: str) -> None:
    assert [*weak(f"def test_it():\n    {statement}\n")] == []
