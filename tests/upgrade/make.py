"""Write the state of an earlier version into tests/upgrade/states: `python -m tests.upgrade.make COMMIT NAME`.

The version is checked out into a folder of its own and its daemon runs on a private tmux server, with its own scripted
agents. By HTTP, which has not changed in this, they get messages, a link, a relay, and, where the version has them, a
gathering and a council. One message waits when the daemon is ended by `--signal`.
"""

import argparse
import contextlib
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import httpx

from streamrelay.control import Tmux
from streamrelay.daemon.address import address_of
from streamrelay.testing.tmux import PrivateTmux
from streamrelay.testing.waiting import wait_until
from tests.upgrade import stored

ROOT = Path(__file__).parents[2]
STATES = Path(__file__).parent / "states"
AGENTS = ("Ann", "Bob", "Cid", "Dan", "Eve", "Fay", "Gus", "Hal")
"""Ann is linked with Bob, Cid is in a relay with Dan; Eve, Fay and Hal gather; Gus works for so long that a message
waits."""
PATIENCE = 60.0
_PROFILE = re.compile(r'^PROFILE = """\n(.*?)^"""', re.DOTALL | re.MULTILINE)
"""The scripted agent's profile, where a version has it."""


@contextlib.contextmanager
def checked_out(commit: str) -> Iterator[Path]:
    """Check a commit out into a folder of its own, with what tells Python its version."""
    with tempfile.TemporaryDirectory(prefix="streamrelay-old-") as folder:
        tree = Path(folder) / "tree"
        git = ["git", "-C", str(ROOT), "worktree"]
        subprocess.run([*git, "add", "--quiet", "--detach", str(tree), commit], check=True)
        for name in ("streamrelay", "tmux_streamrelay"):
            facts = tree / f"{name}-0.1.0.dist-info"
            facts.mkdir()
            (facts / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name.replace('_', '-')}\nVersion: 0.1.0\n")
        try:
            yield tree
        finally:
            subprocess.run([*git, "remove", "--force", str(tree)], check=True)


class Old:
    """An earlier version at work."""

    def __init__(self, tree: Path, tmux: PrivateTmux) -> None:
        self.tmux = tmux
        self.folder = tmux.directory
        self.variables = {
            f"XDG_{name.upper()}": str(self.folder / name) for name in ("runtime_dir", "state_home", "config_home")
        } | {"PYTHONPATH": f"{tree}:{tree / 'cli'}"}
        for name in ("runtime_dir", "state_home", "config_home/streamrelay/agents.d", "agents"):
            (self.folder / name).mkdir(mode=0o700, parents=True)
        sources = [tree / "streamrelay/testing/agent.py", tree / "tests/cli/test_daemon_commands.py"]
        profiles = [_PROFILE.search(path.read_text(encoding="utf-8")) for path in sources if path.exists()]
        (profile,) = list(filter(None, profiles))[:1]
        self.profile = profile[1]
        (self.folder / "config_home/streamrelay/agents.d/sprite.toml").write_text(self.profile)
        self.panes: dict[str, str] = {}

    def begin(self) -> "subprocess.Popen[bytes]":
        """Start the agents and the daemon."""
        self.tmux.new_session("keeper", ["sleep", "1000"])
        for name, value in self.variables.items():
            self.tmux.run("set-environment", "-g", name, value)
        for name in AGENTS:
            words = [sys.executable, "-m", "streamrelay.testing.agent", "--log", str(self.folder / "agents" / name)]
            words += ["--works", "900" if name == "Gus" else "0.3"]
            words = ["env", "-C", str(self.folder), f"PYTHONPATH={self.variables['PYTHONPATH']}", *words]
            self.panes[name] = self.tmux.new_session(name, words, columns=100, lines=40)
        for name in AGENTS:
            wait_until((self.folder / "agents" / name).exists, PATIENCE)
        with (self.folder / "errors").open("wb") as errors:
            return subprocess.Popen(
                [sys.executable, "-m", "streamrelay_cli", "daemon", "-S", self.tmux.socket_path],
                env={**os.environ, **self.variables}, cwd=self.folder, stderr=errors, stdout=errors,
            )  # fmt: skip


class Calls:
    """The calls of a daemon over HTTP."""

    def __init__(self, client: httpx.Client) -> None:
        self._client = client

    def get(self, path: str, **query: Any) -> Any:
        return self._client.get(f"/v1/{path}", params=query).raise_for_status().json()

    def post(self, path: str, **body: Any) -> Any:
        response = self._client.post(f"/v1/{path}", json=body)
        assert response.is_success, response.text
        return response.json() if response.content else None

    def knows(self, path: str) -> bool:
        """Tell whether this version has such a call."""
        return f"/v1/{path}" in self._client.get("/openapi.json").json()["paths"]

    def events(self, kind: str) -> Sequence[Mapping[str, Any]]:
        """Return the journal's events of a kind."""
        found: list[Mapping[str, Any]] = []
        place = 0
        while page := self.get("journal", seq=place):
            place = page[-1]["seq"]
            found += [event for event in page if event["event"] == kind]
        return found

    def said(self, pane: str) -> int:
        """Return how many answers of a pane are journaled."""
        return sum(event["pane"] == pane and "answer" in str(event.get("text")) for event in self.events("text"))


