"""The import contracts of pyproject.toml hold, each can fail, and no module escapes them by not being listed."""

import ast
import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]

# Contract id: imports that break it, each with the file that gets it.
VIOLATIONS = {
    "layers": [
        ("streamrelay/vt/engine.py", "from streamrelay.delta import frames"),
        ("streamrelay/procedures/__init__.py", "import streamrelay.vt"),
        ("streamrelay/doctor.py", "import streamrelay.testing.tmux"),
    ],
    "commands": [("streamrelay/doctor.py", "import streamrelay_cli.options")],
    "public": [
        ("streamrelay/relay/machine.py", "import streamrelay"),
        ("streamrelay/daemon/process.py", "from streamrelay import Server"),
        ("streamrelay/mcp/server.py", "from streamrelay import Server"),
    ],
    "pure": [
        ("streamrelay/delta/turns.py", "import asyncio"),
        ("streamrelay/sessions/permission.py", "from streamrelay.control import ControlClient"),
    ],
    "terminal": [("streamrelay/panes/inventory.py", "import typer")],
    "testing": [
        ("streamrelay/control/__init__.py", "import streamrelay.testing.waiting"),
        ("streamrelay/daemon/process.py", "import streamrelay.testing.waiting"),
        ("streamrelay/mcp/server.py", "import streamrelay.testing.waiting"),
        ("cli/streamrelay_cli/entry.py", "import streamrelay.testing.waiting"),
    ],
    "demo": [("cli/streamrelay_cli/entry.py", "import streamrelay.demo.stage")],
}
PURE = re.compile(r"\bpure\b|\bsans-I/O\b|\bwithout I/O\b|\bno (?:clock|socket)\b", re.IGNORECASE)


def contracts() -> dict[str, dict[str, Any]]:
    pyproject = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    return {contract["id"]: contract for contract in pyproject["tool"]["importlinter"]["contracts"]}


