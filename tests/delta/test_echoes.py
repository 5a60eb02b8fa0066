"""Echoes in a transcript: found in every decoration and width, once, and quotes survive."""

import textwrap
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamrelay.delta.transcript import echoes
from streamrelay.delta.transcript.echoes import MAX_LOOKS_PER_ROW, MIN_TAIL, Block, EchoSearch, spelling

RULE = "─" * 20


def bounds(block: Block | None) -> Block | None:
    """The rows of a block, whatever its mark and form."""
    return block._replace(mark="", form=0) if block is not None else None


@pytest.mark.requirement("DEL-02c")
@pytest.mark.parametrize(
    ("rows", "message", "block"),
    [
        pytest.param(["hello"], "hello", Block(0, 1), id="plain"),
        pytest.param(["old", "", "> hello", "", "Hi!"], "hello", Block(2, 3), id="mark"),
        pytest.param(["❯ hello"], "hello", Block(0, 1), id="another mark"),
        pytest.param(["   hello   "], "hello", Block(0, 1), id="indent"),
        pytest.param(["│ > hello        │"], "hello", Block(0, 1), id="sides of a box"),
        pytest.param([RULE, "│ hello │", RULE], "hello", Block(0, 3), id="box"),
        pytest.param([RULE, "hello"], "hello", Block(1, 2), id="a rule on one side is not a box"),
        pytest.param(["┃", "┃ hello", "┃ you", "┃"], "hello\nyou", Block(0, 4), id="bar"),
        pytest.param(["> hello", "  you"], "hello you", Block(0, 2), id="wrapped"),
        pytest.param(["> hel", "  lo"], "hello", Block(0, 2), id="broken hard"),
        pytest.param(["> one", "", "  two"], "one\n\ntwo", Block(0, 3), id="blank line inside"),
        pytest.param(["> one", "", "", "  two"], "one\ntwo", Block(0, 4), id="blank rows of the program's"),
        pytest.param(["> bold and code"], "**bold** and `code`", Block(0, 1), id="Markdown eaten"),
        pytest.param(["> - item", "> # head"], "- item\n# head", Block(0, 2), id="a message that begins with marks"),
        pytest.param(["> 日本", "  語"], "日本語", Block(0, 2), id="wide"),
        pytest.param(["> hello world"], "hello", None, id="not the whole row"),
        pytest.param(["oh hello"], "hello", None, id="not from the row's start"),
        pytest.param(["> hello", "  you"], "hello", Block(0, 1), id="what follows is not looked at"),
        pytest.param(["> hel"], "hello", None, id="only its beginning"),
        pytest.param([], "hello", None, id="no rows"),
        pytest.param(["", "  "], "hello", None, id="blank rows"),
        pytest.param(["hello"], "", None, id="empty message"),
        pytest.param([">", ">>", RULE], "hello", None, id="marks only"),
    ],
)
def test_echo(rows: list[str], message: str, block: Block | None) -> None:
    assert bounds(EchoSearch(rows).find([message])) == block


@pytest.mark.requirement("DEL-02c")
@pytest.mark.parametrize("glyph", [*"»$:%▷⟩◂＞║░▐¦👤"])
def test_an_echo_behind_any_glyph(glyph: str) -> None:
    assert EchoSearch([f"{glyph} hello", "  you", "", "Hi!"]).find(["hello you"]) == Block(0, 2, f"{glyph} ")


@pytest.mark.requirement("DEL-02b", "DEL-02c")
@pytest.mark.parametrize(
    ("rows", "block"),
    [
        pytest.param(["λ hello", "  you", "Hi!"], Block(0, 2, "λ "), id="a letter"),
        pytest.param(["", "you: hello you", "Hi!"], Block(1, 2, "you: "), id="a word"),
        pytest.param(["Du sagst: hello you"], None, id="two words"),
        pytest.param(["a", "b", "c", "you: hello you"], None, id="not where the transcript goes on"),
        pytest.param(["a", "b", "c", "me: hello you"], Block(3, 4, "me: "), id="the mark of messages"),
        pytest.param(["you: hello you too"], None, id="not the whole row"),
        pytest.param(["you:hello you"], None, id="no blank"),
    ],
)
def test_an_echo_behind_a_label(rows: list[str], block: Block | None) -> None:
    assert EchoSearch(rows).find_labelled(["hello you"], mark="me: ") == block


