"""Profiles, configurations, prompts and agents' records as an attacker leaves them: refused at once, or not read."""

import contextlib
import os
import sqlite3
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import pytest

from streamrelay.agents import load_profiles, shipped_profiles
from streamrelay.agents.files import MAX_SIZE as MAX_CONFIGURATION
from streamrelay.agents.files import read_text
from streamrelay.agents.lanes.inbox import session_inbox
from streamrelay.agents.patterns import PatternError, compile_pattern
from streamrelay.agents.transcript_files import is_transcript_of, transcript_files
from streamrelay.agents.witnesses.database import AgentDatabase
from streamrelay.agents.witnesses.process import AgentProcess
from streamrelay.config.files import load
from streamrelay.config.own_text import MAX_SIZE
from streamrelay.errors import ConfigError
from streamrelay.gathering.library import load_rhythms, load_texts

CLAUDE = next(profile for profile in shipped_profiles() if profile.name == "claude")
NOBODY = 65534
PROFILE = 'title = "x"\n[recognise]\ncommands = ["x"]\n[start]\ncommand = ["/tmp/evil"]\n'
needs_root = pytest.mark.skipif(os.getuid() != 0, reason="only root can give a file away")

READERS: dict[str, tuple[str, Callable[[Path], object]]] = {
    "profiles": ("agents.d/x.toml", lambda folder: load_profiles(folder / "agents.d")),
    "prompts": ("gatherings/prompts/seed.md", lambda folder: load_texts(folder / "gatherings")),
    "rhythms": ("gatherings/rhythms/x.md", lambda folder: load_rhythms(folder / "gatherings")),
    "configuration": (
        "streamrelay/config.toml",
        lambda folder: load(project=False, environment={"XDG_CONFIG_HOME": str(folder)}),
    ),
}


def socket_at(path: Path) -> None:
    import socket

    with socket.socket(socket.AF_UNIX) as made:
        made.bind(str(path))


HOSTILE: dict[str, Callable[[Path], object]] = {
    "a pipe": os.mkfifo,
    "a device without an end": lambda path: path.symlink_to("/dev/zero"),
    "a socket": socket_at,
    "a folder": Path.mkdir,
    "two gigabytes": lambda path: (path.touch(), os.truncate(path, 2 << 30)),
    "no UTF-8": lambda path: path.write_bytes(b'title = "\xff\xfe"\n'),
    "a link to itself": lambda path: path.symlink_to(path),
}


@pytest.mark.requirement("OPS-07")
@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("kind", HOSTILE)
@pytest.mark.timeout(60)  # a reader that waits for a pipe, or reads /dev/zero, never ends
def test_a_file_that_decides_what_runs_is_a_plain_one_of_limited_size(tmp_path: Path, reader: str, kind: str) -> None:
    place, read = READERS[reader]
    path = tmp_path / place
    path.parent.mkdir(parents=True)
    HOSTILE[kind](path)
    with pytest.raises(ConfigError) as raised:
        read(tmp_path)
    assert str(path) in raised.value.message


@pytest.mark.requirement("OPS-07")
@pytest.mark.parametrize("reader", READERS)
def test_what_every_user_can_change_is_not_taken(tmp_path: Path, reader: str) -> None:
    place, read = READERS[reader]
    path = tmp_path / place
    path.parent.mkdir(parents=True)
    path.write_text("")
    path.chmod(0o666)
    with pytest.raises(ConfigError, match="every user of this machine can change it") as raised:
        read(tmp_path)
    assert raised.value.hint == f"chmod o-w {path}"
    path.unlink()
    if reader != "configuration":
        path.parent.chmod(0o777)
        with pytest.raises(ConfigError, match="every user of this machine can change it"):
            read(tmp_path)


@needs_root
@pytest.mark.requirement("OPS-07")
def test_a_profile_of_another_user_is_not_taken_not_even_over_a_link(tmp_path: Path) -> None:
    folder = tmp_path / "agents.d"
    folder.mkdir()
    theirs = tmp_path / "theirs.toml"
    theirs.write_text(PROFILE)
    (folder / "x.toml").symlink_to(theirs)
    # A link out of the folder is how people keep their configuration in a repository.
    assert "x" in {profile.name for profile in load_profiles(folder)}
    os.chown(theirs, NOBODY, NOBODY)
    with pytest.raises(ConfigError, match="belongs to another user"):
        load_profiles(folder)


def test_the_largest_file_that_is_taken_is_read_whole(tmp_path: Path) -> None:
    (tmp_path / "x.toml").write_text(PROFILE + "#" * (MAX_SIZE - len(PROFILE)))
    assert "x" in {profile.name for profile in load_profiles(tmp_path)}


@pytest.mark.parametrize(
    "text",
    [
        r"^(?:(?:ab)+)+$", r"^(?:ab|a|b)+\d", r"^(?:(?:foo)+|fo+|o)*\d", r"^(?:(?:xy|xyxy)+)+\d",
        r"^(?:(?:a b|a ba b)+)+\d", r"^(?:(?:\u03b1\u03b2|\u03b1|\u03b2)+)+\d", r"^(([a-z])+.)+[A-Z]([a-z])+$",
        r"(?:(?:(?:a{1,1000}){1,1000}){1,1000})!",
    ],
)  # fmt: skip
def test_a_pattern_that_backtracks_without_end_on_words_is_refused(text: str) -> None:
    with pytest.raises(PatternError, match="too long"):
        compile_pattern(text)


