"""A daemon that still reads the panes of an earlier one: what it answers, what waits, and how it ends meanwhile."""

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.client import HTTPConnection
from pathlib import Path

import httpx
import pytest

from streamrelay.errors import ServerLost
from streamrelay.testing.tmux import PrivateTmux, is_alive
from streamrelay.testing.waiting import wait_until
from tests.cli.conftest import PATIENCE
from tests.cli.test_daemon_commands import Daemon


class Restoring:
    """A linked pair whose daemon was killed, and a tmux that attaches no client before `go`."""

    def __init__(self, tmux: PrivateTmux, folder: Path) -> None:
        self.daemon = Daemon(tmux, folder)
        self.killed = self.daemon.start()
        self.link = self.daemon.asks("link", "ann", "bob").strip()
        os.kill(self.killed, signal.SIGKILL)
        wait_until(lambda: not is_alive(self.killed), PATIENCE)
        self._go, self._refuses, self._tmux = folder / "go", folder / "refuses", folder / "held-tmux"
        self._tmux.write_text(
            f"#!/bin/sh\nfor word; do [ $word = -C ] && {{ while [ ! -e {self._go} ]; do sleep 0.05; done\n"
            f'[ -e {self._refuses} ] && {{ echo "lost server" >&2; exit 1; }} }}; done\nexec {tmux.binary} "$@"\n'
        )
        self._tmux.chmod(0o700)
        self._starting: subprocess.Popen[str] | None = None

    def start(self) -> None:
        """Begin to start a daemon; return when it answers calls that need no pane."""
        command = Path(sys.executable).with_name("streamrelay")
        words = [command, "daemon", "start", "-S", self.daemon.address.tmux, "--tmux", self._tmux]
        self._starting = subprocess.Popen(words, stderr=subprocess.PIPE, text=True)
        wait_until(lambda: self.daemon.log.count('"starting"') == 2, PATIENCE, "the daemon to listen")
        wait_until(lambda: self.health()["status"] == "restoring", PATIENCE, "the daemon to answer")

    def started(self) -> tuple[int, str]:
        """Return how `daemon start` has ended, and what it said."""
        assert self._starting is not None
        _, said = self._starting.communicate(timeout=PATIENCE)
        return self._starting.returncode, said

    def is_waiting(self) -> bool:
        return self._starting is not None and self._starting.poll() is None

    def go(self) -> None:
        """Let tmux attach clients from now on."""
        self._go.touch()

    def fail(self) -> None:
        """Let tmux refuse clients from now on."""
        self._refuses.touch()
        self._go.touch()

    def get(self, path: str) -> httpx.Response:
        transport = httpx.HTTPTransport(uds=str(self.daemon.address.socket))
        with httpx.Client(transport=transport, base_url="http://localhost", timeout=PATIENCE) as client:
            return client.get(path)

    def health(self) -> dict[str, object]:
        answer: dict[str, object] = self.get("/health").json()
        return answer

    def links(self) -> list[str]:
        return [link["link"] for link in self.daemon.status()["open_links"]]

    def close(self) -> None:
        self.go()
        if self._starting is not None:
            self._starting.kill()
            self._starting.wait()
            assert self._starting.stderr is not None
            self._starting.stderr.close()
        self.daemon.close()


@pytest.fixture
def restoring(daemon_folders: Path, private_tmux: PrivateTmux) -> Iterator[Restoring]:
    one = Restoring(private_tmux, daemon_folders)
    yield one
    one.close()


class Asked(threading.Thread):
    """A request that was sent, and is answered when it is."""

    def __init__(self, restoring: Restoring, method: str, path: str, **fields: object) -> None:
        super().__init__(daemon=True)
        self.answer: tuple[int, bytes] | None = None
        self._connection = HTTPConnection("localhost")
        self._connection.sock = socket.socket(socket.AF_UNIX)
        self._connection.sock.connect(str(restoring.daemon.address.socket))
        self._connection.request(method, path, json.dumps(fields) if fields else None)
        self.start()

    def run(self) -> None:
        with contextlib.closing(self._connection):
            response = self._connection.getresponse()
            self.answer = response.status, response.read()


