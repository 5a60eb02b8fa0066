"""`ls`, `doctor`, `render`, `replay` and what every command has in common."""

import json
import os
import re
import subprocess
from pathlib import Path

import pytest
from streamrelay_cli.commands import COMMANDS
from streamrelay_cli.main import app

from streamrelay import errors
from streamrelay.control import Version
from streamrelay.database import MAX_LOG_BYTES
from streamrelay.doctor import check_journal, known_crash
from tests.cli.conftest import COMMAND

ROOT = Path(__file__).parents[2]
CORPUS = ROOT / "tests" / "corpus" / "agents"


@pytest.mark.requirement("OPS-02a", "OPS-02a")
def test_ls_lists_the_panes(private_tmux, cli):
    private_tmux.new_session("work", ["cat"], columns=100, lines=30)
    listed = cli.run("ls")
    assert listed.returncode == 0
    heading, pane = listed.stdout.splitlines()
    assert heading.split() == ["PANE", "ADDRESS", "SIZE", "COMMAND", "TITLE"]
    assert pane.split()[:4] == ["%0", "work:0.0", "100x30", "cat"]
    assert json.loads(cli.run("ls", "--json").stdout)["session_name"] == "work"
    assert pane.split()[4:] == [], "tmux's own title of a pane is the name of its host"
    private_tmux.run("select-pane", "-t", "%0", "-T", "its, own} title")
    assert cli.run("ls").stdout.splitlines()[1].endswith("  cat      its, own} title")


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", ["two words", "semi;colon", "#{pid}", "$HOME", "-dash", "ünï"])
def test_names_that_look_like_something_else_are_names(private_tmux, cli, name):
    pane = private_tmux.new_session("work", ["cat"])
    private_tmux.run("rename-session", "-t", "work", "--", name)
    shown = json.loads(cli.run("ls", "--json").stdout)
    assert shown["pane"] == pane
    assert shown["session_name"] == private_tmux.run("display-message", "-p", "-t", pane, "#{session_name}")


@pytest.mark.requirement("OPS-02b", "OPS-06")
def test_doctor_looks_at_everything_and_gives_the_fix(cli, private_tmux, tmp_path):
    """Beside leftovers, which tests/cli/test_in_tmux.py leaves behind for it."""
    private_tmux.new_session("work", ["cat"])
    folders = {"HOME": str(tmp_path), "XDG_STATE_HOME": str(tmp_path), "LC_ALL": "POSIX"}
    examined = cli.run("doctor", "--json", **folders)
    checks = {check["name"]: check for check in map(json.loads, examined.stdout.splitlines())}
    assert {"tmux", "locale", "server", "socket", "hooks", "leftovers", "daemon", "configuration"} <= set(checks)
    assert checks["journal"]["found"] == "nothing is journaled"
    assert checks["known crashes"]["found"].partition(" can crash")[0].endswith(f"tmux {version_of(private_tmux)}")
    assert (checks["locale"]["status"], checks["hooks"]["found"]) == ("warning", "none is installed")
    assert "export LC_ALL" in checks["locale"]["fix"]
    installed = json.loads(cli.run("hooks", "install", "claude", "--json", server=False, **folders).stdout)
    assert "installed for claude" in cli.run("doctor", **folders).stdout
    file = Path(installed["file"])
    file.write_text(file.read_text().replace(str(COMMAND), "/gone/streamrelay"))
    told = cli.run("doctor", **folders).stdout
    assert "hooks: the hook of claude runs /gone/streamrelay, which does not exist" in told
    assert "hint: streamrelay hooks install claude" in told


