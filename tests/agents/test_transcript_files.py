"""Folders and files as anybody may have left them: what is read is bounded, and nothing waits or wanders."""

import os
import tracemalloc
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from streamrelay.agents import shipped_profiles
from streamrelay.agents import transcript_files as files
from streamrelay.agents.transcript_files import MAX_LINE, is_transcript_of, lines_from_the_end, transcript_files
from streamrelay.agents.transcripts import last_answer
from tests.sampling import examples

CLAUDE = next(profile for profile in shipped_profiles() if profile.name == "claude")


@pytest.fixture
def home(tmp_path: Path) -> Path:
    # What looks like a pattern in a user's name is none.
    home = tmp_path / "[h]ome"
    (home / ".claude" / "projects" / "-home-ann").mkdir(parents=True)
    return home


def listed(home: Path, **variables: str) -> list[str]:
    return [one.path.name for one in transcript_files(CLAUDE, {"HOME": str(home), **variables})]


def test_transcripts_are_listed_the_newest_first(home: Path) -> None:
    for number, name in enumerate(("a.jsonl", "c.jsonl", "b.jsonl", "d.txt")):
        file = home / ".claude/projects/-home-ann" / name
        file.write_text("x" * number)
        os.utime(file, (1_795_000_000 + number,) * 2)
    assert listed(home) == ["b.jsonl", "c.jsonl", "a.jsonl"]
    assert [one.size for one in transcript_files(CLAUDE, {"HOME": str(home)})] == [2, 1, 0]


def test_the_variable_that_moves_an_agents_folder_is_followed_and_so_is_a_link_to_it(home: Path) -> None:
    (home / ".claude/projects/-home-ann/a.jsonl").touch()
    elsewhere = home / "elsewhere"
    assert listed(home, CLAUDE_CONFIG_DIR=str(elsewhere)) == []
    (home / ".claude").rename(elsewhere)
    assert listed(home, CLAUDE_CONFIG_DIR=str(elsewhere)) == ["a.jsonl"]
    (home / ".claude").symlink_to(elsewhere)
    assert listed(home) == ["a.jsonl"]
    assert is_transcript_of(CLAUDE, elsewhere / "projects/-home-ann/a.jsonl", {"HOME": str(home)})


@pytest.mark.requirement("HIS-02b")
def test_no_link_leads_out_of_the_folder_and_nothing_but_a_plain_file_is_opened(home: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret.jsonl").write_text('{"type":"assistant","message":{"content":"a secret"}}\n')
    projects = home / ".claude" / "projects"
    (projects / "out").symlink_to(outside)
    inside = projects / "-home-ann"
    (inside / "linked.jsonl").symlink_to(outside / "secret.jsonl")
    (inside / "round.jsonl").symlink_to(inside)
    os.mkfifo(inside / "pipe.jsonl")
    (inside / "folder.jsonl").mkdir()
    (inside / "plain.jsonl").touch()
    assert listed(home) == ["plain.jsonl"]
    # What has become something else since it was listed is not read either, and nobody waits for a pipe's other end.
    for name in ("linked.jsonl", "pipe.jsonl", "folder.jsonl", "gone.jsonl", "plain.jsonl"):
        assert list(lines_from_the_end(inside / name)) == []
        assert last_answer(inside / name) == ""
    assert list(lines_from_the_end(Path("/dev/zero"))) == []


@settings(max_examples=examples(60), deadline=None)
@given(
    st.lists(st.binary(max_size=40).map(lambda line: line.replace(b"\n", b"")), max_size=12),
    st.integers(1, 30),
    st.integers(1, 60),
    st.booleans(),
)
def test_the_lines_are_those_of_the_file_however_it_is_cut_into_blocks(
    tmp_path_factory: pytest.TempPathFactory, lines: list[bytes], block: int, longest: int, ended: bool
) -> None:
    file = tmp_path_factory.getbasetemp() / "cut.jsonl"
    file.write_bytes(b"\n".join(lines) + (b"\n" if ended else b""))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(files, "_BLOCK", block)
        patch.setattr(files, "MAX_LINE", longest)
        read = [line for line in lines_from_the_end(file) if line]
    # Within one block a line may be longer than that: nothing more is held for it.
    assert [line for line in read if len(line) <= longest] == [
        line for line in reversed(lines) if line and len(line) <= longest
    ]
    assert all(len(line) <= max(block, longest) for line in read)


@pytest.mark.requirement("HIS-02b")
def test_a_line_of_100_megabytes_is_passed_over_in_little_memory(tmp_path: Path) -> None:
    file = tmp_path / "long.jsonl"
    with file.open("wb") as written:
        written.write(b"first\n")
        for _ in range(100):
            written.write(b"x" * 2**20)
        written.write(b"\nlast\n")
    tracemalloc.start()
    try:
        assert list(lines_from_the_end(file)) == [b"", b"last", b"first"]
        assert tracemalloc.get_traced_memory()[1] < 3 * MAX_LINE
    finally:
        tracemalloc.stop()


def test_of_the_end_alone_only_whole_lines_are_read(tmp_path: Path) -> None:
    file = tmp_path / "file.jsonl"
    file.write_bytes(b"one\ntwo\nthree\n")
    assert list(lines_from_the_end(file, most=8)) == [b"", b"three"]
    assert list(lines_from_the_end(file, most=10)) == [b"", b"three"]
    assert list(lines_from_the_end(file, most=1000)) == [b"", b"three", b"two", b"one"]
