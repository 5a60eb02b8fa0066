"""Mutants of the source: small changes, each of which some test should notice. Drawn by a seed.

A mutant replaces the text of one node of the syntax tree; the rest of the file keeps every byte:

    for mutant in draw(ROOT, PACKAGES, count=40, seed=7):
        path.write_bytes(mutant.applied(source))

| kind       | change                                                            |
|------------|-------------------------------------------------------------------|
| compare    | `<` and `<=`, `>` and `>=`, `==` and `!=`, `is`, `in` and their negation |
| negate     | the condition of `if`, `while` and `x if y else z`                |
| logic      | `and` and `or`                                                    |
| constant   | a number plus or minus 1                                          |
| arithmetic | `+` and `-`, also in `+=` and `-=`                                |
| remove     | a call, or an assignment to an attribute or item, becomes `pass`  |
| return     | `return x` becomes `return None`                                  |
| early      | a function returns before its first statement                     |
| jump       | `continue` and `break`                                            |

Left out is what no test can notice or nobody wants tested: docstrings, annotations, decorators, logging, `__repr__`,
`assert`, the text of errors, code for type checkers, and a `return None` in place of None.
"""

import ast
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

PACKAGES = ("delivery", "delta", "links", "gathering", "control")
CORES: Mapping[str, tuple[str, ...]] = MappingProxyType({
    "protocol": ("control/protocol.py", "control/escape.py", "control/notifications.py"),
    "delta": ("delta",),
    "ceremony": tuple(
        f"gathering/{name}.py" for name in ("ceremony", "circle", "members", "pass_detection", "plan", "state", "steps")
    ),
    "links": ("links/link.py", "links/registry.py"),
    "coordinator": ("council/coordinator.py", "council/rounds.py", "council/context.py"),
    "delivery": tuple(
        f"delivery/{name}.py"
        for name in ("machine", "readiness", "recovery", "inflight", "message", "sanitise", "commands")
    ),
    "relay": tuple(
        f"relay/{name}.py"
        for name in ("attribution", "loop_guard", "machine", "output_units", "registry", "rules", "steps")
    ),
    "federation": tuple(f"federation/{name}.py" for name in ("channel", "envelope", "incoming", "outgoing", "node")),
})  # fmt: skip
"""The modules that decide, pure by contract: `core:NAME` draws from them in place of a package."""
_FLIPPED: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In,
}  # fmt: skip
_LOGS = ("logger", "log", "logging", "self._log", "self.log")
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


@dataclass(frozen=True, slots=True)
class Mutant:
    """One change: `start` and `stop` are offsets in the bytes of the file, `line` counts from 1."""

    file: str
    kind: str
    line: int
    start: int
    stop: int
    before: str
    after: str

    @property
    def key(self) -> str:
        """Return what names this mutant among those of the same commit."""
        return f"{self.file}:{self.start}-{self.stop}:{self.after}"

    def applied(self, source: bytes) -> bytes:
        """Return the source with the change."""
        return source[: self.start] + self.after.encode() + source[self.stop :]


def mutants_of(file: str, source: bytes) -> list[Mutant]:
    """Return every mutant of a file. A few do not compile; `draw` passes over them."""
    starts = [0]
    for line in source.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    found = []
    for kind, node, after in _changes(ast.parse(source)):
        start = starts[node.lineno - 1] + node.col_offset
        stop = start if kind == "early" else starts[(node.end_lineno or 0) - 1] + (node.end_col_offset or 0)
        text = f"{after}\n{' ' * node.col_offset}" if kind == "early" else after
        found.append(Mutant(file, kind, node.lineno, start, stop, source[start:stop].decode(), text))
    return found


def files_of(root: Path, package: str) -> list[Path]:
    """Return the modules of a package, or of a core (`core:NAME`)."""
    core = package.removeprefix("core:")
    places = [root / "streamrelay" / place for place in (CORES[core] if core != package else (package,))]
    return [path for place in places for path in (sorted(place.rglob("*.py")) if place.is_dir() else [place])]


