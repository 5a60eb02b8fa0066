"""`streamrelay config`, and what the commands make of it."""

import json
import os
import re
import tomllib

import pytest

from streamrelay import errors
from streamrelay.config.settings import all_keys


@pytest.fixture
def home(tmp_path, monkeypatch):
    """A user with an empty configuration, in a folder of no project."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    for name in [name for name in os.environ if name.startswith("STREAMRELAY_")]:
        monkeypatch.delenv(name)
    (tmp_path / "config" / "streamrelay").mkdir(parents=True)
    (tmp_path / "project").mkdir()
    monkeypatch.chdir(tmp_path / "project")
    return tmp_path


def user_file(home):
    return home / "config" / "streamrelay" / "config.toml"


@pytest.mark.requirement("OPS-02b", "OPS-07")
def test_each_value_is_shown_with_its_source(home, cli):
    user_file(home).write_text("[link]\nbudget = 1\nhops = 2\n")
    (home / "project" / ".streamrelay.toml").write_text("link.longest = 3\n")
    shown = cli.run(
        "config", "show", "--json", "--transport", "cc", server=False, STREAMRELAY_LINK_BUDGET="5", TMUX="/s,1,0"
    )
    assert shown.returncode == 0, shown.stderr
    found = {
        one["key"]: (one["value"], one["from"], one["where"]) for one in map(json.loads, shown.stdout.splitlines())
    }
    assert list(found) == list(all_keys())
    assert found["link.budget"] == (5, "environment", "STREAMRELAY_LINK_BUDGET")
    assert found["link.hops"] == (2, "user", f"{user_file(home)}:3")
    assert found["link.longest"] == (3, "project", f"{home}/project/.streamrelay.toml:1")
    assert found["transport"] == ("cc", "flag", "--transport")
    assert found["socket_path"] == ("/s", "environment", "TMUX")
    assert found["relay.hops"] == (1000, "default", "")


def test_what_is_shown_could_stand_in_a_file(home, cli):
    user_file(home).write_text(
        '[relay]\nphrases = ["d\'accord", "\\"#\\""]\n[pulse.pipelines]\n"the ci" = ["gh", "run"]\nmake = ["make"]\n'
    )
    shown = cli.run("config", "show", server=False)
    user_file(home).write_text(shown.stdout)
    again = cli.run("config", "show", server=False)
    assert tomllib.loads(shown.stdout) == tomllib.loads(again.stdout)
    assert tomllib.loads(again.stdout)["relay"]["phrases"] == ["d'accord", '"#"']
    assert tomllib.loads(again.stdout)["pulse"]["pipelines"] == {"the ci": ["gh", "run"], "make": ["make"]}
    assert cli.run("config", "show", "link.texts", server=False).stdout.count("\n") == 7
    assert cli.run("config", "show", "lin", server=False).returncode == errors.UsageError.exit_code


def test_the_files_are_named(home, cli):
    named = cli.run("config", "path", server=False)
    assert named.stdout == f"{user_file(home)}\n"
    assert "does not exist: the defaults apply" in named.stderr
    (home / "project" / ".streamrelay.toml").write_text("nonsense\n")
    named = cli.run("config", "path", "--json", server=False)
    assert [json.loads(line)["exists"] for line in named.stdout.splitlines()] == [False, True]


@pytest.mark.requirement("OPS-07")
@pytest.mark.parametrize("command", [("ls",), ("link", "a", "b"), ("config", "show"), ("send", "a", "b")])
def test_nonsense_stops_every_command_with_file_line_and_hint(home, cli, command):
    user_file(home).write_text("\n[link]\nbudgt = 3\n")
    ended = cli.run(*command, server=False)
    assert ended.returncode == errors.ConfigError.exit_code
    assert ended.stderr.splitlines() == [
        f"error: {user_file(home)}:3: link.budgt: there is no such key",
        "hint: is link.budget meant? `streamrelay config show` lists all keys",
    ]
    assert ended.stdout == ""


def test_nonsense_stops_neither_help_nor_doctor(home, cli, private_tmux):
    user_file(home).write_text("link.budgt = 3\n")
    assert cli.run("link", "--help", server=False).returncode == 0
    examined = cli.run("doctor", "--json")
    checks = {check["name"]: check for check in map(json.loads, examined.stdout.splitlines())}
    assert examined.returncode == 1
    assert checks["configuration"]["status"] == "failed"
    assert "link.budgt" in checks["configuration"]["found"]
    assert checks["tmux"]["status"] == "ok"


@pytest.mark.requirement("OPS-07")
def test_commands_take_their_defaults_from_it_and_options_hold_over_them(home, cli, private_tmux):
    for name in ("one", "two"):
        private_tmux.new_session(name, ["sh", "-c", "stty -echo; exec cat"])
    user_file(home).write_text(
        f"socket_path = '{private_tmux.socket_path}'\n[link]\nbudget = 1\n[link.texts]\nspent = 'No more, {{title}}.'\n"
        "frame = '{name} says: {text}'\n"
    )
    assert "one:0.0" in cli.run("ls", server=False).stdout
    assert cli.run("ls", "-L", "nobody-has-this", server=False).returncode == errors.NoServer.exit_code
    linking = cli.start("link", "--json", "--budget", "2", "one", "two", server=False)
    linking.until_ready()
    private_tmux.run("send-keys", "-t", "one", "hello", "Enter")
    assert linking.wait() == 0, linking.stderr
    delivered = [event["text"] for event in linking.events("relay_delivered")]
    assert delivered == ["one says: hello", "two says: one says: hello"]
    assert "No more, two." in private_tmux.run("capture-pane", "-p", "-t", "one")


def test_help_shows_what_an_option_is_here(home, cli):
    assert _default(cli, "link", "--budget") == "8"
    (home / "project" / ".streamrelay.toml").write_text("link.budget = 42\n")
    assert _default(cli, "link", "--budget") == "42"
    assert _default(cli, "relay", "--budget") == "0"


def _default(cli, command, option):
    text = cli.run(command, "--help", server=False, COLUMNS="200", NO_COLOR="1").stdout
    line = next(line for line in text.splitlines() if option in line)
    found = re.search(r"\[default: (.*?)\]", line)
    assert found, line
    return found[1]


def test_a_password_is_not_shown(home, cli):
    user_file(home).write_text('federation.redis_url = "rediss://relay:secret@redis.example:6379/0"')
    for options in ((), ("--json",)):
        shown = cli.run("config", "show", "federation", *options, server=False).stdout
        assert "rediss://relay:***@redis.example:6379/0" in shown
        assert "secret" not in shown


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("rediss://:secret@redis.example", "rediss://:***@redis.example"),
        ("redis://relay:s:ecret@secret@h?x=1", "redis://relay:***@h?x=1"),
        ("redis://re@lay:secret@h/0", "redis://re@lay:***@h/0"),
        ("redis://relay:secret/+secret@h/0", "redis://relay:***@h/0"),
        ("unix:///run/redis.sock?db=0&password=secret", "unix:///run/redis.sock?db=0&password=***"),
        ("rediss://h/0?x=1&password=sec@ret:secret&y=2", "rediss://h/0?x=1&password=***&y=2"),
        (
            "redis+sentinel://u:secret@h,i/s?sentinel_password=secret",
            "redis+sentinel://u:***@h,i/s?sentinel_password=***",
        ),
        ("rediss://relay:secret@h/0?PASSWORD=secret", "rediss://relay:***@h/0?PASSWORD=***"),
        ("redis://h:6379/0?x=a@b", "redis://h:6379/0?x=a@b"),
    ],
)
def test_no_password_is_shown_wherever_it_stands(home, cli, url, shown):
    user_file(home).write_text(f'federation.redis_url = "{url}"')
    said = cli.run("config", "show", "federation.redis_url", server=False).stdout
    assert f'"{shown}"' in said
    assert "secret" not in said
