"""Programs that read lines without bracketed paste: prompts that count, ask for more, and questions for a person."""

import pytest

from streamrelay.delta.printing.attribution import Attribution
from streamrelay.delta.printing.prompts import Prompts
from streamrelay.events import NeedsHuman
from streamrelay.testing.scripted_pane import ScriptedPane
from streamrelay.vt.engine import Cursor, Snapshot


def types(pane: ScriptedPane, text: str, output: str, prompt: str) -> None:
    pane.prints(text)
    pane.rests(0.1)
    pane.prints(f"\r\n{output}{prompt}")
    pane.rests(1)


def begins(prompt: str) -> ScriptedPane:
    """Return a pane whose program shows its prompt when a message is sent, so that the prompt is known."""
    pane = ScriptedPane()
    pane.prints(prompt)
    pane.rests()
    pane.sends("first", painted="first")
    pane.prints("\r\n")
    return pane


def test_a_prompt_that_counts_is_the_same_prompt() -> None:
    pane = begins("irb(main):001:0> ")
    pane.prints("=> 1\r\nirb(main):002:0> ")
    pane.rests()
    types(pane, "3 + 4", "=> 7\r\n", "irb(main):003:0> ")
    types(pane, "5 + 6", "=> 11\r\n", "irb(main):010:0> ")
    assert pane.said() == ["=> 1", "=> 7", "=> 11"]
    assert pane.said("typed") == ["3 + 4", "5 + 6"]


@pytest.mark.parametrize(
    ("prompt", "more"),
    [("irb(main):001:0> ", "irb(main):002:1*   "), ("> ", "... "), ("sqlite> ", "   ...> "), ("db=# ", "db-# ")],
)
def test_a_prompt_that_asks_for_more_is_no_output(prompt: str, more: str) -> None:
    pane = begins(prompt)
    pane.prints(prompt)
    pane.rests()
    types(pane, "begin", "", more)
    types(pane, "middle", "", more)
    types(pane, "end", "out\r\n", prompt)
    assert pane.said() == ["out"]
    assert pane.said("typed") == ["begin", "middle", "end"]


@pytest.mark.requirement("DEL-02a")
def test_rows_of_an_input_that_are_painted_again_when_it_ends_are_typed() -> None:
    """Irb 1.4.1 (ruby 3.1) paints all rows of a `def` again at its last Enter, with other signs in their prompts."""
    pane = begins("irb(main):001:0> ")
    pane.prints("=> 1\r\nirb(main):002:0> ")
    pane.rests()
    for text, head in (("def f(a)", "irb(main):003:2*   "), ("    a + 1", "irb(main):004:1*   ")):
        pane.prints(text)
        pane.rests(0.1)
        pane.prints(f"\x1b[1B\x1b[1G{head}\x1b[K")
        pane.rests(1)
    pane.prints("\x1b[1Girb(main):004:1* end\x1b[K")
    pane.rests(0.1)
    pane.prints("\x1b[2A\x1b[1Girb(main):002:1* def f(a)\x1b[K\x1b[1G\x1b[1B")
    pane.prints("\x1b[1Girb(main):003:1*   a + 1\x1b[K\x1b[1G\x1b[1Birb(main):004:0> end\x1b[K\x1b[1G\x1b[1B\x1b[K")
    pane.prints("=> :f\r\nirb(main):005:0> ")
    pane.rests()
    assert pane.said() == ["=> 1", "=> :f"]
    assert pane.said("typed")[-1] == "end"


@pytest.mark.requirement("DEL-02a")
@pytest.mark.parametrize("above", [0, 30], ids=["on the screen", "at its end"])
def test_a_preview_below_a_line_that_is_typed_does_not_end_it(above: int) -> None:
    """Node 20.20 writes a line feed, the preview of the result, and a move up with every key."""
    pane = begins("> ")
    pane.prints("\n" * above + "> ")
    pane.rests()
    for key, column in (("f", 4), ("\x1b[1B\x1b[2K\x1b[1Ao", 5)):
        pane.prints(key)
        pane.prints(f"\r\n\x1b[90m[Function]\x1b[39m\x1b[{column}G")
        pane.prints("\x1b[1A")
        pane.rests(0.1)
    pane.prints("\x1b[1B\x1b[2K\x1b[1A()\r\n7\r\n> ")
    pane.rests()
    assert [text for text in pane.said() if text] == ["7"]
    assert pane.said("typed") == ["fo()"]