def draw(root: Path, packages: Sequence[str], count: int, seed: int) -> list[Mutant]:
    """Draw mutants evenly over the packages and, within one, evenly over the kinds. The same seed draws the same."""
    choose = random.Random(seed)
    by_package: list[dict[str, list[Mutant]]] = []
    for package in packages:
        by_kind: dict[str, list[Mutant]] = {}
        for path in files_of(root, package):
            for mutant in mutants_of(str(path.relative_to(root)), path.read_bytes()):
                by_kind.setdefault(mutant.kind, []).append(mutant)
        by_package.append(by_kind)
    drawn: list[Mutant] = []
    while len(drawn) < count and any(by_package):
        by_kind = by_package[len(drawn) % len(by_package)] or next(filter(None, by_package))
        kind = choose.choice(sorted(by_kind))
        mutant = by_kind[kind].pop(choose.randrange(len(by_kind[kind])))
        if _compiles(mutant.applied((root / mutant.file).read_bytes())):
            drawn.append(mutant)
        if not by_kind[kind]:
            del by_kind[kind]
    return drawn


def _compiles(source: bytes) -> bool:
    try:
        compile(source, "mutant", "exec")
    except SyntaxError:
        return False
    return True


def _changes(tree: ast.AST) -> Iterator[tuple[str, ast.expr | ast.stmt, str]]:
    """Yield the kind of each change, the node whose text is replaced, and its new text."""
    for node in _mutable(tree):
        match node:
            case ast.Compare():
                for index, operator in enumerate(node.ops):
                    ops = [*node.ops]
                    ops[index] = _FLIPPED[type(operator)]()
                    yield "compare", node, f"({ast.unparse(ast.Compare(node.left, ops, node.comparators))})"
            case ast.If() | ast.While() | ast.IfExp() if not isinstance(node.test, ast.Constant):
                yield "negate", node.test, f"(not ({ast.unparse(node.test)}))"
            case ast.BoolOp():
                other = ast.Or() if isinstance(node.op, ast.And) else ast.And()
                yield "logic", node, f"({ast.unparse(ast.BoolOp(other, node.values))})"
            case ast.Constant(value=int() | float() as value) if not isinstance(value, bool):
                yield "constant", node, f"({value + 1})"
                yield "constant", node, f"({value - 1})"
            case ast.BinOp(op=ast.Add() | ast.Sub()):
                other = ast.Sub() if isinstance(node.op, ast.Add) else ast.Add()
                yield "arithmetic", node, f"({ast.unparse(ast.BinOp(node.left, other, node.right))})"
            case ast.AugAssign(op=ast.Add() | ast.Sub()):
                other = ast.Sub() if isinstance(node.op, ast.Add) else ast.Add()
                yield "arithmetic", node, ast.unparse(ast.AugAssign(node.target, other, node.value))
                yield "remove", node, "pass"
            case ast.Expr(value=ast.Call() | ast.Await()):
                yield "remove", node, "pass"
            case ast.Assign(targets=[ast.Attribute() | ast.Subscript(), *_]):
                yield "remove", node, "pass"
            case ast.Return(value=ast.expr() as value) if ast.unparse(value) != "None":
                yield "return", node, "return None"
            case ast.Continue():
                yield "jump", node, "break"
            case ast.Break():
                yield "jump", node, "continue"
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                body = [statement for statement in node.body if not _is_text(statement)]
                is_stub = all(isinstance(statement, ast.Pass | ast.Raise) for statement in body)
                is_trivial = bool(body) and ast.unparse(body[0]) in {"return", "return None"}
                if body and not is_stub and not is_trivial:
                    yield "early", body[0], "return None"


def _is_text(node: ast.AST) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _is_left_out(node: ast.AST) -> bool:
    if isinstance(node, _FUNCTIONS):
        return node.name in {"__repr__", "__str__"} or any("overload" in ast.unparse(d) for d in node.decorator_list)
    if isinstance(node, ast.If):
        return ast.unparse(node.test) in {"TYPE_CHECKING", "typing.TYPE_CHECKING"}
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) and isinstance(node.value.func, ast.Attribute):
        return ast.unparse(node.value.func.value) in _LOGS
    # In an f-string the parser of Python 3.11 gives no positions; an error's text is not what it is raised for.
    return _is_text(node) or isinstance(node, ast.Assert | ast.JoinedStr | ast.Raise | ast.Import | ast.ImportFrom)


def _mutable(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the nodes that a mutant may change."""
    if _is_left_out(node):
        return
    yield node
    for name, value in ast.iter_fields(node):
        if name in {"annotation", "returns", "decorator_list", "type_params", "bases"}:
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST):
                yield from _mutable(child)
