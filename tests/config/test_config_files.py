"""Where the files are found, whose they are, and that defaults and documents agree with the types."""

import os
from pathlib import Path

import msgspec
import pytest
import typer
from streamrelay_cli.config import TABLES
from streamrelay_cli.main import app

import streamrelay.delivery.message
from streamrelay.config.files import load, project_file, user_file
from streamrelay.config.settings import (
    FederationTable,
    Key,
    LinkTable,
    LinkTexts,
    PulseTable,
    RelayTable,
    Settings,
    all_keys,
)
from streamrelay.delivery.sending import WAIT_TIMEOUT
from streamrelay.delivery.writer import READ_TIMEOUT
from streamrelay.errors import ConfigError
from streamrelay.gathering.library import find_rhythm
from streamrelay.gathering.plan import plan_for
from streamrelay.links.configured import link_policy, link_texts, relay_rules
from streamrelay.links.link import LinkPolicy, NoticeTexts
from streamrelay.relay.rules import Rules

ROOT = Path(__file__).parents[2]


@pytest.fixture
def environment(tmp_path):
    folder = tmp_path / "config" / "streamrelay"
    folder.mkdir(parents=True)
    return {"XDG_CONFIG_HOME": str(tmp_path / "config")}


@pytest.mark.requirement("OPS-07")
def test_files_and_environment_make_one_configuration(tmp_path, environment):
    user_file(environment).write_text("transport = 'cc'\n[link]\nbudget = 1\nhops = 1\nlongest = 1\n")
    below = tmp_path / "project" / "deep" / "below"
    below.mkdir(parents=True)
    (tmp_path / "project" / ".streamrelay.toml").write_text("[link]\nbudget = 2\nhops = 2\n")
    resolved = load(start=below, environment=environment | {"STREAMRELAY_LINK_BUDGET": "3"})
    link = resolved.settings.link
    assert (resolved.settings.transport, link.longest, link.hops, link.budget) == ("cc", 1, 2, 3)
    assert resolved.sources["link.hops"] == ("project", f"{tmp_path}/project/.streamrelay.toml:3")
    assert resolved.sources["link.budget"] == ("environment", "STREAMRELAY_LINK_BUDGET")
    assert resolved.sources["transport"] == ("user", f"{user_file(environment)}:1")


def test_the_nearest_project_holds_alone(tmp_path):
    (tmp_path / ".streamrelay.toml").write_text("")
    inner = tmp_path / "inner"
    inner.mkdir()
    assert project_file(inner) == tmp_path / ".streamrelay.toml"
    (inner / ".streamrelay.toml").write_text("")
    assert project_file(inner) == inner / ".streamrelay.toml"


def test_somebody_elses_project_file_is_passed_over(tmp_path, monkeypatch):
    (tmp_path / ".streamrelay.toml").write_text("[link]\nbudget = 1\n")
    mine = os.getuid()
    os.chown(tmp_path / ".streamrelay.toml", 12345, -1) if mine == 0 else monkeypatch.setattr(os, "getuid", lambda: -1)
    assert project_file(tmp_path) is None


def test_no_files_are_no_error_and_unreadable_ones_are(tmp_path, environment):
    assert load(start=tmp_path, environment=environment).settings == Settings()
    user_file(environment).mkdir()
    with pytest.raises(ConfigError, match="cannot be read"):
        load(start=tmp_path, environment=environment)
    user_file(environment).rmdir()
    user_file(environment).write_bytes(b"\xff")
    with pytest.raises(ConfigError, match="no UTF-8"):
        load(start=tmp_path, environment=environment)


def test_the_defaults_are_those_of_the_rooms():
    settings = Settings()
    assert link_policy(settings.link) == LinkPolicy()
    assert link_texts(settings.link) == NoticeTexts()
    assert relay_rules(settings.relay) == Rules()
    delivery = streamrelay.delivery.message.DeliveryPolicy()
    assert (settings.delivery.needs_human, settings.delivery.commands) == (delivery.needs_human, delivery.commands)
    assert settings.delivery.wait_timeout == WAIT_TIMEOUT
    assert settings.relay.read_timeout == READ_TIMEOUT
    usual, plan = settings.gathering, plan_for(find_rhythm("daily"))
    assert (usual.listening, usual.last_words, usual.reach_timeout, usual.harvest_timeout) == (
        plan.listening, plan.last_words_seconds, plan.reach_seconds, plan.harvest_seconds,
    )  # fmt: skip


def test_every_key_of_links_and_relays_reaches_its_room():
    names = {"texts"} | set(LinkPolicy.__struct_fields__)
    assert set(LinkTable.__struct_fields__) <= names
    assert set(LinkTexts.__struct_fields__) == set(NoticeTexts.__struct_fields__)
    assert set(RelayTable.__struct_fields__) - {"read_timeout"} <= set(Rules.__struct_fields__)
    assert link_texts(LinkTable(texts=LinkTexts(frame="{text}!"))) == NoticeTexts(frame="{text}!")
    assert link_policy(LinkTable(budget=3, hops=4, notices=False)) == LinkPolicy(budget=3, hops=4, notices=False)
    assert relay_rules(RelayTable(phrases=("so",))) == Rules(phrases=("so",))


@pytest.mark.requirement("OPS-07")
def test_the_document_has_every_key_as_it_is():
    rows = [line for line in (ROOT / "docs" / "configuration.md").read_text().splitlines() if line.startswith("| `")]
    assert rows == [row(key) for key in all_keys().values()]


def row(key: Key) -> str:
    default = "-" if key.default is None else f"`{msgspec.json.encode(key.default).decode()}`"
    return f"| `{key.name}` | {default} | {key.meaning} |"


FEDERATION = {f"federation.{name}" for name in FederationTable.__struct_fields__}
PULSE = {f"pulse.{name}" for name in PulseTable.__struct_fields__}
NO_OPTIONS = {
    "delivery.wait_timeout",
    "gathering.reach_timeout",
    "sessions.start",
    "sessions.most",
    "link.phrases",
    "relay.phrases",
    "relay.frame",
    "notify",
    "web.names",
    "web.send",
    "stream.witness",
    "delivery.lane",
    *FEDERATION,
    *PULSE,
}
"""Keys that no option has, and that commands use nevertheless."""


def test_every_key_is_an_option_of_some_command_or_used_without_one():
    commands = typer.main.get_command(app).commands
    options = {
        f"{TABLES.get(name, name)}.{parameter.name}"
        for name, command in commands.items()
        for one in (command, *getattr(command, "commands", {}).values())
        for parameter in one.params
    } | {parameter.name for command in commands.values() for parameter in command.params}
    missing = {key for key in all_keys() if key not in options and not key.startswith("link.texts.")}
    assert missing == NO_OPTIONS
