"""The program that Codex notifies: one line on top of a TOML file, which goes without a trace."""

import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamrelay.agents.notify_file import TomlError, install, installed, remove

PROGRAM = ["/opt/a b/streamrelay"]
WORDS = [*PROGRAM, "hook", "codex"]
LINES = st.lists(
    st.sampled_from([
        "# notify = []", "", "  ", 'model = "x"', "a.b = 1", "[tui]", 'notifications = ["a"]', "[[x]]",
        's = """\nnotify = 1\n"""', "y = [\n  1, # one\n]", "notify_x = 2",
    ]),
    unique=True,
)  # fmt: skip


def is_toml(text: str) -> bool:
    try:
        tomllib.loads(text.lstrip("\ufeff"))
    except tomllib.TOMLDecodeError:
        return False
    return True


FILES = st.builds(
    lambda mark, lines, end, last: mark + end.join(lines).replace("\n", end) + last,
    st.sampled_from(["", "\ufeff"]),
    LINES,
    st.sampled_from(["\n", "\r\n"]),
    st.sampled_from(["", "\n"]),
).filter(is_toml)


@pytest.mark.requirement("AGT-03b")
@given(FILES)
def test_what_was_put_in_is_taken_out_to_the_byte(text: str) -> None:
    with_hook = install(text, PROGRAM, "codex")
    assert installed(with_hook, "codex") == WORDS
    assert remove(with_hook, "codex") == text
    assert install(with_hook, PROGRAM, "codex") == with_hook
    read = tomllib.loads(with_hook.lstrip("\ufeff"))
    assert read.pop("notify") == WORDS
    assert read == tomllib.loads(text.lstrip("\ufeff"))


@pytest.mark.requirement("AGT-03b")
@pytest.mark.parametrize(
    "written",
    [
        "notify = ['/opt/streamrelay', 'hook', 'codex']\n",
        'notify=[\n  "streamrelay",  # ours\n  "hook",\n  "codex",\n]\n',
        '  notify = ["/opt/streamrelay", "hook", "codex"] # mine\r\n',
    ],
)
def test_it_is_taken_out_however_it_is_written_now(written: str) -> None:
    assert remove(f'a = 1\n{written}b = "x"\n[t]\n', "codex") == 'a = 1\nb = "x"\n[t]\n'


def test_a_program_of_the_users_stays() -> None:
    text = 'notify = ["say", "done"]\n'
    assert remove(text, "codex") == text
    with pytest.raises(TomlError, match="already"):
        install(text, PROGRAM, "codex")


@pytest.mark.requirement("AGT-03b")
def test_the_program_of_another_profile_is_not_this_ones() -> None:
    text = install("", PROGRAM, "mycodex")
    assert installed(text, "mycodex") == [*PROGRAM, "hook", "mycodex"]
    assert installed(text, "codex") is None
    assert remove(text, "codex") == text
    with pytest.raises(TomlError, match="already"):
        install(text, PROGRAM, "codex")
    assert remove(text, "mycodex") == ""


@pytest.mark.parametrize("text", ["a = ", "\x00", '"""'])
def test_what_is_no_toml_is_refused(text: str) -> None:
    with pytest.raises(TomlError):
        install(text, PROGRAM, "codex")
    with pytest.raises(TomlError):
        remove(text, "codex")
