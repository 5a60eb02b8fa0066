"""The daemon as a person runs it: real processes, a real tmux, real HTTP."""

import asyncio
import json
import os
import re
import shutil
import signal
import stat
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import httpx
import pytest
from streamrelay_cli.main import app
from typer.testing import CliRunner

from streamrelay.control import ServerInfo, Tmux, Version
from streamrelay.daemon.address import address_of
from streamrelay.daemon.instance import only_daemon, running_pid
from streamrelay.errors import ConfigError, DaemonMissing, NoServer, ShellRefused
from streamrelay.events import Text
from streamrelay.history import Journal
from streamrelay.panes.injections import InjectionLog, files_of
from streamrelay.panes.runtime_folder import make_runtime_folder
from streamrelay.testing.agent import PROFILE, read_got
from streamrelay.testing.tmux import PrivateTmux, is_alive
from streamrelay.testing.waiting import wait_until
from tests.cli.conftest import PATIENCE

SECRET = "swordfish-4711"  # noqa: S105  # what nobody may find in a log


class Daemon:
    """A tmux server with two scripted agents, and whatever daemon is started for it."""

    def __init__(self, tmux: PrivateTmux, folder: Path) -> None:
        self.address = address_of(Tmux(socket_path=tmux.socket_path))
        self._logs = {name: folder / f"{name}.got" for name in ("ann", "bob")}
        self.panes = {}
        for name, log in self._logs.items():
            words = [sys.executable, "-m", "streamrelay.testing.agent", "--log", str(log), "--works", "0.1"]
            words += ["--answer", f"{name} knows {SECRET}"]
            self.panes[name] = tmux.new_session(name, words, columns=100, lines=30)
        for name in self._logs:
            wait_until(lambda: any(got.kind == "ready" for got in read_got(self._logs[name])), PATIENCE)  # noqa: B023

    def got(self, name: str) -> list[str]:
        return [got.text for got in read_got(self._logs[name]) if got.kind == "message"]

    def until_got(self, name: str, *words: str) -> None:
        wait_until(lambda: all(any(w in text for text in self.got(name)) for w in words), PATIENCE, f"{name}: {words}")

    def asks(self, *arguments: str, code: int = 0) -> str:
        """Run a command on that server, here; return what it printed, or why it failed."""
        done = CliRunner().invoke(app, [*arguments, "-S", self.address.tmux])
        assert done.exit_code == code, (done.stdout, done.stderr, done.exception)
        return done.stdout if code == 0 else done.stderr

    def noted(self, *arguments: str) -> tuple[str, str]:
        """Run a command that succeeds; return the id that it printed, and its note for people."""
        done = CliRunner().invoke(app, [*arguments, "-S", self.address.tmux])
        assert done.exit_code == 0, (done.stdout, done.stderr, done.exception)
        return done.stdout.strip(), done.stderr

    def shown(self, *arguments: str) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.asks(*arguments, "--json").splitlines()]

    def status(self) -> dict[str, Any]:
        return self.shown("status")[0]

    def start(self, *options: str) -> int:
        self.asks("daemon", "start", *options)
        return self.pid

    @property
    def pid(self) -> int:
        pid = running_pid(self.address)
        assert pid
        return pid

    @property
    def log(self) -> str:
        return self.address.log.read_text()

    def close(self) -> None:
        pid = running_pid(self.address)
        if pid:
            os.kill(pid, signal.SIGKILL)
            wait_until(lambda: not is_alive(pid), PATIENCE)


@pytest.fixture
def daemon(daemon_folders: Path, private_tmux: PrivateTmux) -> Iterator[Daemon]:
    one = Daemon(private_tmux, daemon_folders)
    yield one
    one.close()


@pytest.mark.requirement("OPS-02b")
def test_one_that_ends_is_waited_for_and_not_taken_for_one_that_runs(daemon: Daemon) -> None:
    ending = ExitStack()
    # So it is for a moment when one was killed: nobody listens any more, and the lock is not free yet.
    ending.enter_context(only_daemon(daemon.address))
    release = threading.Timer(0.5, ending.close)
    release.start()
    assert daemon.start() != os.getpid()
    assert daemon.status()["pid"] == daemon.pid
    release.join()


