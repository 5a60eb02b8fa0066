"""Prompts of any number of rows, known by the shell's marks or by how it ends an unfinished line."""

import pytest

from streamrelay.delta.printing.prompt_region import MAX_ROWS, PATIENCE
from streamrelay.events import TurnEnded, TurnStarted
from streamrelay.testing.scripted_pane import ScriptedPane
from streamrelay.vt.engine import Cursor, Snapshot

ON, OFF = "\x1b[?2004h", "\x1b[?2004l"


def mark(letter: str, *, number: int = 133) -> str:
    return f"\x1b]{number};{letter}\x07"


def zsh_prompt(columns: int = 80) -> str:
    """What zsh prints before each prompt (zsh 5.9, PROMPT_SP), an empty line, and a prompt of two rows."""
    ended = f"\x1b[1m\x1b[7m%\x1b[27m\x1b[1m\x1b[0m{' ' * (columns - 1)}\r \r"
    return f"{ended}\r\n\r\x1b[0m\x1b[27m\x1b[24m\x1b[J~/proj on main\r\n❯ \x1b[K{ON}"


def fish_prompt(columns: int = 80) -> str:
    """The same of fish 3.6, which asks for bracketed paste before it prints its prompt."""
    ended = f"\x1b[2m⏎\x1b[m\x0f{' ' * (columns - 1)}\r⏎ \r\x1b[K"
    return f"{ended}{ON}\r\n~/proj ➜ \x1b[K\r\x1b[70C12:00:00\r\x1b[9C"


def bash_prompt(status: int) -> str:
    """A prompt of two rows with marks, as bash prints it."""
    return f"{mark(f'D;{status}')}{ON}{mark('A')}┌ ~/proj\r\n└ $ {mark('B')}"


def runs(pane: ScriptedPane, command: str, output: str, prompt: str) -> None:
    pane.prints(command)
    pane.rests(0.1)
    pane.prints(f"{OFF}\r\n{output}{prompt}")
    pane.rests(1)


def ends(pane: ScriptedPane) -> list[tuple[bool, int | None]]:
    return [(event.certain, event.exit_status) for event in pane.events if isinstance(event, TurnEnded)]


@pytest.mark.parametrize("prompt", [zsh_prompt(), fish_prompt()], ids=["zsh", "fish"])
@pytest.mark.parametrize("read_size", [None, 1, 3, 7])
def test_rows_between_an_ended_line_and_the_editor_are_prompt(prompt: str, read_size: int | None) -> None:
    pane = ScriptedPane()
    pane.prints(prompt)
    pane.rests()
    for command, output in (("ls", "a\r\nb\r\n"), ("printf x", "no line feed"), ("true", "")):
        pane.prints(command)
        pane.rests(0.1)
        pane.prints(f"{OFF}\r\n{output}{prompt}", read_size=read_size)
        pane.rests(1)
    pane.ends()
    assert pane.said() == ["a", "b", "no line feed"]


FISH_ENDED = f"\x1b[2m⏎\x1b[m\x0f{' ' * 79}\r⏎ \r\x1b[K"


def fish_pane(columns: int = 80) -> ScriptedPane:
    """A fish whose editor is known: one command has run."""
    pane = ScriptedPane(columns)
    pane.prints(f"{FISH_ENDED}{ON}me ~# \x1b[K")
    pane.rests()
    pane.prints("true")
    pane.rests(0.1)
    pane.prints(f"\r\n{OFF}{FISH_ENDED}{ON}me ~# \x1b[K")
    pane.rests(1)
    return pane


def fish_runs(pane: ScriptedPane, command: str, output: str) -> None:
    pane.prints(command)
    pane.rests(0.1)
    pane.prints(f"\r\n{OFF}{output}{FISH_ENDED}{ON}me ~# \x1b[K")
    pane.rests(1)


@pytest.mark.requirement("DEL-01", "DEL-02a")
@pytest.mark.parametrize("read_size", [None, 1, 7])
def test_what_fish_says_of_a_mistake_is_output_and_what_it_shows_again_is_not_typed_twice(
    read_size: int | None,
) -> None:
    pane = fish_pane()
    pane.prints("echo a)")
    pane.rests(0.1)
    wrong = "\r\nfish: Unexpected ')' for unopened parenthesis\r\necho a)\r\n      ^\r\n"
    pane.prints(f"{wrong}{FISH_ENDED}me ~# echo a)\x1b[K", read_size=read_size)
    pane.rests(1)
    pane.prints("\x08\x1b[K")
    pane.rests(0.1)
    fish_runs(pane, "", "a\r\n")
    pane.ends()
    assert pane.said() == ["fish: Unexpected ')' for unopened parenthesis", "echo a)", "      ^", "a"]
    assert pane.said("typed") == ["true", "echo a"]


