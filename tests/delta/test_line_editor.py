import pytest

from streamrelay.delta.mode import ModeMachine
from streamrelay.delta.printing.line_editor import MAX_HELD_LINES, PATIENCE, LineEditor
from streamrelay.testing.scripted_pane import ScriptedPane


def editing(head: str = "", *, known: bool = True) -> LineEditor:
    """Return a region that is open, of a line editor that has or has not withdrawn before."""
    mode = ModeMachine()
    mode.ask()
    if known:
        mode.withdraw(typed=True)
        mode.ask()
    editor = LineEditor(mode)
    editor.begin(head)
    return editor


def test_it_is_open_from_the_request_to_the_withdrawal() -> None:
    mode = ModeMachine()
    editor = LineEditor(mode)
    assert not editor.is_open
    mode.ask()
    assert editor.is_open
    mode.withdraw(typed=True)
    assert not editor.is_open


def test_the_content_is_all_that_was_painted_inside() -> None:
    editor = editing()
    assert editor.keep(["$ for x in 1"]) == []
    assert editor.content(["> do"], "> done") == "$ for x in 1\n> do\n> done"


def test_output_without_a_line_feed_stands_left_of_a_prompt_printed_after_the_request() -> None:
    editor = editing("out")
    assert editor.settle("out$ ") == ("out", "$ ")
    assert editor.content([], "out$ ls") == "$ ls"


def test_a_prompt_printed_before_the_request_is_a_prompt() -> None:
    editor = editing("$ ")
    assert editor.settle("$ ") == ("", "$ ")
    assert editor.content([], "$ ls") == "$ ls"


def test_the_prompt_shows_at_the_first_rest_only() -> None:
    editor = editing()
    assert editor.settle("$ ") == ("", "$ ")
    assert editor.settle("$ ls") is None


def test_a_program_that_shows_lines_before_it_ever_withdrew_is_no_editor() -> None:
    editor = editing(known=False)
    editor.keep(["a line"])
    assert editor.has_passed(1.0, shows_input=False)
    assert not editor.has_passed(1.0, shows_input=True)
    assert editor.release() == ["a line"]


def test_behind_an_enter_a_known_editor_is_given_time_to_withdraw() -> None:
    editor = editing()
    editor.keep(["> a line"])
    assert not editor.has_passed(1.0, shows_input=False)
    editor.entered = True
    assert not editor.has_passed(1.0, shows_input=False)
    assert editor.withdrawal_due == 1.0 + PATIENCE
    assert not editor.has_passed(1.0 + PATIENCE / 2, shows_input=True)
    assert editor.has_passed(1.0 + PATIENCE, shows_input=True)
    editor.close()
    assert editor.withdrawal_due is None


@pytest.mark.parametrize("withdraws", [True, False])
def test_a_screen_that_rests_between_an_enter_and_the_withdrawal_makes_no_conversation(withdraws: bool) -> None:
    pane = ScriptedPane()
    prompt = "\x1b[?2004h\x1b[?25l\x1b[Jask> \r\n\r\n\r\x1b[2A\x1b[5C\x1b[?25h"
    pane.prints(f"{prompt}first\r\n\x1b[J\x1b[?2004l")
    pane.prints(prompt)
    pane.rests(1)
    pane.sends("message", painted="message")
    pane.prints("\x1b[?25l\x1b[12D\x1b[Jask> message\r\r\n\x1b[J\x1b[?25h")
    pane.rests(0.015)
    assert pane.stream.mode.split(":")[0] == "editing"
    if not withdraws:
        # Nothing more is printed: the patience ends by itself.
        pane.rests(1)
        assert pane.stream.mode.split(":")[0] == "conversing"
        return
    pane.prints(f"\x1b[?2004l\r\nan answer\r\n{prompt}")
    pane.rests(1)
    assert pane.said()[-1] == "an answer"
    assert pane.said("injected") == ["message"]