@pytest.mark.requirement("OPS-02b", "OPS-03", "REL-10c", "DLV-01b", "HIS-01")
def test_what_is_asked_of_the_daemon_is_done_by_it(daemon: Daemon) -> None:
    assert "streamrelay daemon start" in daemon.asks("status", code=40)
    assert "no daemon runs" in daemon.asks("pause", code=40)
    pid = daemon.start("--log-level", "debug")
    assert daemon.start() == pid, "one that runs is left as it is"
    assert (daemon.status()["pid"], daemon.status()["sessions"]) == (pid, 2)
    assert stat.S_IMODE(daemon.address.socket.stat().st_mode) == 0o600
    assert stat.S_IMODE(daemon.address.socket.parent.stat().st_mode) == 0o700
    assert f"process {pid}" in daemon.asks("daemon", code=41)

    answer = daemon.asks("send", "ann", f"say {SECRET}", "--wait", "--id", "one")
    assert answer.strip()
    assert daemon.got("ann") == [f"say {SECRET}"]
    assert daemon.asks("send", "ann", f"say {SECRET}", "--id", "one") == ""
    other = daemon.asks("send", "ann", "another text", "--id", "one", code=2)
    assert other.startswith("error: the message id one was used for another text; nothing was sent\nhint: choose")
    with httpx.Client(transport=httpx.HTTPTransport(uds=str(daemon.address.socket)), base_url="http://x") as client:
        posted = client.post("/v1/messages", json={"to": "ann", "text": "another text", "message_id": "one"})
    assert (posted.status_code, posted.json()["code"]) == (400, "usage")
    assert daemon.got("ann") == [f"say {SECRET}"]
    recording = daemon.address.state / "a.jsonl"
    refused = daemon.asks("record", "ann", str(recording), "--say", "hello", code=26)
    assert refused.startswith(f"error: the daemon (pid {pid}) writes into pane {daemon.panes['ann']} already\n")
    assert not recording.exists()
    refused = daemon.asks("send", "--no-daemon", "ann", "past it", code=26)
    assert "hint: let the daemon type it, without --no-daemon; or stop the daemon first: " in refused
    assert [one["state"] for one in daemon.shown("delivery", "show", "one")] == ["answered"]
    assert "no message has the id 'two'" in daemon.asks("delivery", "show", "two", code=20)
    found = daemon.shown("history", "search", "--agent", "all", SECRET)
    assert {one["origin"] for one in found} >= {"injected"}
    assert daemon.shown("history", "search", "--agent", "nobody", SECRET) == []
    assert daemon.shown("history", "search", "--session", "bob", SECRET) == []
    assert daemon.shown("history", "search", "--since", "1h", SECRET) == found
    assert daemon.shown("history", "search", "--since", "2999-01-01", SECRET) == []
    assert "invalid time" in daemon.asks("history", "search", "--since", "soon", SECRET, code=2)
    assert {one["known"]["session"]: one["address"] for one in daemon.shown("ls")} == {
        daemon.panes["ann"]: "ann:0.0", daemon.panes["bob"]: "bob:0.0",
    }  # fmt: skip

    link = daemon.asks("link", "ann", "bob", "--budget", "4").strip()
    assert [one["link"] for one in daemon.status()["open_links"]] == [link]
    daemon.asks("pause")
    assert daemon.status()["paused"]
    daemon.asks("send", "ann", "while paused", "--wait")
    assert daemon.got("bob") == []
    daemon.asks("pause", "--resume")
    daemon.until_got("bob", "[From ann]")
    daemon.asks("mute", "ann")
    daemon.asks("mute", "ann", "--off")
    assert daemon.shown("extend", link, "5")[0]["remaining"] > 4
    daemon.asks("stop", link)
    assert daemon.status()["open_links"] == []
    relay = daemon.asks("relay", "Ann=ann", "Bob=bob").strip()
    assert [one["relay"] for one in daemon.status()["open_relays"]] == [relay]
    daemon.asks("stop")
    assert daemon.status()["open_relays"] == []

    daemon.asks("daemon", "stop")
    wait_until(lambda: not is_alive(pid), PATIENCE)
    assert "no daemon runs" in daemon.asks("daemon", "stop", code=40)
    assert not daemon.address.socket.exists()
    assert len(daemon.shown("history", "search", "--agent", "all", SECRET)) >= len(found)
    daemon.asks("send", "ann", "without it")
    assert daemon.got("ann")[-1] == "without it"
    assert SECRET not in daemon.log
    assert [json.loads(line)["event"] for line in daemon.log.splitlines()][-2:] == ["stopping", "ended"]