@pytest.mark.requirement("DEL-02a", "DEL-04a")
def test_what_fish_says_of_a_mistake_in_a_message_answers_it() -> None:
    pane = fish_pane()
    message = pane.pastes("echo a)")
    pane.prints("echo a)")
    pane.rests(0.1)
    pane.submits(message)
    wrong = "\r\nfish: Unexpected ')' for unopened parenthesis\r\necho a)\r\n      ^\r\n"
    pane.prints(f"{wrong}{FISH_ENDED}me ~# echo a)\x1b[K")
    pane.rests(2)
    assert pane.said("injected") == ["echo a)"]
    answer = [event for event in pane.texts() if event.origin == "program"]
    assert [event.text for event in answer] == ["fish: Unexpected ')' for unopened parenthesis", "echo a)", "      ^"]
    began = [event for event in pane.events if isinstance(event, TurnStarted) and event.message_id == message]
    assert [event.turn for event in began] == [answer[0].turn]


@pytest.mark.requirement("DEL-01", "DEL-02a")
@pytest.mark.parametrize("read_size", [None, 1, 7])
@pytest.mark.parametrize("rows", [["echo (ls"], ["for i in 1 2", "          echo $i"]])
def test_a_command_that_is_cancelled_in_fish_is_typed(rows: list[str], read_size: int | None) -> None:
    pane = fish_pane()
    shown = "\r\n".join(rows) + "\r\n" + " " * 10
    pane.prints(shown, read_size=read_size)
    pane.rests(1)
    pane.prints(f"\x1b[7m^C\x1b[m\r\n{FISH_ENDED}me ~# \x1b[K", read_size=read_size)
    pane.rests(1)
    fish_runs(pane, "echo fine", "fine\r\n")
    pane.ends()
    assert pane.said() == ["fine"]
    assert pane.said("typed") == ["true", "\n".join([*rows, " " * 10 + "^C"]), "echo fine"]


@pytest.mark.requirement("DEL-01")
@pytest.mark.parametrize("pause", [0.0, 0.05, 0.5])
def test_a_prompt_of_two_rows_that_fish_takes_time_to_make_is_no_output(pause: float) -> None:
    """It asks for bracketed paste first: a prompt that asks a version control system comes later."""
    pane = fish_pane()
    prompt = "\x1b[K\r\n~ main\x1b[K\r\n❯ \x1b[K\r\x1b[75C12:00\r\x1b[2C"
    for command, output in (("echo one", "one\r\n"), ("true", ""), ("echo two", "two\r\n")):
        pane.prints(command)
        pane.rests(0.1)
        pane.prints(f"\r\n{OFF}{output}{FISH_ENDED}{ON}")
        pane.rests(pause)
        pane.prints(prompt)
        pane.rests(1)
    pane.prints("for i in 1 2\r\x1b[75C12:00\r\r\n")
    pane.rests(0.05)
    pane.prints("      ")
    pane.rests(1)
    pane.prints(f"\x1b[7m^C\x1b[m\r\n{FISH_ENDED}")
    pane.rests(pause)
    pane.prints(prompt)
    pane.rests(1)
    pane.ends()
    assert pane.said() == ["one", "two"]
    assert pane.said("typed") == ["true", "echo one", "true", "echo two", "for i in 1 2\n      ^C"]


@pytest.mark.requirement("DEL-01")
@pytest.mark.parametrize("wait", [0.5, PATIENCE + 1])
def test_a_command_that_is_cancelled_first_of_all_swallows_no_output(wait: float) -> None:
    """tmux 3.3a does not say that fish asked for bracketed paste before the watching began."""
    pane = ScriptedPane()
    pane.begins(Snapshot(80, 24, (b"me ~# ", *[b""] * 23), (False,) * 24, Cursor(6, 0)))
    pane.prints("echo (ls\r\n          ")
    pane.rests(1)
    pane.prints(f"\x1b[7m^C\x1b[m\r\n{FISH_ENDED}me ~# \x1b[K")
    pane.rests(wait)
    fish_runs(pane, "echo fine", "fine\r\n")
    pane.ends()
    assert "fine" in pane.said()


