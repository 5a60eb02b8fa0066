"""What is declared is used, and what is used is declared."""

import ast
import functools
import itertools
import re
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SHIPPED = ("streamrelay", "cli")
OURS = {"streamrelay", "streamrelay_cli"}
LATER = {"compression"}
"""Modules of the standard library of a later Python than the oldest that we run on."""
# A project's pytest imports the plugin, so pytest is there.
# uvicorn imports httptools for us, where we ask for its protocol of that name; google-genai lies in `google`.
THROUGH = {
    "httptools": "uvicorn",
    "google_genai": "google",
    "agent_client_protocol": "acp",
    "backports_zstd": "backports",
}
ONLY_BY_PYTEST = {"pytest": {"streamrelay/testing/pytest_plugin.py", "streamrelay/testing/guard.py"}}


def declared(*extras: str) -> set[str]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    optional = (project["optional-dependencies"][extra] for extra in extras)
    return {
        re.split(r"[^\w.-]", dependency)[0].replace("-", "_")
        for dependency in itertools.chain(project["dependencies"], *optional)
    }


def imports(source: str) -> Iterator[str]:
    """The top-level names a module imports, in functions and for type checkers too."""
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Import(names=names):
                yield from (name.name.partition(".")[0] for name in names)
            case ast.ImportFrom(module=str(module), level=0):
                yield module.partition(".")[0]


@functools.cache
def importers(*folders: str) -> dict[str, set[str]]:
    """The files that import a name, by name; the standard library and our own left out."""
    found: dict[str, set[str]] = {}
    for path in (path for folder in folders for path in (ROOT / folder).rglob("*.py")):
        for name in set(imports(path.read_text())) - OURS - LATER - sys.stdlib_module_names:
            found.setdefault(name, set()).add(str(path.relative_to(ROOT)))
    return found


@pytest.mark.parametrize("dependency", sorted(declared("acp", "council", "redis", "uvloop")))
def test_every_dependency_is_imported_by_what_ships_or_by_a_benchmark(dependency: str) -> None:
    assert importers(*SHIPPED, "benchmarks").get(THROUGH.get(dependency, dependency))


def test_what_ships_imports_nothing_undeclared() -> None:
    known = {THROUGH.get(name, name) for name in declared("acp", "council", "redis", "uvloop")} | {"httptools"}
    undeclared = {name: files for name, files in importers(*SHIPPED).items() if name not in known}
    undeclared = {name: files - ONLY_BY_PYTEST.get(name, set()) for name, files in undeclared.items()}
    assert not {name: files for name, files in undeclared.items() if files}


def test_imports_are_found_wherever_they_stand() -> None:
    source = "import a.b\nfrom c.d import e\nfrom . import f\ndef g():\n    import h as i, j\n"
    assert sorted(imports(source)) == ["a", "c", "h", "j"]