@pytest.mark.parametrize("output", ["Working... ", "....", "* item ", "name: "])
def test_output_that_rests_behind_a_typed_line_is_no_prompt(output: str) -> None:
    pane = begins(">>> ")
    pane.prints(">>> ")
    pane.rests()
    types(pane, "run()", output, "done\r\n>>> ")
    assert pane.said() == [f"{output}done"]


def test_a_prompt_that_recurs_is_one() -> None:
    pane = ScriptedPane()
    pane.prints("Python 3.11\r\n>>> ")
    pane.rests()
    types(pane, "1 + 1", "2\r\n", ">>> ")
    types(pane, "print('a', end='')", "a", ">>> ")
    types(pane, "3", "3\r\n", ">>> ")
    assert pane.said() == ["Python 3.11", "2", "a", "3"]


def answers(pane: ScriptedPane, question: str, answer: str) -> None:
    """Let the program ask, and a person type an answer and then Enter."""
    pane.prints(question)
    pane.rests(1)
    pane.prints(answer)
    pane.rests(0.1)
    pane.prints("\r\n")


@pytest.mark.parametrize("head", ["Name? ", "Port [80]: ", "version: (1.0.0) ", "(Pdb) ", "#? ", "d> ", "login:"])
def test_what_a_person_types_behind_a_question_is_no_output(head: str) -> None:
    """`read -p`, `select`, `input`, pdb, npm init, click: the kernel echoes, and no line editor is at work."""
    pane = ScriptedPane()
    for answer in ("Bob", "", "x y"):
        answers(pane, head, answer)
        pane.prints("out\r\n")
    assert pane.said() == ["out"] * 3
    assert pane.said("typed") == ["Bob", "x y"]


@pytest.mark.parametrize(
    "parts",
    [
        ["Checking: ", "ok\r\n"],
        ["Waiting: ", ".", "..", "\r\n"],
        ["\r[#  ] ", "\r[## ] ", "\r[###] ", "\r\n"],
        ["Testing: 1", " 2", "\r\n"],
        ["Total: ", "5", " of 7\r\n"],
    ],
)
def test_a_line_that_a_program_writes_in_parts_is_output(parts: list[str]) -> None:
    pane = ScriptedPane()
    for part in parts:
        pane.prints(part)
        pane.rests(1)
    pane.ends()
    assert pane.said() == ["".join(parts).strip("\r\n").rpartition("\r")[2].rstrip()]


def test_output_in_front_of_a_prompt_that_was_answered_is_said() -> None:
    pane = ScriptedPane()
    answers(pane, "(c) ", "go")
    answers(pane, "no line feed(c) ", "quit")
    assert pane.said() == ["no line feed"]
    assert pane.said("typed") == ["go", "quit"]


@pytest.mark.parametrize("head", ["Working: ", "50% ", "Sure? ", "file ... ", "item * "])
def test_output_that_recurs_is_no_prompt(head: str) -> None:
    pane = ScriptedPane()
    for _ in range(4):
        pane.prints(head)
        pane.rests(0.1)
        pane.prints("ok\r\n")
    assert pane.said() == [f"{head}ok"] * 4


def test_a_short_prompt_is_none_inside_a_longer_one() -> None:
    pane = begins("> ")
    pane.prints("out\r\n>>> ")
    pane.rests(0.1)
    pane.prints("more\r\n")
    assert pane.said() == ["out", ">>> more"]


def test_a_sign_alone_is_output_unless_a_line_was_typed_above() -> None:
    pane = begins(">>> ")
    pane.prints("... ")
    pane.rests(0.1)
    pane.prints("one\r\ntwo\r\n* ")
    pane.rests(0.1)
    pane.prints("three\r\n")
    pane.ends()
    assert pane.said() == ["two", "* three"]


@pytest.mark.requirement("DEL-03a")
@pytest.mark.parametrize(
    ("question", "shown", "typed"),
    [
        ("[sudo] password for ada: ", "", []),
        ("Do you want to continue? [Y/n] ", "y", ["y"]),
        ("PIN: ", "****", ["****"]),
    ],
)
def test_a_question_for_a_person_is_no_output(question: str, shown: str, typed: list[str]) -> None:
    pane = ScriptedPane()
    pane.prints(f"Reading\r\n{question}")
    pane.rests(1)
    assert [event.text for event in pane.events if isinstance(event, NeedsHuman)] == [question.rstrip()]
    pane.prints(shown)
    pane.rests(0.1)
    pane.prints("\r\nSetting up\r\n")
    pane.ends()
    assert pane.said() == ["Reading", "Setting up"]
    assert pane.said("typed") == typed


