"""The wheel, installed into an empty environment in a fresh HOME, runs the commands that the README shows."""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.request import urlopen

import pytest
from streamrelay_cli.commands import COMMANDS

from streamrelay.control.private_tmux import PrivateTmux
from tests.contract.test_wheel import BUILD

ROOT = Path(__file__).resolve().parents[2]
INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    },
}
UNREACHABLE = re.compile(r"error sending request|dns error|Failed to fetch|UnknownIssuer|not found in the cache")
Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def installed(tmp_path: Path) -> Iterator[Run]:
    """Run a command of the installed copy in a fresh HOME, with the environment's bin and the system's on PATH."""
    fetched = ROOT / ".uv" / "tool" / "bin" / "uv"
    uv = shutil.which("uv") or (str(fetched) if fetched.is_file() else None)
    if uv is None:
        pytest.skip("uv is not installed, which makes the empty environment")
    source, out, venv = (tmp_path / name for name in ("source", "out", "venv"))
    out.mkdir()
    for folder in ("streamrelay", "cli"):
        shutil.copytree(ROOT / folder, source / folder, ignore=shutil.ignore_patterns("__pycache__", "*.egg-info"))
    (source / "docs").mkdir()
    for file in ("pyproject.toml", "README.md", "LICENSE", "docs/streamrelay.1"):
        shutil.copy(ROOT / file, source / file)
    subprocess.run([sys.executable, "-c", BUILD, out], cwd=source, capture_output=True, timeout=60, check=True)
    python = str(venv / "bin" / "python")
    subprocess.run([uv, "venv", "--quiet", "--python", sys.executable, venv], timeout=60, check=True)
    done = subprocess.run(
        [uv, "pip", "install", "--quiet", "--python", python, next(out.glob("*.whl"))],
        capture_output=True,
        text=True,
        timeout=200,
        check=False,
    )
    if done.returncode and UNREACHABLE.search(done.stderr):
        pytest.skip("uv has neither a network nor the packages in its cache")
    assert done.returncode == 0, done.stderr
    environment = {"HOME": "", "PATH": f"{venv / 'bin'}:/usr/bin:/bin", "LC_ALL": "C.UTF-8"}
    if tmux := os.environ.get("STREAMRELAY_TMUX"):
        environment["STREAMRELAY_TMUX"] = tmux

    def run(*arguments: str, text: str = "") -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [str(venv / "bin" / "streamrelay"), *arguments],
            cwd=environment["HOME"],
            env=environment,
            input=text,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )

    with tempfile.TemporaryDirectory() as home:  # short, because a path to a socket has a limit
        environment["HOME"] = home
        yield run


@pytest.mark.slow
@pytest.mark.timeout(400)
@pytest.mark.requirement("OPS-11a")
def test_an_empty_environment_runs_the_commands_of_the_readme(installed: Run, private_tmux: PrivateTmux) -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    shown = {word for word in re.findall(r"(?m)^\s*(?:\$ )?streamrelay ([a-z]+)", readme) if word in str(COMMANDS)}
    assert {"ls", "send", "start", "web"} <= shown
    for command in sorted(shown - {"tmux"}):
        helped = installed(command, "--help")
        assert helped.returncode == 0, f"{command}: {helped.stderr}"

    pane = private_tmux.new_session("work", ["cat"])
    server = ("-S", str(private_tmux.socket_path))
    assert pane in installed(*server, "ls").stdout
    examined = installed(*server, "doctor", "--json").stdout.splitlines()
    checks = {check["name"]: check for check in map(json.loads, examined)}
    assert [check for check in checks.values() if check["status"] == "failed"] == []
    assert "installed with uv pip" in checks["streamrelay"]["found"]
    assert checks["command"]["status"] == "ok"
    started = installed(*server, "daemon", "start")
    assert started.returncode == 0, started.stderr
    try:
        answered = installed(*server, "mcp", text=json.dumps(INITIALIZE) + "\n")
        assert json.loads(answered.stdout.splitlines()[0])["result"]["serverInfo"]["name"] == "streamrelay"
        page = installed(*server, "web")
        assert page.returncode == 0, page.stderr
        assert re.fullmatch(r"http://127\.0\.0\.1:\d+/#token=\S+\n", page.stdout)
        with urlopen(page.stdout.partition("#")[0], timeout=10) as answer:  # noqa: S310  # it is on loopback
            assert (answer.status, b"page.js" in answer.read()) == (200, True)
    finally:
        stopped = installed(*server, "daemon", "stop")
    assert stopped.returncode == 0, stopped.stderr
