"""`profiles`, and `--no-profiles` where profiles are used."""

import json
from pathlib import Path

import pytest

from streamrelay import errors
from streamrelay.agents import shipped_profiles

CORPUS = Path(__file__).parents[1] / "corpus" / "agents"
MINE = 'title = "Mine"\n[recognise]\ncommands = ["mine"]\n'


@pytest.fixture
def agents_d(tmp_path: Path) -> Path:
    folder = tmp_path / "config" / "streamrelay" / "agents.d"
    folder.mkdir(parents=True)
    return folder


def config(agents_d: Path) -> str:
    return str(agents_d.parents[1])


@pytest.mark.requirement("AGT-02b")
def test_profiles_are_listed_with_where_they_are_from(cli, agents_d):
    (agents_d / "mine.toml").write_text(MINE)
    listed = cli.run("profiles", server=False, XDG_CONFIG_HOME=config(agents_d))
    heading, *rows = listed.stdout.splitlines()
    assert heading.split() == ["NAME", "KIND", "TITLE", "RECOGNISED", "BY", "DESCRIBED", "FROM"]
    assert [row.split()[0] for row in rows] == ["mine", *(profile.name for profile in shipped_profiles())]
    assert rows[0].endswith(str(agents_d / "mine.toml"))
    documents = cli.run("profiles", "--json", server=False, XDG_CONFIG_HOME=config(agents_d)).stdout.splitlines()
    profiles = {document["reading"]["name"]: document for document in map(json.loads, documents)}
    assert profiles["mine"]["reading"]["commands"] == ["mine"]
    gemini = profiles["gemini"]
    assert gemini["reading"]["idle_titles"] == ["^◇  Ready\\b"]
    assert {"key", "compiled", "seen", "source"} == set(gemini["patterns"][0])


@pytest.mark.requirement("AGT-02b")
def test_what_is_shown_is_a_start_for_a_profile_of_ones_own(cli, agents_d):
    shown = cli.run("profiles", "show", "codex", server=False)
    shipped = {profile.name: profile for profile in shipped_profiles()}
    assert shown.stdout == shipped["codex"].text
    assert shown.stderr.strip() == shipped["codex"].source
    (agents_d / "codex.toml").write_text(shown.stdout)
    again = cli.run("profiles", "show", "codex", server=False, XDG_CONFIG_HOME=config(agents_d))
    assert (again.stdout, again.stderr.strip()) == (shown.stdout, str(agents_d / "codex.toml"))


def test_a_profile_that_is_not_there(cli):
    shown = cli.run("profiles", "show", "nothing", server=False)
    assert shown.returncode == errors.UsageError.exit_code
    assert "codex" in shown.stderr


@pytest.mark.parametrize(
    "arguments", [("profiles",), ("profiles", "show", "codex"), ("replay", str(CORPUS / "cat" / "short"))]
)
def test_a_profile_that_makes_no_sense_ends_the_command(cli, agents_d, arguments):
    (agents_d / "mine.toml").write_text(MINE + "[screen]\nfooters = ['(']\n")
    ended = cli.run(*arguments, server=False, XDG_CONFIG_HOME=config(agents_d))
    assert ended.returncode == errors.ConfigError.exit_code
    assert f"{agents_d / 'mine.toml'}: screen.footers[0]: no regular expression" in ended.stderr
    assert "hint: " in ended.stderr
    assert ended.stdout == ""


def test_watch_says_so_before_it_begins(cli, private_tmux, agents_d):
    private_tmux.new_session("work", ["cat"])
    (agents_d / "mine.toml").write_text("title = 1")
    ended = cli.run("watch", "work", XDG_CONFIG_HOME=config(agents_d))
    assert ended.returncode == errors.ConfigError.exit_code
    assert "mine.toml: title: " in ended.stderr
    assert cli.run("ls", XDG_CONFIG_HOME=config(agents_d)).returncode == 0


@pytest.mark.requirement("AGT-02b")
def test_replay_with_and_without_profiles(cli, agents_d):
    recording = str(CORPUS / "gemini" / "long3k")
    hint = "Press Ctrl+O to expand pasted text"
    assert hint in cli.run("replay", "--no-profiles", recording, server=False).stdout
    assert hint not in cli.run("replay", recording, server=False).stdout
    # A profile of one's own replaces the shipped one as a whole.
    (agents_d / "gemini.toml").write_text('title = "Mine"\n[recognise]\ncommands = ["gemini"]\n')
    assert hint in cli.run("replay", recording, server=False, XDG_CONFIG_HOME=config(agents_d)).stdout
