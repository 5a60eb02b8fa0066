from streamrelay.delta.mode import ModeMachine
from streamrelay.delta.printing.line_editor import MAX_HELD_LINES, Composer


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
