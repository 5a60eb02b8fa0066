"""`streamrelay council`: the commands around a session, plain lines, and the app on a real terminal."""

import json
import os
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from streamrelay.testing.tmux import PrivateTmux
from streamrelay.testing.waiting import wait_until
from tests.cli.conftest import COMMAND, PATIENCE

Run = Callable[..., subprocess.CompletedProcess[str]]

BAD = {
    "vendor": ('[[member]]\nname = "A"\nvendor = "acme"\nmodel = "x"\n', "Invalid enum value 'acme'"),
    "fallback": (
        '[[member]]\nname = "A"\nvendor = "anthropic"\nmodel = "claude-x"\nfallback = "gpt-5"\n',
        "`fallback` gpt-5 is a model of openai, not of anthropic",
    ),
    "nobody": ("member = []\n", "length >= 1"),
    "pinned": (
        'auto_load = ["no.md"]\n[[member]]\nname = "A"\nvendor = "scripted"\nscript = ["x"]\n',
        "no.md cannot be read",
    ),
}


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """A user with empty folders and no key."""
    kept = {name: value for name, value in os.environ.items() if not name.endswith("_API_KEY") and name != "TMUX"}
    return kept | {
        "XDG_CONFIG_HOME": str(tmp_path / "config"),
        "XDG_STATE_HOME": str(tmp_path / "state"),
        "PYTHON_KEYRING_BACKEND": "keyring.backends.null.Keyring",
    }


@pytest.fixture
def run(environment: dict[str, str], tmp_path: Path) -> Run:
    def run(*arguments: str, typed: str = "", **more: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [COMMAND, "council", *arguments],
            input=typed,
            capture_output=True,
            text=True,
            check=False,
            timeout=PATIENCE,
            env=environment | more,
            cwd=tmp_path,
        )

    return run


@pytest.mark.requirement("OPS-02f")
def test_init_check_hold_list_export_and_resume(run: Run, tmp_path: Path) -> None:
    absent = run(typed="x\n")
    assert absent.returncode == 31
    assert absent.stderr.startswith(f"error: {tmp_path}/config/streamrelay/council.toml: no such file\n")
    assert "streamrelay council init" in absent.stderr
    none = run("export", "last")
    assert (none.returncode, none.stderr) == (
        2,
        "error: no council has been held yet\nhint: hold one: streamrelay council\n",
    )
    written = run("init")
    assert written.stdout == f"{tmp_path}/config/streamrelay/council.toml\n"
    again = run("init")
    assert again.returncode == 2
    assert "exists already" in again.stderr
    checked = run("check", "--json")
    assert checked.returncode == 0, checked.stderr
    assert json.loads(checked.stdout)["is_healthy"]
    held = run(typed="Hello\x1b[2J there\n\n/nonsense\n/cost\n")
    assert held.returncode == 0, held.stderr
    assert held.stdout.startswith("You │ Hello[2J there\nEcho │ I am a scripted member.")
    assert "there is no /nonsense" in held.stderr
    listed = run("list", "--json")
    session = json.loads(listed.stdout)
    assert session["messages"] == 2
    assert f"streamrelay council --resume {session['id']} goes on with it" in held.stderr
    resumed = run("--resume", session["id"], "--plain", typed="Again\n")
    assert resumed.stdout.count("│ Hello[2J there\n") == 1
    assert resumed.stdout.count("You │ Again\n") == 1
    markdown = run("export", "last").stdout
    assert markdown.count("**Echo**") == 2
    assert "\x1b" not in markdown
    assert run("export", session["id"], "talk.json").returncode == 0
    assert len(json.loads((tmp_path / "talk.json").read_text())["messages"]) == 4
    refused = run("export", session["id"], "talk.json")
    assert refused.returncode == 2
    assert "file exists" in refused.stderr
    assert run("export", "council-none").returncode == 2


@pytest.mark.requirement("OPS-02f")
def test_the_demo_needs_no_file_no_key_and_leaves_nothing(run: Run, tmp_path: Path) -> None:
    shown = run("--demo", "--json", typed="Hello\n")
    assert shown.returncode == 0, shown.stderr
    events = [json.loads(line) for line in shown.stdout.splitlines()]
    ended = [each["entry"] for each in events if each["happening"] == "answerended"]
    assert [entry["author"] for entry in ended] == ["Ada", "Grace", "Alan"]
    grown = [each["piece"] for each in events if each["happening"] == "answergrew"]
    assert "".join(grown) == "".join(entry["text"] for entry in ended)
    assert not list(tmp_path.rglob("council.db"))
    assert run("--demo", "--resume", "last").returncode == 2