def test_a_question_that_stands_at_the_end_is_no_output() -> None:
    pane = ScriptedPane()
    pane.prints("Reading\r\nPassword: ")
    pane.rests(1)
    pane.ends()
    assert pane.said() == ["Reading"]


def test_what_stands_left_of_a_prompt_that_counts() -> None:
    prompts = Prompts()
    prompts.learn("In [9]: ")
    assert prompts.split("half In [10]: ") == ("half ", "In [10]: ")
    assert prompts.split("In [10]: ") == ("", "In [10]: ")
    assert prompts.split("In [x]: ") == ("", "")
    assert prompts.behind("In [11]: 1 + 1") == "1 + 1"
    assert "In [3]:" in prompts


@pytest.mark.parametrize("erase", ["", "\x1b[1G\x1b[0J"], ids=["plain", "erases below"])
def test_lines_that_wait_are_explained_by_what_was_awaited_when_they_stood_open(erase: str) -> None:
    """The first lines after an attach wait, and those of a program that repaints: later prompts do not explain them."""
    pane = ScriptedPane(80, 6)
    rows = (b"Welcome", b"> ", b"", b"", b"", b"")
    pane.begins(Snapshot(80, 6, rows, (False,) * 6, Cursor(2, 1)))
    for number in range(6):
        pane.prints(f"run({number})")
        pane.rests(0.05)
        pane.prints(f"\r\nout {number}\r\n{erase}> ")
        pane.rests(0.05)
    pane.ends()
    assert pane.said() == [f"out {number}" for number in range(6)]
    assert pane.said("typed") == [f"run({number})" for number in range(6)]


def test_an_editor_that_another_program_shows_without_its_withdrawals() -> None:
    """mosh sends the differences between two screens: a request for bracketed paste stands while commands run."""
    pane = ScriptedPane()
    pane.prints("\x1b[?2004h$ ")
    pane.rests()
    pane.prints("mosh host\r\n\x1b[?2004l\r\x1b[H\x1b[2J\x1b[?25l\nfar% \x1b[?25h\x1b[?2004h")
    pane.rests()
    for command, answer in (("ls", "one\r\ntwo\r\n"), ("pwd", "\x1b[6;1Hthree\r\n"), ("ls -l", "four\r\n")):
        pane.prints(command)
        pane.rests(0.1)
        pane.prints(f"\x1b[?25l\r\n{answer}far% \x1b[?25h")
        pane.rests()
    assert [text for text in pane.said() if text] == ["one", "two", "three", "four"]
    assert pane.said("typed") == ["mosh host", "ls", "pwd", "ls -l"]


def test_completions_below_a_prompt_are_no_output() -> None:
    pane = ScriptedPane()
    pane.prints("\x1b[?2004h$ ")
    pane.rests()
    pane.prints("true\r\n\x1b[?2004l\r")
    for _ in range(2):
        pane.prints("\x1b[?2004h$ ")
        pane.rests()
        pane.prints("ec")
        pane.rests(0.1)
        pane.prints("\r\necho  ecpg\r\n$ ec")
        pane.rests(0.1)
        pane.prints("ho x\r\n\x1b[?2004l\rx\r\n")
    pane.ends()
    assert pane.said() == ["x", "x"]


def test_keys_that_come_with_the_prompt_are_no_part_of_it():
    """Typed ahead: at the first rest behind the prompt the keys stand there already (bash, multi_keys)."""
    pane = ScriptedPane()
    pane.prints("\x1b[?2004h$ ")
    pane.rests()
    pane.pastes("one\nthree", "m1")
    pane.prints("one\r\n\x1b[?2004l\rONE\r\n\x1b[?2004h$ three")
    pane.rests(0.05)
    pane.submits("m1")
    pane.prints("\r\n\x1b[?2004l\rTHREE\r\n\x1b[?2004h$ ")
    pane.ends()
    assert pane.said("injected") == ["one", "three"]
    assert pane.said() == ["ONE", "THREE"]


