"""What a file and the environment set, and which of them holds. Pure."""

import contextlib
import itertools
import tomllib

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamrelay.config.layers import Layer, lines_of, read_environment, read_toml
from streamrelay.config.resolution import Source, resolve
from streamrelay.config.settings import Settings, all_keys
from streamrelay.errors import ConfigError


def read(text, kind="user"):
    return read_toml(text, file="f.toml", kind=kind)


@pytest.mark.requirement("OPS-07")
@pytest.mark.parametrize(
    ("text", "complaint", "hint"),
    [
        ("link.budgt = 3", "f.toml:1: link.budgt: there is no such key", "link.budget"),
        ("[link]\n\n# how long\nbudget = 'x'", "f.toml:4: link.budget: Expected `int`, got `str`", "By default 8"),
        ("[link]\nbudget = -1", "f.toml:2: link.budget: Expected `int` >= 0", "By default 8"),
        ("tmux = [\n 1,\n 2]\n", "f.toml:1: tmux: Expected `str`, got `array`", "tmux"),
        ("x = [\n1,\n", "f.toml: invalid TOML: ", "docs/configuration.md"),
        ("notify = true\nlink = 3", "f.toml:2: link: it is a table", "docs/configuration.md"),
        ("[link.budget]\na = 1", "f.toml:1: link.budget: Expected `int`", "By default 8"),
        ("[agents.x]\na = 1", "f.toml:1: agents: there is no such key", ""),
        ("transport = 'ssh'", "f.toml:1: transport: Invalid enum value 'ssh'", "pipes"),
        ("socket_name = 'a'\nsocket_path = 'b'", "f.toml:2: socket_path: name a server by", ""),
        ("link = {budget = 1,\n hops = 2}", "f.toml: invalid TOML", ""),
        ("[pulse.pipelines]\nci = 'make'", "f.toml:1: pulse.pipelines: Expected `array`", "By default {}"),
        ("pulse.pipelines = {ci = []}", "f.toml:1: pulse.pipelines: Expected `array` of length >= 1", ""),
        ("history.most_megabytes = -1", "f.toml:1: history.most_megabytes: Expected `float` >= 0.0", "0 for no limit"),
        ("history.most_megabytes = inf", "f.toml:1: history.most_megabytes: Expected `float` <= 1", "By default 512.0"),
        ("history.most_megabytes = nan", "f.toml:1: history.most_megabytes: Expected `float` >= 0.0", "0 for no limit"),
        (
            "history.most_megabytes = '1 GB'",
            "f.toml:1: history.most_megabytes: Expected `float`, got `str`",
            "Megabytes",
        ),
        ("link = {budget = 1, hop = 2}", "f.toml:1: link.hop: there is no such key", "link.hops"),
    ],
)
def test_what_makes_no_sense_is_said_with_its_place(text, complaint, hint):
    with pytest.raises(ConfigError) as caught:
        read(text)
    assert caught.value.message.startswith(complaint)
    assert hint in caught.value.hint


@pytest.mark.parametrize("key", [key for key in all_keys().values() if key.yours_alone])
def test_a_project_cannot_name_a_program_lift_a_protection_or_delete(key):
    value = msgspec.json.encode("x" if key.default is None else key.default).decode()
    assert read(f"{key.name} = {value}").values
    with pytest.raises(ConfigError, match="a project cannot set this for you"):
        read(f"{key.name} = {value}", kind="project")


def test_every_default_can_be_written_in_a_file_and_in_the_environment():
    for key in all_keys().values():
        if key.default is None:
            continue
        written = msgspec.json.encode(key.default).decode()
        assert read(f"{key.name} = {written}").values == {key.name: key.default}
        as_variable = key.default if isinstance(key.default, str) else written
        assert read_environment({key.variable: as_variable}).values == ({key.name: key.default} if as_variable else {})