@pytest.mark.requirement("LNK-01a", "OPS-02b")
def test_a_link_that_exists_says_its_state_and_refuses_other_options(daemon: Daemon) -> None:
    daemon.start()
    link, note = daemon.noted("link", "Anna=ann", "Bert=bob", "--budget", "1")
    assert note == "the daemon links Anna and Bert\n"
    assert [party["title"] for party in daemon.status()["open_links"][0]["parties"]] == ["Anna", "Bert"]
    again, note = daemon.noted("link", "Anna=ann", "Bert=bob", "--budget", "1")
    assert (again, note) == (link, "Anna and Bert are linked already: open, 1 left\n")

    daemon.asks("send", "ann", "one", "--wait")
    daemon.until_got("bob", "[From Anna] ann knows")
    wait_until(lambda: daemon.status()["open_links"][0]["state"] == "spent", PATIENCE)
    again, note = daemon.noted("link", "bob", "ann")
    opens = f"streamrelay extend {link} 8"
    assert (again, note) == (link, f"Anna and Bert are linked already: spent, 0 left; open it with: {opens}\n")
    assert daemon.asks("link", "ann", "bob", "--budget", "20", code=2) == (
        f"error: Anna and Bert are linked already ({link}: spent, 0 left): --budget is 1\n"
        f"hint: add deliveries with: streamrelay extend {link} 20\n"
    )
    assert daemon.asks("link", "Ann=ann", "bob", "--hops", "3", "--budget", "1", code=2) == (
        f"error: Anna and Bert are linked already ({link}: spent, 0 left): --hops is 1000, no side is named Ann\n"
        f"hint: end that link first: streamrelay stop {link}\n"
    )
    assert [one["state"] for one in daemon.status()["open_links"]] == ["spent"]


@pytest.mark.requirement("OPS-02b")
def test_a_link_with_names_goes_to_the_daemon_as_a_relay_does(daemon: Daemon) -> None:
    daemon.start()
    relay, note = daemon.noted("relay", "Ann=ann:0.0", "Bob=bob:0.0")
    assert note == "the daemon relays between Ann and Bob\n"
    daemon.asks("stop", relay)
    link, _ = daemon.noted("link", "Ann=ann:0.0", "Bob=bob:0.0")
    assert [one["link"] for one in daemon.status()["open_links"]] == [link]
    for command in ("link", "relay"):
        refused = daemon.asks(command, "Ann=ann", "Ann=bob", code=2)
        assert refused.startswith("error: two participants have the name Ann\n")
    assert daemon.status()["open_relays"] == []
    assert "invalid participant name" in daemon.asks("link", "(Ann)=ann", "bob", code=2)
    assert daemon.noted("pause", link)[1] == f"deliveries of {link} are paused\n"
    assert daemon.noted("pause", "--resume")[1] == "deliveries resume\n"


def test_commands_without_a_result_say_so(daemon: Daemon) -> None:
    pid = daemon.start()
    assert daemon.noted("history", "search", "zzz") == ("", "nothing found\n")
    note = f"the daemon (process {pid}) uses the new profiles and configuration\n"
    assert daemon.noted("daemon", "reload") == ("", note)
    assert "there is no link, relay or gathering nosuch" in daemon.asks("pause", "nosuch", code=20)
    assert daemon.asks("stop", "nosuch", code=20) == (
        "error: there is no link or relay nosuch\nhint: list the links and relays: streamrelay status\n"
    )


@pytest.mark.requirement("REL-10c")
def test_the_status_shows_what_is_muted(daemon: Daemon) -> None:
    daemon.start()
    pane = daemon.panes["bob"]
    daemon.asks("link", "ann", "bob")
    daemon.asks("mute", "bob")
    told = daemon.asks("status")
    assert f"bob ({pane}, muted), 8 left" in told
    assert f"muted: bob ({pane}); unmute with: streamrelay mute {pane} --off" in told
    assert daemon.status()["muted"] == [pane]
    daemon.asks("stop")
    relay = daemon.asks("relay", "Ann=ann", "Bob=bob").strip()
    assert [line for line in daemon.asks("status").splitlines() if line.startswith(relay)] == [
        f"{relay}  open  Ann ({daemon.panes['ann']}), Bob ({pane}, muted), 0 deliveries"
    ]
    daemon.asks("mute", pane, "--off")
    assert "muted" not in daemon.asks("status")
    assert daemon.status()["muted"] == []


