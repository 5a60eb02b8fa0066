"""`streamrelay learn` as a person runs it: a profile and its proof, which the other commands then use."""

import stat
import sys
from pathlib import Path

import pytest

from streamrelay.testing.waiting import wait_until

CORPUS = Path(__file__).parents[1] / "corpus" / "agents"
GEMINI = str(CORPUS / "gemini" / "short")
AGENT = [sys.executable, str(Path(__file__).parents[1] / "panes" / "painted_agent.py")]


@pytest.mark.requirement("OPS-02b", "AGT-02c")
def test_a_profile_is_proposed_and_proved(cli, tmp_path):
    file = tmp_path / "gemini.toml"
    run = cli.run("learn", GEMINI, "-o", str(file), server=False)
    assert (run.returncode, run.stdout) == (0, "")
    assert "proposal" in run.stderr
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert "# busy_titles" not in file.read_text()

    held = cli.run("learn", GEMINI, "--prove", str(file), server=False)
    assert (held.returncode, held.stdout) == (0, "")
    file.with_suffix(".proof.json").write_text("{}")
    assert cli.run("learn", GEMINI, "--prove", str(file), server=False).returncode == 2


def test_without_a_file_it_is_printed(cli):
    run = cli.run("learn", GEMINI, server=False)
    assert run.stdout.startswith("# Proposed by `streamrelay learn` from gemini/short")
    assert "✦ {2}Working…" in run.stdout


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("arguments", "words", "code"),
    [
        ((GEMINI, "-o", "{}/there.toml"), "--force", 2),
        ((GEMINI, "-o", "{}/a.txt"), ".toml", 2),
        ((str(CORPUS / "cat" / "short"),), "--command", 30),
        (("{}/missing",), "is not there", 30),
        ((GEMINI, "--prove", "{}/missing.toml"), "cannot read", 2),
    ],
)
def test_what_cannot_be_done_is_said(cli, tmp_path, arguments, words, code):
    (tmp_path / "there.toml").write_text("kept")
    run = cli.run("learn", *(argument.format(tmp_path) for argument in arguments), server=False)
    assert run.returncode == code
    assert words in run.stderr
    assert "Traceback" not in run.stderr
    assert (tmp_path / "there.toml").read_text() == "kept"
    assert [path.name for path in tmp_path.iterdir()] == ["there.toml"]


def test_a_proof_notices_a_profile_that_was_changed_for_the_worse(cli, tmp_path):
    file = tmp_path / "claude.toml"
    recording = str(CORPUS / "claude" / "short")
    assert cli.run("learn", recording, "-o", str(file), server=False).returncode == 0
    text = file.read_text()
    file.write_text(text.replace("[screen]", "[screen]\nactivity = ['^● ']"))
    run = cli.run("learn", recording, "--prove", str(file), server=False)
    assert run.returncode == 30
    assert "worse with the profile" in run.stdout


@pytest.mark.requirement("AGT-02c")
def test_a_live_program_is_recorded_and_learnt(private_tmux, cli, tmp_path):
    pane = private_tmux.new_session("work", AGENT, columns=60, lines=16)
    wait_until(lambda: "shortcuts" in private_tmux.run("capture-pane", "-p", "-t", pane), 20)
    file = tmp_path / "talk.jsonl.gz"
    assert cli.start("record", "work", str(file), "--say", "What is this?", "--say", "And this?").wait() == 0
    run = cli.run("learn", str(file), "--command", "sprite", server=False)
    assert run.returncode == 0, run.stderr
    assert "commands = [\n" in run.stdout
    assert "2 messages, 2 answered" in run.stdout
    assert "titles that begin with braille at work" in run.stdout
    assert r"composer = { pattern = '^>\s*(?P<draft>.*)$'" in run.stdout
    refused = cli.run("learn", str(file), server=False)
    assert refused.returncode == 30
