"""What users install is what is in the tree: every module and data file, under the right package, and no more."""

import shutil
import subprocess
import sys
from pathlib import Path
from zipfile import ZipFile

import pytest

ROOT = Path(__file__).resolve().parents[2]
BUILD = "import sys; from setuptools import build_meta; build_meta.build_wheel(sys.argv[1])"


@pytest.fixture
def wheel(tmp_path: Path) -> ZipFile:
    source, out = tmp_path / "source", tmp_path / "out"
    out.mkdir()
    for folder in ("streamrelay", "cli", "tests/contract"):
        shutil.copytree(ROOT / folder, source / folder, ignore=shutil.ignore_patterns("__pycache__", "*.egg-info"))
    for file in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / file, source)
    done = subprocess.run(
        [sys.executable, "-c", BUILD, out], cwd=source, capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr
    return ZipFile(next(out.glob("*.whl")))


def test_the_wheel_holds_the_packages_and_nothing_else(wheel: ZipFile) -> None:
    with wheel:
        packed = {name for name in wheel.namelist() if ".dist-info/" not in name}
    tree = {
        str(path.relative_to(base))
        for base, package in ((ROOT, "streamrelay"), (ROOT / "cli", "streamrelay_cli"))
        for path in (base / package).rglob("*")
        if path.is_file() and path.suffix != ".pyc"
    }
    assert packed == tree
    assert {"streamrelay/py.typed", "streamrelay_cli/main.py"} <= packed