def test_nobody_edits_a_thousand_lines() -> None:
    editor = editing()
    lines = [str(n) for n in range(MAX_HELD_LINES)]
    assert editor.keep(lines) == []
    assert editor.keep(["more"]) == [*lines, "more"]
    assert not editor.is_open


def test_what_was_erased_since_the_request_is_neither_output_nor_prompt() -> None:
    editor = editing("old")
    assert editor.settle("$ ") == ("", "$ ")
    assert editor.content([], "$ ls") == "$ ls"


def printed_over(editor: LineEditor, line: str, *, at: float = 1.0) -> None:
    """Let another program end the editor's row with a line."""
    editor.keep([line])
    editor.rest("", at, prompt="", may_be_printed=True)


def test_what_is_printed_over_the_row_of_an_editor_is_told_from_what_stood_there() -> None:
    editor = editing()
    editor.rest("$ git pu", 0.5, prompt="", may_be_printed=False)
    printed_over(editor, "$ git pudone")
    assert editor.due == 1.0 + PATIENCE
    assert editor.take_printed() == ["done"]
    assert editor.due is None
    assert editor.content([], "sh") == "$ git push"


def test_lines_printed_one_after_the_other_are_all_printed() -> None:
    editor = editing()
    editor.rest("$ ", 0.5, prompt="", may_be_printed=False)
    printed_over(editor, "$ one")
    printed_over(editor, "two", at=1.1)
    assert editor.due == 1.0 + PATIENCE
    assert editor.take_printed() == ["one", "two"]
    editor.rest("ech", 2.0, prompt="", may_be_printed=False)
    printed_over(editor, "echthree", at=3.0)
    assert editor.take_printed() == ["three"]
    assert editor.content(["o x"], "") == "$ echo x"


def test_a_row_that_passes_as_it_stood_was_submitted_or_goes_on() -> None:
    editor = editing()
    editor.rest("$ for x in 1", 0.5, prompt="", may_be_printed=False)
    printed_over(editor, "$ for x in 1")
    assert editor.due is None
    assert editor.content(["> done"], "") == "$ for x in 1\n> done"


def test_output_that_begins_with_a_line_feed_stands_below_the_row_of_an_editor() -> None:
    editor = editing()
    editor.rest("$ git pu", 0.5, prompt="", may_be_printed=False)
    editor.keep(["$ git pu", "Broadcast message from root", "", "going down"])
    editor.rest("", 1.0, prompt="", may_be_printed=True)
    assert editor.due == 1.0 + PATIENCE
    assert editor.take_printed() == ["Broadcast message from root", "", "going down"]
    assert editor.content([], "sh") == "$ git push"


def test_what_is_printed_before_the_first_rest_stands_behind_the_prompt() -> None:
    editor = editing()
    editor.keep(["$ done"])
    editor.rest("", 1.0, prompt="$ ", may_be_printed=True)
    assert editor.take_printed() == ["done"]


def test_a_prompt_painted_again_ends_what_was_printed_over_it() -> None:
    editor = editing()
    editor.rest("$ echo half", 0.5, prompt="", may_be_printed=False)
    editor.keep(["$ echo halfdone", "[1]  + done"])
    assert editor.repaint("$ echo half", is_bare=False) == ["done", "[1]  + done"]
    assert editor.content([], "$ echo half x") == "$ echo half x"


def test_what_an_editor_lists_above_its_prompt_is_not_printed() -> None:
    editor = editing()
    editor.rest("$ ec", 0.5, prompt="", may_be_printed=False)
    editor.keep(["$ ec", "echo  ecpg"])
    assert editor.repaint("$ ec", is_bare=False) == []
    assert editor.content([], "$ echo") == "$ echo"


def test_the_first_rows_of_a_prompt_painted_again_are_prompt() -> None:
    editor = editing("")
    editor.keep(["~/work 12:01"])
    editor.settle("$ ")
    editor.rest("$ ", 0.5, prompt="", may_be_printed=False)
    editor.keep(["$ done", "[1]  + done", "~/work 12:02"])
    assert editor.repaint("$ ", is_bare=False) == ["done", "[1]  + done"]
