"""Where a dialog is one and where the same characters are something else."""

from collections.abc import Sequence
from typing import NamedTuple

import pytest
import regex
from hypothesis import given
from hypothesis import strategies as st

from streamrelay.delta.layout.dialogs import Dialog, find_dialog
from streamrelay.delta.profiles import DialogSign

MENU = [
    "● I will remove it.",
    "",
    " Remove the file",
    "",
    " Do you want to proceed?",
    " ❯ 1. Yes",
    "   2. No",
    "",
    " Esc to cancel",
]
POINTER = (1, 5)


def rows(text: str) -> list[str]:
    return text.strip("\n").split("\n")


def kind_and_text(dialog: Dialog | None) -> tuple[str, str] | None:
    """What the tests here are about; the choices have tests of their own."""
    return None if dialog is None else (dialog.kind, dialog.text)


def test_a_list_with_a_pointer_under_the_cursor_is_a_dialog() -> None:
    assert kind_and_text(find_dialog(MENU, POINTER, cursor_visible=False)) == ("permission", "Do you want to proceed?")


def test_a_list_above_a_composer_is_an_answer() -> None:
    screen = [*MENU, "", "────────", "❯ ", "────────", "  ? for shortcuts"]
    assert find_dialog(screen, (2, len(MENU) + 2), cursor_visible=False) is None


def test_a_list_that_a_linear_program_printed_is_not_owned() -> None:
    assert find_dialog([*MENU, ""], (0, len(MENU))) is None
    assert find_dialog([*MENU, ""], (0, len(MENU)), cursor_visible=False) is not None


def test_a_visible_cursor_may_stand_in_the_dialog() -> None:
    """On the pointer, or in the field that filters the choices."""
    assert find_dialog(MENU, POINTER) is not None
    filtered = rows("Pick a theme\n\nSearch\n\n❯ Dark\n  Light\n\nEnter to select")
    assert kind_and_text(find_dialog(filtered, (6, 2))) == ("picker", "Search")
    assert find_dialog(filtered, (3, 5)) is None


@pytest.mark.parametrize(("hint", "is_one"), [("⏎ to confirm", True), ("Confirm [⏎]", True), ("no newline⏎", False)])
def test_a_sign_of_the_key_behind_output_without_a_line_feed_is_no_hint(hint: str, is_one: bool) -> None:
    screen = ["root@vm ~# printf 'no newline'", hint, "root@vm ~#"]
    assert (find_dialog(screen, (11, 2)) is not None) == is_one


def test_bullets_are_no_pointers() -> None:
    """Unless they count, or keys follow."""
    assert find_dialog(rows("What is new?\n● Faster\n  Smaller"), (0, 3), cursor_visible=False) is None
    assert find_dialog(rows("What is new?\n❯ Faster\n  Smaller"), (0, 3), cursor_visible=False) is not None
    assert find_dialog(rows("Which?\n● 1. Faster\n  2. Smaller"), (0, 3), cursor_visible=False) is not None
    assert find_dialog(rows("Which?\n● Faster\n  Smaller\n\nEsc to close"), (0, 5), cursor_visible=False) is not None


def test_numbered_choices_count_on() -> None:
    assert find_dialog(rows("Well?\n❯ 1. Yes\n  5. No"), (0, 3), cursor_visible=False) is None


def test_the_question_is_the_dialogs_own() -> None:
    menu = ["Select a model", "❯ 1. Small", "  2. Large"]
    for between in ([], ["────"], ["", "", ""], ["● Hm."]):
        screen = ["What is this?", *between, *menu]
        found = find_dialog(screen, (0, len(screen)), cursor_visible=False)
        assert found is not None
        assert (found.text == "Select a model") is bool(between), between


def test_a_draft_of_several_lines_is_not_a_list_of_choices() -> None:
    framed = rows("────────\n❯ 1. Yes\n  2. No\n────────\n  esc to clear")
    assert find_dialog(framed, (7, 2), cursor_visible=False) is None
    assert find_dialog(rows("› 1. Yes\n  2. No\n\n  model · ~/work"), (7, 1)) is None


