"""When the answer of a shell's command is over: at the next prompt, however quiet the command is before it."""

import pytest

from streamrelay.delta.inputs import Ran
from streamrelay.delta.turns import QUIET, UNHEARD
from streamrelay.events import Live, TurnEnded, TurnStarted
from streamrelay.testing.scripted_pane import ScriptedPane
from streamrelay.vt.engine import Cursor, Snapshot

ASKS, WITHDRAWS = "\x1b[?2004h", "\x1b[?2004l"

ENDS_OF_INPUT = {
    "readline": f"\r\n{WITHDRAWS}\r",
    "zle": f"{WITHDRAWS}\r\r\n",
    "zle, highlighted": f"\r\x1b[1A$ echo a long word; \r\n$ sleep{WITHDRAWS}\r\r\n",
}
"""What a line editor prints at Enter, with a command of two rows on its screen."""


def runs(command: str = "make", end: str = ENDS_OF_INPUT["readline"]) -> ScriptedPane:
    """Return a pane in which a shell runs a command that was sent, as tmux has told."""
    pane = ScriptedPane(40, 12)
    pane.events += pane.stream.apply(Ran(pane.now, "%0", "sh"))
    pane.prints(f"{ASKS}$ ")
    pane.rests()
    message_id = pane.pastes(command)
    pane.prints(command)
    pane.submits(message_id)
    pane.prints(end)
    pane.rests(0.5)
    pane.events += pane.stream.apply(Ran(pane.now, "%0", "make"))
    return pane


def ends(pane: ScriptedPane) -> list[str]:
    """Return the reasons of the turns that have ended."""
    return [event.reason for event in pane.events if isinstance(event, TurnEnded)]


@pytest.mark.requirement("DEL-04b")
def test_a_command_that_pauses_is_waited_for() -> None:
    pane = runs()
    for line in ("compiling", "linking", "testing"):
        pane.prints(f"{line}\r\n")
        pane.rests(UNHEARD - 1)
        assert ends(pane) == []
    pane.prints(f"{ASKS}$ ")
    pane.rests()
    assert pane.said() == ["compiling", "linking", "testing"]
    assert ends(pane) == ["composer"]


@pytest.mark.requirement("DEL-04a")
@pytest.mark.parametrize(("typed", "reasons"), [("ls -l", ["composer"]), ("", [])])
def test_a_prompt_that_shows_what_was_typed_ahead_ends_the_turn_at_once(typed: str, reasons: list[str]) -> None:
    pane = runs()
    pane.prints(f"compiled\r\n{ASKS}$ ")
    pane.rests()
    pane.prints(f"./a.out\r\n{WITHDRAWS}")
    pane.rests(0.5)
    pane.prints(f"ready\r\n{ASKS}$ ")
    pane.rests(0.03)
    pane.prints(typed)
    pane.rests(0.015)
    assert ends(pane) == ["composer", *reasons]
    pane.prints(f"\r\n{WITHDRAWS}one file\r\n{ASKS}$ ")
    pane.rests()
    assert pane.said() == ["compiled", "ready", "one file"]
    assert pane.said("typed") == ["./a.out", *filter(None, [typed])]


@pytest.mark.requirement("DEL-04b")
def test_a_command_that_asks_something_on_its_line_has_answered() -> None:
    pane = runs()
    pane.prints("setting up\r\nName: ")
    pane.rests(QUIET + 0.2)
    assert ends(pane) == ["quiet"]


@pytest.mark.requirement("DEL-04b")
def test_a_command_that_never_ends_has_answered_after_a_long_quiet() -> None:
    pane = runs()
    pane.prints("listening on port 80\r\n")
    pane.rests(UNHEARD + 0.2)
    assert ends(pane) == ["quiet"]


@pytest.mark.requirement("DEL-04b")
def test_a_message_to_the_program_that_a_shell_runs_is_answered_as_anywhere() -> None:
    pane = runs()
    pane.prints("ready\r\n")
    pane.rests(UNHEARD + 0.2)
    message_id = pane.pastes("hello")
    pane.prints("hello")
    pane.submits(message_id)
    pane.prints("\r\nhello to you\r\n")
    pane.rests(QUIET + 0.2)
    assert pane.said() == ["ready", "hello to you"]
    assert ends(pane) == ["quiet", "quiet"]


@pytest.mark.requirement("DEL-04b")
@pytest.mark.parametrize("end", ENDS_OF_INPUT.values(), ids=ENDS_OF_INPUT)
def test_the_line_that_was_sent_begins_no_answer(end: str) -> None:
    pane = runs("echo a long word; sleep 20 behind the row", end)
    pane.rests(UNHEARD + 1)
    assert not [event for event in pane.events if isinstance(event, Live | TurnStarted)]
    pane.prints(f"done\r\n{ASKS}$ ")
    pane.rests()
    assert pane.said() == ["done"]
    assert ends(pane) == ["composer"]


