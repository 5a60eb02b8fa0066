from streamrelay.delta.mode import ModeMachine
from streamrelay.delta.printing.line_editor import MAX_HELD_LINES, PATIENCE, Composer


def editing(head: str = "", *, known: bool = True) -> Composer:
    """Return a region that is open, of a line editor that has or has not withdrawn before."""
    mode = ModeMachine()
    mode.ask()
    if known:
        mode.withdraw(typed=True)
        mode.ask()
    composer = Composer(mode)
    composer.begin(head)
    return composer


def test_it_is_open_from_the_request_to_the_withdrawal() -> None:
    mode = ModeMachine()
    composer = Composer(mode)
    assert not composer.is_open
    mode.ask()
    assert composer.is_open
    mode.withdraw(typed=True)
    assert not composer.is_open


def test_the_content_is_all_that_was_painted_inside() -> None:
    composer = editing()
    assert composer.keep(["$ for x in 1"]) == []
    assert composer.content(["> do"], "> done") == "$ for x in 1\n> do\n> done"


def test_output_without_a_line_feed_stands_left_of_a_prompt_printed_after_the_request() -> None:
    composer = editing("out")
    assert composer.settle("out$ ") == ("out", "$ ")
    assert composer.content([], "out$ ls") == "$ ls"


def test_a_prompt_printed_before_the_request_is_a_prompt() -> None:
    composer = editing("$ ")
    assert composer.settle("$ ") == ("", "$ ")
    assert composer.content([], "$ ls") == "$ ls"


def test_the_prompt_shows_at_the_first_rest_only() -> None:
    composer = editing()
    assert composer.settle("$ ") == ("", "$ ")
    assert composer.settle("$ ls") is None


def test_a_program_that_shows_lines_before_it_ever_withdrew_is_no_editor() -> None:
    composer = editing(known=False)
    composer.keep(["a line"])
    assert composer.has_passed(paints=False)
    assert not composer.has_passed(paints=True)
    assert composer.release() == ["a line"]


def test_a_known_editor_lets_lines_pass_only_before_the_enter() -> None:
    composer = editing()
    composer.keep(["listing of a completion"])
    assert not composer.has_passed(paints=False)
    composer.entered = True
    assert composer.has_passed(paints=False)


def test_nobody_edits_a_thousand_lines() -> None:
    composer = editing()
    lines = [str(n) for n in range(MAX_HELD_LINES)]
    assert composer.keep(lines) == []
    assert composer.keep(["more"]) == [*lines, "more"]
    assert not composer.is_open


def test_what_was_erased_since_the_request_is_neither_output_nor_prompt() -> None:
    composer = editing("old")
    assert composer.settle("$ ") == ("", "$ ")
    assert composer.content([], "$ ls") == "$ ls"


def printed_over(editor: Composer, line: str, *, at: float = 1.0) -> None:
    """Let another program end the editor's row with a line."""
    editor.keep([line])
    editor.rest("", at, prompt="", may_be_printed=True)


def test_what_is_printed_over_the_row_of_an_editor_is_told_from_what_stood_there() -> None:
    composer = editing()
    composer.rest("$ git pu", 0.5, prompt="", may_be_printed=False)
    printed_over(composer, "$ git pudone")
    assert composer.due == 1.0 + PATIENCE
    assert composer.take_printed() == ["done"]
    assert composer.due is None
    assert composer.content([], "sh") == "$ git push"


def test_lines_printed_one_after_the_other_are_all_printed() -> None:
    composer = editing()
    composer.rest("$ ", 0.5, prompt="", may_be_printed=False)
    printed_over(composer, "$ one")
    printed_over(composer, "two", at=1.1)
    assert composer.due == 1.0 + PATIENCE
    assert composer.take_printed() == ["one", "two"]
    composer.rest("ech", 2.0, prompt="", may_be_printed=False)
    printed_over(composer, "echthree", at=3.0)
    assert composer.take_printed() == ["three"]
    assert composer.content(["o x"], "") == "$ echo x"


def test_a_row_that_passes_as_it_stood_was_submitted_or_goes_on() -> None:
    composer = editing()
    composer.rest("$ for x in 1", 0.5, prompt="", may_be_printed=False)
    printed_over(composer, "$ for x in 1")
    assert composer.due is None
    assert composer.content(["> done"], "") == "$ for x in 1\n> done"


def test_what_is_printed_before_the_first_rest_stands_behind_the_prompt() -> None:
    composer = editing()
    composer.keep(["$ done"])
    composer.rest("", 1.0, prompt="$ ", may_be_printed=True)
    assert composer.take_printed() == ["done"]


def test_a_prompt_painted_again_ends_what_was_printed_over_it() -> None:
    composer = editing()
    composer.rest("$ echo half", 0.5, prompt="", may_be_printed=False)
    composer.keep(["$ echo halfdone", "[1]  + done"])
    assert composer.repaint("$ echo half", is_bare=False) == ["done", "[1]  + done"]
    assert composer.content([], "$ echo half x") == "$ echo half x"


def test_what_an_editor_lists_above_its_prompt_is_not_printed() -> None:
    composer = editing()
    composer.rest("$ ec", 0.5, prompt="", may_be_printed=False)
    composer.keep(["$ ec", "echo  ecpg"])
    assert composer.repaint("$ ec", is_bare=False) == []
    assert composer.content([], "$ echo") == "$ echo"


def test_the_first_rows_of_a_prompt_painted_again_are_prompt() -> None:
    composer = editing("")
    composer.keep(["~/work 12:01"])
    composer.settle("$ ")
    composer.rest("$ ", 0.5, prompt="", may_be_printed=False)
    composer.keep(["$ done", "[1]  + done", "~/work 12:02"])
    assert composer.repaint("$ ", is_bare=False) == ["done", "[1]  + done"]