def test_the_shipped_patterns_are_quick_on_the_words_of_their_repeated_groups() -> None:
    for profile in shipped_profiles():
        for pattern in profile.patterns:
            compile_pattern(pattern.compiled.pattern, seen=pattern.seen)


@pytest.mark.parametrize(
    "path", ["/a\0b", "/\ud800", "/" + "a" * 5000, "/" + "a/" * 5000, "", "../../../../etc/passwd"]
)
def test_a_path_that_a_hook_names_and_that_can_be_none_is_no_transcript(tmp_path: Path, path: str) -> None:
    assert not is_transcript_of(CLAUDE, Path(path), {"HOME": str(tmp_path)})
    if path.startswith("/"):
        assert transcript_files(CLAUDE, {"HOME": path}) == []
        assert not is_transcript_of(CLAUDE, tmp_path / "x", {"CLAUDE_CONFIG_DIR": path})


def test_a_link_to_itself_and_a_way_out_of_the_folder_are_no_transcripts(tmp_path: Path) -> None:
    projects = tmp_path / ".claude" / "projects" / "x"
    projects.mkdir(parents=True)
    (projects / "loop.jsonl").symlink_to(projects / "loop.jsonl")
    (tmp_path / "secret.jsonl").write_text("{}")
    (projects / "out.jsonl").symlink_to(tmp_path / "secret.jsonl")
    for name in ("loop.jsonl", "out.jsonl", "../../../secret.jsonl"):
        assert not is_transcript_of(CLAUDE, projects / name, {"HOME": str(tmp_path)}), name


@pytest.mark.timeout(30)
def test_an_agents_configuration_or_record_of_a_session_keeps_no_reader_waiting(tmp_path: Path) -> None:
    path = tmp_path / "settings.json"
    path.touch()
    os.truncate(path, MAX_CONFIGURATION + 1)
    with pytest.raises(ConfigError, match="bytes"):
        read_text(path)
    sessions = tmp_path / ".claude" / "sessions"
    sessions.mkdir(parents=True)
    os.mkfifo(sessions / "7.json")
    process = AgentProcess(7, os.getuid(), 0.0, tmp_path, {"HOME": str(tmp_path)}, frozenset())
    assert session_inbox([process]) is None


ENDLESS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT"
DATABASES: dict[str, tuple[str, str]] = {
    "a view without an end": (
        f"CREATE VIEW message AS {ENDLESS} i AS id, 's' AS session_id, i AS time_created, i AS time_updated",
        "",
    ),
    "a time that is no number": (
        "CREATE TABLE message (id, session_id, time_created, time_updated, data)",
        "INSERT INTO message VALUES ('m', 's', 'then', 5, '{\"role\": \"user\"}')",
    ),
    "a message that is a blob": (
        "CREATE TABLE message (id, session_id, time_created, time_updated, data)",
        "INSERT INTO message VALUES (x'00ff', 's', 5, 5, x'00ff')",
    ),
    "a message of 100 MB": (
        "CREATE TABLE message (id, session_id, time_created, time_updated, data)",
        "INSERT INTO message VALUES ('m', 's', 5, 5, '{\"role\":\"user\",\"\":\"' || hex(zeroblob(49999990)) || '\"}')",
    ),
}


@pytest.mark.parametrize("kind", DATABASES)
@pytest.mark.timeout(60)
def test_a_forged_database_of_an_agent_says_nothing_and_keeps_no_reader_waiting(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "opencode.db"
    created, filled = DATABASES[kind]
    with contextlib.closing(sqlite3.connect(path)) as database:
        database.execute("CREATE TABLE session (id, parent_id, directory)")
        database.execute("CREATE TABLE part (id, message_id, session_id, time_created, data)")
        database.execute("INSERT INTO session VALUES ('s', NULL, ?)", (str(tmp_path),))
        database.execute("INSERT INTO part VALUES ('p', 'm', 's', 5, '{\"type\": \"text\", \"text\": \"forged\"}')")
        database.execute(created)
        database.execute(filled or "SELECT 1")
        database.commit()
    process = AgentProcess(7, os.getuid(), 0.0, tmp_path, {"HOME": str(tmp_path)}, frozenset({path}))
    tracemalloc.start()
    try:
        read = AgentDatabase(lambda: [process], since=0.0).read()
        assert tracemalloc.get_traced_memory()[1] < 20_000_000
    finally:
        tracemalloc.stop()
    assert read.passages == ()


@pytest.mark.timeout(60)
def test_a_pipe_in_the_place_of_an_agents_database_keeps_no_reader_waiting(tmp_path: Path) -> None:
    path = tmp_path / "opencode.db"
    os.mkfifo(path, 0o600)
    process = AgentProcess(7, os.getuid(), 0.0, tmp_path, {"HOME": str(tmp_path)}, frozenset({path}))
    assert AgentDatabase(lambda: [process], since=0.0).read().reason == "unreadable"