@pytest.mark.parametrize(
    "words", [("mute", "bobb"), ("end", "bobb"), ("send", "bobb", "hello"), ("link", "ann", "bobb")]
)
def test_an_unknown_session_is_named_once_and_a_like_one_offered(daemon: Daemon, words: tuple[str, ...]) -> None:
    daemon.start()
    assert daemon.asks(*words, code=20) == (
        "error: no session or pane is called 'bobb'\n"
        "hint: did you mean bob? list the panes of this server: streamrelay ls\n"
    )


def test_an_unknown_session_is_named_once_without_a_daemon(daemon: Daemon) -> None:
    assert daemon.asks("send", "bobb", "hello", code=20) == (
        "error: can't find pane: bobb\nhint: did you mean bob? list the panes of this server: streamrelay ls\n"
    )
    assert daemon.asks("send", "zzz:0", "hello", code=20).endswith(
        "hint: list the panes of this server: streamrelay ls\n"
    )


@pytest.mark.requirement("HIS-03b")
def test_no_content_is_logged_whatever_happens(daemon: Daemon) -> None:
    daemon.start("--log-level", "info")
    link = daemon.asks("link", "ann", "bob", "--budget", "2").strip()
    daemon.asks("send", "ann", f"{SECRET} one", "--wait")
    daemon.until_got("bob", SECRET)
    wait_until(lambda: daemon.status()["open_links"][0]["state"] == "spent", PATIENCE)
    daemon.asks("send", "nowhere", f"{SECRET} two", code=20)
    daemon.asks("history", "search", SECRET)
    daemon.asks("daemon", "stop")
    events = [json.loads(line) for line in daemon.log.splitlines()]
    assert {"link_created", "link_spent", "refused"} <= {event["event"] for event in events}
    assert next(event for event in events if event["event"] == "link_created")["link"] == link
    assert SECRET not in daemon.log
    assert "[From" not in daemon.log
    assert '"ann"' not in daemon.log, "a name may tell what is worked on"


@pytest.mark.requirement("DLV-05c")
def test_a_daemon_refuses_commands_as_configured_for_clients_that_do_not_say(
    daemon: Daemon, daemon_folders: Path
) -> None:
    (daemon_folders / "config" / "streamrelay" / "config.toml").write_text('delivery.commands = "refuse"')
    daemon.start()
    with httpx.Client(transport=httpx.HTTPTransport(uds=str(daemon.address.socket)), base_url="http://x") as client:
        client.post("/v1/messages", json={"to": "ann", "text": "/clear", "message_id": "one"}).raise_for_status()
        client.post("/v1/messages", json={"to": "ann", "text": "/wanted", "commands": "send"}).raise_for_status()
        daemon.until_got("ann", "/wanted")
        [delivery] = client.get("/v1/messages/one").raise_for_status().json()
    assert (delivery["state"], delivery["reason"]) == ("failed", "command")
    assert daemon.got("ann") == ["/wanted"]


@pytest.mark.requirement("OPS-07")
def test_a_reload_returns_when_the_new_configuration_is_used_or_with_its_error(
    daemon: Daemon, daemon_folders: Path
) -> None:
    assert "no daemon runs" in daemon.asks("daemon", "reload", code=DaemonMissing.exit_code)
    pid = daemon.start()
    configuration = daemon_folders / "config" / "streamrelay" / "config.toml"
    configuration.write_text("history.most_megabytes = 7")
    note = daemon.noted("daemon", "reload")[1]
    assert note == f"the daemon (process {pid}) uses the new profiles and configuration\n"
    assert daemon.status()["journal_most_bytes"] == 7_000_000
    configuration.write_text("history.most_megabytes = -7")
    refused = daemon.asks("daemon", "reload", code=ConfigError.exit_code)
    assert refused.startswith(f"error: {configuration}:1: history.most_megabytes: Expected `float` >= 0.0\nhint: ")
    configuration.write_text("history.most_megabytes = 8")
    profile = daemon_folders / "config" / "streamrelay" / "agents.d" / "sprite.toml"
    profile.write_text("nonsense = [")
    assert str(profile) in daemon.asks("daemon", "reload", code=ConfigError.exit_code)
    assert daemon.status()["journal_most_bytes"] == 7_000_000, "all of it or nothing"
    failures = daemon.log.count("not_reloaded")
    assert failures >= 1
    os.kill(pid, signal.SIGHUP)
    wait_until(lambda: daemon.log.count("not_reloaded") > failures, PATIENCE)
    profile.write_text(PROFILE)
    daemon.asks("daemon", "reload")
    assert daemon.log.count('"reloaded"') == 2
    assert daemon.status()["journal_most_bytes"] == 8_000_000
    assert (daemon.status()["sessions"], daemon.pid) == (2, pid)