@pytest.mark.requirement("REL-07", "OPS-03")
def test_calls_that_need_no_pane_are_answered_and_others_wait(restoring: Restoring) -> None:
    restoring.start()
    sent = Asked(restoring, "POST", "/v1/messages", to="ann", text="one", message_id="one")
    dialogs = Asked(restoring, "GET", "/v1/dialogs")
    assert restoring.health() == {"status": "restoring", "panes": 2, "read": 0}
    assert restoring.get("/v1/status").json()["restoring"] == 2
    assert "2 panes still to be read again" in restoring.daemon.asks("status")
    assert restoring.links() == [restoring.link]
    assert {one["title"] for one in restoring.get("/v1/sessions").json()} >= {"ann", "bob"}
    for path in ("journal?seq=0", "latest", "history?words=x", "relays", "gatherings", "councils", "messages", "peers"):
        assert restoring.get(f"/v1/{path}").status_code == httpx.codes.OK, path
    assert restoring.get("/metrics").status_code == httpx.codes.OK
    assert restoring.is_waiting()
    assert (sent.answer, dialogs.answer) == (None, None)
    restoring.go()
    code, said = restoring.started()
    assert code == 0
    assert "the daemon answers and reads 2 panes again; see it with: streamrelay status\n" in said
    for asked in (sent, dialogs):
        asked.join(PATIENCE)
        assert asked.answer is not None
        assert asked.answer[0] == httpx.codes.OK
    restoring.daemon.until_got("ann", "one")
    restoring.daemon.until_got("bob", "[From ann]")
    assert restoring.get("/v1/status").json()["restoring"] == 0
    assert restoring.health()["status"] == "ok"


@pytest.mark.requirement("REL-07")
def test_a_follower_reads_what_the_restart_brings(restoring: Restoring, private_tmux: PrivateTmux) -> None:
    seen: list[str] = []
    private_tmux.run("kill-pane", "-t", restoring.daemon.panes["ann"])
    restoring.start()

    def follow() -> None:
        transport = httpx.HTTPTransport(uds=str(restoring.daemon.address.socket))
        with (
            httpx.Client(transport=transport, base_url="http://localhost", timeout=PATIENCE) as client,
            client.stream("GET", "/v1/events") as stream,
        ):
            seen.append("follows")
            for line in stream.iter_lines():
                seen.append(line)
                if "link_closed" in line:
                    return

    following = threading.Thread(target=follow, daemon=True)
    following.start()
    wait_until(lambda: seen, PATIENCE, "the stream to begin")
    assert restoring.links() == [restoring.link], "as it was left"
    restoring.go()
    assert restoring.started()[0] == 0
    following.join(PATIENCE)
    assert any("link_closed" in line and restoring.link in line for line in seen)
    assert restoring.links() == []


@pytest.mark.requirement("REL-07", "OPS-03")
def test_one_that_is_stopped_meanwhile_leaves_all_to_the_next(restoring: Restoring) -> None:
    restoring.start()
    pid = restoring.daemon.pid
    restoring.daemon.asks("daemon", "stop")
    wait_until(lambda: not is_alive(pid), PATIENCE)
    assert '"error"' not in restoring.daemon.log
    restoring.close()
    restoring.daemon.start()
    assert restoring.links() == [restoring.link]
    restoring.daemon.asks("send", "ann", "one")
    restoring.daemon.until_got("bob", "[From ann]")


@pytest.mark.requirement("REL-07", "OPS-03")
def test_one_that_cannot_read_them_says_why_and_ends(restoring: Restoring) -> None:
    restoring.start()
    pid = restoring.daemon.pid
    sent = Asked(restoring, "POST", "/v1/messages", to="ann", text="one")
    restoring.fail()
    code, said = restoring.started()
    # A line in front of these says that panes are still to be read, unless the daemon has failed before it is asked.
    assert (code, [line.partition(" ")[0] for line in said.splitlines()[-2:]]) == (
        ServerLost.exit_code,
        ["error:", "hint:"],
    ), said
    wait_until(lambda: not is_alive(pid), PATIENCE)
    sent.join(PATIENCE)
    assert sent.answer is not None
    assert json.loads(sent.answer[1])["code"] == ServerLost.code
