"""What is typed and how it is written down: command lines, sanitising, shells. Pure."""

import os
import unicodedata
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamrelay.delivery.commands import DeliveryMark, PaneRefusal, Seen, enter_line, paste_line, read_refusal
from streamrelay.delivery.message import Message
from streamrelay.delivery.sanitise import removed_from, sanitised
from streamrelay.delivery.spool import KEPT, forget_old, spool
from streamrelay.errors import BadCommand
from streamrelay.panes.shells import is_shell

MARK = DeliveryMark(7, "m1")


@given(st.text())
def test_a_line_is_one_line_of_printable_ascii_whatever_the_text(text: str) -> None:
    try:
        line = paste_line("%1", "b", text, "cat", MARK)
    except BadCommand:
        assert "\0" in text or any(unicodedata.category(character) == "Cs" for character in text)
        return
    assert line.isascii()
    assert line.isprintable()


@pytest.mark.requirement("DLV-05a")
def test_the_program_is_compared_in_the_line_of_the_paste_and_of_the_enter() -> None:
    for line in (paste_line("%1", "b", "text", "cat", MARK), enter_line("%1", "cat", MARK)):
        assert "#{==:#{pane_current_command},cat}" in line
        assert "streamrelay-refused" in line


@pytest.mark.requirement("DLV-05a")
def test_what_was_seen_of_the_program_is_compared_there_too() -> None:
    for seen, asks, moves in ((Seen(), 0, 0), (Seen(asks=True), 1, 0), (Seen(asks=True, cursor=(7, 3)), 1, 2)):
        line = paste_line("%1", "b", "text", "cat", MARK, seen=seen)
        # Besides, the refusal tells of both.
        assert line.count("bracket_paste_flag") == 1 + asks
        assert line.count("#{!=:#{cursor_x} #{cursor_y},7 3}") == moves


@pytest.mark.parametrize(
    ("lines", "refusal"),
    [
        ([b"streamrelay-refused 0 0 1 0 1 a b"], PaneRefusal(False, False, True, False, True, "a b")),
        ([b"streamrelay-refused 1 1 0 1 0 "], PaneRefusal(True, True, False, True, False, "")),
        ([b"streamrelay-refused 1 1"], None),
        ([b"a hook's words, as many as there would be"], None),
        ([], None),
    ],
)
def test_a_refusal_is_read(lines: list[bytes], refusal: PaneRefusal | None) -> None:
    assert read_refusal(lines) == refusal


def test_a_programs_name_is_no_format() -> None:
    assert "#{==:#{pane_current_command},a#,b#}c##d}" in enter_line("%1", "a,b}c#d", MARK)


@pytest.mark.requirement("DLV-06a")
@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("end \x1b[201~ of paste", "end [201~ of paste"),
        ("submit\rnow", "submitnow"),
        ("two\r\nlines", "two\nlines"),
        ("\x9b201~ eight-bit", "201~ eight-bit"),
        ("bell\x07 null\x00 del\x7f nel\x85", "bell null del nel"),
        ("line\u2028paragraph\u2029bom\ufeff", "lineparagraphbom"),
        ("lone \ud800 surrogate", "lone  surrogate"),
        ("\u202eoverride\u202c \u2066isolate\u2069", "override isolate"),
        ("^C\x03 ^D\x04 ^Z\x1a ^U\x15", "^C ^D ^Z ^U"),
    ],
)
def test_what_a_terminal_takes_for_a_command_is_removed(text: str, left: str) -> None:
    assert sanitised(text) == left


@pytest.mark.requirement("DLV-06a")
@pytest.mark.parametrize(
    "text",
    [
        "plain",
        "tab\tand\nline feed",
        "日本語 é 👩‍🚀 e\u0301",
        "עברית مرحبا",
        "  blanks  ",
        "$(x) `y` \\ ' \" ; #{z}",
        "",
    ],
)
def test_otherwise_the_text_is_exact(text: str) -> None:
    assert sanitised(text) == text


@given(st.text())
def test_sanitising_leaves_text_that_stays_as_it_is(text: str) -> None:
    once = sanitised(text)
    assert sanitised(once) == once
    assert not [c for c in once if unicodedata.category(c) in {"Cc", "Cs"} and c not in "\n\t"]
    once.encode()


@pytest.mark.parametrize("command", ["sh", "bash", "-bash", "zsh", "-zsh", "fish", "/bin/dash", "pwsh", "nu"])
def test_shells_are_known(command: str) -> None:
    assert is_shell(command)


@pytest.mark.parametrize("command", ["cat", "python3", "ssh", "bash.exe.py", "", "claude", "shell"])
def test_other_programs_are_none(command: str) -> None:
    assert not is_shell(command)


def test_copy_mode_is_left_in_the_line_of_the_paste_and_of_the_enter() -> None:
    for line in (paste_line("%1", "b", "text", "cat", MARK), enter_line("%1", "cat", MARK)):
        assert line.index("cancel") < line.index("#{pane_in_mode}") < line.index("pane_current_command")


@given(st.text())
def test_what_was_removed_is_counted(text: str) -> None:
    assert len(text) - len(sanitised(text)) == sum(removed_from(text).values())


def test_what_was_removed_is_named() -> None:
    assert removed_from("a\x1b[201~b\r\n\x1b\x9b") == {"U+000D": 1, "U+001B": 2, "U+009B": 1}


@pytest.mark.requirement("DLV-06b")
def test_a_text_in_a_file_is_the_users_alone_and_the_pointer_says_whose_it_is(tmp_path: Path) -> None:
    message = Message("m1", "Ann (1):\n\nlong\r text", head="Ann (1):")
    (tmp_path / "m1.7.txt").symlink_to(tmp_path / "elsewhere")
    path, instead = spool(message, "%7", tmp_path)
    assert not (tmp_path / "elsewhere").exists()
    assert path.read_bytes() == message.text.encode()
    assert path.stat().st_mode & 0o777 == 0o600
    assert instead.message_id == "m1"
    assert instead.text.startswith("Ann (1):\n\n[This message has 10 characters")
    assert str(path) in instead.text
    assert sanitised(instead.text) == instead.text


def test_files_are_kept_for_a_while(tmp_path: Path) -> None:
    for name in ("old", "new"):
        spool(Message(name, "x"), "%1", tmp_path)
    os.utime(tmp_path / "old.1.txt", (1, 1))
    forget_old(tmp_path, KEPT + 2)
    assert [path.name for path in tmp_path.iterdir()] == ["new.1.txt"]


def test_all_who_listen_have_files_of_their_own_written_at_the_same_time(tmp_path: Path) -> None:
    message = Message("m1", "long text")
    with ThreadPoolExecutor(4) as threads:
        for _ in range(50):
            written = list(threads.map(lambda number: spool(message, f"%{number}", tmp_path)[0], range(4)))
            assert {path.read_text() for path in written} == {"long text"}
            assert len(set(written)) == 4
