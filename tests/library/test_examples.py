"""Every file of examples/ runs as it stands, against a real tmux."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from streamrelay.testing.tmux import PrivateTmux
from streamrelay.testing.waiting import wait_until

EXAMPLES = Path(__file__).parents[2] / "examples"
RECORDING = next((Path(__file__).parents[1] / "corpus" / "agents" / "cat").iterdir())
ECHO = "import sys\nfor line in sys.stdin: print('you said', line.strip(), flush=True)"

pytestmark = pytest.mark.requirement("OPS-10a")


def run(private_tmux: PrivateTmux, name: str, *arguments: str) -> str:
    environment = {**os.environ, "TMUX": f"{private_tmux.socket_path},1,0"}
    done = subprocess.run(
        [sys.executable, EXAMPLES / name, *arguments],
        capture_output=True, text=True, timeout=60, check=False, env=environment,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_each_example_is_tried_here_or_with_the_readme() -> None:
    assert {path.name for path in EXAMPLES.glob("*.py")} == {
        "watch.py", "ask.py", "ask_without_asyncio.py", "two_agents.py", "ship_logs.py", "replay.py",
    }  # fmt: skip


def test_agents_are_asked_and_talk(private_tmux: PrivateTmux) -> None:
    private_tmux.new_session("one", [sys.executable, "-uc", ECHO])
    private_tmux.new_session("two", [sys.executable, "-uc", ECHO])
    assert run(private_tmux, "ask.py", "one", "hello") == "you said hello\n"
    assert run(private_tmux, "ask_without_asyncio.py", "two", "hello") == "you said hello\n"
    talk = run(private_tmux, "two_agents.py", "one", "two", "hi", "1")
    assert talk == "[one] you said hi\n[two] you said you said hi\n"


def test_what_all_panes_say_is_shipped(private_tmux: PrivateTmux, tmp_path: Path) -> None:
    pane = private_tmux.new_session("one", [sys.executable, "-uc", ECHO])
    out = tmp_path / "said.jsonl"
    with out.open("wb") as file:
        shipping = subprocess.Popen(
            [sys.executable, EXAMPLES / "ship_logs.py"],
            stdout=file, env={**os.environ, "TMUX": f"{private_tmux.socket_path},1,0"},
        )  # fmt: skip

    def shipped() -> bool:
        private_tmux.run("send-keys", "-t", pane, "hello", "Enter")
        return "you said hello" in out.read_text()

    try:
        wait_until(shipped, 30, "the line")
    finally:
        shipping.terminate()
        shipping.wait()
    assert json.loads(out.read_text().splitlines()[0])["event"] == "text"


def test_a_recording_is_replayed(private_tmux: PrivateTmux) -> None:
    assert "program" in run(private_tmux, "replay.py", str(RECORDING))