def test_variables_are_different_and_those_of_others_are_left_alone():
    assert len({key.variable for key in all_keys().values()}) == len(all_keys())
    assert not read_environment({"STREAMRELAY_SESSION": "x", "LINK_BUDGET": "9", "STREAMRELAY_LINK_BUDGET": ""}).values


def test_a_variable_that_is_wrong_is_named():
    with pytest.raises(ConfigError, match=r"environment: STREAMRELAY_LINK_BUDGET: Expected `int`, got `str`"):
        read_environment({"STREAMRELAY_LINK_BUDGET": "many"})


def test_inside_tmux_the_server_around_stands_for_one_that_is_named():
    inside = {"TMUX": "/tmp/a,b,12,0"}
    assert read_environment(inside).values == {"socket_path": "/tmp/a,b"}
    assert read_environment(inside | {"STREAMRELAY_SOCKET_NAME": "12"}).values == {"socket_name": "12"}


@pytest.mark.requirement("OPS-07")
def test_the_later_layer_holds_key_by_key():
    kinds = ("user", "project", "environment", "flag")
    layers = [
        Layer(kind, {"link.budget": at, f"link.{name}": at}, {"link.budget": f"{kind}:1"})
        for at, (kind, name) in enumerate(
            zip(kinds, ("hops", "longest", "per_minute", "acknowledgements"), strict=True)
        )
    ]
    resolved = resolve(layers)
    assert resolved.sources["link.budget"] == Source("flag", "flag:1")
    link = resolved.settings.link
    assert (link.budget, link.hops, link.longest, link.per_minute, link.acknowledgements) == (3, 0, 1, 2, 3)
    assert {one.key: one.source.kind for one in resolved}["relay.hops"] == "default"
    assert resolve([]).settings == Settings()


@pytest.mark.parametrize(("first", "then"), [*itertools.permutations(("socket_name", "socket_path"))])
def test_a_server_named_in_the_other_way_is_another_server(first, then):
    resolved = resolve([Layer("user", {first: "one"}), Layer("flag", {then: "other"})])
    assert getattr(resolved.settings, first) is None
    assert getattr(resolved.settings, then) == "other"
    assert set(resolved.sources) == {then}


@given(st.text(max_size=200))
def test_no_text_of_a_file_raises_anything_else(text):
    with contextlib.suppress(ConfigError):
        read(text)


@given(
    st.lists(st.sampled_from(["", "# a = 1", "[t]", "b = 2", 'c = """\na = 1\n"""', "d = [\n1,\n]"]), unique=True),
    st.integers(0, 6),
)
def test_the_line_of_a_key_is_where_it_begins(parts, at):
    before, behind = parts[:at], parts[at:]
    text = "\n".join([*before, "found = 7", *behind])
    path = ("t", "found") if "[t]" in before else ("found",)
    tomllib.loads(text)
    assert text.split("\n")[lines_of(text)[path] - 1] == "found = 7"
    assert lines_of(text.replace("\n", "\r\n")) == lines_of(text)


@pytest.mark.requirement("ENG-01d")
def test_a_host_takes_no_socket_or_binary_of_this_machine():
    def resolved(*layers):
        settings = resolve(layers).settings
        return settings.host, settings.socket_name, settings.socket_path, settings.tmux

    here = Layer("user", {"socket_name": "work", "tmux": "/opt/tmux"})
    there = Layer("user", {"host": "m", "socket_name": "theirs", "tmux": "/theirs/tmux"})
    around = read_environment({"TMUX": "/tmp/a,1,0"})
    assert resolved(here, Layer("flag", {"host": "m"})) == ("m", None, None, "tmux")
    assert resolved(there) == ("m", "theirs", None, "/theirs/tmux")
    assert resolved(there, around) == ("m", "theirs", None, "/theirs/tmux")
    assert resolved(here, around) == (None, None, "/tmp/a", "/opt/tmux")
    assert resolved(there, Layer("flag", {"socket_path": "/x"})) == ("m", None, "/x", "/theirs/tmux")
