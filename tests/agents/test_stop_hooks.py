"""Hooks in files: of three agents, however their files are there, and gone without a trace afterwards."""

import json
import os
import stat
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from streamrelay.agents import parse_profile, shipped_profiles
from streamrelay.agents.hooks import StopHooks
from streamrelay.agents.stop_report import MAX_ANSWER, Stop, read_stop
from streamrelay.errors import ConfigError, UsageError

PROGRAM = ["/opt/a b/streamrelay"]
FILES = {
    "claude": (".claude/settings.json", '{\r\n\t"model": "x",\n "hooks": { }}'),
    "codex": (".codex/config.toml", '# mine\nmodel = "x"\n[tui]\nnotifications = true\n'),
    "gemini": (".gemini/settings.json", '{\n  // mine\n  "ui": {"theme": "x",},\n}\n'),
    "qwen": (".qwen/settings.json", "{}"),
}


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME"):
        monkeypatch.delenv(name, raising=False)
    return home


@pytest.fixture
def hooks(home: Path, tmp_path: Path) -> StopHooks:
    (tmp_path / "state").mkdir()
    return StopHooks(shipped_profiles(), tmp_path / "state")


def tree(folder: Path) -> dict[str, tuple[int, bytes | str | None]]:
    """Everything below a folder: modes, contents, where links lead."""
    return {
        str(path.relative_to(folder)): (
            stat.S_IMODE(path.lstat().st_mode),
            str(path.readlink()) if path.is_symlink() else path.read_bytes() if path.is_file() else None,
        )
        for path in folder.rglob("*")
    }


@pytest.mark.requirement("AGT-03b")
@pytest.mark.parametrize("agent", FILES)
def test_a_configuration_is_what_it_was_after_removal(agent: str, home: Path, hooks: StopHooks, tmp_path: Path) -> None:
    name, text = FILES[agent]
    file = home / name
    file.parent.mkdir()
    file.write_bytes(text.encode())
    file.chmod(0o640)
    before = tree(home)
    assert hooks.show(agent).command is None
    shown = hooks.install(agent, PROGRAM)
    assert shown.command == f"'/opt/a b/streamrelay' hook {agent}"
    assert (shown.file, hooks.show(agent)) == (file, shown)
    assert hooks.install(agent, PROGRAM) == shown
    assert stat.S_IMODE(file.stat().st_mode) == 0o640
    assert tree(home).keys() == before.keys()
    assert hooks.remove(agent)
    assert tree(home) == before
    assert not hooks.remove(agent)
    assert not list((tmp_path / "state").iterdir())


@pytest.mark.requirement("AGT-03b")
@pytest.mark.parametrize("agent", FILES)
def test_where_there_was_no_configuration_there_is_none_after_removal(agent: str, home: Path, hooks: StopHooks) -> None:
    hooks.install(agent, PROGRAM)
    assert hooks.show(agent).command
    hooks.remove(agent)
    assert tree(home) == {}


def test_a_file_of_ours_that_others_have_written_into_stays(home: Path, hooks: StopHooks) -> None:
    file = hooks.install("claude", PROGRAM).file
    settings = json.loads(file.read_text())
    file.write_text(json.dumps(settings | {"model": "x"}, indent=2))
    (file.parent / "notes").write_text("mine")
    hooks.remove("claude")
    assert json.loads(file.read_text()) == {"model": "x"}
    assert (file.parent / "notes").exists()


@pytest.mark.requirement("AGT-03b")
@pytest.mark.parametrize(("closing", "kept"), [(1, "{\n// mine\n}"), (3, '{"hooks": {"AfterAgent": [\n// mine\n]}}')])
def test_a_comment_in_a_file_of_ours_stays_with_the_file(home: Path, hooks: StopHooks, closing: int, kept: str) -> None:
    file = hooks.install("gemini", PROGRAM).file
    text = file.read_text()
    at = len(text) - closing
    file.write_text(f"{text[:at]}\n// mine\n{text[at:]}")
    assert hooks.remove("gemini")
    assert hooks.show("gemini").command is None
    assert file.read_text() == kept


@pytest.mark.requirement("AGT-03b")
def test_a_profile_of_the_users_has_a_hook_of_its_own_name(home: Path, tmp_path: Path) -> None:
    (shipped,) = (profile for profile in shipped_profiles() if profile.name == "codex")
    mine = parse_profile("mycodex", shipped.text, source="agents.d/mycodex.toml")
    hooks = StopHooks([mine, *shipped_profiles()], tmp_path / "state")
    (tmp_path / "state").mkdir()
    shown = hooks.install("mycodex", PROGRAM)
    assert shown.command == "'/opt/a b/streamrelay' hook mycodex"
    assert hooks.install("mycodex", PROGRAM) == shown
    assert hooks.show("codex").command is None
    assert hooks.remove("mycodex")
    assert tree(home) == {}