def test_the_earliest_of_several_forms_counts_and_the_search_begins_where_it_is_told() -> None:
    rows = ["> [Pasted text #1 +4 lines]", "> whole text", "> whole text"]
    forms = ["whole text", "[Pasted text #1 +4 lines]"]
    assert EchoSearch(rows).find(forms) == Block(0, 1, "> ", form=1)
    assert bounds(EchoSearch(rows).find(forms, 1)) == Block(1, 2)
    assert EchoSearch(rows).find(forms, 3) is None


@pytest.mark.parametrize("message", ["***", "~", "__", "```"])
def test_a_message_of_nothing_but_what_markdown_eats(message: str) -> None:
    assert bounds(EchoSearch([f"> {message}", "", "Yes?"]).find([message])) == Block(0, 1)


WORDS = st.lists(st.text("abcdefgh日本é-#>", min_size=1, max_size=9), min_size=1, max_size=30)
DECORATIONS = st.sampled_from([("> ", "  "), ("❯ ", "  "), ("│ ", "│ "), ("", ""), ("    ", "    "), ("› ", "")])


@pytest.mark.requirement("DEL-02b", "DEL-02c")
@given(WORDS, DECORATIONS, st.integers(12, 60), st.lists(st.sampled_from(["", "other words", "• said"]), max_size=6))
def test_an_echo_in_any_decoration_and_width_is_found_once_and_a_quote_survives(
    words: list[str], decoration: tuple[str, str], width: int, old: list[str]
) -> None:
    message, (first, others) = " ".join(words), decoration
    shown = [
        (others if y else first) + row for y, row in enumerate(textwrap.wrap(message, width, break_on_hyphens=False))
    ]
    rows = [*old, "the answer before", *shown, "", "You said:", *shown, "indeed"]
    echo = EchoSearch(rows).find([message])
    assert echo is not None
    assert bounds(echo) == Block(len(old) + 1, len(old) + 1 + len(shown))
    assert bounds(EchoSearch(rows).find([message], echo.stop)) == Block(echo.stop + 2, echo.stop + 2 + len(shown))


@given(st.lists(st.text("ab>│─ ", max_size=6), max_size=12), st.text("ab>│─ \n", max_size=8))
def test_whatever_is_found_spells_the_message(rows: list[str], message: str) -> None:
    block = EchoSearch(rows).find([message])
    if block is not None:
        letters = "".join(c for c in "".join(rows[block.start : block.stop]) if c in "ab")
        assert letters == "".join(c for c in message if c in "ab")
        assert 0 <= block.start < block.stop <= len(rows)


MESSAGE = "\n".join(f"this is line number {n} of a message" for n in range(30))


@pytest.mark.requirement("DEL-02c")
@pytest.mark.parametrize("first", [1, 12, 29])
def test_the_tail_of_a_message_too_tall_for_the_screen(first: int) -> None:
    rows = ["", *(f"  this is line number {n} of a message" for n in range(first, 30)), "", "• the answer"]
    assert EchoSearch(rows).find_tail(MESSAGE, [0]) == Block(1, 31 - first)
    assert EchoSearch(rows).find_tail(MESSAGE, [2]) == (None if first == 29 else Block(2, 31 - first))


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        pytest.param(["the end"], "a long message\nand this is the end", id="too short to be told from chance"),
        pytest.param(["this is line number 3 of a message", "but then"], MESSAGE, id="does not go on as the message"),
        pytest.param(["this is line number 0 of a message"], "this is line number 0 of a message", id="not beheaded"),
        pytest.param(["", ""], MESSAGE, id="blank"),
        pytest.param([], MESSAGE, id="no rows"),
    ],
)
def test_no_tail(rows: list[str], message: str) -> None:
    assert EchoSearch(rows).find_tail(message, [0]) is None


def test_a_tail_begins_at_a_top_only() -> None:
    rows = ["an answer", "this is line number 28 of a message", "this is line number 29 of a message"]
    assert len(spelling(rows[1])) >= MIN_TAIL
    assert EchoSearch(rows).find_tail(MESSAGE, [0]) is None
    assert EchoSearch(rows).find_tail(MESSAGE, [0, 1]) == Block(1, 3)


@pytest.mark.parametrize(
    ("rows", "last"),
    [
        pytest.param(["> hello", "words", "> hello", "words"], Block(2, 3, "> "), id="painted again"),
        pytest.param(["> hello", "words", "  hello", "words"], Block(0, 1, "> "), id="a quote behind no mark"),
        pytest.param(["> hello", "● hello"], Block(0, 1, "> "), id="a quote behind the mark of an answer"),
        pytest.param(["hello", "hello"], Block(0, 1, ""), id="without a mark there are no copies"),
        pytest.param(["> hello", "● hello", "> hello"], Block(2, 3, "> "), id="a quote between"),
    ],
)
def test_last_copy(rows: list[str], last: Block) -> None:
    echo = EchoSearch(rows).find(["hello"])
    assert echo is not None
    assert EchoSearch(rows).find_last_copy(["hello"], echo) == last