def test_doctor_compares_each_journal_with_the_limit(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    file = tmp_path / "streamrelay" / "servers" / "one" / "journal.db"
    file.parent.mkdir(parents=True)
    (large := file.with_name("journal.large")).mkdir()
    file.write_bytes(bytes(2_000_000))
    (large / f"{1:020d}").write_bytes(bytes(1_500_000))
    check = check_journal()
    assert (check.status, check.found) == ("ok", f"{file} takes 3.5 MB; the limit is 512.0 MB")
    monkeypatch.setenv("STREAMRELAY_HISTORY_MOST_MEGABYTES", "0")
    assert check_journal().found.endswith("; no limit")
    monkeypatch.setenv("STREAMRELAY_HISTORY_MOST_MEGABYTES", "3")
    assert check_journal().status == "ok", "the log beside it is not what the limit is for"
    file.write_bytes(bytes(3_000_000 + MAX_LOG_BYTES))
    check = check_journal()
    assert (check.status, check.fix) == ("warning", "streamrelay history prune")


def version_of(tmux):
    return tmux.run("display-message", "-p", "#{version}")


@pytest.mark.parametrize(
    ("version", "over_ssh", "status", "words"),
    [
        ("3.3a", False, "warning", "prevents that for itself only"),
        ("3.6a", True, "warning", "cannot prevent that over ssh"),
        ("3.8", False, "ok", "none of tmux 3.8"),
        ("3.8", True, "ok", "none of tmux 3.8"),
    ],
)
def test_doctor_names_versions_of_tmux_that_crash_and_what_to_upgrade_to(version, over_ssh, status, words):
    check = known_crash(Version.parse(version), over_ssh=over_ssh)
    assert (check.name, check.status) == ("known crashes", status)
    assert words in check.found
    assert ("install tmux 3.8 or newer" in check.fix) is (status == "warning")


def test_doctor_tries_both_transports(cli, private_tmux):
    private_tmux.new_session("work", ["cat"])
    examined = cli.run("doctor", "--json")
    checks = {check["name"]: check for check in map(json.loads, examined.stdout.splitlines())}
    assert examined.returncode == 0
    assert checks["control mode, pipes"]["status"] == checks["control mode, cc"]["status"] == "ok"
    assert checks["server"]["status"] == "ok"


def test_doctor_says_what_is_missing_and_what_to_do(cli):
    examined = cli.run("doctor", "--tmux", "/nowhere/tmux")
    assert examined.returncode == 1
    assert "FAILED   tmux: cannot run /nowhere/tmux" in examined.stdout
    assert "hint: install tmux" in examined.stdout


@pytest.mark.requirement("OPS-02a")
def test_render_prints_history_and_screen(cli, tmp_path):
    file = tmp_path / "bytes"
    file.write_bytes(b"\x1b[31mone\x1b[0m\r\ntwo\r\nthree\r\nfour \xe4\xb8\xad")
    rendered = cli.run("render", str(file), "--columns", "10", "--lines", "2", server=False)
    assert rendered.stdout.splitlines() == ["one", "two", "three", "four 中"]
    document = json.loads(cli.run("render", str(file), "-c", "10", "-l", "2", "--json", server=False).stdout)
    assert document["history"] == ["one", "two"]
    assert document["screen"] == ["three", "four 中"]
    assert document["cursor"] == {"x": 7, "y": 1}


@pytest.mark.requirement("OPS-13a")
def test_render_makes_a_moving_picture(tmp_path, capsys):
    cast, output, picture = tmp_path / "talk.cast", tmp_path / "output", tmp_path / "talk.svg"
    cast.write_text('{"version": 2, "width": 20, "height": 3}\n[0.5, "o", "one"]\n[9.5, "o", "\\r\\ntwo"]\n')
    output.write_bytes(b"a still picture")

    def render(*words: str) -> str:
        app(["render", *words, "--svg", str(picture)], standalone_mode=False)
        return capsys.readouterr().err

    assert render(str(cast)).startswith(f"{picture}: 2 screens in 3.0 s, 20x3")
    assert picture.stat().st_mode & 0o777 == 0o600
    assert "<title>talk.cast</title>" in picture.read_text()
    with pytest.raises(errors.UsageError, match="file exists"):
        render(str(cast))
    assert "2 screens in 0.5 s" in render(str(cast), "--force", "--max-pause", "1", "--speed", "2", "--title", "<&>")
    assert "<title>&lt;&amp;&gt;</title>" in picture.read_text()
    assert "1 screen, 20x3" in render(str(cast), "--force", "--until", "5")
    assert "1 screen, 30x2" in render(str(output), "--force", "-c", "30", "-l", "2")
    assert "a still picture" in picture.read_text()


def test_render_of_what_is_not_there(cli, tmp_path):
    rendered = cli.run("render", str(tmp_path / "nothing"), server=False)
    assert rendered.returncode == errors.RecordingError.exit_code
    assert rendered.stderr.startswith("error: ")


@pytest.mark.requirement("OPS-02a")
def test_replay_prints_the_truth_of_a_recording(cli, tmp_path):
    recording = CORPUS / "cat" / "multi"
    truth = json.loads((recording / "meta.json").read_text())["truth"][0]["text"]
    assert cli.run("replay", str(recording), server=False).stdout == truth
    silent = tmp_path / "silent.cast"
    silent.write_text('{"version": 2, "width": 80, "height": 24}\n')
    done = cli.run("replay", str(silent), server=False)
    assert (done.returncode, done.stdout) == (0, "")
    assert done.stderr == f"no program said anything in {silent}; why: streamrelay explain {silent}\n"
    events = [
        json.loads(line) for line in cli.run("replay", str(recording), "--json", server=False).stdout.splitlines()
    ]
    said = [event["text"] for event in events if event["event"] == "text" and event["origin"] == "program"]
    assert "\n".join(said) + "\n" == truth
    assert not any("at" in event or "host" in event for event in events)


def test_replay_prints_what_stands_before_the_damage(cli, tmp_path):
    path = tmp_path / "damaged.cast"
    said = "".join(f"{number}\r\n" for number in range(200))  # more than a greeting
    path.write_text('{"version": 2, "width": 80, "height": 24}\n' + json.dumps([1, "o", said]) + '\n[2, "o"')
    replayed = cli.run("replay", str(path), server=False)
    assert replayed.stdout.split() == [str(number) for number in range(200)]
    assert replayed.returncode == errors.RecordingError.exit_code


def test_replay_of_what_is_no_recording(cli, tmp_path):
    (tmp_path / "x.cast").write_text("nonsense\n")
    for path in (tmp_path / "x.cast", tmp_path / "missing", tmp_path):
        replayed = cli.run("replay", str(path), server=False)
        assert replayed.returncode == errors.RecordingError.exit_code
        assert "Traceback" not in replayed.stderr


@pytest.mark.sampled(5)
@pytest.mark.parametrize("command", sorted(COMMANDS))
def test_help_explains_and_never_acts(command, cli, tmp_path):
    """No tmux and no other program is run, and no file written: not one of them would go unnoticed."""
    home, programs, ran = tmp_path / "home", tmp_path / "programs", tmp_path / "ran"
    for folder in (home, programs):
        folder.mkdir()
    for program in ("tmux", "ssh", "git", "uv", "claude", "codex", "gemini"):
        (programs / program).write_text(f'#!/bin/sh\necho "{program} $*" >> "{ran}"\n')
        (programs / program).chmod(0o755)
    own = {name: str(home) for name in ("HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME", "TMPDIR")}
    pane = {"TMUX": f"{home}/tmux,1,0", "TMUX_PANE": "%0", "STREAMRELAY_TMUX": str(programs / "tmux")}
    path = f"{programs}{os.pathsep}{os.environ['PATH']}"
    helped = cli.run(command, "--help", server=False, PATH=path, PYTHONDONTWRITEBYTECODE="1", **own, **pane)
    assert helped.returncode == 0
    assert f"Usage: streamrelay {command}" in helped.stdout
    assert helped.stderr == ""
    assert not ran.exists(), ran.read_text()
    assert [*home.iterdir()] == []


def test_the_table_of_exit_codes_is_the_tree_of_errors():
    def tree(error):
        return [error, *(found for child in error.__subclasses__() for found in tree(child))]

    documented = dict(
        re.findall(r"^\| (\d+) \| `(\w+)` \|", (ROOT / "docs" / "operations.md").read_text(), re.MULTILINE)
    )
    base = {errors.TmuxError}
    assert documented == {
        str(error.exit_code): error.code for error in tree(errors.StreamrelayError) if error not in base
    }


def test_another_directory_named_cli_is_not_ours(tmp_path):
    """The command's package is streamrelay_cli; a module named cli would get in everybody's way."""
    import sys

    probe = "import importlib.util as u; raise SystemExit(u.find_spec('cli') is not None)"
    assert subprocess.run([sys.executable, "-c", probe], cwd=tmp_path, check=False).returncode == 0
