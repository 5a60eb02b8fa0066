"""Running the installed command as a person would: a process of its own, its output in files, every wait bounded."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from streamrelay.testing.tmux import PrivateTmux
from streamrelay.testing.waiting import wait_until

COMMAND = Path(sys.executable).with_name("streamrelay")
PATIENCE = 60.0


class RunningCommand:
    """A command that goes on until it is told to end."""

    def __init__(self, arguments: list[str], folder: Path, environment: dict[str, str]) -> None:
        self._out, self._err = folder / "stdout", folder / "stderr"
        with self._out.open("wb") as out, self._err.open("wb") as err:
            self.process = subprocess.Popen(
                [COMMAND, *arguments], stdin=subprocess.DEVNULL, stdout=out, stderr=err, env=environment
            )

    @property
    def stdout(self) -> str:
        return self._out.read_text()

    @property
    def stderr(self) -> str:
        return self._err.read_text()

    def events(self, kind: str | None = None) -> list[dict[str, Any]]:
        whole, _, _ = self.stdout.rpartition("\n")
        events = [json.loads(line) for line in whole.splitlines()]
        return [event for event in events if kind is None or event["event"] == kind]

    def said(self, session: str | None = None) -> list[str]:
        return [
            event["text"]
            for event in self.events("text")
            if event["origin"] == "program" and session in {None, event["session"]}
        ]

    def until(self, predicate: Callable[[], object], message: str) -> None:
        try:
            wait_until(lambda: predicate() or self.process.poll() is not None, PATIENCE, message)
        except TimeoutError as error:
            said = self.stdout
            last = f"of {len(said)} characters the last: {said[-400:]!r}; {self.stderr}"
            raise AssertionError(f"{error}; {last}") from error
        assert predicate(), f"{message}: ended with {self.process.returncode}, {self.stderr}"

    def until_ready(self) -> None:
        self.until(lambda: "Ctrl-C ends" in self.stderr, "the command to be ready")

    def interrupt(self, number: signal.Signals = signal.SIGINT) -> int:
        self.process.send_signal(number)
        return self.wait()

    def wait(self, working: float = 0.0) -> int:
        """Wait for the end of a command that has `working` seconds of work to do."""
        return self.process.wait(PATIENCE + working)

    def stop(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()


class Cli:
    """Runs `streamrelay` against one private server."""

    def __init__(self, tmux: PrivateTmux, folder: Path) -> None:
        self._socket = ["-S", str(tmux.socket_path)]
        self._folder = folder
        self._environment = {k: v for k, v in os.environ.items() if k not in {"TMUX", "TMUX_PANE"}}
        self._running: list[RunningCommand] = []

    def run(
        self, command: str, *arguments: str, server: bool = True, **environment: str
    ) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [COMMAND, command, *(self._socket if server else []), *arguments],
            capture_output=True,
            text=True,
            check=False,
            timeout=PATIENCE,
            env=self._environment | environment,
        )

    def start(self, command: str, *arguments: str, server: bool = True, **environment: str) -> RunningCommand:
        folder = self._folder / str(len(self._running))
        folder.mkdir()
        words = [command, *(self._socket if server else []), *arguments]
        running = RunningCommand(words, folder, self._environment | environment)
        self._running.append(running)
        return running

    def close(self) -> None:
        for running in self._running:
            running.stop()


@pytest.fixture
def cli(private_tmux: PrivateTmux, tmp_path: Path) -> Iterator[Cli]:
    cli = Cli(private_tmux, tmp_path)
    yield cli
    cli.close()


@pytest.fixture(params=["pipes", "cc"])
def transport(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    return name
