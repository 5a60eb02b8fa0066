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
def captured(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """What the programs printed, and what pyte made of it, by the names of the files."""
    folder = tmp_path_factory.mktemp("pyte")
    uv = shutil.which("uv") or str(ROOT / ".uv" / "tool" / "bin" / "uv")
    command = [uv, "tool", "run", "pip", "download", "--quiet", "--no-deps", "--no-binary", ":all:", "pyte==0.8.2"]
    try:
        subprocess.run(command, cwd=folder, check=True, capture_output=True, timeout=100)
    except (OSError, subprocess.SubprocessError) as error:
        pytest.skip(f"pyte's source distribution cannot be fetched: {error}")
    with tarfile.open(next(folder.glob("pyte-*.tar.gz"))) as archive:
        members = [member for member in archive if member.isfile() and "/tests/captured/" in member.name]
        files = {Path(member.name).name: archive.extractfile(member) for member in members}
        return {name: file.read() for name, file in files.items() if file is not None}


@pytest.mark.slow
@pytest.mark.network
@pytest.mark.requirement("VT-03b")
def test_pyte_tmux_and_this_agree(captured: dict[str, bytes], oracle: Any) -> None:
    data = [captured[f"{name}.input"] for name in NAMES]
    found = oracle.differences(data, COLUMNS, LINES)
    assert dict(zip(NAMES, found, strict=True)) == {name: [] for name in NAMES}
    for name, stream in zip(NAMES, data, strict=True):
        screen = TmuxScreen(COLUMNS, LINES)
        screen.feed(stream)
        assert screen.display == json.loads(captured[f"{name}.output"]), name
