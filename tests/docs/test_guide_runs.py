"""The user guide is run from top to bottom, on a server where things are as it says."""

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from streamrelay.testing.agent import read_got
from streamrelay.testing.waiting import wait_until

GUIDE = (Path(__file__).parents[2] / "docs" / "guide.md").read_text()
BLOCKS = re.findall(r"^((?:    \S.*\n)+)", GUIDE.partition("## From Python")[0], re.MULTILINE)
PATIENCE = 30.0
UNTIL_CTRL_C = ("watch", "link", "relay")


@pytest.mark.slow
@pytest.mark.timeout(400)
@pytest.mark.requirement("OPS-08b", "OPS-02c")
def test_the_guide_runs(private_tmux, tmp_path):
    log = tmp_path / "got"
    agent = [sys.executable, "-m", "streamrelay.testing.agent", "--log", str(log), "--answer", "Fine, thank you."]
    private_tmux.new_session("work", agent)
    words = ("split-window", "-d", "-t", "work:0.0", "--", "sh", "-c", "stty -echo; exec cat >/dev/null")
    private_tmux.run(*words)
    wait_until(lambda: "cat" in private_tmux.run("list-panes", "-aF", "#{pane_current_command}"), PATIENCE)
    wait_until(lambda: any(got.kind == "ready" for got in read_got(log)), PATIENCE)
    environment = {
        **os.environ,
        "TMUX": f"{private_tmux.socket_path},{private_tmux.server_pid},0",
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        "HOME": str(tmp_path),
        "XDG_STATE_HOME": str(tmp_path / "state"),
        "XDG_RUNTIME_DIR": str(private_tmux.directory),
    }
    done = []
    for line in (line.strip() for block in BLOCKS for line in block.splitlines()):
        process = subprocess.Popen(
            ["bash", "-c", f"exec {line}" if line.startswith("streamrelay") else line],
            cwd=tmp_path, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            text=True,
        )  # fmt: skip
        with process:
            waits = line.split()[1] in UNTIL_CTRL_C
            # With a daemon, it is the daemon that goes on.
            if waits and any("Ctrl-C ends" in words for words in iter(process.stderr.readline, "")):
                process.send_signal(signal.SIGINT)
            try:
                out, err = process.communicate(timeout=PATIENCE)
            except subprocess.TimeoutExpired:
                process.kill()
                pytest.fail(f"{line} does not end: {process.communicate()}")
        assert process.returncode in {0, 128 + signal.SIGINT}, f"{line}: {err}"
        done.append((line, out))
    assert len(done) > 30
    assert "Fine, thank you." in next(out for line, out in done if "--wait" in line)
    assert [got.text for got in read_got(log) if got.kind == "message"][:3] == [
        "How are you?", "And now?", "from a pipe",
    ]  # fmt: skip


@pytest.mark.requirement("OPS-10a")
def test_the_python_of_the_guide_runs(private_tmux, tmp_path):
    pane = private_tmux.new_session("work", ["sh", "-c", "while sleep 0.2; do echo a line; done"])
    assert pane
    (code,) = re.findall(r"^```python\n(.*?)^```", GUIDE, re.MULTILINE | re.DOTALL)
    ran = subprocess.run(
        [sys.executable, "-c", code], env={**os.environ, "TMUX": f"{private_tmux.socket_path},1,0"},
        capture_output=True, text=True, timeout=PATIENCE, check=False,
    )  # fmt: skip
    assert (ran.returncode, ran.stdout) == (0, "a line\n"), ran.stderr