def test_blanks_that_end_no_line_are_output() -> None:
    pane = ScriptedPane()
    for percent in ("10%", "100%"):
        pane.prints(f"\x1b[1m{percent}\x1b[0m{' ' * 30}\r{' ' * 40}\r")
        pane.rests(0.1)
    pane.prints("done\r\n")
    pane.ends()
    assert pane.said() == ["done"]


@pytest.mark.parametrize("read_size", [None, 1, 5])
def test_marks_tell_the_prompt_and_how_each_command_ended(read_size: int | None) -> None:
    pane = ScriptedPane()
    pane.prints(bash_prompt(0), read_size=read_size)
    pane.rests()
    for status, output in ((0, "one\r\ntwo\r\n"), (1, "")):
        pane.prints("make")
        pane.rests(0.1)
        pane.prints(f"\r\n{OFF}\r{mark('C')}{output}{bash_prompt(status)}", read_size=read_size)
        pane.rests(1)
    assert pane.said() == ["one", "two"]
    assert pane.said("typed") == ["make", "make"]
    assert ends(pane) == [(True, 0), (True, 1)]


@pytest.mark.parametrize("read_size", [None, 1])
def test_marks_stand_where_they_were_printed_on_a_screen_that_scrolls(read_size: int | None) -> None:
    pane = ScriptedPane(40, 4)
    pane.prints(bash_prompt(0))
    pane.rests()
    for number in range(6):
        pane.prints(f"seq {number}")
        pane.rests(0.1)
        output = "".join(f"{number} {line}\r\n" for line in range(number))
        pane.prints(f"\r\n{OFF}\r{mark('C')}{output}unfinished{bash_prompt(number)}", read_size=read_size)
        pane.rests(1)
    assert pane.said() == [text for n in range(6) for text in (*(f"{n} {line}" for line in range(n)), "unfinished")]
    assert pane.said("typed") == [f"seq {number}" for number in range(6)]
    assert ends(pane) == [(True, number) for number in range(6)]


@pytest.mark.parametrize("number", [133, 633])
def test_marks_tell_of_a_shell_without_bracketed_paste(number: int) -> None:
    pane = ScriptedPane()
    prompt = f"{mark('A', number=number)}== host ==\r\n% {mark('B', number=number)}"
    pane.prints(prompt)
    pane.rests()
    for _ in range(2):
        pane.prints("ls\r\n")
        pane.prints(f"{mark('C', number=number)}file\r\n{mark('D;3', number=number)}{prompt}")
        pane.rests(1)
    assert pane.said() == ["file", "file"]
    assert pane.said("typed") == ["ls", "ls"]
    assert ends(pane) == [(True, 3), (True, 3)]


@pytest.mark.parametrize(
    "output",
    [
        f"{mark('A')}one\r\ntwo\r\n",
        f"{mark('A')}one\r\n{mark('B')}two\r\n",
        f"{mark('A')}one\r\n{mark('B')}two\r\n{mark('C')}",
        f"one\r\n{mark('D;1')}{mark('A')}two\r\n{mark('B')}{mark('D;1')}",
        f"{mark('C')}one\r\n{mark('B')}two\r\n",
        f"{mark('B')}{mark('B')}{mark('C')}one{mark('D')}\r\ntwo\r\n{mark('C')}",
        "\x1b]133;Aone\x07one\r\ntwo\r\n",
    ],
)
@pytest.mark.parametrize("is_shell", [False, True])
def test_marks_that_a_program_prints_delay_its_text_and_lose_none(output: str, is_shell: bool) -> None:
    pane = ScriptedPane()
    if is_shell:
        pane.prints(bash_prompt(0))
        pane.rests()
        pane.prints(f"cat log\r\n{OFF}\r{mark('C')}")
    pane.prints(f"{output}three\r\n")
    pane.rests(PATIENCE + 0.1)
    assert pane.said() == ["one", "two", "three"]
    pane.prints("four\r\n")
    if is_shell:
        pane.prints(bash_prompt(0))
        pane.rests(1)
        assert ends(pane)[-1] == (True, 0)
    pane.ends()
    assert pane.said() == ["one", "two", "three", "four"]


