"""Profiles as files: read strictly, the user's own before the shipped, and every mistake named with file and key."""

from pathlib import Path

import pytest

from streamrelay.agents import load_profiles, parse_profile, shipped_profiles, user_folder
from streamrelay.errors import ConfigError

ROOT = Path(__file__).parents[2]
WHOLE = r"""
title = "Sprite"
kind = "repl"

[recognise]
commands = ["sprite"]
interpreters = ["node"]
signs = ['^Sprite v\d']

[state]
busy_titles = ['^busy$']
idle_titles = ['^idle$']

[screen]
footers = ['^done in \d+s$']
furniture = [{ pattern = '^-- \w+ --$', seen = "-- INSERT --", source = "1.0" }]
activity = ['^> ran ']

[[dialogs]]
kind = "trust"
pattern = '^Trust this\?'

[delivery]
ready = ['^sprite>$']
composer = '^sprite> (?P<draft>.*)$'
submit_key = "C-j"
submit_delay = 0.3
paste_limit = 100
mid_turn = "queue"

[stop_hook]
file = "~/.sprite.json"
event = "stopped"

[transcript]
path = "~/.sprite/*.jsonl"
format = "jsonl"
"""
LEAST = '[recognise]\ncommands = ["sprite"]\n'


def test_everything_a_file_says_is_there() -> None:
    profile = parse_profile("sprite", WHOLE, source="sprite.toml")
    reading, delivery = profile.reading, profile.delivery
    assert (profile.name, profile.title, profile.kind, profile.source) == ("sprite", "Sprite", "repl", "sprite.toml")
    assert reading.commands == {"sprite"}
    assert reading.interpreters == {"node"}
    assert [pattern.pattern for pattern in reading.footers] == [r"^done in \d+s$"]
    assert (reading.ready, len(delivery.ready)) == ((), 1), "only an agent has a composer"
    assert [(sign.kind, sign.pattern.pattern) for sign in reading.dialogs] == [("trust", r"^Trust this\?")]
    assert delivery.composer is not None
    match = delivery.composer.search("sprite> half a wo")
    assert match is not None
    assert match["draft"] == "half a wo"
    assert (delivery.submit_key, delivery.submit_delay, delivery.paste_limit) == ("C-j", 0.3, 100)
    assert delivery.mid_turn == "queue"
    assert profile.stop_hook is not None
    assert profile.stop_hook.event == "stopped"
    assert profile.transcript is not None
    assert profile.transcript.format == "jsonl"
    assert [pattern.key for pattern in profile.patterns] == [
        "recognise.signs[0]", "state.busy_titles[0]", "state.idle_titles[0]", "screen.footers[0]",
        "screen.furniture[0]", "screen.activity[0]", "dialogs[0].pattern", "delivery.ready[0]", "delivery.composer",
    ]  # fmt: skip
    assert profile.patterns[4].seen == "-- INSERT --"


def test_the_example_of_the_document_is_a_profile() -> None:
    text = (ROOT / "docs" / "profiles.md").read_text().partition("```toml\n")[2].partition("```")[0]
    profile = parse_profile("sprite", text, source="docs/profiles.md")
    keys = {pattern.key.partition("[")[0] for pattern in profile.patterns}
    assert keys == {pattern.key.partition("[")[0] for pattern in parse_profile("s", WHOLE, source="whole").patterns}
    assert profile.stop_hook is not None
    assert profile.transcript is not None


def test_what_a_file_does_not_say_is_safe() -> None:
    delivery = parse_profile("sprite", f'title = "Sprite"\n{LEAST}', source="sprite.toml").delivery
    assert (delivery.submit_key, delivery.mid_turn, delivery.paste_limit) == ("Enter", "hold", None)
    assert delivery.submit_delay > 0.06


