import pytest

from streamrelay.delta.printing.page import MAX_LINES, Page


def say(page: Page, gone: str = "", final: str = "", below: str = "") -> str:
    """Say lines of one letter each; return the new ones."""
    lines = gone + final
    return "".join(lines[number] for number in page.say([*gone], [*final], [*below]))


@pytest.mark.parametrize(
    ("said", "final", "below", "news"),
    [
        ("abc", "abc", "", ""),
        ("abc", "abcde", "", "de"),
        ("abc", "aXc", "", "X"),
        ("abc", "aXbc", "", "X"),
        ("abc", "ac", "", ""),
        ("abc", "aa", "bc", "a"),
        ("abc", "Xab", "c", "X"),
        ("", "abc", "", "abc"),
        ("abc", "", "abX", ""),
    ],
)
def test_only_what_was_not_said_is_news(said: str, final: str, below: str, news: str) -> None:
    page = Page([*said])
    assert say(page, final=final, below=below) == news
    assert say(page, final=final, below=below) == ""


def test_a_blank_line_is_news_unless_it_stands_where_text_was() -> None:
    assert Page(["a", "bar"]).say((), ["a", ""], ()) == []
    assert Page(["a"]).say((), ["a", "", "b"], ()) == [1, 2]


def test_a_line_that_changes_back_is_not_said_again() -> None:
    page = Page([*"abc"])
    assert say(page, final="a", below="Xc") == ""
    assert say(page, final="abc") == ""


def test_lines_that_left_the_screen_are_not_looked_for_again() -> None:
    page = Page([*"abc"])
    assert say(page, gone="ab", below="c") == ""
    assert say(page, final="cab") == "ab"


def test_a_page_printed_again_from_its_first_line_says_what_is_new() -> None:
    page = Page([*"ab"])
    assert say(page, gone="abc", below="de") == "c"
    page.restart(cleared=True)
    assert say(page, gone="abcd", below="ef") == "d"
    page.restart(cleared=True)
    assert say(page, gone="abcde", final="fg") == "efg"


def test_a_heading_may_change_above_a_page_printed_again() -> None:
    page = Page([])
    assert say(page, gone="⠋abc", below="d") == "⠋abc"
    page.restart(cleared=True)
    assert say(page, gone="⠙abc", below="de") == "⠙"


def test_a_screen_cleared_before_anything_left_it_begins_a_page_of_which_all_is_news() -> None:
    page = Page([])
    assert say(page, final="abc") == "abc"
    page.restart(cleared=True)
    assert say(page, final="abc") == "abc"


def test_another_page_is_no_reprint_because_a_few_lines_are_the_same() -> None:
    page = Page([])
    assert say(page, gone="abcdefgh", final="ij") == "abcdefghij"
    page.restart(cleared=True)
    assert say(page, final="xyzuvwah") == "xyzuvwah"


def test_a_program_that_moved_up_to_the_first_row_and_rewrote_it_prints_nothing_again() -> None:
    page = Page([])
    assert say(page, gone="abcd", final="efg") == "abcdefg"
    page.restart(cleared=False)
    assert say(page, final="Efg") == "E"


def test_what_is_remembered_is_bounded() -> None:
    page = Page([])
    page.say([str(number) for number in range(3 * MAX_LINES)], ["end"], ())
    assert len(page.lines) <= MAX_LINES + 1
    assert page.say((), ["end"], ()) == []