def at_prompt(prompt: str, runs: str = "") -> ScriptedPane:
    """Return a pane whose shell, known by a command before, waits at its prompt."""
    pane = ScriptedPane()
    pane.prints(f"\x1b[?2004h{prompt}")
    pane.rests()
    pane.prints(f"true\r\n\x1b[?2004l\r\x1b[?2004h{prompt}")
    pane.rests(1.0)
    for key in runs:
        pane.prints(key)
        pane.rests(0.05)
    return pane


def test_a_job_prints_over_the_prompt_and_over_what_is_typed() -> None:
    """The shell knows nothing of it, and the person types on in the next row (bash)."""
    pane = at_prompt("me$ ")
    pane.prints("from behind 1\r\n")
    pane.rests(1.0)
    pane.prints("echo half")
    pane.rests(0.2)
    pane.prints("from behind 2\r\n")
    pane.rests(0.1)
    pane.prints("from behind 3\r\n")
    pane.rests(1.0)
    pane.prints(" typed")
    pane.rests(0.2)
    pane.prints("\r\n\x1b[?2004l\rhalf typed\r\n\x1b[?2004hme$ ")
    pane.ends()
    assert pane.said() == ["from behind 1", "from behind 2", "from behind 3", "half typed"]
    assert pane.said("typed") == ["true", "echo half typed"]


@pytest.mark.parametrize("prompt", ["me$ ", "\x1b[0m\x1b[Jme% \x1b[K"], ids=["bash", "zsh"])
@pytest.mark.parametrize("first", ["", "\r\n"], ids=["over the row", "below it"])
def test_what_wall_prints_at_a_prompt_is_heard_and_the_draft_is_typed(prompt: str, first: str) -> None:
    """A shell erases below its prompt as it prints it (zsh), and `wall` begins with a line feed."""
    pane = at_prompt(prompt, "echo half")
    pane.prints(f"{first}\x07Broadcast message from root:\r\n\r\ngoing down\r\n")
    pane.rests(1.0)
    assert pane.said() == ["Broadcast message from root:", "", "going down"]
    pane.prints(" typed")
    pane.rests(0.2)
    pane.prints(f"\r\n\x1b[?2004l\rhalf typed\r\n\x1b[?2004h{prompt}")
    pane.ends()
    assert pane.said()[3:] == ["half typed"]
    assert pane.said("typed") == ["true", "echo half typed"]


def test_what_an_editor_suggests_behind_the_cursor_is_not_printed() -> None:
    """fish paints the rest of a known command behind the cursor, and its prompt again when a job has ended.

    What the job printed below the row cannot be told from a list of what may be typed, and is left out.
    """
    pane = at_prompt("me# ", "echo ha")
    pane.prints("lf typed" + "\b" * len("lf typed"))
    pane.rests(0.3)
    pane.prints("\r\nnotice\r\nme# echo half typed" + "\b" * len("lf typed"))
    pane.rests(1.0)
    pane.prints("lf typed")
    pane.rests(0.2)
    pane.prints("\r\n\x1b[?2004l\rhalf typed\r\n\x1b[?2004hme# ")
    pane.ends()
    assert pane.said() == ["half typed"]
    assert pane.said("typed") == ["true", "echo half typed"]


def test_a_job_that_ends_at_a_prompt_is_told_and_the_prompt_painted_again() -> None:
    """zsh and fish tell of it, and paint prompt and draft again below."""
    pane = at_prompt("me% ", "echo half")
    pane.prints("from behind\r\n\r\r\n[1]  + done       sh -c 'echo from behind'\r\n\x1b[0m\x1b[Jme% echo half\x1b[K")
    pane.rests(0.3)
    pane.prints(" typed")
    pane.rests(0.2)
    pane.prints("\x1b[?1l\x1b>\x1b[?2004l\r\r\nhalf typed\r\n\x1b[?2004hme% ")
    pane.ends()
    assert [text for text in pane.said() if text] == [
        "from behind",
        "[1]  + done       sh -c 'echo from behind'",
        "half typed",
    ]
    assert pane.said("typed") == ["true", "echo half typed"]


