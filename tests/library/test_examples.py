"""Every file of examples/ runs as it stands, against a real tmux; tests/benchmarks runs the reader for the judge."""

import asyncio
import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from textual.app import App, ComposeResult

from streamrelay.testing.tmux import PrivateTmux
from streamrelay.testing.waiting import wait_until

EXAMPLES = Path(__file__).parents[2] / "examples"
RECORDING = next((Path(__file__).parents[1] / "corpus" / "agents" / "cat").iterdir())
ECHO = "import sys\nfor line in sys.stdin: print('you said', line.strip(), flush=True)"

pytestmark = pytest.mark.requirement("OPS-10a")


def run(private_tmux: PrivateTmux, name: str, *arguments: str, status: int = 0) -> str:
    environment = {**os.environ, "TMUX": f"{private_tmux.socket_path},1,0"}
    done = subprocess.run(
        [sys.executable, EXAMPLES / name, *arguments],
        capture_output=True, text=True, timeout=60, check=False, env=environment,
    )  # fmt: skip
    assert done.returncode == status, done.stderr
    return done.stdout


def test_each_example_is_tried_here_or_with_the_readme() -> None:
    assert {path.name for path in EXAMPLES.glob("*.py")} == {
        "watch.py", "ask.py", "ask_without_asyncio.py", "two_agents.py", "ship_logs.py", "replay.py",
        "textual_widget.py", "pytest_fixture.py", "libtmux_pane.py", "reader_to_judge.py",
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


def test_a_recording_is_replayed_and_judged(private_tmux: PrivateTmux, tmp_path: Path) -> None:
    said = run(private_tmux, "replay.py", str(RECORDING))
    assert said.strip()
    expected = tmp_path / "expected.txt"
    expected.write_text(said)
    assert run(private_tmux, "replay.py", str(RECORDING), str(expected)) == ""
    expected.write_text("a line that was never printed\n" + said.partition("\n")[2])
    judged = run(private_tmux, "replay.py", str(RECORDING), str(expected), status=1)
    assert "- a line that was never printed" in judged
    assert f"+ {said.splitlines()[0]}" in judged


async def test_a_widget_shows_what_a_pane_says(private_tmux: PrivateTmux) -> None:
    spec = importlib.util.spec_from_file_location("textual_widget", EXAMPLES / "textual_widget.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    pane = private_tmux.new_session("one", [sys.executable, "-uc", ECHO])
    widget = module.PaneText("one", private_tmux.socket_path)

    class Shown(App[None]):
        def compose(self) -> ComposeResult:
            yield widget

    async with Shown().run_test() as pilot, asyncio.timeout(60):
        while widget.border_title is None:
            await pilot.pause(0.02)
        private_tmux.run("send-keys", "-t", pane, "hello", "Enter")
        while not any("you said hello" in line.text for line in widget.lines):
            await pilot.pause(0.02)
    assert widget.border_title == "one:0.0"


def test_a_program_is_tested_with_a_fixture() -> None:
    plugin = ["-p", "streamrelay.testing.pytest_plugin", "--import-mode=importlib", "-o", "addopts="]
    command = [sys.executable, "-m", "pytest", "-q", *plugin, str(EXAMPLES / "pytest_fixture.py")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stdout
    assert "1 passed" in done.stdout


def test_libtmux_and_streamrelay_share_a_pane(private_tmux: PrivateTmux) -> None:
    private_tmux.new_session("one", [sys.executable, "-uc", ECHO])
    printed = run(private_tmux, "libtmux_pane.py", private_tmux.socket_path, "one", "hello")
    assert printed == "you said hello\nhello\nyou said hello\n"
