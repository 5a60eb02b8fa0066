"""Which lines of an agent's source its screen showed, however it renders Markdown; bounded for any text."""

import pytest

from streamrelay.delta.witness.alignment import align
from streamrelay.delta.witness.comparison import Comparison, Record
from streamrelay.delta.witness.source import source_lines

MARKDOWN = """## Plan

In **three** steps, see [the notes](https://example.org/notes):

- Read `%output` lines.
- Stop.

```python
def done(rows):
    return [row for row in rows if row.age > 3]
```

1. First.
1. Then.

| Program | Bytes |
|---|---|
| cat | 120 |
"""
RENDERED = """Plan

In three steps, see the notes:

• Read %output lines.
• Stop.

def done(rows):
    return [row for row in rows if row.age > 3]

1. First.
2. Then.

Program │ Bytes
cat │ 120"""

pytestmark = pytest.mark.requirement("DEL-11")


def states(screen: list[str], source: str, aside: list[str] | None = None) -> list[str]:
    """Return how the lines of a source fared that hold something."""
    lines = source_lines([source])
    fared = align(screen, lines, aside or []).states
    return [state for line, state in zip(lines, fared, strict=True) if line.text.strip() and state != "neutral"]


def test_a_rendered_answer_is_its_source() -> None:
    aligned = align(RENDERED.split("\n"), source_lines([MARKDOWN]))
    assert aligned.is_whole
    assert not aligned.extra


@pytest.mark.parametrize(
    "screen",
    [
        ["In three steps, see the notes", "(https://example.org/notes):"],
        ["In three", "steps, see the notes:"],
    ],
    ids=["with its target", "in two lines"],
)
def test_a_line_is_shown_however_its_link_and_its_wraps_are_drawn(screen: list[str]) -> None:
    assert states(screen, "In **three** steps, see [the notes](https://example.org/notes):") == ["shown"]


@pytest.mark.parametrize("glyph", ["✦", "※", "❖"])
def test_a_line_behind_the_glyph_of_its_block_is_shown(glyph: str) -> None:
    alignment = align(
        [f"{glyph} The mill wheel", "  turns as before.", "Nothing else."],
        source_lines(["The mill wheel turns as before.\nNothing else."]),
    )
    assert alignment.is_whole
    assert alignment.states == ["shown", "shown"]


def test_a_glyph_of_the_source_itself_is_no_lead() -> None:
    assert align(["✦ is a star."], source_lines(["✦ is a star."])).is_whole
    assert align(["is a star."], source_lines(["✦ is a star."])).states == ["absent"]


def test_two_lines_of_a_paragraph_that_are_shown_as_one_are_shown() -> None:
    assert states(["one two three"], "one two\nthree") == ["shown", "shown"]


@pytest.mark.parametrize(
    ("screen", "source"),
    [
        ("The answer is 42.", "The answer is 43."),
        ("The answer is 42.", "The answer is 4"),
        ("The answer is 4", "The answer is 42."),
        ("Delete nothing.", "Delete."),
        ("Go", "Go and delete everything."),
    ],
)
def test_a_line_that_reads_otherwise_is_absent(screen: str, source: str) -> None:
    assert states([screen], source) == ["absent"]


def test_code_is_compared_with_its_marks() -> None:
    assert states(["if a > b:", "    return -a"], "```\nif a > b:\n    return -a\n```") == ["shown", "shown"]
    assert states(["if a > b:", "    return -a"], "```\nif a b:\n    return a\n```") == ["absent", "absent"]


def test_a_line_that_repeats_is_found_where_it_stands() -> None:
    screen = ["start", "for row in rows:", "second part", "for row in rows:", "the end of it"]
    source = "start\nfirst part\nfor row in rows:\nsecond part\nfor row in rows:\nthe end of it"
    assert states(screen, source) == ["shown", "absent", "shown", "shown", "shown", "shown"]
    assert states(screen[2:], source)[:3] == ["absent", "absent", "absent"]


def test_a_row_that_was_left_out_confirms_a_line() -> None:
    assert states(["It took"], "It took\n* 3 tokens · 2s", ["✻ 3 tokens · 2s"]) == ["shown", "aside"]


def test_combined_and_composed_letters_are_the_same_letters() -> None:
    assert states(["e\u0301tude 你好"], "étude **你好**") == ["shown"]


@pytest.mark.timeout(30)
@pytest.mark.parametrize(
    ("screen", "source"),
    [
        (["a" * 50_000] * 4, "\n".join(["a" * 7] * 10_000)),
        (["ab"] * 10_000, "\n".join(["ab"] * 10_000)),
        ([f"word{n} abcdef" for n in range(10_000)], "\n".join(f"word{n} abcdeg" for n in range(10_000))),
        (["x" * n for n in range(1, 600)], "\n".join("x" * n for n in range(600, 1, -1))),
        (["[" * 3000], "[" * 20_000 + "\n" + "](" * 20_000),
    ],
    ids=["one long line", "all alike", "none alike", "nested", "brackets"],
)
def test_hostile_text_takes_bounded_time(screen: list[str], source: str) -> None:
    lines = source_lines([source])
    aligned = align(screen, lines)
    assert len(aligned.states) == len(lines)
    assert aligned.shown_characters <= aligned.screen_characters


def test_of_lines_in_another_order_as_many_as_keep_it_are_shown() -> None:
    screen = ["the second line", "the first line", "the third line"]
    source = "the first line\n\nthe second line\n\nthe third line"
    assert states(screen, source) == ["absent", "shown", "shown"]


@pytest.mark.parametrize(("between", "extra"), [([], 0), (["", "other"], 3)])
def test_pieces_of_a_line_are_rows_in_a_row(between: list[str], extra: int) -> None:
    """Rows too short to be a piece by themselves are one together, but not with other rows between them."""
    source = source_lines(["A long first line that the screen shows whole.\n\nabcdefgh and the rest of that line"])
    screen = ["A long first line that the screen shows whole.", "abcde", *between, "fghan"]
    record = Record(answers=[""], names=[("transcript",)], is_whole=True, is_matched=True)
    assert Comparison(record, source, screen, align(screen, source), has_gap=True).extra == extra