@pytest.mark.parametrize("late", [0.05, 0.2])
def test_an_editor_that_withdraws_late_behind_the_enter_was_typed_into(late: float) -> None:
    pane = at_prompt("$ ")
    pane.prints("echo x\r\n")
    pane.rests(late)
    pane.prints("\x1b[?2004l\rx\r\n\x1b[?2004h$ ")
    pane.ends()
    assert pane.said() == ["x"]
    assert pane.said("typed") == ["true", "echo x"]


def test_all_rows_of_a_paste_are_a_draft() -> None:
    pane = at_prompt("$ ")
    pane.prints("\x1b[7mecho one\x1b[27m\r\n\r\x1b[7mecho two\x1b[27m")
    pane.rests(1.0)
    assert pane.stream.pane_state.composer.typed == "echo one\necho two"


@pytest.mark.parametrize(
    "printed", ["notice\r\nListening on 8080 ", "\r\nfoo bar\x1b[A\r\x1b[4C", "\r\nwall\r\n\r\nmore\r\nhalf"]
)
def test_what_a_job_prints_at_a_prompt_and_what_an_editor_lists_is_no_draft(printed: str) -> None:
    pane = at_prompt("me$ ")
    pane.prints(printed)
    pane.rests(10.0)
    assert pane.stream.pane_state.composer.typed == ""


def test_lines_that_a_person_pastes_into_an_editor_are_typed() -> None:
    """Editors show in reverse what was pasted (readline, zle); a line feed at its end leaves the row below empty."""
    pane = at_prompt("$ ")
    pane.prints("\x1b[7mecho one\r\n\x1b[7mecho two\r\n\x1b[27m")
    pane.rests(2.0)
    pane.prints("\r\n\x1b[?2004l\rone\r\ntwo\r\n\x1b[?2004h$ ")
    pane.ends()
    assert pane.said() == ["one", "two"]
    assert pane.said("typed") == ["true", "echo one\necho two"]


@pytest.mark.parametrize("end", ["", "\r\n\r", " # a tail"], ids=["", "a line feed behind it", "a tail behind it"])
def test_lines_pasted_into_an_editor_right_after_attaching_are_no_output(end: str) -> None:
    """Nothing is known of the editor then: it has not withdrawn yet (bash 5.2)."""
    pane = ScriptedPane()
    pane.prints("\x1b[?2004h$ ")
    pane.rests()
    lines = ["echo one", "echo two", "echo three"]
    pane.prints("\r\n\r".join(f"\x1b[7m{line}\x1b[27m" for line in lines) + end)
    pane.rests(2.0)
    up = "\x1bM" * (3 if end.startswith("\r") else 2)
    pane.prints("\r" + up + "$ " + "\r\n\r".join(lines) + end + "\r\n")
    pane.prints("\x1b[?2004l\rone\r\ntwo\r\nthree\r\n\x1b[?2004h$ ")
    pane.ends()
    assert pane.said() == ["one", "two", "three"]


@pytest.mark.parametrize("style", ["38;5;7", "7"], ids=["a colour", "reverse"])
def test_a_program_that_asked_for_paste_is_heard_though_it_prints_in_reverse(style: str) -> None:
    pane = ScriptedPane()
    pane.prints("\x1b[?2004h> ")
    pane.rests()
    pane.prints(f"\r\n\x1b[{style}m A BANNER \x1b[m\r\nsecond line\r\nthird")
    pane.rests(2.0)
    assert [line.strip() for line in pane.said()][-2:] == ["A BANNER", "second line"]


@pytest.mark.parametrize("erased", ["\x1b[K", "\x1b[0m\x1b[0K\x1b[39m"])
def test_lines_pasted_where_an_editor_marks_no_paste_are_typed(erased: str) -> None:
    """zsh 5.9 with `zle_highlight=(paste:none)` erases the end of the row that it comes to; a job does not."""
    pane = at_prompt("\x1b[0m\x1b[Jme% \x1b[K")
    pane.prints(f"echo one\r\r\necho two\x1b[K\r\r\n{erased}")
    pane.rests(2.0)
    pane.prints("\x1b[?2004l\r\r\none\r\ntwo\r\n\x1b[?2004hme% ")
    pane.ends()
    # The line feed of the Enter ends the blank row behind the paste.
    assert pane.said() == ["", "one", "two"]
    assert pane.said("typed") == ["true", "echo one\necho two"]


