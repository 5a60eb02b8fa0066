"""The generated parts of two pages: the events of docs/events.md, and the calls of docs/daemon.md.

Everything else on these pages is written by hand and stays. Both are made from the source without importing it.
"""

import ast
import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

TYPES = {"str": "text", "int": "integer", "float": "number", "bool": "boolean"}
SECTION = re.compile(r"^### `(?P<tag>\w+)`\n.*?(?=^#)", re.MULTILINE | re.DOTALL)
TABLE = re.compile(r"^\| field \| type \| meaning \|\n(?:\|.*\n)+", re.MULTILINE)
OTHER_TABLES = {"## What all events carry": "Event", "### A vote": "Vote"}
"""The headings above the tables of classes that are no events by themselves."""


class DocumentedEvent(NamedTuple):
    """One class of streamrelay/events.py, as the page shows it."""

    name: str
    tag: str
    text: str
    table: str


def events_page(source: str, page: str) -> str:
    """Return the page of the events with the text and the table of each event as the source declares them.

    A new event gets a section behind the event that precedes it in `AnyEvent`. What follows a table stays.
    """
    tree = ast.parse(source)
    found = {event.name: event for event in _documented(tree)}
    previous = ""
    for event in [found[name] for name in _union(tree, "AnyEvent")]:
        head = f"### `{event.tag}`\n\n{event.text}\n\n{event.table}"
        sections = {section["tag"]: section for section in SECTION.finditer(page + "#")}
        if event.tag in sections:
            old = sections[event.tag]
            rest = "".join(TABLE.split(old[0], maxsplit=1)[1:])
            page = page[: old.start()] + head + rest + page[old.end() :]
        else:
            place = sections[previous].end() if previous else len(page)
            page = page[:place].rstrip("\n") + "\n\n" + head + "\n" * (place < len(page)) + page[place:]
        previous = event.tag
    for heading, name in OTHER_TABLES.items():
        before, _, after = page.partition(f"{heading}\n")
        page = before + f"{heading}\n" + TABLE.sub(lambda _, name=name: found[name].table, after, count=1)
    return page


def calls_table(calls: Sequence[tuple[str, str, str, str]]) -> str:
    """Return the table of calls, of (method, path, name, docstring); one row each, by path."""
    rows = [
        f"| `{method} /v1{path}` | `{name}` | {_cell(text.partition(chr(10) * 2)[0])} |"
        for method, path, name, text in sorted(calls, key=lambda one: (one[1], one[0]))
    ]
    return "\n".join(["| route | in Python | does |", "|---|---|---|", *rows]) + "\n"


def with_calls_table(page: str, table: str) -> str:
    """Return the page of the daemon with this table of calls."""
    return re.sub(r"^\| route \| in Python \| does \|\n(?:\|.*\n)+", lambda _: table, page, count=1, flags=re.MULTILINE)


def _documented(tree: ast.Module) -> Iterator[DocumentedEvent]:
    """Yield every class with its docstring and the docstrings of its fields."""
    for node in tree.body:
        if isinstance(node, ast.ClassDef):
            tags = [keyword.value for keyword in node.keywords if keyword.arg == "tag"]
            tag = str(ast.literal_eval(tags[0])) if tags else ""
            rows = [f"| `{name}` | {kind} | {meaning} |" for name, kind, meaning in _fields(node)]
            table = "\n".join(["| field | type | meaning |", "|---|---|---|", *rows]) + "\n" if rows else ""
            yield DocumentedEvent(node.name, tag, _wrapped(_cell(ast.get_docstring(node) or "") + "."), table)


def _fields(node: ast.ClassDef) -> Iterator[tuple[str, str, str]]:
    """Yield the name, the JSON type and the meaning of each field."""
    for field, text in zip(node.body, [*node.body[1:], None], strict=True):
        if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name):
            match text:
                case ast.Expr(value=ast.Constant(value=str(meaning))):
                    yield field.target.id, _json_type(field.annotation), _cell(meaning)
                case _:
                    yield field.target.id, _json_type(field.annotation), ""


def _json_type(annotation: ast.expr) -> str:
    """Return what JSON has for a field, in the words of the page."""
    match annotation:
        case ast.BinOp(left=left, right=ast.Constant(value=None)):
            return f"{_json_type(left)} or null"
        case ast.BinOp(left=left):
            return _json_type(left)
        case ast.Subscript(value=ast.Name("tuple"), slice=ast.Tuple(elts=[ast.Name(id=item), *_])):
            return "list" if item == "Vote" else "list of texts"
        case ast.Subscript(value=ast.Name("dict")):
            return "object"
        case ast.Name(id=name):
            return TYPES.get(name, "text")
        case _:
            return "text"


def _union(tree: ast.Module, name: str) -> Iterator[str]:
    """Yield the names in a union of classes that the module assigns to `name`, in order."""
    for node in tree.body:
        match node:
            case ast.Assign(targets=[ast.Name(id=assigned)], value=union) if assigned == name:
                names = [part for part in ast.walk(union) if isinstance(part, ast.Name)]
                yield from (part.id for part in sorted(names, key=lambda part: (part.lineno, part.col_offset)))


def _cell(text: str) -> str:
    """Return a docstring on one line, with links between the pages of docs/, and without the final full stop."""
    return re.sub(r"\bdocs/((\w+\.md)(?:#[\w-]+)?)", r"[\2](\1)", " ".join(text.split())).removesuffix(".")


def _wrapped(text: str) -> str:
    """Return a paragraph in lines of at most 120 characters."""
    lines = [""]
    for word in text.split(" "):
        if len(lines[-1]) + len(word) > 119:
            lines.append("")
        lines[-1] += f" {word}" if lines[-1] else word
    return "\n".join(lines)
