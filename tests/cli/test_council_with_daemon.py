"""`streamrelay council` as a client of the daemon: several terminals in one session, which outlives each of them."""

import json
import os
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from streamrelay.control import Tmux
from streamrelay.daemon.address import address_of
from streamrelay.daemon.instance import running_pid
from streamrelay.testing.tmux import PrivateTmux, is_alive
from streamrelay.testing.waiting import wait_until
from tests.cli.conftest import COMMAND, PATIENCE

SLOW = " ".join(f"word{number}" for number in range(40))
COUNCIL = f'[[member]]\nname = "Ada"\nvendor = "scripted"\nscript = ["{SLOW}"]\n'


class Terminal:
    """A `council --json` whose standard input stays open."""

    def __init__(self, folder: Path, environment: dict[str, str], *arguments: str) -> None:
        self._out = folder / f"out{len(list(folder.glob('out*')))}"
        self._err = self._out.with_suffix(".err")
        with self._out.open("wb") as out, self._err.open("wb") as err:
            self.process = subprocess.Popen(
                [COMMAND, "council", *arguments, "--json"],
                stdin=subprocess.PIPE, stdout=out, stderr=err, env=environment, cwd=folder,
            )  # fmt: skip

    def types(self, text: str) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(f"{text}\n".encode())
        self.process.stdin.flush()

    def leaves(self) -> int:
        assert self.process.stdin is not None
        self.process.stdin.close()
        return self.process.wait(PATIENCE)

    @property
    def errors(self) -> str:
        return self._err.read_text()

    @property
    def events(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self._out.read_text().splitlines(keepends=True) if line.endswith("\n")]

    def until(self, kind: str, *, count: int = 1) -> None:
        wait_until(
            lambda: sum(each["happening"] == kind for each in self.events) >= count,
            PATIENCE,
            f"{count} {kind}; {self.errors}",
        )

    @property
    def grown(self) -> str:
        return "".join(each["piece"] for each in self.events if each["happening"] == "answergrew")


@pytest.fixture
def environment(private_tmux: PrivateTmux, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, str]]:
    private_tmux.new_session("keeper", ["sleep", "1000"])
    monkeypatch.delenv("TMUX", raising=False)
    for name in ("runtime_dir", "state_home", "config_home"):
        folder = private_tmux.directory / name
        folder.mkdir(mode=0o700)
        monkeypatch.setenv(f"XDG_{name.upper()}", str(folder))
    (tmp_path / "c.toml").write_text(COUNCIL)
    address = address_of(Tmux(socket_path=private_tmux.socket_path))
    subprocess.run(
        [COMMAND, "daemon", "start", "-S", private_tmux.socket_path], check=True, capture_output=True, timeout=PATIENCE
    )
    yield dict(os.environ)
    if (pid := running_pid(address)) is not None:
        os.kill(pid, signal.SIGKILL)
        wait_until(lambda: not is_alive(pid), PATIENCE)


@pytest.mark.requirement("COU-12a", "OPS-02f")
def test_two_terminals_are_in_one_session_and_the_second_one_leaves_it_open(
    private_tmux: PrivateTmux, environment: dict[str, str], tmp_path: Path
) -> None:
    server = ["-S", private_tmux.socket_path]
    first = Terminal(tmp_path, environment, "--config", "c.toml", *server)
    first.types("Hello")
    first.until("answerended")
    second = Terminal(tmp_path, environment, "--resume", "last", *server)
    second.until("messageshown", count=2)
    second.types("Me too")
    first.until("answerended", count=2)
    assert second.leaves() == 0
    assert second.grown == SLOW
    assert first.grown == SLOW + SLOW
    first.types("Still there?")
    first.until("answerended", count=3)
    assert first.leaves() == 0, first.errors
    assert first.events[-1]["happening"] == "sessionended"
    resumed = subprocess.run(
        [COMMAND, "council", "--resume", "last", "--plain", *server],
        input="/cost\n", capture_output=True, text=True, check=False, timeout=PATIENCE, env=environment,
    )  # fmt: skip
    assert resumed.stdout.count("You │ ") == 3
    assert "Ada: 3 answers" in resumed.stderr


@pytest.mark.requirement("COU-11", "COU-12a")
def test_a_killed_daemon_ends_the_terminal_with_an_error_and_loses_nothing_that_was_shown(
    private_tmux: PrivateTmux, environment: dict[str, str], tmp_path: Path
) -> None:
    server = ["-S", private_tmux.socket_path]
    terminal = Terminal(tmp_path, environment, "--config", "c.toml", *server)
    terminal.types("Hello")
    terminal.until("answergrew", count=3)
    pid = running_pid(address_of(Tmux(socket_path=private_tmux.socket_path)))
    assert pid is not None
    os.kill(pid, signal.SIGKILL)
    assert terminal.leaves() == 42
    assert "went away" in terminal.errors
    assert "--resume council-" in terminal.errors
    exported = subprocess.run(
        [COMMAND, "council", "export", "last", "--json"],
        capture_output=True, text=True, check=True, timeout=PATIENCE, env=environment,
    )  # fmt: skip
    said, answer = json.loads(exported.stdout)["messages"]
    assert said["text"] == "Hello"
    assert answer["text"].startswith(terminal.grown)


@pytest.mark.requirement("COU-06", "COU-12a")
def test_the_app_shows_a_session_of_the_daemon_and_ends_it(
    private_tmux: PrivateTmux, environment: dict[str, str], tmp_path: Path
) -> None:
    # The second answer is under way for twenty seconds, so that a busy machine sees it, and ends the session, in time.
    endless = " ".join(f"more{number}" for number in range(1000))
    (tmp_path / "c.toml").write_text(COUNCIL.replace(f'["{SLOW}"]', f'["{SLOW}", "{endless}"]'))
    folders = {name: environment[name] for name in ("XDG_RUNTIME_DIR", "XDG_STATE_HOME", "XDG_CONFIG_HOME")}
    server = ["-S", private_tmux.socket_path]
    command = f"{COMMAND} council --config c.toml -S {private_tmux.socket_path}; echo left: $?; exec cat"
    pane = private_tmux.new_session("app", ["sh", "-c", f"cd {tmp_path}; {command}"], environment=folders)

    def shows(text: str) -> None:
        wait_until(lambda: text in private_tmux.run("capture-pane", "-p", "-J", "-t", pane), PATIENCE, text)

    shows("Phase: Plan")
    private_tmux.run("send-keys", "-t", pane, "Hello", "Enter")
    shows("word39")
    other = Terminal(tmp_path, environment, "--resume", "last", *server)
    other.until("messageshown")
    other.types("And from here?")
    shows("And from here?")
    shows("Generating... Ada")
    private_tmux.run("send-keys", "-t", pane, "/bye", "Enter")
    other.until("sessionended")
    shows("left: 0")
    assert other.leaves() == 1, other.errors  # the answer to its message was broken off