@pytest.mark.requirement("HIS-03a")
def test_the_journal_is_kept_to_its_limit_from_the_start_on_and_after_a_reload(
    daemon: Daemon, daemon_folders: Path
) -> None:
    asyncio.run(_fill_journal(daemon.address.state / "journal.db"))
    configuration = daemon_folders / "config" / "streamrelay" / "config.toml"
    configuration.write_text("history.most_megabytes = 4")
    daemon.start()
    wait_until(lambda: daemon.status()["journal_bytes"] <= 4_000_000, PATIENCE)
    configuration.write_text("history.most_megabytes = 1.5")
    daemon.asks("daemon", "reload")
    wait_until(lambda: daemon.status()["journal_bytes"] <= 1_500_000, PATIENCE)
    assert daemon.status()["journal_most_bytes"] == 1_500_000
    told = daemon.asks("status")
    assert re.search(r"^journal: [01]\.\d MB of 1\.5 MB$", told, re.MULTILINE), told
    with httpx.Client(transport=httpx.HTTPTransport(uds=str(daemon.address.socket))) as client:
        figures = client.get("http://localhost/metrics").text
    assert 0 < float(re.findall(r"^streamrelay_journal_bytes (\S+)$", figures, re.MULTILINE)[0]) <= 1_500_000


async def _fill_journal(file: Path) -> None:
    async with Journal(file) as journal:
        for turn in range(60):
            await journal.append([Text(text=f"{turn} " + "x" * 50_000, origin="program", turn=turn)])
        assert await journal.size() > 5_000_000


def test_a_link_without_notices_is_the_daemons_too(daemon: Daemon) -> None:
    daemon.start()
    link = daemon.asks("link", "ann", "bob", "--budget", "1", "--no-notices").strip()
    assert [one["link"] for one in daemon.status()["open_links"]] == [link]
    assert "--notices is false" in daemon.asks("link", "ann", "bob", "--budget", "1", "--notices", code=2)
    daemon.asks("send", "ann", "hello", "--wait")
    daemon.until_got("bob", "[From ann]")
    wait_until(lambda: daemon.status()["open_links"][0]["state"] == "spent", PATIENCE)
    # What the daemon typed after the notice would have been is there: so a notice would be, too.
    daemon.asks("send", "bob", "after it", "--wait")
    assert not [text for text in daemon.got("bob") if text.startswith("[streamrelay]")]


def test_a_link_with_a_shell_is_the_daemons_too(daemon: Daemon, private_tmux: PrivateTmux) -> None:
    private_tmux.new_session("shell", ["bash", "--norc", "--noprofile"])
    daemon.start()
    assert "--allow-shell" in daemon.asks("link", "ann", "shell", code=ShellRefused.exit_code)
    link, note = daemon.noted("link", "ann", "shell", "--allow-shell", "--budget", "2")
    assert note == "the daemon links ann and shell\n"
    assert [one["link"] for one in daemon.status()["open_links"]] == [link]
    daemon.asks("send", "ann", "hello", "--wait")
    wait_until(lambda: "[From ann]" in private_tmux.run("capture-pane", "-p", "-t", "shell"), PATIENCE)


def test_a_daemon_deletes_the_notes_on_panes_that_closed_unwatched(daemon: Daemon, private_tmux: PrivateTmux) -> None:
    closed = private_tmux.new_session("short", ["cat"])
    pid = int(private_tmux.run("display-message", "-p", "#{pid}"))
    server = ServerInfo(
        Version.parse(private_tmux.run("display-message", "-p", "#{version}").strip()), pid, daemon.address.tmux
    )
    for pane in (closed, daemon.panes["ann"]):
        InjectionLog(server, pane).note("pasted", "m1", "hello")
    private_tmux.run("kill-session", "-t", "short")
    for file in files_of(server):
        os.utime(file, (1.0, 1.0))
    daemon.start()
    wait_until(lambda: len(files_of(server)) == 1, PATIENCE)
    assert files_of(server)[0].name.endswith(f"-{daemon.panes['ann']}.injected")


