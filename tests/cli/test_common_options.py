"""What the commands have in common: which server, this pane, logs, quiet, completion, no colours."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import typer
from streamrelay_cli.main import app

from streamrelay import errors
from streamrelay.testing.waiting import wait_until

COMMAND = Path(sys.executable).with_name("streamrelay")
COMMANDS = typer.main.get_command(app).commands
WATCHING = ("watch", "send", "relay", "link", "record")


def options(command):
    return {option for parameter in COMMANDS[command].params for option in parameter.opts}


@pytest.mark.requirement("OPS-02d")
def test_what_talks_to_a_server_lets_it_be_named_and_is_quiet_or_not():
    for command in (*WATCHING, "ls", "doctor"):
        assert options(command) >= {"-L", "-S", "--tmux", "-q", "-v"}, command
    for command in (*WATCHING[:-1], "ls", "doctor", "replay", "explain", "render", "learn", "profiles"):
        assert "--json" in options(command), command


@pytest.mark.requirement("OPS-02d")
def test_the_log_is_on_standard_error_and_only_if_it_is_wanted(cli, private_tmux):
    one, two = (private_tmux.new_session(name, ["sh", "-c", "stty -echo; exec cat"]) for name in ("one", "two"))
    logged = {}
    for flags in ((), ("-v",), ("-vv", "-q")):
        linking = cli.start("link", *flags, "--budget", "1", "--no-notices", "one", "two")
        if "-q" in flags:
            private_tmux_wait(private_tmux)
        else:
            linking.until_ready()
        private_tmux.run("send-keys", "-t", "one", "secret words", "Enter")
        assert linking.wait() == 0, linking.stderr
        logged[flags] = [line for line in linking.stderr.splitlines() if "streamrelay." in line]
        assert "streamrelay." not in linking.stdout
    assert logged[()] == []
    assert ["INFO" in line for line in logged[("-v",)]] == [True]
    assert f"links {one} and {two}, budget 1" in logged[("-v",)][0]
    assert any("DEBUG" in line and "delivery 1, 0 left" in line for line in logged[("-vv", "-q")])
    assert not any("secret words" in line for lines in logged.values() for line in lines)


def private_tmux_wait(tmux):
    wait_until(lambda: "streamrelay-" in tmux.run("list-sessions"), 30.0, "the hub")
    wait_until(lambda: tmux.run("list-windows", "-t", "=two", "-F", "#{window_linked}").strip() == "1", 30.0, "a link")


@pytest.mark.sampled(1)
@pytest.mark.requirement("OPS-02c")
@pytest.mark.parametrize("command", ["watch", "send", "record"])
def test_a_dot_is_this_pane(cli, private_tmux, tmp_path, command):
    """The command is started as if it had been typed in that pane."""
    pane = private_tmux.new_session("work", ["cat"])
    private_tmux.new_session("other", ["cat"])
    here = {"TMUX": f"{private_tmux.socket_path},{private_tmux.server_pid},0", "TMUX_PANE": pane}
    match command:
        case "watch":
            running = cli.start("watch", "--json", ".", **here)
            running.until_ready()
            assert f"watching work:0.0 ({pane}, cat)" in running.stderr
        case "record":
            running = cli.start("record", ".", str(tmp_path / "x.jsonl"), **here)
            running.until_ready()
            assert f"recording work:0.0 ({pane}, cat)" in running.stderr
        case _:
            sent = cli.run("send", ".", "hello", **here)
            assert sent.returncode == 0, sent.stderr
            assert "hello" in private_tmux.run("capture-pane", "-p", "-t", pane)
    outside = cli.run(
        *{"watch": ("watch", "."), "send": ("send", ".", "x"), "record": ("record", ".", "/x.jsonl")}[command]
    )
    assert outside.returncode == errors.UsageError.exit_code
    assert "outside this tmux server" in outside.stderr


@pytest.mark.requirement("OPS-02d")
@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_commands_are_completed(shell):
    script = subprocess.run(
        [COMMAND], env=os.environ | {"_STREAMRELAY_COMPLETE": f"source_{shell}"}, capture_output=True, text=True,
        timeout=60, check=True,
    ).stdout  # fmt: skip
    assert "_STREAMRELAY_COMPLETE" in script
    words = {"bash": {"COMP_WORDS": "streamrelay re", "COMP_CWORD": "1"}}.get(
        shell, {"_TYPER_COMPLETE_ARGS": "streamrelay re", "_TYPER_COMPLETE_FISH_ACTION": "get-args"}
    )
    completed = subprocess.run(
        [COMMAND], env=os.environ | {"_STREAMRELAY_COMPLETE": f"complete_{shell}", **words}, capture_output=True,
        text=True, timeout=60, check=False,
    ).stdout  # fmt: skip
    assert {"relay", "replay", "record", "render"} <= set(completed.replace('"', " ").replace(":", " ").split())


def test_no_colour_is_no_colour(cli):
    for arguments in (("--help",), ("link", "a"), ("watch", "--transport", "x")):
        done = subprocess.run(
            [COMMAND, *arguments], env=os.environ | {"NO_COLOR": "1", "FORCE_COLOR": "1"}, capture_output=True,
            text=True, timeout=60, check=False,
        )  # fmt: skip
        assert "\x1b[3" not in done.stdout + done.stderr, arguments


def test_what_the_journal_remembers_is_pruned_by_command(cli, tmp_path):
    nothing = cli.run("history", "prune", server=False, XDG_STATE_HOME=str(tmp_path))
    assert nothing.returncode == 0
    assert "nothing was journaled yet" in nothing.stderr
    assert not list((tmp_path / "streamrelay").glob("*.db"))


@pytest.mark.requirement("HIS-03a")
async def test_the_journal_is_pruned_by_configuration_and_option(cli, tmp_path):
    from streamrelay.events import Text
    from streamrelay.history import Journal

    state = tmp_path / "streamrelay"
    async with Journal(state / "journal.db") as journal:
        await journal.append([Text(text="old", origin="program", at=1_000.0), Text(text="new", origin="program")])
    environment = {"XDG_STATE_HOME": str(tmp_path)}
    kept = cli.run("history", "prune", "--json", "--keep-days", "0", server=False, **environment)
    assert json.loads(kept.stdout)["forgotten"] == 0
    pruned = cli.run("history", "prune", "--json", server=False, STREAMRELAY_HISTORY_KEEP_DAYS="30", **environment)
    assert json.loads(pruned.stdout)["forgotten"] == 1
    async with Journal(state / "journal.db") as journal:
        assert [event.text for event in await journal.since(0)] == ["new"]
    for option, value in (("--most-megabytes", "nan"), ("--most-megabytes", "inf"), ("--keep-days", "-1")):
        refused = cli.run("history", "prune", option, value, server=False, **environment)
        assert refused.returncode == 2
        assert f"invalid value for '{option}'" in refused.stderr
        assert "hint: " in refused.stderr