def test_more_rows_than_a_prompt_has_are_output() -> None:
    pane = ScriptedPane()
    lines = [f"line {number}" for number in range(MAX_ROWS + 5)]
    pane.prints(mark("A") + "".join(f"{line}\r\n" for line in lines))
    assert pane.said() == lines


def test_a_shell_in_a_shell_needs_no_marks_of_its_own() -> None:
    pane = ScriptedPane()
    pane.prints(bash_prompt(0))
    pane.rests()
    pane.prints(f"sh\r\n{OFF}\r{mark('C')}{ON}$ ")
    pane.rests(1)
    runs(pane, "echo inner", "inner\r\n", f"{ON}$ ")
    runs(pane, "exit", "", bash_prompt(7))
    runs(pane, "echo outer", f"{mark('C')}outer\r\n", bash_prompt(0))
    assert pane.said() == ["inner", "outer"]
    assert ends(pane)[-1] == (True, 0)


def attached(*rows: str, cursor: Cursor) -> ScriptedPane:
    """Return a pane that showed these rows when the watching began; tmux tells of no bracketed paste."""
    pane = ScriptedPane()
    shown = [row.encode() for row in rows] + [b""] * (24 - len(rows))
    pane.begins(Snapshot(80, 24, tuple(shown), (False,) * 24, cursor))
    return pane


REDRAW = "\x1b[0m\x1b[27m\x1b[24m\x1b[J"


@pytest.mark.parametrize("read_size", [None, 1, 4])
@pytest.mark.parametrize("last", ["➤ ", "\r\n┌─ ~/work\r\n└─➤ "], ids=["shorter", "the same"])
def test_a_prompt_that_is_painted_anew_at_the_submission_is_prompt(last: str, read_size: int | None) -> None:
    """zle with `reset-prompt` in line-finish: it withdraws first, then erases all rows of its prompt."""
    pane = attached("┌─ ~/work", "└─➤ ", cursor=Cursor(4, 1))
    prompt = f"\x1b[7m%\x1b[27m{' ' * 79}\r \r\r{REDRAW}\r\n┌─ ~/work\r\n└─➤ \x1b[K{ON}"
    up = "\x1bM"
    for command, output in (("seq 2", "1\r\n2\r\n"), ("ls", "tools\r\nls\r\n"), ("true", "")):
        pane.prints(command)
        pane.rests(0.1)
        pane.prints(f"{OFF}\r\r{up}{REDRAW}{last}{command}\x1b[K\r\r\n{output}{prompt}", read_size=read_size)
        pane.rests(1)
        up = "\x1bM\x1bM"
    assert pane.said() == ["1", "2", "tools", "ls"]
    assert pane.said("typed") == ["seq 2", "ls", "true"]


def test_output_behind_a_repaint_that_does_not_show_the_line_is_not_lost() -> None:
    pane = attached("$ ", cursor=Cursor(2, 0))
    pane.prints("clear")
    pane.rests(0.1)
    pane.prints(f"{OFF}\r\x1b[A\x1b[Jone\r\ntwo\r\n")
    pane.rests(PATIENCE + 0.1)
    assert pane.said() == ["one", "two"]


def test_an_editor_that_stood_there_at_the_attach_is_one() -> None:
    pane = attached("chat> ", cursor=Cursor(6, 0))
    pane.prints("hi\r\r\n\x1b[J")
    pane.prints(f"{OFF}answer\r\n")
    pane.rests(10)
    assert pane.said() == ["answer"]
    assert ends(pane) == []
    pane.prints(f"{ON}chat> ")
    pane.rests(1)
    assert ends(pane) == [(True, None)]


def test_a_right_prompt_is_not_typed() -> None:
    pane = ScriptedPane()
    for second, command in ((10, "one"), (11, "two")):
        pane.prints(f"{ON}$ \x1b[K\x1b[70C12:00:{second}\r\x1b[2C")
        pane.rests()
        pane.prints(f"{command}\x1b[K\r\x1b[70C12:00:{second + 5}\r\x1b[7C")
        pane.rests(0.1)
        pane.prints(f"\r\n{OFF}{command}\r\n")
    pane.ends()
    assert pane.said("typed") == ["one", "two"]
    assert pane.said() == ["one", "two"]