@pytest.fixture
def spelled(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The texts that were spelled."""
    texts: list[str] = []

    def counted(text: str) -> str:
        texts.append(text)
        return spelling(text)

    monkeypatch.setattr(echoes, "spelling", counted)
    return texts


@pytest.fixture
def looks(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many rows were looked at, search by search."""
    counts: list[int] = []
    spelled_until = echoes._spelled_until

    def counted(rows: Sequence[str], first: int, target: str) -> tuple[int | None, int]:
        stop, looked = spelled_until(rows, first, target)
        counts.append(looked)
        return stop, looked

    monkeypatch.setattr(echoes, "_spelled_until", counted)
    return counts


def test_rows_that_all_spell_the_beginning_do_not_make_the_search_quadratic(looks: list[int]) -> None:
    rows, message = ["ha"] * 3000, "ha\n" * 2000 + "hum"
    assert EchoSearch(rows).find([message]) is None
    assert sum(looks) <= (MAX_LOOKS_PER_ROW + 1) * len(rows)


def test_a_flood_of_copies_does_not_make_the_search_quadratic(spelled: list[str], looks: list[int]) -> None:
    rows = ["> ha"] * 2000
    search = EchoSearch(rows)
    echo = search.find(["ha"])
    assert echo is not None
    assert search.find_last_copy(["ha"], echo) == Block(1999, 2000, "> ")
    assert len(spelled) <= 10 * len(rows)
    assert len(looks) <= 2 * len(rows)


@pytest.mark.requirement("DEL-02b")
def test_a_name_may_stand_in_front_of_a_message() -> None:
    rows = ["bot: welcome", "you: say hello", "again", "say hello again", "bot: hello"]
    echo = EchoSearch(rows).find(["say hello again"])
    assert echo is not None
    assert (echo.start, echo.stop, echo.mark) == (1, 3, "you: ")


def test_a_message_beside_a_bar_of_which_a_row_was_missed() -> None:
    words = "one two three four five six seven eight nine ten"
    rows = ["old", "  ┃", "  ┃  one two three four", "  ┃  eight nine ten", "  ┃", "", "     the answer"]
    echo = EchoSearch(rows).find_like(words, "  ┃  ")
    assert echo is not None
    assert (echo.start, echo.stop) == (2, 5)


def test_a_piece_of_the_message_counts_only_where_the_whole_is_nowhere() -> None:
    """A composer may show the first paragraph alone; every message of that speaker begins so."""
    rows = ["> Ann (1):", "", "  the first", "answer", "> Ann (1):", "", "  the second", "answer"]
    whole, piece = "Ann (1):\n\nthe second", "Ann (1):"
    assert EchoSearch(rows).find([whole, piece]) == Block(4, 7, "> ")
    assert EchoSearch(rows[:4]).find([whole, piece]) == Block(0, 1, "> ", 1)
    echo = EchoSearch(rows).find(["Ann (1):\n\nthe first", piece])
    assert echo is not None
    assert EchoSearch(rows).find_last_copy(["Ann (1):\n\nthe first", piece], echo) == echo


def test_the_end_of_a_message_may_begin_with_a_short_row() -> None:
    rows = ["  }", "  return the_total_of_everything()", "answer"]
    message = "if it is so {\n    call(it)\n}\nreturn the_total_of_everything()"
    assert EchoSearch(rows).find_tail(message, [0]) == Block(0, 2)
    assert EchoSearch(["  }", "answer"]).find_tail("if it is so {\n}", [0]) is None


@pytest.mark.requirement("DEL-02b")
@pytest.mark.parametrize(
    ("row", "is_echo"),
    [
        pytest.param("› one two three four five s…", True, id="the beginning of the message"),
        pytest.param("› one two three four five six", False, id="without an ellipsis"),
        pytest.param("  one two three four five s…", False, id="without the mark"),
        pytest.param("› one two…", False, id="too short to tell"),
        pytest.param("› one two four three five s…", False, id="another text"),
    ],
)
def test_an_echo_may_be_cut_short(row: str, is_echo: bool) -> None:
    search = EchoSearch(["• before", row, "• after"])
    found = search.find_cut_short("one two three four five six", "› ")
    assert found == (Block(1, 2, "› ") if is_echo else None)