@pytest.mark.requirement("DEL-04b")
@pytest.mark.parametrize("editor", ["readline", "zle"])
def test_a_command_that_prints_nothing_has_answered_at_the_next_prompt(editor: str) -> None:
    pane = runs("true", ENDS_OF_INPUT[editor])
    pane.rests(UNHEARD + 1)
    assert ends(pane) == []
    pane.prints(f"{ASKS}$ ")
    pane.rests()
    assert pane.said() == []
    assert ends(pane) == ["composer"]


@pytest.mark.requirement("DEL-04b")
def test_a_command_that_was_typed_ahead_has_not_answered_at_the_prompt_of_the_one_before() -> None:
    pane = runs("sleep 3")
    message_id = pane.pastes("echo second")
    pane.prints("echo second")
    pane.submits(message_id)
    pane.prints(f"\r\n{ASKS}$ echo second")
    pane.rests(0.05)
    assert ends(pane) == []
    pane.prints(f"\r\n{WITHDRAWS}\rsecond\r\n{ASKS}$ ")
    pane.rests()
    assert pane.said() == ["second"]
    assert ends(pane) == ["composer"]


@pytest.mark.requirement("DEL-07b")
@pytest.mark.parametrize("first_row", ["", "~ on main"])
def test_output_without_a_line_feed_stands_left_of_a_prompt_of_two_rows(first_row: str) -> None:
    pane = runs("printf hello")
    for output in ("hello", "hello again"):
        pane.prints(f"{output}{ASKS}{first_row}\r\n$ ")
        pane.rests()
        assert pane.said()[-1] == output
        pane.prints(f"printf\r\n{WITHDRAWS}\r")
        pane.rests(0.1)
    assert pane.said() == ["hello", "hello again"]


@pytest.mark.requirement("DLV-02b")
def test_a_right_prompt_at_the_attach_is_no_draft() -> None:
    pane = ScriptedPane(40, 2)
    pane.begins(Snapshot(40, 2, (b"here", b"% ".ljust(34) + b"16:19"), (False, False), Cursor(2, 1)))
    assert pane.stream.pane_state.composer.text == ""


@pytest.mark.requirement("DLV-02b")
def test_a_draft_at_the_attach_with_the_cursor_before_it_is_no_right_prompt() -> None:
    pane = ScriptedPane(40, 2)
    pane.begins(Snapshot(40, 2, (b"here", b"% echo hi"), (False, False), Cursor(2, 1)))
    assert pane.stream.pane_state.composer.text == "echo hi"


@pytest.mark.requirement("DEL-02a")
def test_of_a_first_message_of_two_lines_the_right_prompt_is_no_part() -> None:
    pane = ScriptedPane(40, 8)
    rows = (b"% ".ljust(34) + b"16:19", *[b""] * 7)
    pane.begins(Snapshot(40, 8, rows, (False,) * 8, Cursor(2, 0)))
    pane.rests()
    message_id = pane.pastes("for i in 1 2\ndo echo $i; done")
    pane.prints("for i in 1 2\r\r\ndo echo $i; done\x1b[K")
    pane.submits(message_id)
    pane.prints(f"{WITHDRAWS}\r\r\n1\r\n2\r\n% {'':32}16:20\x1b[38D{ASKS}")
    pane.rests()
    assert pane.said("injected") == ["for i in 1 2", "do echo $i; done"]
    assert pane.said("typed") == []
    assert pane.said() == ["1", "2"]


@pytest.mark.requirement("DEL-02a")
def test_a_right_prompt_is_not_said_when_the_pane_ends() -> None:
    pane = ScriptedPane(40, 2)
    pane.begins(Snapshot(40, 2, (b"here", b"% ".ljust(34) + b"16:19"), (False, False), Cursor(2, 1)))
    pane.rests()
    pane.ends()
    assert pane.texts() == []


@pytest.mark.requirement("DEL-04b")
def test_a_reader_of_lines_that_prints_nothing_has_answered_at_its_next_prompt() -> None:
    pane = ScriptedPane()
    pane.prints(">>> ")
    pane.rests()
    for text, answer in (("1 + 1", "2\r\n"), ("x = 5", ""), ("x", "5\r\n")):
        before = len(ends(pane))
        pane.sends(text, painted=text)
        pane.rests(UNHEARD)
        assert len(ends(pane)) == before
        pane.prints(f"\r\n{answer}>>> ")
        pane.rests(QUIET + 0.5)
        assert ends(pane)[before:] == ["quiet"]
    assert pane.said() == ["2", "5"]


