"""The tutorial is run from top to bottom: its commands in a shell, its Python as files."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from streamrelay.testing.tmux import PrivateTmux

TUTORIAL = (Path(__file__).parents[2] / "docs" / "tutorial.md").read_text()
BLOCK = re.compile(r"^```python\n(.*?)^```$|^((?:    (?:tmux|streamrelay) [^\n]*\n)+)", re.MULTILINE | re.DOTALL)


@pytest.mark.requirement("OPS-08b")
def test_the_tutorial_runs(private_tmux: PrivateTmux, tmp_path: Path) -> None:
    private_tmux.new_session("keeper", ["cat"])
    environment = {
        **os.environ,
        "TMUX": f"{private_tmux.socket_path},{private_tmux.server_pid},0",
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        "HOME": str(tmp_path),
        "XDG_STATE_HOME": str(tmp_path / "state"),
        "XDG_RUNTIME_DIR": str(private_tmux.directory),
    }
    printed = []
    for python, shell in BLOCK.findall(TUTORIAL):
        command = [sys.executable, "-c", python] if python else ["bash", "-ec", shell]
        done = subprocess.run(
            command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=60, check=False
        )
        assert done.returncode == 0, f"{python or shell}: {done.stderr}"
        printed.append(done.stdout)
    assert len(printed) == 7
    assert "tutorial:0.0" in printed[1]
    assert printed[2:6] == [
        "HOW ARE YOU\n", "AND NOW FROM PYTHON\n", "AND WITHOUT ASYNCIO\n", "injected one more\nprogram ONE MORE\n",
    ]  # fmt: skip
    assert private_tmux.run("list-sessions", "-F", "#{session_name}") == "keeper"