@pytest.mark.sampled(2)
@pytest.mark.requirement("COU-07")
@pytest.mark.parametrize("case", sorted(BAD))
def test_each_mistake_in_the_file_is_one_error_with_its_hint(run: Run, tmp_path: Path, case: str) -> None:
    text, complaint = BAD[case]
    (tmp_path / "c.toml").write_text(text)
    failed = run("--config", "c.toml", typed="x\n")
    assert failed.returncode == 31
    assert complaint in failed.stderr
    assert failed.stderr.count("error:") == 1
    assert "hint:" in failed.stderr
    assert "Traceback" not in failed.stderr


@pytest.mark.requirement("COU-02b")
def test_check_names_a_missing_key_and_prints_none(run: Run, tmp_path: Path) -> None:
    member = '[[member]]\nname = "{0}"\nvendor = "{1}"\nmodel = "{2}"\nbase_url = "http://127.0.0.1:9/v1"\n'
    (tmp_path / "c.toml").write_text(member.format("A", "anthropic", "claude-x") + member.format("B", "xai", "grok-x"))
    checked = run("check", "--config", "c.toml", "--json", XAI_API_KEY="sk-very-secret")
    assert checked.returncode == 1, checked.stderr
    first, second = map(json.loads, checked.stdout.splitlines())
    assert (first["key"], first["problem"]) == ("missing", "A: no key in ANTHROPIC_API_KEY")
    assert "export ANTHROPIC_API_KEY" in first["hint"]
    assert (second["key"], second["is_healthy"]) == ("present", False)
    assert "sk-very" not in checked.stdout + checked.stderr
    failed = run("--config", "c.toml", typed="x\n")
    assert failed.returncode == 49
    assert "no key in ANTHROPIC_API_KEY" in failed.stderr
    assert failed.stderr.count("error:") == failed.stderr.count("hint:") == 1
    assert not run("list").stdout


@pytest.mark.requirement("COU-06", "OPS-02f")
def test_the_app_runs_on_a_real_terminal_and_gives_it_back(
    private_tmux: PrivateTmux, environment: dict[str, str], tmp_path: Path
) -> None:
    folders = {name: environment[name] for name in ("XDG_CONFIG_HOME", "XDG_STATE_HOME")}
    script = f"stty -a > before; {COMMAND} council --demo; echo left: $?; stty -a | cmp before && echo same; exec cat"
    pane = private_tmux.new_session("app", ["sh", "-c", f"cd {tmp_path}; {script}"], environment=folders)

    def screen() -> str:
        return private_tmux.run("capture-pane", "-p", "-t", pane)

    wait_until(lambda: "Phase: Plan" in screen(), PATIENCE, "the app to open")
    private_tmux.run("send-keys", "-t", pane, "How do we begin?", "Enter")
    wait_until(lambda: "Generating... Ada" in screen(), PATIENCE, "Ada to speak")
    private_tmux.run("send-keys", "-t", pane, "Quickly", "Enter")
    wait_until(lambda: "(Queued) You:" in screen(), PATIENCE, "the message to be queued")
    private_tmux.run("send-keys", "-t", pane, "/bye", "Enter")
    wait_until(lambda: "left: 0" in screen(), PATIENCE, "the app to end")
    wait_until(lambda: "same" in screen(), PATIENCE, "the terminal to be as before")


@pytest.mark.requirement("OPS-02f")
def test_a_terminated_app_exits_as_every_command_does_and_gives_the_terminal_back(
    private_tmux: PrivateTmux, environment: dict[str, str], tmp_path: Path
) -> None:
    folders = {name: environment[name] for name in ("XDG_CONFIG_HOME", "XDG_STATE_HOME")}
    script = f"stty -a > before; {COMMAND} council --demo & echo $! > pid; fg; echo left: $?; stty -a | cmp before"
    pane = private_tmux.new_session(
        "app", ["bash", "-mc", f"cd {tmp_path}; {script} && echo same; exec cat"], environment=folders
    )

    def screen() -> str:
        return private_tmux.run("capture-pane", "-p", "-t", pane)

    wait_until(lambda: "Phase: Plan" in screen(), PATIENCE, "the app to open")
    os.kill(int((tmp_path / "pid").read_text()), signal.SIGTERM)
    wait_until(lambda: "left: 143" in screen() and "same" in screen(), PATIENCE, "the app to end")