@pytest.mark.parametrize(
    ("text", "key", "wrong"),
    [
        ("title = ", "", "invalid TOML"),
        (LEAST, "", "missing required field `title`"),
        ('title = "S"', "", "missing required field `recognise`"),
        ('title = 7\n[recognise]\ncommands = ["s"]', "title", "Expected `str`"),
        ('title = "S"\n[recognise]\n', "recognise", "would recognise no program"),
        ('title = "S"\n[recognise]\ncommand = ["s"]', "recognise", "unknown field `command`"),
        ('title = "S"\nkind = "wizard"\n[recognise]\ncommands = ["s"]', "kind", "wizard"),
        ('title = "S"\n[recognise]\nsigns = ["("]', "recognise.signs[0]", "no regular expression"),
        ('title = "S"\n[recognise]\nsigns = ["a*"]', "recognise.signs[0]", "matches every row"),
        ('title = "S"\n[recognise]\nsigns = ["(x+x+)+y"]', "recognise.signs[0]", "too long"),
        ('title = "S"\n[recognise]\nsigns = ["^(─|──)+$"]', "recognise.signs[0]", "too long"),
        (
            'title = "S"\n[recognise]\nsigns = ["^a", {pattern = "^b", seen = "ab", source = "1.0"}]',
            "recognise.signs[1]",
            "does not match the row it quotes",
        ),
        (
            'title = "S"\n[recognise]\nsigns = [{pattern = "^b", seen = "b"}]',
            "recognise.signs[0]",
            "missing required field `source`",
        ),
        (f'title = "S"\n{LEAST}[[dialogs]]\nkind = "nag"\npattern = "x"', "dialogs[0].kind", "nag"),
        (f'title = "S"\n{LEAST}[delivery]\ncomposer = "^> "', "delivery.composer", "draft"),
        (f'title = "S"\n{LEAST}[delivery]\nmid_turn = "push"', "delivery.mid_turn", "push"),
        (f'title = "S"\n{LEAST}[delivery]\nsubmit_delay = -1', "delivery.submit_delay", ">= 0"),
        (f'title = "S"\n{LEAST}[delivery]\npaste_limit = 0', "delivery.paste_limit", ">= 1"),
        (f'title = "S"\n{LEAST}[transcript]\npath = "x"\nformat = "png"', "transcript.format", "png"),
    ],
)
def test_a_mistake_is_named_with_file_and_key(text: str, key: str, wrong: str) -> None:
    with pytest.raises(ConfigError) as caught:
        parse_profile("sprite", text, source="/a/sprite.toml")
    assert caught.value.data == {"file": "/a/sprite.toml", "key": key}
    assert caught.value.message.startswith("/a/sprite.toml: ")
    assert wrong in caught.value.message
    assert "docs/profiles.md" in caught.value.hint


@pytest.mark.requirement("AGT-02b")
def test_the_users_own_go_first_and_replace_by_name(tmp_path: Path) -> None:
    shipped = [profile.name for profile in shipped_profiles()]
    name = shipped[-1]
    for file in (f"{name}.toml", "sprite.toml"):
        (tmp_path / file).write_text(f'title = "Mine"\n{LEAST}')
    (tmp_path / "notes.txt").write_text("no profile")
    profiles = load_profiles(tmp_path)
    assert [profile.name for profile in profiles] == [*sorted([name, "sprite"]), *shipped[:-1]]
    assert [profile.title for profile in profiles[:2]] == ["Mine", "Mine"]
    assert [profile.source for profile in profiles[:2]] == [
        str(tmp_path / f"{profile.name}.toml") for profile in profiles[:2]
    ]


@pytest.mark.requirement("AGT-02b")
def test_the_users_folder_is_where_configuration_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    assert user_folder() == tmp_path / "streamrelay" / "agents.d"
    assert [profile.name for profile in load_profiles()] == [profile.name for profile in shipped_profiles()]
    user_folder().mkdir(parents=True)
    (user_folder() / "sprite.toml").write_text(f'title = "Mine"\n{LEAST}')
    assert load_profiles()[0].name == "sprite"
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    for unusable in ("", "relative"):
        monkeypatch.setenv("XDG_CONFIG_HOME", unusable)
        assert user_folder() == tmp_path / "home" / ".config" / "streamrelay" / "agents.d"


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    file = tmp_path / "sprite.toml"
    file.write_bytes(b"title = '\xff'")
    with pytest.raises(ConfigError, match=r"sprite.toml: no UTF-8"):
        load_profiles(tmp_path)
    file.unlink()
    file.mkdir()
    with pytest.raises(ConfigError, match=r"sprite.toml: cannot be read"):
        load_profiles(tmp_path)
