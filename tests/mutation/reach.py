"""Which tests reach a mutant: only those can notice it, so only those are run.

One run of a selection finds it out for all mutants. In a copy of the repository each mutant's statement gets a call of
`note` before it; the processes that the tests start note their tests too, because pytest hands `PYTEST_CURRENT_TEST` to
them through the environment. A process that outlives its test (a daemon that a module shares) notes the test that
started it. What runs once, when a module is imported, counts as reached by the tests that run a function of the module.
"""

import ast
import functools
import os
from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path

from tests.mutation.mutants import Mutant

NOTES = "STREAMRELAY_MUTANT_NOTES"
"""Environment variable: the file that `note` writes to."""


def note(number: int) -> None:
    """Write down that the current test reaches the mutant with this number."""
    test, _, _ = os.environ.get("PYTEST_CURRENT_TEST", "").rpartition(" ")
    if test:
        _write(number, test)


@functools.cache
def _write(number: int, test: str) -> None:
    if path := os.environ.get(NOTES):
        file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        try:
            os.write(file, f"{number} {test}\n".encode())  # one write: lines of several processes stay whole
        finally:
            os.close(file)


def marked(source: bytes, mutants: Iterable[tuple[int, Mutant]]) -> bytes:
    """Return the source with a call of `note` before the statement of each of these numbered mutants."""
    lines = source.splitlines(keepends=True)
    tree = ast.parse(source)
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    bodies = {_first(node).lineno for node in functions if _begins_its_line(_first(node), lines)}
    inside = [node for function in functions for node in ast.walk(function) if node is not function]
    statements = [node for node in inside if isinstance(node, ast.stmt) and _begins_its_line(node, lines)]
    calls: defaultdict[int, list[int]] = defaultdict(list)
    for number, mutant in mutants:
        around = [node.lineno for node in statements if node.lineno <= mutant.line <= (node.end_lineno or node.lineno)]
        for line in [max(around)] if around else sorted(bodies):
            calls[line].append(number)
    for line, numbers in calls.items():
        text = lines[line - 1]
        indent = text[: len(text) - len(text.lstrip())]
        module = b'__import__("tests.mutation.reach", fromlist=["note"])'
        notes = b"".join(indent + module + b".note(%d)\n" % number for number in numbers)
        lines[line - 1] = notes + text
    return b"".join(lines)


def _first(function: ast.FunctionDef | ast.AsyncFunctionDef) -> ast.stmt:
    """Return the statement that a call runs first."""
    has_text = isinstance(function.body[0], ast.Expr) and isinstance(function.body[0].value, ast.Constant)
    return function.body[1] if has_text and len(function.body) > 1 else function.body[0]


def _begins_its_line(node: ast.stmt, lines: Sequence[bytes]) -> bool:
    """Tell whether a statement can be put before this one: not behind a colon, nor before `elif`."""
    line = lines[node.lineno - 1]
    is_decorated = bool(getattr(node, "decorator_list", ()))
    return not line[: node.col_offset].strip() and not line[node.col_offset :].startswith(b"elif") and not is_decorated


def read_notes(path: Path) -> dict[int, list[str]]:
    """Return the tests that reach each mutant, in the order in which they did."""
    found: defaultdict[int, dict[str, None]] = defaultdict(dict)
    if path.exists():
        for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
            number, _, test = line.partition(" ")
            found[int(number)][test] = None
    return {number: list(tests) for number, tests in found.items()}