def lint_imports(root: Path) -> tuple[dict[str, str], str]:
    """Run the linter as scripts/test does, on the packages under `root`: verdict by contract name, and the output."""
    done = subprocess.run(
        [
            Path(sys.executable).with_name("lint-imports"),
            "--no-logo",
            "--no-cache",
            "--config",
            root / "pyproject.toml",
        ],
        cwd=root,
        env={**os.environ, "PYTHONPATH": f"{root}{os.pathsep}{root / 'cli'}", "COLUMNS": "200"},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    verdicts = dict(re.findall(r"^(\S.*) (KEPT|BROKEN)\b", done.stdout, re.MULTILINE))
    assert verdicts, done.stdout + done.stderr
    assert done.returncode == ("BROKEN" in verdicts.values())
    return verdicts, done.stdout


def modules(root: Path) -> dict[str, Path]:
    """Return the modules of the library by name."""
    files = (root / "streamrelay").rglob("*.py")
    return {".".join(file.relative_to(root).with_suffix("").parts).removesuffix(".__init__"): file for file in files}


def claimed_pure(root: Path) -> set[str]:
    """Return the modules whose docstring claims that they are pure."""
    docstrings = {name: ast.get_docstring(ast.parse(file.read_bytes())) for name, file in modules(root).items()}
    return {name for name, docstring in docstrings.items() if docstring and PURE.search(docstring)}


def unlisted(names: set[str], listed: list[str]) -> list[str]:
    """Return the names that neither are in the list nor lie in a package that is."""
    return sorted(name for name in names if not any(f"{name}.".startswith(f"{entry}.") for entry in listed))


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    for folder in ("streamrelay", "cli"):
        shutil.copytree(ROOT / folder, tmp_path / folder, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    return tmp_path


def test_the_contracts_are_kept() -> None:
    verdicts, output = lint_imports(ROOT)
    assert verdicts == {contract["name"]: "KEPT" for contract in contracts().values()}, output


def test_every_contract_reports_every_forbidden_import(copy: Path) -> None:
    assert set(VIOLATIONS) == set(contracts()), "seed a forbidden import for each contract (VIOLATIONS)"
    for violations in VIOLATIONS.values():
        for path, violation in violations:
            with (copy / path).open("a", encoding="utf-8") as file:
                file.write(f"\n{violation}\n")
    verdicts, output = lint_imports(copy)
    assert verdicts == {contract["name"]: "BROKEN" for contract in contracts().values()}
    # The verdict alone would hide that one of several imports goes unnoticed.
    details = re.split(r"^(?=\S.*\n-{5,}$)", output, flags=re.MULTILINE)
    for contract, violations in VIOLATIONS.items():
        (detail,) = [detail for detail in details if detail.startswith(f"{contracts()[contract]['name']}\n")]
        for path, _ in violations:
            module = ".".join(Path(path.removeprefix("cli/")).with_suffix("").parts).removesuffix(".__init__")
            assert re.search(rf"(?<!\S){re.escape(module)} ->", detail), (
                f"{contract} does not report {module}: {detail}"
            )


def test_a_package_without_a_place_in_the_layers_fails(copy: Path) -> None:
    (copy / "streamrelay/novel").mkdir()
    for file in ("novel/__init__.py", "strange.py"):
        (copy / "streamrelay" / file).write_text('"""Listed nowhere."""\n', encoding="utf-8")
    verdicts, output = lint_imports(copy)
    layers = contracts()["layers"]["name"]
    assert verdicts == {name: "BROKEN" if name == layers else "KEPT" for name in verdicts}
    assert "- streamrelay.novel\n" in output
    assert "- streamrelay.strange\n" in output
    assert "name it in `layers` (pyproject.toml" in output


def test_a_new_module_is_under_every_contract_without_being_listed(copy: Path) -> None:
    (copy / "streamrelay/daemon/novel.py").write_text("import streamrelay\nimport streamrelay.testing.waiting\n")
    (copy / "streamrelay/delta/novel.py").write_text("import time\n")
    verdicts, _ = lint_imports(copy)
    broken = {contracts()[name]["name"] for name in ("layers", "public", "pure", "testing")}
    assert {name for name, verdict in verdicts.items() if verdict == "BROKEN"} == broken


def test_a_module_that_claims_to_be_pure_is_under_the_contract() -> None:
    missing = unlisted(claimed_pure(ROOT), contracts()["pure"]["source_modules"])
    assert not missing, (
        f"{', '.join(missing)}: the docstring says that the module is pure. Add it to the contract `pure` in "
        "pyproject.toml, or word the docstring differently (pure, sans-I/O, without I/O, no clock, no socket)."
    )


@pytest.mark.parametrize("claim", ["; pure.", ", sans-I/O.", ". Decides without I/O.", ". It reads no clock."])
def test_an_unlisted_claim_is_found(tmp_path: Path, claim: str) -> None:
    (tmp_path / "streamrelay" / "daemon").mkdir(parents=True)
    (tmp_path / "streamrelay" / "daemon" / "novel.py").write_text(f'"""A new machine{claim}"""\n', encoding="utf-8")
    listed = contracts()["pure"]["source_modules"]
    assert unlisted(claimed_pure(tmp_path), listed) == ["streamrelay.daemon.novel"]
    assert unlisted({"streamrelay.delta.novel", "streamrelay.deltas"}, listed) == ["streamrelay.deltas"]


def test_the_lists_name_what_exists_and_name_it_once() -> None:
    for contract in contracts().values():
        for key in ("source_modules", "forbidden_modules", "protected_modules", "allowed_importers"):
            listed = contract.get(key, [])
            assert [name for name, times in Counter(listed).items() if times > 1] == [], f"{contract['id']}: {key}"
    pure = contracts()["pure"]["source_modules"]
    gone = sorted(set(pure) - set(modules(ROOT)))
    assert not gone, f"remove from the contract `pure` in pyproject.toml, these modules do not exist: {gone}"
    covered = [name for name in pure if unlisted({name}, [other for other in pure if other != name]) == []]
    assert not covered, f"remove from the contract `pure`, their package is listed as a whole: {covered}"