def test_a_menu_of_commands_beside_a_composer_is_not_asked_of_anybody() -> None:
    above = rows("› /model        choose a model\n  /permissions  choose\n\n› /\n\n  model · ~/work")
    below = rows("────\n❯ /\n────\n  ❯ /add-dir   Add\n    /branch    Branch\n    ↓ 60 more")
    assert find_dialog(above, (3, 3)) is None
    assert find_dialog(below, (3, 1), cursor_visible=False) is None


def test_what_follows_the_list_ends_the_dialog() -> None:
    """The program has gone on, or ended."""
    assert find_dialog([*MENU, "", "Not trusted. Run again."], (0, 11), cursor_visible=False) is None


@pytest.mark.parametrize(
    ("question", "kind"),
    [
        ("Do you trust the files in this folder?", "trust"),
        ("Do you want to use this API key?", "login"),
        ("How would you like to sign in?", "login"),
        ("Would you like to run the following command?", "permission"),
        ("Do you want to create trust.txt?", "permission"),
        ("Which colour shall it be?", "picker"),
        ("どれにしますか？", "picker"),
    ],
)
def test_words_name_the_kind(question: str, kind: str) -> None:
    screen = [question, "❯ 1. Ja", "  2. Nein", "", "Enter · Esc"]
    found = find_dialog(screen, (0, 1), cursor_visible=False)
    assert kind_and_text(found) == (kind, question)


def test_choices_name_the_kind_where_the_question_does_not() -> None:
    def kind(*options: str) -> str | None:
        screen = ["Well?", "❯ " + options[0], *("  " + option for option in options[1:]), "", "Enter to confirm"]
        found = find_dialog(screen, (0, 1), cursor_visible=False)
        return found and found.kind

    assert kind("Allow once", "Reject") == "permission"
    assert kind("No, exit", "Yes, I trust this folder") == "trust"
    assert kind("Sign in with a browser", "Paste a key") == "login"
    assert kind("Red", "Green") == "picker"


def test_a_key_to_go_on_with_is_a_confirmation() -> None:
    screen = rows("Security notes:\n\n1. It can make mistakes.\n\nPress Enter to continue…")
    assert kind_and_text(find_dialog(screen, (0, 5), cursor_visible=False)) == ("confirmation", "Security notes:")
    assert find_dialog(screen, (24, 4)) is not None, "a shell's `read` leaves the cursor behind its question"
    assert find_dialog(screen, (0, 5)) is None, "the text of a file"


def test_choices_told_apart_by_colour_are_known_by_their_keys() -> None:
    screen = rows("┃  △ Permission required\n┃  $ rm x\n┃\n┃  Allow once   Reject      ⇆ select  enter confirm\n┃")
    found = find_dialog(screen, (40, 5), cursor_visible=False)
    assert kind_and_text(found) == ("permission", "△ Permission required")


@pytest.mark.parametrize(
    "hint",
    [
        "  esc to interrupt",
        "A carriage return may be the end of a line",
        "  ? for shortcuts · ← for agents",
        "enter send",
    ],
)
def test_other_furniture_and_prose_is_no_hint(hint: str) -> None:
    assert find_dialog(["Working", "", hint], (0, 3), cursor_visible=False) is None


def test_a_profile_adds_signs() -> None:
    sign = DialogSign("picker", regex.compile(r"^ +(?P<text>Themes) +esc$"))
    screen = ["", "      Themes      esc", "      monokai"]
    assert find_dialog(screen, (0, 0)) is None
    assert kind_and_text(find_dialog(screen, (0, 0), signs=[sign])) == ("picker", "Themes")


class Drawn(NamedTuple):
    screen: list[str]
    pointer: tuple[int, int]


WORD = st.text(st.sampled_from("абвгдежзи あいう가나다 漢字選擇 αβγδ xyz"), min_size=2, max_size=12).map(
    lambda word: " ".join(word.split()) or "αβ"
)
HINTS = [
    "Enter to confirm · Esc to cancel",
    "Entrée pour confirmer · Échap pour annuler",
    "Enter zum Bestätigen, Esc zum Abbrechen",
    "↑/↓ 选择 · Enter 确认 · Esc 取消",
    "[Enter] – [Esc]",
]


