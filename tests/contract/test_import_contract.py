"""The import contract of pyproject.toml holds, and each of its parts can fail."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

# The part of the contract, where the violation goes, and the violation.
VIOLATIONS = {
    "Imports go downwards only": ("streamrelay/vt/engine.py", "from streamrelay.delta import frames"),
    "The rooms never import the public face they are behind": ("streamrelay/relay/machine.py", "import streamrelay"),
    "What decides has no clock, no task, no file and no socket": ("streamrelay/delta/turns.py", "import asyncio"),
    "Only the command line knows how it is typed and printed": ("streamrelay/panes/inventory.py", "import typer"),
    "Nothing that runs in production needs streamrelay.testing": (
        "streamrelay/control/__init__.py",
        "import streamrelay.testing.waiting",
    ),
}


def lint_imports(root: Path) -> dict[str, str]:
    """Run the linter as scripts/test does, on the packages under `root`: verdict by contract."""
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
    return verdicts


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    for folder in ("streamrelay", "cli"):
        shutil.copytree(ROOT / folder, tmp_path / folder, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    return tmp_path


def test_the_contract_is_kept() -> None:
    assert lint_imports(ROOT) == dict.fromkeys(VIOLATIONS, "KEPT")


def test_every_part_of_the_contract_can_break(copy: Path) -> None:
    assert set(lint_imports(copy).values()) == {"KEPT"}
    for path, violation in VIOLATIONS.values():
        with (copy / path).open("a") as file:
            file.write(f"\n{violation}\n")
    assert lint_imports(copy) == dict.fromkeys(VIOLATIONS, "BROKEN")
