"""pyte's own captured programs, out of its source distribution: the same screen from pyte, from tmux, and from here.

They are under pyte's licence and no part of this repository, so they are fetched (by pip, which uv runs).
"""

import json
import shutil
import subprocess
import tarfile
from pathlib import Path
from typing import Any

import pytest

from streamrelay.vt import TmuxScreen

ROOT = Path(__file__).resolve().parents[2]
COLUMNS, LINES = 80, 24
NAMES = ("cat-gpl3", "find-etc", "htop", "ls", "mc", "top", "vi")


@pytest.fixture(scope="module")
def captured(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("pyte")
    uv = shutil.which("uv") or str(ROOT / ".uv" / "tool" / "bin" / "uv")
    command = [uv, "tool", "run", "pip", "download", "--quiet", "--no-deps", "--no-binary", ":all:", "pyte==0.8.2"]
    try:
        subprocess.run(command, cwd=folder, check=True, capture_output=True, timeout=100)
    except (OSError, subprocess.SubprocessError) as error:
        pytest.skip(f"pyte's source distribution cannot be fetched: {error}")
    with tarfile.open(next(folder.glob("pyte-*.tar.gz"))) as archive:
        archive.extractall(folder, filter="data")
    return next(folder.glob("pyte-*/tests/captured"))


@pytest.mark.slow
@pytest.mark.network
@pytest.mark.requirement("VT-03b")
def test_pyte_tmux_and_this_agree(captured: Path, oracle: Any) -> None:
    data = [(captured / f"{name}.input").read_bytes() for name in NAMES]
    found = oracle.differences(data, COLUMNS, LINES)
    assert dict(zip(NAMES, found, strict=True)) == {name: [] for name in NAMES}
    for name, stream in zip(NAMES, data, strict=True):
        screen = TmuxScreen(COLUMNS, LINES)
        screen.feed(stream)
        assert screen.display == json.loads((captured / f"{name}.output").read_text(encoding="utf-8")), name