@pytest.mark.requirement("DEL-04b")
def test_a_program_that_prints_only_its_prompt_has_answered_at_both_its_ends() -> None:
    pane = runs("python3 -q", f"{ENDS_OF_INPUT['readline']}>>> ")
    pane.rests(QUIET + 0.5)
    assert ends(pane) == ["quiet"]
    message_id = pane.pastes("exit()")
    pane.prints("exit()")
    pane.submits(message_id)
    pane.prints(f"\r\n{ASKS}$ ")
    pane.events += pane.stream.apply(Ran(pane.now, "%0", "sh"))
    pane.rests(QUIET + 0.5)
    assert len(ends(pane)) == 2
    assert pane.said() == []


@pytest.mark.requirement("DEL-04b")
@pytest.mark.parametrize("clears", ["", "\x1b[H\x1b[2J\x1b[3J"], ids=["", "clear"])
def test_what_a_command_printed_before_it_showed_the_alternate_screen_is_published(clears: str) -> None:
    pane = runs("git commit -am x; git commit --amend")
    pane.prints(f"{clears}[main d630460] x\r\n 1 file changed\r\n\x1b[?1049h\x1b[22;0;0t\x1b[Hthe message")
    pane.rests()
    pane.prints("\x1b[?1049l[main f1e12a4] x\r\n" + f"{ASKS}$ ")
    pane.rests()
    assert pane.said() == ["[main d630460] x", " 1 file changed", "[main f1e12a4] x"]


TO_THE_END_OF_THE_ROW = " \r\x1bM" + "\x1b[C" * 79 + "\x1b[K"
"""What readline writes before the character that fills the row, at 80 columns."""
COMMANDS = {width: "seq 3 #".ljust(width - len("$ "), "x") for width in (79, 80, 81, 82, 160, 161)}
ECHOES = {
    "79": (79, COMMANDS[79]),
    "80": (80, COMMANDS[80] + TO_THE_END_OF_THE_ROW + "x"),
    "81": (81, COMMANDS[81]),
    "81, key by key": (81, f"{COMMANDS[81][:-1]} \rx"),
    "82, key by key": (82, f"{COMMANDS[82][:-2]} \rxx"),
    "160": (160, COMMANDS[160] + TO_THE_END_OF_THE_ROW + "x"),
    "161, key by key": (161, f"{COMMANDS[161][:78]} \r{COMMANDS[161][78:-1]} \rx"),
}
"""What bash 5.2 writes for commands that end near the end of a row of 80 columns, prompt included (tmux 3.3a)."""


@pytest.mark.requirement("ENG-03b")
@pytest.mark.parametrize("rest", [None, 0.3])
@pytest.mark.parametrize("name", ECHOES)
def test_a_line_typed_first_after_the_attach_is_typed_wherever_its_output_was_cut(
    name: str, rest: float | None
) -> None:
    """tmux 3.3a does not tell that bash asked for bracketed paste: only the withdrawal behind the line does."""
    width, echo = ECHOES[name]
    output = f"{echo}\r\n{WITHDRAWS}\r1\r\n2\r\n3\r\n{ASKS}$ ".encode()
    for cut in range(len(output)):
        pane = ScriptedPane(80, 24)
        pane.begins(Snapshot(80, 24, (b"$ ", *[b""] * 23), (False,) * 24, Cursor(2, 0)))
        pane.rests(0.5)
        pane.prints(output[:cut])
        if rest is not None:
            pane.rests(rest)
        pane.prints(output[cut:])
        pane.ends()
        said = [(event.origin, event.text) for event in pane.texts()]
        assert said == [("typed", COMMANDS[width]), *(("program", line) for line in "123")], output[:cut][-12:]


TABLE = ["┌────┬─────────┐", "│ Id │ State   │", "├────┼─────────┤", "│ 1  │ running │", "└────┴─────────┘"]


@pytest.mark.parametrize("told_late", [False, True], ids=["same command", "another command until after the prompt"])
def test_a_prompt_below_a_table_is_no_composer(told_late: bool) -> None:
    """`sqlite3 -box`, rich's Live: tmux is asked for the foreground command only some time after the prompt."""
    pane = ScriptedPane(40, 12)
    pane.events += pane.stream.apply(Ran(pane.now, "%0", "bash"))
    pane.prints(f"{ASKS}$ ")
    pane.rests()
    pane.prints(f"table{ENDS_OF_INPUT['readline']}")
    if told_late:
        pane.rests(0.5)
        pane.events += pane.stream.apply(Ran(pane.now, "%0", "python"))
    pane.prints("\r\n".join(["\x1b[?25l", *TABLE[:3], TABLE[4], f"\x1b[A{TABLE[3]}", TABLE[4], f"\x1b[?25h{ASKS}$ "]))
    pane.rests(0.25)
    if told_late:
        pane.events += pane.stream.apply(Ran(pane.now, "%0", "bash"))
    pane.prints("echo ne")
    pane.rests(0.1)
    pane.prints(f"xt{ENDS_OF_INPUT['readline']}next\r\n{ASKS}$ ")
    pane.ends()
    assert [line for line in pane.said() if line] == [*TABLE, "next"]
    assert pane.said("typed") == ["table", "echo next"]
