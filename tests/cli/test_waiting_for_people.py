"""What a person is told where a dialog stands in a session: by `start`, `ls`, `status` and `send`, beside a daemon."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator

import pytest
from streamrelay_cli.attention import reachable
from streamrelay_cli.main import app
from typer.testing import CliRunner

from streamrelay.control import Tmux
from streamrelay.daemon.address import address_of
from streamrelay.daemon.instance import running_pid
from streamrelay.errors import CancelTooLate, DeliveryTimeout
from streamrelay.testing.agent import PROFILE, read_got
from streamrelay.testing.tmux import PrivateTmux, is_alive
from streamrelay.testing.waiting import wait_until
from tests.cli.conftest import COMMAND, PATIENCE

pytestmark = pytest.mark.tmux

START = f"""
[start]
command = ["{sys.executable}", "-m", "streamrelay.testing.agent", "--works", "0.1", "--log"]
"""


class Household:
    """A tmux server, and a daemon for it that lives as long as this module's tests."""

    def __init__(self, tmux: PrivateTmux) -> None:
        self.tmux = tmux
        self.folder = tmux.directory
        self.address = address_of(Tmux(socket_path=tmux.socket_path))

    def run(self, *words: str) -> tuple[int, str, str]:
        """Run a command in this process: its exit code, standard output and standard error."""
        command = 2 if words[0] == "delivery" else 1
        done = CliRunner().invoke(app, [*words[:command], "-S", self.tmux.socket_path, *words[command:]])
        assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
        return done.exit_code, done.stdout, done.stderr

    def open(self, *words: str) -> subprocess.Popen[str]:
        """Run a command as a process of its own, which can be interrupted."""
        return subprocess.Popen(
            [COMMAND, words[0], "-S", self.tmux.socket_path, *words[1:]],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip

    def agent(self, name: str, *options: str) -> list[str]:
        """Return the words that start a scripted agent."""
        return ["start", "--title", name, "sprite", "--", str(self.folder / name), *options]

    def start(self, name: str, *options: str) -> str:
        code, out, error = self.run(*self.agent(name, *options))
        assert code == 0, error
        return out.strip()

    def got(self, name: str) -> list[str]:
        return [got.text for got in read_got(self.folder / name) if got.kind in {"message", "key"}]

    def answer(self, name: str) -> None:
        """Answer the dialog as a person does."""
        pid = int(self.tmux.run("display-message", "-p", "-t", f"={name}:", "#{pane_pid}"))
        os.kill(pid, signal.SIGUSR2)


@pytest.fixture(scope="module")
def household() -> Iterator[Household]:
    with PrivateTmux() as tmux, pytest.MonkeyPatch.context() as patch:
        for variable, name in {"XDG_RUNTIME_DIR": "r", "XDG_STATE_HOME": "s", "XDG_CONFIG_HOME": "c"}.items():
            (tmux.directory / name).mkdir(mode=0o700)
            patch.setenv(variable, str(tmux.directory / name))
        patch.delenv("TMUX", raising=False)
        profiles = tmux.directory / "c" / "streamrelay" / "agents.d"
        profiles.mkdir(parents=True)
        (profiles / "sprite.toml").write_text(PROFILE + START)
        tmux.new_session("keeper", ["cat"])
        household = Household(tmux)
        code = CliRunner().invoke(app, ["daemon", "start", "-S", tmux.socket_path]).exit_code
        assert code == 0
        yield household
        pid = running_pid(household.address)
        if pid:
            os.kill(pid, signal.SIGKILL)
            wait_until(lambda: not is_alive(pid), PATIENCE)


@pytest.fixture(autouse=True)
def own_configuration(household: Household, monkeypatch: pytest.MonkeyPatch) -> None:
    """Undo what every other test gets: this module's profiles are its own."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(household.folder / "c"))


@pytest.mark.requirement("AGT-05")
def test_a_dialog_at_the_start_is_told_with_what_to_do(household: Household) -> None:
    code, out, error = household.run(*household.agent("Ann", "--dialog", "--asks", "trust"))
    (session,) = out.splitlines()
    assert (code, session[:2]) == (0, "s-")
    attach = f"tmux -S {household.tmux.socket_path} attach-session -t =Ann"
    advice = [
        f"Ann ({session}) waits for a person (trust): Do you trust the files in this folder?",
        f"  say there whether it may trust the folder; it asks once for each: {attach}",
    ]
    assert error.splitlines() == advice

    code, out, error = household.run("ls")
    assert [line for line in out.splitlines() if session in line and "needs_human (trust)" in line]
    assert error.splitlines() == advice
    (known,) = [row["known"] for row in map(json.loads, household.run("ls", "--json")[1].splitlines())
                if row.get("known", {}).get("session") == session]  # fmt: skip
    assert (known["need"], known["attach"]) == ("trust", attach)
    assert known["question"] == "Do you trust the files in this folder?"
    assert household.run("status")[1].splitlines()[-2:] == advice
    (shown,) = json.loads(household.run("status", "--json")[1])["needs_human"]
    assert shown["session"] == session
    assert household.got("Ann") == []


@pytest.mark.requirement("DLV-09b", "DLV-09c", "DLV-09a")
def test_a_message_that_a_dialog_holds_is_explained_and_stays_queued_until_it_is_cancelled(
    household: Household,
) -> None:
    session = household.start("Bob", "--dialog", "--asks", "login")
    here = f" -S {household.tmux.socket_path}"
    why = f"Bob ({session}) waits for a person (login): Select login method:"

    code, out, error = household.run("send", "--id", "m1", "Bob", "hello")
    assert (code, out) == (0, ""), error
    attach = f"tmux -S {household.tmux.socket_path} attach-session -t =Bob"
    assert error.splitlines() == [
        "m1: queued",
        "m1: queued (needs_human)",
        why,
        f"  log in there, or start it again with its key in the environment: {attach}",
        f"m1 stays queued until then; cancel it with: streamrelay delivery cancel m1{here}",
        f"list waiting messages with: streamrelay delivery list{here}",
    ]

    code, out, error = household.run("send", "--id", "m2", "--wait", "--timeout", "1", "Bob", "hello")
    assert (code, out) == (DeliveryTimeout.exit_code, "")
    assert why in error
    assert error.splitlines()[-2:] == [
        "error: message m2 is still queued after 1 s (needs_human)",
        f"hint: cancel it with: streamrelay delivery cancel m2{here}",
    ]

    with household.open("send", "--id", "m3", "--wait", "Bob", "hello") as sending:
        assert sending.stderr is not None
        told: list[str] = []
        while not told or "delivery list" not in told[-1]:
            told.append(sending.stderr.readline().rstrip("\n"))
            assert told[-1], told
        assert why in told
        sending.send_signal(signal.SIGINT)
        assert sending.stderr.read() == (
            f"message m3 is still queued; cancel it with: streamrelay delivery cancel m3{here}\n"
        )
        assert sending.wait(PATIENCE) == 130

    code, out, error = household.run("delivery", "list", "Bob")
    assert [line.split()[0] for line in out.splitlines()] == ["ID", "m1", "m2", "m3"]
    assert why in error
    assert "3 messages wait: streamrelay delivery list" in household.run("status")[1]
    code, out, _ = household.run("delivery", "cancel", "m2", "m3")
    assert (code, out.count("failed (cancelled)")) == (0, 2)
    household.answer("Bob")
    wait_until(lambda: household.got("Bob") == ["hello"], PATIENCE, "the message that was left")
    code, _, error = household.run("delivery", "cancel", "m1")
    assert (code, "cannot cancel m1" in error) == (CancelTooLate.exit_code, True)
    assert household.run("send", "Bob", "and?")[0] == 0
    wait_until(lambda: household.got("Bob") == ["hello", "and?"], PATIENCE, "nothing else to be typed")


def test_inside_the_same_tmux_server_the_client_is_switched() -> None:
    advice = "choose there: tmux -S /tmp/a/default attach-session -t =Ann"
    assert reachable(advice, {"TMUX": "/tmp/a/default,12,0"}) == "choose there: tmux switch-client -t =Ann"
    assert reachable(advice, {"TMUX": "/tmp/a/other,12,0"}) == reachable(advice, {}) == advice
