"""The two commands in a fresh checkout, on a PATH without uv: they fetch it, and every package, from the network.

What was downloaded before is taken from the user's cache; nothing else of the user's is there.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.tracked_files import ROOT, tracked_files

TMUX = shutil.which(os.environ.get("STREAMRELAY_TMUX") or "tmux")

pytestmark = [pytest.mark.slow, pytest.mark.tmux, pytest.mark.network]


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The files git knows or would take in, in a folder of their own."""
    folder = tmp_path_factory.mktemp("fresh") / "checkout"
    for name in tracked_files():
        if (ROOT / name).exists():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, folder / name)
    return folder


def run(checkout: Path, *command: str) -> "subprocess.CompletedProcess[str]":
    home = checkout.parent / "home"
    home.mkdir(exist_ok=True)
    assert TMUX, "tmux is needed"
    python = Path(getattr(sys, "_base_executable", sys.executable))
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("UV_", "PYTHON", "VIRTUAL_ENV"))}
    cache = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    path = os.pathsep.join([str(python.parent), str(Path(TMUX).parent), "/usr/bin", "/bin"])
    return subprocess.run(
        command,
        cwd=checkout,
        env={**kept, "HOME": str(home), "PATH": path, "XDG_CACHE_HOME": cache},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=110,
        check=False,
    )


# The demo comes first: alone it needs none of the developers' tools, and must run without them.
@pytest.mark.requirement("OPS-01a")
def test_the_demo_runs_on_a_real_tmux(checkout: Path) -> None:
    done = run(checkout, "./scripts/demo")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "message 1 from Ann" in done.stdout
    assert "lines out, each once" in done.stdout


@pytest.mark.requirement("OPS-01b")
def test_the_tests_pass(checkout: Path) -> None:
    done = run(checkout, "./scripts/test", "quick", "tests/testing/test_waiting.py")
    assert done.returncode == 0, done.stdout + done.stderr
    assert " passed" in done.stdout.splitlines()[-1]