def live(calls: Calls, panes: Mapping[str, str]) -> None:
    """Let the agents talk until each kind of state exists."""
    calls.post("messages", to=panes["Ann"], text="hello Ann, tell me of the harbour")
    calls.post("watch", session=panes["Ann"])
    wait_until(lambda: calls.said(panes["Ann"]), PATIENCE)
    link = calls.post("links", a=panes["Ann"], b=panes["Bob"])
    calls.post("messages", to=panes["Ann"], text="say hello to Bob")
    wait_until(lambda: calls.said(panes["Ann"]) >= 2 and calls.said(panes["Bob"]) >= 1, PATIENCE)
    calls.post("pause", paused=True, of=link["relay"]["relay"])
    relay = calls.post("relays", participants=[{"session": panes["Cid"]}, {"session": panes["Dan"]}])
    calls.post("messages", to=panes["Cid"], text="greet the round")
    wait_until(lambda: calls.said(panes["Cid"]) >= 1 and calls.said(panes["Dan"]) >= 1, PATIENCE)
    calls.post("pause", paused=True, of=relay["relay"])
    if calls.knows("gatherings"):
        invited = [
            {"name": name, "number": number, "session": panes[name], "role": role}
            for number, (name, role) in enumerate([("Eve", "speaker"), ("Fay", "speaker"), ("Hal", "harvester")], 1)
        ]
        gathering = calls.post("gatherings", participants=invited, structure="minimal", opening_question="What now?")
        wait_until(lambda: calls.said(panes["Eve"]) >= 1, PATIENCE)
        calls.post(f"gatherings/{gathering['gathering']}/pause", paused=True)
    if calls.knows("councils"):
        member = {"name": "Ada", "vendor": "scripted", "model": "scripted", "script": ["I say yes."]}
        council = calls.post("councils", config={"member": [member]})["council"]
        calls.post(f"councils/{council}/enter", text="What do you say?")
        wait_until(lambda: len(calls.get(f"councils/{council}/transcript")["entries"]) >= 2, PATIENCE)
    calls.post("messages", to=panes["Gus"], text="work for long", message_id="long-work")
    wait_until(
        lambda: any(
            got["message_id"] == "long-work" and got["state"] == "submitted" for got in calls.events("receipt")
        ),
        PATIENCE,
    )
    calls.post("messages", to=panes["Gus"], text="this one waits over the upgrade", message_id="waits")


def main() -> int:
    """Make the state of the commit that the command line names."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.upgrade.make", description=(__doc__ or "").partition("\n")[0]
    )
    parser.add_argument("commit", help="an earlier commit of this repository, whose daemon writes the state")
    parser.add_argument("name", help="name of the folder in tests/upgrade/states")
    parser.add_argument("--signal", default="SIGTERM", help="what ends the daemon (%(default)s)")
    given = parser.parse_args()
    with checked_out(given.commit) as tree, PrivateTmux() as tmux:
        old = Old(tree, tmux)
        # What a gathering tells its members of the folder's repository is not to be this one's.
        os.chdir(tmux.directory)
        os.environ.update({name: value for name, value in old.variables.items() if name.startswith("XDG")})
        address = address_of(Tmux(socket_path=tmux.socket_path))
        daemon = old.begin()
        try:
            wait_until(address.socket.exists, PATIENCE)
            transport = httpx.HTTPTransport(uds=str(address.socket))
            with httpx.Client(transport=transport, base_url="http://x", timeout=PATIENCE) as client:
                live(Calls(client), old.panes)
            daemon.send_signal(signal.Signals[given.signal])
            daemon.wait(PATIENCE)
        finally:
            daemon.kill()
            print((old.folder / "errors").read_text()[-3000:])
        pid, started = tmux.run("display-message", "-p", "#{pid} #{start_time}").split()
        places = {
            "@SOCKET@": address.tmux, "@NAME@": address.name, "@PID@": pid, "@STARTED@": started,
            "@HOST@": socket.gethostname(), "@FOLDER@": str(tmux.directory),
        }  # fmt: skip
        files = stored.stored(old.folder / "state_home" / "streamrelay", places)
    folder = STATES / given.name
    shutil.rmtree(folder, ignore_errors=True)
    made = {
        "commit": given.commit,
        "at": time.time(),
        "ended_by": given.signal,
        "panes": old.panes,
        "profile": old.profile,
    }
    written = {"made.json": json.dumps(made, indent=1) + "\n"} | {f"state/{name}": text for name, text in files.items()}
    for name, text in written.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    print(json.dumps({name: len(text) for name, text in files.items()}, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
