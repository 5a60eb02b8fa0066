import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamrelay.control.quoting import check_line, command_line, quote
from streamrelay.errors import BadCommand


def unquote(word: str) -> bytes:
    """What tmux makes of a double-quoted word that holds nothing but text and octal."""
    assert word[0] == word[-1] == '"'
    inner = word[1:-1]
    assert '"' not in inner
    assert "$" not in inner
    return re.sub(rb"\\([0-7]{3})", lambda octal: bytes((int(octal[1], 8),)), inner.encode("ascii"))


@pytest.mark.parametrize(
    ("text", "quoted"),
    [
        ("", '""'),
        ("plain text ; #{x} #() 'q' %1 {a}", "\"plain text ; #{x} #() 'q' %1 {a}\""),
        ('say "hi"', r'"say \042hi\042"'),
        ("a\\b", r'"a\134b"'),
        ("$HOME", r'"\044HOME"'),
        ("~/x", r'"\176/x"'),
        ("a\nb\x1b", r'"a\012b\033"'),
        ("é", r'"\303\251"'),
        (b"\xff\x7f", r'"\377\177"'),
        ("\udcff", r'"\377"'),
    ],
)
def test_only_printable_ascii_without_a_meaning_stands_for_itself(text: str | bytes, quoted: str) -> None:
    assert quote(text) == quoted


@given(st.binary().filter(lambda data: b"\0" not in data))
def test_every_text_but_nul_survives(data: bytes) -> None:
    assert unquote(quote(data)) == data


@pytest.mark.parametrize("text", ["a\0b", b"\0", "\ud800"])
def test_text_that_tmux_cannot_hold_is_refused(text: str | bytes) -> None:
    with pytest.raises(BadCommand):
        quote(text)


def test_commands_are_joined_on_one_line() -> None:
    assert command_line(["set-buffer", "-b", "x", "--", "a;b"], ["paste-buffer", "-t", "%3"]) == (
        '"set-buffer" "-b" "x" "--" "a;b" ; "paste-buffer" "-t" "%3"'
    )


@pytest.mark.parametrize("commands", [(), ([],), (["a"], [])])
def test_no_command_is_no_line(commands: tuple[list[str], ...]) -> None:
    with pytest.raises(BadCommand):
        command_line(*commands)


@pytest.mark.parametrize(
    "line",
    [
        "",
        "   ",
        "\t",
        "a\nb",
        "a\rb",
        "a\n",
        "a\0",
        "a ;",
        "a \\",
        "\ud800",
        'a "b',
        "a 'b",
        'a "b\\" c',
        "a 'b' \"c'",
        'a\\" "b\\\\" "',
        "a#'b",
    ],
)
def test_a_line_that_would_detach_or_run_into_the_next_is_refused(line: str) -> None:
    with pytest.raises(BadCommand):
        check_line(line)


@pytest.mark.parametrize(
    "line",
    [
        "a", r"bind-key x a \;", 'display-message ";"', "# comment", "display-message é", "# it's", "a # b's",
        """a "it's" b""", """a 'say "' b""", r'a "\"" b', r"a \' b", r'a "b\\" "c"', 'a "#{b}" "# c"', "a b'c'd\"e\"f",
    ],
)  # fmt: skip
def test_other_lines_pass_as_they_are(line: str) -> None:
    assert check_line(line) == line.encode()