@pytest.mark.parametrize(
    ("first", "then", "printed"),
    [
        ("notice\r\ndone 100%\r", "\r\n", ["notice", "done 100%"]),
        ("notice one\r\nworking 50%\r\x1b[K", "notice two\r\n", ["notice one", "notice two"]),
        ("first\r\n", "\r\nsecond\r\n", ["first", "", "second"]),
    ],
    ids=["a row that it ends later", "a row that it erases", "a blank row"],
)
def test_what_a_job_prints_below_its_first_line_is_output_too(first: str, then: str, printed: list[str]) -> None:
    pane = at_prompt("me$ ")
    pane.prints(first)
    pane.rests(1.0)
    pane.prints(then)
    pane.rests(1.0)
    pane.prints("ls\r\n\x1b[?2004l\rx\r\n\x1b[?2004hme$ ")
    pane.ends()
    assert pane.said() == [*printed, "x"]
    assert pane.said("typed") == ["true", "ls"]


def test_what_is_listed_in_the_midst_of_a_line_is_no_output() -> None:
    """Text stands behind the cursor (bash 5.2)."""
    pane = at_prompt("me$ ", "ls foo bar")
    pane.prints("\b" * 4)
    pane.rests(0.3)
    pane.prints("\r\nfoo1  foo2\r\nme$ ls foo bar" + "\b" * 4)
    pane.rests(1.0)
    pane.prints("\r\n\x1b[?2004l\rx\r\n\x1b[?2004hme$ ")
    pane.ends()
    assert pane.said() == ["x"]


def test_what_an_editor_lists_below_its_row_is_not_typed_and_the_row_no_output() -> None:
    """zle goes down to list what may be typed, up again, and erases the list behind the Enter."""
    pane = at_prompt("me% ", "ls host")
    pane.prints("\x07\r\r\n\x1b[Jhost.conf  hosts\x1bM\x1b[0m\r\x1b[4Cls host\x1b[K")
    pane.rests(0.3)
    pane.prints("s")
    pane.rests(0.3)
    pane.prints("\x1b[?2004l\r\r\n\x1b[Jhosts\r\n\x1b[?2004hme% ")
    pane.ends()
    assert pane.said() == ["hosts"]
    assert pane.said("typed") == ["true", "ls hosts"]


def test_keys_typed_as_soon_as_a_prompt_stands_there_make_no_output_of_it() -> None:
    """zle prints its prompt before it asks for bracketed paste, and the screen rests behind the first keys only."""
    pane = at_prompt("$ ")
    for word in ("one", "two"):
        pane.prints(f"\x1b[?2004l\r\r\n{word}\r\n$ \x1b[?2004h")
        pane.prints("echo")
        pane.rests(0.1)
        pane.prints(" x")
        pane.rests(0.1)
    pane.ends()
    assert pane.said() == ["one", "two"]
    assert pane.said("typed") == ["true", "echo x"]


def test_a_shell_that_marks_each_command_of_several_loses_no_output_of_the_first() -> None:
    """Two commands pasted at once, or a list of them: each begins with a C (`PS0` of bash), and one D ends them all."""
    prompt = "\x1b[?2004h\x1b]133;A\x07$ \x1b]133;B\x07"
    begins, ends = "\x1b]133;C\x07", "\x1b]133;D;0\x07"
    pane = ScriptedPane()
    pane.prints(prompt)
    pane.rests()
    for rest in (0.0, 0.2, 1.0):
        pane.prints(f"one\r\n\x1b[?2004l\r{begins}one\r\n")
        pane.rests(rest)
        pane.prints(f"{begins}two\r\n{ends}{prompt}")
        pane.rests(1.0)
    pane.ends()
    assert pane.said() == ["one", "two"] * 3


def test_a_head_that_recurs_is_a_prompt_once_the_line_behind_it_has_passed() -> None:
    attribution = Attribution()
    attribution.prompts.rest("db> ")
    attribution.prompts.rest("db> ")
    assert "db> " not in attribution.prompts, "the program still rests at the same line"
    attribution.explain("db> select 1", has_composer=False)
    attribution.prompts.rest("db> ")
    assert "db> " in attribution.prompts


def test_a_prompt_of_one_character_hides_no_later_one() -> None:
    prompts = Prompts()
    prompts.learn("%")
    prompts.learn("db>")
    assert prompts.split("half db>") == ("half ", "db>")
    assert prompts.split("half %") == ("", ""), "one character is known by the blank behind it only"