@pytest.mark.requirement("AGT-03b")
@pytest.mark.parametrize("one", ["claude", "myclaude"])
def test_two_hooks_in_one_file_of_ours_leave_nothing(home: Path, tmp_path: Path, one: str) -> None:
    (shipped,) = (profile for profile in shipped_profiles() if profile.name == "claude")
    mine = parse_profile("myclaude", shipped.text, source="agents.d/myclaude.toml")
    (tmp_path / "state").mkdir()
    hooks = StopHooks([mine, *shipped_profiles()], tmp_path / "state")
    assert hooks.install(one, PROGRAM).file == home / ".claude" / "settings.json"
    (other,) = {"claude", "myclaude"} - {one}
    assert not hooks.remove(other), "there was none"
    hooks.install(other, PROGRAM)
    assert hooks.remove(one)
    assert hooks.show(other).command
    assert hooks.remove(other)
    assert tree(home) == {}


@pytest.mark.requirement("AGT-03b")
def test_a_link_stays_a_link(home: Path, hooks: StopHooks, tmp_path: Path) -> None:
    real = tmp_path / "dotfiles.json"
    real.write_text('{"a": 1}')
    (home / ".claude").mkdir()
    (home / ".claude" / "settings.json").symlink_to(real)
    before = tree(home)
    hooks.install("claude", PROGRAM)
    assert "hook claude" in real.read_text()
    assert tree(home) == before
    hooks.remove("claude")
    assert (tree(home), real.read_text()) == (before, '{"a": 1}')


def written(folder: Path) -> dict[Path, tuple[int, ...]]:
    """All that is known of each file but its time of access, which reading changes."""
    found = {path: path.lstat() for path in folder.iterdir()}
    return {path: (*was[:7], was.st_mtime_ns, was.st_ctime_ns) for path, was in found.items()}


@pytest.mark.parametrize(
    ("break_it", "wrong"),
    [
        (lambda file: file.chmod(0o400), "read-only"),
        (lambda file: file.write_text("{"), "line 1"),
        (lambda file: file.write_text('{"hooks": []}'), "hooks is no object"),
        (lambda file: file.write_bytes(b'{"a": "\xff"}'), "no UTF-8"),
        (lambda file: (file.unlink(), file.mkdir()), "no file"),
        (lambda file: (file.unlink(), os.mkfifo(file)), "no file"),
    ],
)
def test_a_file_that_cannot_be_changed_is_named_and_left_alone(
    home: Path, hooks: StopHooks, break_it: object, wrong: str
) -> None:
    file = home / ".claude" / "settings.json"
    file.parent.mkdir()
    file.write_text("{}")
    break_it(file)  # type: ignore[operator]
    before = written(file.parent)
    with pytest.raises(ConfigError, match=wrong) as error:
        hooks.install("claude", PROGRAM)
    assert str(file) in str(error.value)
    assert error.value.hint
    assert written(file.parent) == before


def test_a_program_that_codex_notifies_already_is_not_replaced(home: Path, hooks: StopHooks) -> None:
    (home / ".codex").mkdir()
    (home / ".codex" / "config.toml").write_text('notify = ["say"]\n')
    with pytest.raises(ConfigError, match="already"):
        hooks.install("codex", PROGRAM)
    assert (home / ".codex" / "config.toml").read_text() == 'notify = ["say"]\n'


def test_the_variable_that_moves_an_agents_folder_is_followed(
    home: Path, hooks: StopHooks, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "elsewhere"))
    assert hooks.install("claude", PROGRAM).file == tmp_path / "elsewhere" / "settings.json"


def test_agents_whose_hooks_nobody_can_write_are_named(hooks: StopHooks) -> None:
    assert hooks.agents == ["claude", "codex", "gemini", "qwen"]
    with pytest.raises(UsageError, match="aider"):
        hooks.install("aider", PROGRAM)


@pytest.mark.parametrize(
    ("event", "payload", "answer"),
    [
        ("Stop", {"hook_event_name": "Stop", "last_assistant_message": "Done.", "stop_hook_active": False}, "Done."),
        ("AfterAgent", {"hook_event_name": "AfterAgent", "prompt": "x", "prompt_response": "Done."}, "Done."),
        (
            "agent-turn-complete",
            {"type": "agent-turn-complete", "input-messages": ["x"], "last-assistant-message": "Done."},
            "Done.",
        ),
        ("Stop", {"last_assistant_message": None}, ""),
        ("Stop", {"last_assistant_message": "x" * (MAX_ANSWER + 1)}, "x" * MAX_ANSWER),
    ],
)
def test_a_report_is_read_in_its_agents_words(event: str, payload: dict[str, object], answer: str) -> None:
    assert read_stop(payload, event) == Stop(answer=answer)


def test_a_report_of_something_else_is_none_of_a_stop() -> None:
    assert read_stop({"hook_event_name": "SubagentStop"}, "Stop") is None


@given(st.dictionaries(st.text(), st.recursive(st.none() | st.text() | st.integers(), st.lists), max_size=5))
@settings(suppress_health_check=[HealthCheck.too_slow])
def test_any_report_is_read_without_raising(payload: dict[str, object]) -> None:
    read_stop(payload, "Stop")
