"""What users install is what is in the tree: every module and data file, under the right package, and no more."""

import ast
import re
import shutil
import subprocess
import sys
from email.parser import Parser
from pathlib import Path
from zipfile import ZipFile

import pytest

ROOT = Path(__file__).resolve().parents[2]
BUILD = "import sys; from setuptools import build_meta; build_meta.build_wheel(sys.argv[1])"

OPTIONAL = {
    "redis",
    "uvloop",
    "avt",
    "acp",
    "anthropic",
    "backports",
    "compression",  # the standard library's from Python 3.14 on
    "cryptography",
    "google",
    "httpx2",
    "keyring",
    "openai",
    "stamina",
    "termaid",
    "textual",
}
"""Modules of the extras."""


@pytest.fixture
def wheel(tmp_path: Path) -> ZipFile:
    source, out = tmp_path / "source", tmp_path / "out"
    out.mkdir()
    for folder in ("streamrelay", "cli", "docs", "tests/contract"):
        shutil.copytree(ROOT / folder, source / folder, ignore=shutil.ignore_patterns("__pycache__", "*.egg-info"))
    for file in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / file, source)
    done = subprocess.run(
        [sys.executable, "-c", BUILD, out], cwd=source, capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr
    return ZipFile(next(out.glob("*.whl")))


@pytest.mark.requirement("OPS-11a")
def test_the_metadata_names_the_command_and_all_that_it_needs(wheel: ZipFile) -> None:
    with wheel:
        read = {Path(name).name: wheel.read(name).decode() for name in wheel.namelist() if ".dist-info/" in name}
    metadata = Parser().parsestr(read["METADATA"])
    assert metadata["Name"] == "tmux-streamrelay"
    assert metadata["Author"] == "streamrelay contributors"
    links = {one.partition(",")[0] for one in metadata.get_all("Project-URL") or []}
    assert links == {"Homepage", "Documentation", "Issues", "Changelog"}
    assert "tmux" in (metadata["Keywords"] or "").split(",")
    assert read["entry_points.txt"].split() == ["[console_scripts]", "streamrelay", "=", "streamrelay_cli.entry:run"]
    requires = [one for one in metadata.get_all("Requires-Dist") or [] if "extra ==" not in one]
    needed = {re.split(r"[^\w-]", one)[0].replace("-", "_") for one in requires}
    assert _imported() - {"streamrelay", "streamrelay_cli", *OPTIONAL} <= needed


def _imported() -> set[str]:
    """The packages beyond the standard library that the modules of the wheel import."""
    found = set()
    for file in (*(ROOT / "streamrelay").rglob("*.py"), *(ROOT / "cli").rglob("*.py")):
        if file.is_relative_to(ROOT / "streamrelay" / "testing"):
            continue
        for node in ast.walk(ast.parse(file.read_bytes())):
            if isinstance(node, ast.Import):
                found |= {alias.name.partition(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and not node.level and node.module:
                found.add(node.module.partition(".")[0])
    return found - sys.stdlib_module_names


def test_the_wheel_holds_the_packages_the_manual_page_and_nothing_else(wheel: ZipFile) -> None:
    with wheel:
        packed = {name for name in wheel.namelist() if ".dist-info/" not in name}
    tree = {
        str(path.relative_to(base))
        for base, package in ((ROOT, "streamrelay"), (ROOT / "cli", "streamrelay_cli"))
        for path in (base / package).rglob("*")
        if path.is_file() and path.suffix != ".pyc"
    }
    pages = {name for name in packed if name.endswith(".data/data/share/man/man1/streamrelay.1")}
    assert len(pages) == 1
    assert packed - pages == tree
    assert {"streamrelay/py.typed", "streamrelay_cli/main.py"} <= packed