def test_a_starting_daemon_deletes_the_notes_of_ended_servers(daemon: Daemon) -> None:
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    folder = make_runtime_folder()
    old, running = (folder / f"{pid}-0123456789abcdef-%1.injected" for pid in (ended.pid, os.getpid()))
    for path in (old, running):
        path.write_text("{}")
        os.utime(path, (1.0, 1.0))
    daemon.start("--log-level", "info")
    wait_until(lambda: not old.exists(), PATIENCE)
    assert running.exists()
    assert [event["files"] for event in map(json.loads, daemon.log.splitlines()) if event["event"] == "removed"] == [1]


def test_a_daemon_that_cannot_start_says_why(daemon_folders: Path) -> None:
    nowhere = daemon_folders / "nowhere"
    done = CliRunner().invoke(app, ["daemon", "start", "-S", str(nowhere)])
    assert done.exit_code == NoServer.exit_code
    assert done.stderr == (
        f"error: no tmux server runs at {nowhere}\nhint: start tmux first, or name the server with -L NAME or -S PATH\n"
    )
    done = CliRunner().invoke(app, ["status", "-S", str(nowhere)])
    assert done.exit_code == DaemonMissing.exit_code
    assert done.stderr == (
        f"error: no daemon runs, and no tmux server at {nowhere}\n"
        "hint: start tmux first, then the daemon: streamrelay daemon start\n"
    )


def test_it_ends_with_its_tmux_server(daemon: Daemon, private_tmux: PrivateTmux) -> None:
    pid = daemon.start()
    daemon.asks("send", "ann", "one")
    private_tmux.kill()
    wait_until(lambda: not is_alive(pid), PATIENCE)
    assert "error: " in daemon.log
    assert not daemon.address.socket.exists()


@pytest.mark.requirement("OPS-07", "OPS-09")
def test_the_daemon_does_as_is_configured_and_shows_how_it_stands(
    daemon: Daemon, private_tmux: PrivateTmux, daemon_folders: Path
) -> None:
    file = daemon_folders / "config" / "streamrelay" / "config.toml"
    file.write_text("[link]\nbudget = 3\n[link.texts]\nframe = '{name} -> {text}'\n")
    pid = daemon.start()
    daemon.asks("link", "ann", "bob")

    def shown(name: str) -> str:
        return private_tmux.run("show-options", "-pqv", "-t", daemon.panes[name], "@streamrelay").strip()

    wait_until(lambda: shown("ann") == "bob 0/3", PATIENCE, "the status line")
    private_tmux.run("send-keys", "-t", daemon.panes["ann"], "speak", "Enter")
    daemon.until_got("bob", f"ann -> ann knows {SECRET}")
    wait_until(lambda: shown("bob") == "ann 3/3 spent", PATIENCE, "the budget to be spent")

    file.write_text("link.budgt = 3\n")
    os.kill(pid, signal.SIGHUP)
    wait_until(lambda: '"not_reloaded"' in daemon.log, PATIENCE, "the complaint")
    file.write_text("")
    os.kill(pid, signal.SIGHUP)
    wait_until(lambda: '"reloaded"' in daemon.log, PATIENCE, "the new configuration")
    daemon.asks("daemon", "stop")
    assert shown("ann") == shown("bob") == ""


@pytest.mark.requirement("REL-07")
def test_after_kill_9_another_one_goes_on(daemon: Daemon) -> None:
    pid = daemon.start()
    link = daemon.asks("link", "ann", "bob", "--budget", "0").strip()
    daemon.asks("send", "ann", "one", "--wait", "--id", "one")
    daemon.until_got("bob", "[From ann]")
    wait_until(lambda: daemon.status()["open_links"][0]["deliveries"] >= 2, PATIENCE)
    daemon.asks("pause")
    seq = daemon.status()["seq"]
    os.kill(pid, signal.SIGKILL)
    wait_until(lambda: not is_alive(pid), PATIENCE)
    assert daemon.address.socket.exists(), "a dead daemon takes nothing away"
    assert daemon.start() != pid
    assert daemon.status()["seq"] >= seq
    assert [one["link"] for one in daemon.status()["open_links"]] == [link]
    daemon.asks("send", "ann", "one", "--id", "one")
    assert daemon.got("ann").count("one") == 1
    heard = len(daemon.got("bob"))
    assert daemon.status()["paused"]
    daemon.asks("pause", "--resume")
    daemon.asks("send", "ann", "two", "--wait")
    wait_until(lambda: len(daemon.got("bob")) > heard, PATIENCE)


