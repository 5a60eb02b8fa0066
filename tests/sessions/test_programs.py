"""Where a program is looked up, and what is said of one that is not there; nothing is started."""

import os
from pathlib import Path

import pytest

from streamrelay.errors import StartFailed
from streamrelay.sessions.programs import find_program, own_search_path
from streamrelay.sessions.start_failure import MAX_CHARACTERS, MAX_ROWS, last_words, read_foreground, start_failure

pytestmark = pytest.mark.requirement("AGT-06")


def executable(path: Path) -> str:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)
    return str(path)


def test_the_first_folder_of_the_path_that_has_it_wins(tmp_path: Path) -> None:
    first, second = executable(tmp_path / "a" / "sprout"), executable(tmp_path / "b" / "sprout")
    path = [str(tmp_path / name) for name in ("none", "a", "b")]
    assert find_program("sprout", search_path=os.pathsep.join(path), cwd="/") == first
    assert find_program("sprout", search_path=os.pathsep.join(reversed(path)), cwd="/") == second


@pytest.mark.parametrize("entry", ["bin", "./bin", ""])
def test_what_is_relative_is_relative_to_where_it_starts(tmp_path: Path, entry: str) -> None:
    there = Path(executable(tmp_path / entry / "sprout"))
    assert Path(find_program("sprout", search_path=f"/none:{entry}", cwd=str(tmp_path))) == there
    assert Path(find_program(f"./{entry}/sprout", search_path="", cwd=str(tmp_path))) == there
    assert find_program(str(there), search_path="", cwd="/") == str(there)


def test_a_program_that_is_not_found_names_what_was_searched(tmp_path: Path) -> None:
    (tmp_path / "sprout").write_text("not executable")
    with pytest.raises(StartFailed, match=f"program not found: sprout .searched the PATH: {tmp_path}:/none") as raised:
        find_program("sprout", search_path=f"{tmp_path}:/none", cwd="/")
    assert raised.value.data == {"program": "sprout", "search_path": f"{tmp_path}:/none"}
    assert "absolute path" in raised.value.hint
    with pytest.raises(StartFailed, match="permission denied"):
        find_program("./sprout", search_path="", cwd=str(tmp_path))
    with pytest.raises(StartFailed, match=f"program not found: {tmp_path}/other"):
        find_program("./other", search_path=str(tmp_path), cwd=str(tmp_path))


def test_a_folder_whose_name_is_no_text_is_left_out_of_the_path() -> None:
    assert own_search_path({"PATH": "/a:/\udcff:/b"}) == "/a:/b"
    assert own_search_path({}) == os.defpath


def test_last_words_are_bounded_and_fit_for_a_terminal() -> None:
    rows = [*(f"row {number}" for number in range(40)), "\x1b]0;x\x07bell\u202e  ", "", "Pane is dead (status 3)"]
    said = last_words(rows).split("\n")
    assert said == [*(f"row {number}" for number in range(40 - MAX_ROWS + 1, 40)), "]0;xbell"]
    assert len(last_words(["x" * 10_000])) == MAX_CHARACTERS


@pytest.mark.parametrize(
    ("line", "how"),
    [
        ("%3\t1\t3\t\tsh", "exit status 3"),
        ("%3\t1\t\t11\tsh", "killed by signal 11"),
        ("%3\t1\t\tkill\tsh", "killed by kill"),
        ("%3\t1\t\t\tsh", "tmux does not say how"),
    ],
)
def test_the_error_says_how_the_program_ended(line: str, how: str) -> None:
    error = start_failure("sprout", read_foreground(line, "%3"), ["alas"])
    assert error.message == f"sprout ended before it was ready ({how}); it printed last:\nalas"
    assert read_foreground(line, "%4") is None
    assert start_failure("sprout", None, []).message == "sprout ended before it was ready (its pane was closed)"