@st.composite
def menus(draw: st.DrawFn) -> Drawn:
    """A list of choices as some program might draw it, words in no language that the finder knows."""
    glyph = draw(st.sampled_from("❯›▶►▸➜»"))
    numbered = draw(st.booleans())
    options = draw(st.lists(WORD, min_size=2, max_size=9))
    chosen = draw(st.integers(0, len(options) - 1))
    indent = " " * draw(st.integers(0, 4))
    width = draw(st.integers(60, 200))
    lines = [f"{indent}{draw(WORD)}？", *([""] if draw(st.booleans()) else [])]
    for number, option in enumerate(options, 1):
        mark = glyph if number - 1 == chosen else " "
        lines.append(f"{indent}{mark} {f'{number}. ' if numbered else ''}{option}")
    y = len(lines) - len(options) + chosen
    x = len(indent)
    if draw(st.booleans()):
        lines += ["", indent + draw(st.sampled_from(HINTS))]
    if draw(st.booleans()):
        lines = [
            "╭" + "─" * (width - 2) + "╮",
            *(f"│ {line:<{width - 4}} │" for line in lines),
            "╰" + "─" * (width - 2) + "╯",
        ]
        x, y = x + 2, y + 1
    above = draw(st.sampled_from([[], ["● Some answer", ""], ["─" * width]]))
    return Drawn([*above, *lines, *[""] * draw(st.integers(0, 10))], (x, y + len(above)))


@given(menus())
def test_any_list_with_a_pointer_is_a_picker_in_any_language(menu: Drawn) -> None:
    found = find_dialog(menu.screen, menu.pointer, cursor_visible=False)
    assert found is not None
    assert found.kind == "picker"
    assert found.text.endswith("？")


@given(menus(), st.integers(0, 200))
def test_it_is_one_too_where_the_hidden_cursor_is_parked_below(menu: Drawn, x: int) -> None:
    below = max(y for y, row in enumerate(menu.screen) if row) + 1
    assert find_dialog([*menu.screen, ""], (x, below), cursor_visible=False) is not None


@given(menus(), st.sampled_from("❯›>$"), WORD, st.booleans())
def test_it_is_none_above_a_prompt_with_the_cursor_behind_it(
    menu: Drawn, prompt: str, draft: str, visible: bool
) -> None:
    screen = [*menu.screen, "", f"{prompt} {draft}", "", "  ? for shortcuts"]
    assert find_dialog(screen, (2 + len(draft), len(screen) - 3), cursor_visible=visible) is None


@given(menus())
def test_it_is_none_where_a_program_printed_it_and_waits_below(menu: Drawn) -> None:
    below = max(y for y, row in enumerate(menu.screen) if row) + 1
    assert find_dialog([*menu.screen, ""], (0, below), cursor_visible=True) is None


def some_screens() -> st.SearchStrategy[Sequence[str]]:
    glyphs = st.sampled_from("❯›>● 12.)?│─╰╭ \tEnter Esc↑↓✔ab")
    return st.lists(st.text(st.one_of(glyphs, st.characters()), max_size=30), max_size=12)


@given(some_screens(), st.tuples(st.integers(-1, 300), st.integers(-1, 300)), st.booleans())
def test_no_screen_makes_it_raise(screen: Sequence[str], cursor: tuple[int, int], visible: bool) -> None:
    find_dialog(screen, cursor, cursor_visible=visible)


def test_a_panel_may_stand_below_the_hint_of_a_dialog_in_which_the_cursor_points() -> None:
    panel = [*MENU, "", "  1 task (0 done, 1 open)", "  ◻ Sharpen the plane"]
    assert kind_and_text(find_dialog(panel, POINTER, cursor_visible=False)) == ("permission", "Do you want to proceed?")
    assert find_dialog(panel, (2, len(panel) - 1), cursor_visible=False) is None
