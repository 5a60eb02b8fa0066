"""The terminal's echo of a key that interrupts, suspends or quits is typed, wherever it stands in a line."""

import pytest

from streamrelay.delta.printing.key_echo import KeyEcho, head_of_last_key
from streamrelay.events import Live
from streamrelay.testing.scripted_pane import ScriptedPane

ASKS, WITHDRAWS = "\x1b[?2004h", "\x1b[?2004l"
READLINE = f"{ASKS}$ ", f"\r\n{WITHDRAWS}\r"
PLAIN = "$ ", "\r\n"


def shell(kind: tuple[str, str] = READLINE) -> ScriptedPane:
    """Return a pane whose shell has run a command before, so that its prompt is known."""
    pane = ScriptedPane()
    for _ in range(2):
        pane.prints(kind[0])
        pane.rests(0.5)
        runs(pane, "true", kind)
    pane.prints(kind[0])
    pane.rests(0.5)
    pane.events.clear()
    return pane


def runs(pane: ScriptedPane, command: str, kind: tuple[str, str] = READLINE) -> None:
    """Let a person type a command at the prompt, key by key."""
    for key in command:
        pane.prints(key)
        pane.rests(0.05)
    pane.prints(kind[1])


def words(pane: ScriptedPane) -> list[tuple[str, str]]:
    """Return the lines but for typed commands, with their origins."""
    return [(text.origin, text.text) for text in pane.texts()][1:]


@pytest.mark.parametrize("kind", [READLINE, PLAIN], ids=["readline", "plain"])
@pytest.mark.parametrize("key", ["^C", "^Z", "^\\"])
def test_a_quiet_command_is_interrupted(kind: tuple[str, str], key: str) -> None:
    pane = shell(kind)
    runs(pane, "sleep 9", kind)
    pane.rests(0.7)
    pane.prints(f"{key}\r\n{kind[0]}")
    pane.rests()
    assert words(pane) == [("typed", key)]
    assert key not in [event.text for event in pane.events if isinstance(event, Live)]


@pytest.mark.parametrize("kind", [READLINE, PLAIN], ids=["readline", "plain"])
@pytest.mark.parametrize("read_size", [None, 1], ids=["one read", "read by byte"])
def test_a_flood_is_interrupted(kind: tuple[str, str], read_size: int | None) -> None:
    pane = shell(kind)
    runs(pane, "yes", kind)
    for _ in range(100):
        pane.prints("tick\r\n" * 3)
        pane.rests(0.005)
    pane.prints(f"tick\r\nti^C\r\n{kind[0]}", read_size=read_size)
    pane.rests()
    assert words(pane) == [("program", "tick")] * 301 + [("program", "ti"), ("typed", "^C")]


def test_what_the_program_says_of_the_interrupt_follows_on_the_same_row_or_below() -> None:
    pane = shell()
    runs(pane, "up")
    for last in ("^CGracefully stopping\r\n", "^C\r\n--- statistics ---\r\n", f"^\\Quit (core dumped)\r\n{ASKS}$ "):
        pane.prints("up\r\n")
        pane.rests(1)
        pane.prints(last)
    pane.rests()
    said = [("typed", "^C"), ("program", "Gracefully stopping"), ("typed", "^C"), ("program", "--- statistics ---")]
    said += [("typed", "^\\"), ("program", "Quit (core dumped)")]
    assert [word for word in words(pane) if word[1] != "up"] == said


def test_a_program_that_ignores_the_key_goes_on_behind_it() -> None:
    pane = shell()
    runs(pane, "stubborn")
    pane.prints("half")
    pane.rests(0.5)
    pane.prints("^C")
    pane.rests(0.5)
    pane.prints("^C")
    pane.rests(0.5)
    pane.prints("line\r\n")
    pane.rests()
    assert words(pane) == [("program", "half"), ("typed", "^C^C"), ("program", "line")]


def test_a_program_prints_such_rows_itself() -> None:
    pane = shell()
    runs(pane, "printf")
    pane.prints(f"^C\r\nafter\r\n^Z\r\n{ASKS}$ ")
    pane.rests(0.5)
    assert words(pane) == [("program", "^C"), ("program", "after"), ("program", "^Z")]


def test_a_hint_that_names_the_key_is_the_programs() -> None:
    pane = shell()
    runs(pane, "serve")
    pane.rests(1)
    pane.prints("^C to quit\r\n")
    pane.rests(1)
    pane.prints(f"Leave with ^C\r\n{ASKS}$ ")
    pane.rests()
    assert words(pane) == [("program", "^C to quit"), ("program", "Leave with ^C")]


def test_a_list_of_keys_that_does_not_end_in_one_is_the_programs() -> None:
    pane = shell()
    runs(pane, "keys")
    pane.rests(1)
    pane.prints(f"stop:\r\n^C\r\nsuspend:\r\n^Z\r\nthat is all\r\n{ASKS}$ ")
    pane.rests()
    assert words(pane) == [("program", line) for line in ("stop:", "^C", "suspend:", "^Z", "that is all")]


def test_the_key_ends_an_unfinished_line_of_a_shell_that_marks_it() -> None:
    pane = shell()
    runs(pane, "sleep 9")
    pane.rests(1)
    pane.prints("^C\x1b[7m%\x1b[27m" + " " * 79 + f"\r \r\r$ {ASKS}")
    pane.rests()
    assert words(pane) == [("typed", "^C")]


@pytest.mark.parametrize("end", ["\x1b[7m%\x1b[27m", "\x1b[2m⏎\x1b[m"], ids=["zsh", "fish"])
@pytest.mark.parametrize(("printed", "rest"), [("tick\r\n", 0), ("tick\r\n", 0.3), ("tick\r\nti", 0)])
def test_a_shell_that_marks_unfinished_lines_ends_the_one_of_a_command_that_just_printed(
    end: str, printed: str, rest: float
) -> None:
    pane = shell()
    runs(pane, "yes")
    pane.rests(0.2)
    pane.prints(printed)
    pane.rests(rest)
    pane.prints(f"^C{end}" + " " * 79 + f"\r \r\r$ {ASKS}")
    pane.rests()
    assert words(pane) == [("program", word) for word in printed.split()] + [("typed", "^C")]


def test_where_a_key_may_stand_in_a_line() -> None:
    keys = KeyEcho()
    assert not keys
    keys.note("half")
    found = keys.find("half^C^Crest")
    assert found is not None
    assert (found.before, found.key, found.behind, found.printed) == ("half", "^C^C", "rest", "halfrest")
    assert keys.find("other^C") is None
    assert keys.find("half^C^C rest") is None
    keys.forget()
    assert keys.find("half^C") is None


def test_a_key_at_the_end_of_a_line() -> None:
    assert head_of_last_key("^C") == ""
    assert head_of_last_key("tick^Z^C") == "tick"
    assert head_of_last_key("leave with ^C") is None
    assert head_of_last_key("tick") is None