@pytest.mark.requirement("HIS-02a", "GAT-06")
def test_transcripts_ended_sessions_and_the_pulse_are_asked_of_the_daemon(
    daemon_folders: Path, private_tmux: PrivateTmux, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(Path(__file__).parents[1] / "corpus" / "transcripts" / "home", daemon_folders / "home")
    monkeypatch.setenv("HOME", str(daemon_folders / "home"))
    for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME"):
        monkeypatch.delenv(name, raising=False)
    settings = daemon_folders / "config" / "streamrelay" / "config.toml"
    settings.write_text('[pulse]\nseconds = 20\n[pulse.pipelines]\nci = ["printf", "%s", "$HOME; 3 failed"]\n')
    daemon = Daemon(private_tmux, daemon_folders)
    try:
        daemon.start()
        daemon.asks("send", "bob", f"say {SECRET} to the control client", "--wait")
        private_tmux.run("kill-session", "-t", "=bob")
        wait_until(lambda: daemon.status()["sessions"] == 1, PATIENCE)
        found = daemon.shown("history", "search", "--limit", "100", "control", "client")
        assert {one["agent"] for one in found if one["file"]} == {"claude", "codex", "gemini"}
        assert [one["pane"] for one in found if not one["file"]] == [daemon.panes["bob"]]
        assert daemon.shown("history", "search", "--session", "bob", "control client") == [
            one for one in found if not one["file"]
        ]
        assert "no session" in daemon.asks("history", "search", "--session", "nobody", "client", code=20)
        (told,) = daemon.shown("gather", "pulse", "--rhythm", "weekly", "lexer", "listener")
        assert [(one["name"], one["output"]) for one in told["pipelines"]] == [("ci", "$HOME; 3 failed")]
        assert told["keywords"][:2] == ["decided", "learned"]
        assert {"lexer", "listener"} <= set(told["keywords"])
        assert told["history"]["found"] >= 3
        assert "A control client is a patient listener." in daemon.asks("gather", "pulse", "listener")
        assert (told["missing"], [one["title"] for one in told["sessions"]]) == ([], ["ann"])
    finally:
        daemon.close()


@pytest.mark.requirement("OPS-12c")
def test_the_log_of_the_daemon_is_printed_from_its_end_and_followed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("RUNTIME_DIR", "STATE_HOME", "CONFIG_HOME"):
        monkeypatch.setenv(f"XDG_{name}", str(tmp_path))
    server = ["-S", str(tmp_path / "tmux")]

    def logs(*options: str, code: int = 0) -> str:
        done = CliRunner().invoke(app, ["daemon", "logs", *options, *server])
        assert done.exit_code == code, (done.stdout, done.stderr, done.exception)
        return done.stdout if code == 0 else done.stderr

    missing = logs(code=2)
    assert "cannot read the log" in missing
    assert "hint: `streamrelay daemon start` writes it" in missing
    log = address_of(Tmux(socket_path=server[1])).log
    log.parent.mkdir(parents=True)
    written = [f"line {number}" for number in range(60)]
    log.write_text("".join(f"{line}\n" for line in written))
    assert logs().splitlines() == written[-50:]
    assert logs("-n", "2").splitlines() == written[-2:]
    assert logs("-n", "0").splitlines() == written

    with ExitStack() as stack:
        out = stack.enter_context((tmp_path / "out").open("w+b"))
        command = [sys.executable, "-m", "streamrelay_cli", "daemon", "logs", "-f", "-n", "1", *server]
        following = stack.enter_context(subprocess.Popen(command, stdout=out))
        stack.callback(following.kill)
        wait_until(lambda: (tmp_path / "out").read_text() == "line 59\n", PATIENCE, "the last line")
        with log.open("a") as file:
            print("\x1b]0;owned\x07half", end="", file=file, flush=True)
            print(" a line", file=file, flush=True)
        wait_until(lambda: "half a line\n" in (tmp_path / "out").read_text(), PATIENCE, "the line that was appended")
        assert "\x1b" not in (tmp_path / "out").read_text()
        following.send_signal(signal.SIGINT)
        assert following.wait(PATIENCE) == 0
