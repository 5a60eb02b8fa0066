"""What an answer is, of the rows that a program has painted since it was spoken to."""

from dataclasses import replace

import pytest
import regex

from streamrelay.delta.layout.rows import PaintedRow
from streamrelay.delta.profiles import GENERIC, Profile
from streamrelay.delta.reasons import Rule
from streamrelay.delta.transcript.answers import Message, ended_lines, painted_lines, read_answer
from streamrelay.delta.transcript.echoes import rendered

RULE = "─" * 20


def read(
    rows: list[str],
    *messages: str,
    before: tuple[str, ...] = (),
    profile: Profile = GENERIC,
    skipped_at: int | None = None,
) -> list[tuple[str, list[str]]]:
    painted = [PaintedRow(row, skipped=y == skipped_at) for y, row in enumerate(rows)]
    answer = read_answer(
        [PaintedRow(row) for row in before],
        painted,
        [Message(f"m{n}", (message,)) for n, message in enumerate(messages)],
        columns=40,
        is_spinner=lambda row: row.startswith("✻"),
        profile=profile,
    )
    return [(passage.kind, passage.lines) for passage in answer.passages if passage.kind != "unsaid"]


def test_what_was_sent_twice_is_found_twice_though_its_composer_showed_it_in_two_ways() -> None:
    """While the program is at work, what its composer shows may be half painted when the Enter goes out."""
    rows = ["> Bob:", "", "  one", "", "● first", "", "> Bob:", "", "  one", "", "● second"]
    rows += ["", "> Bob:", "", "  two", "", "● third"]
    messages = [
        Message("m1", ("Bob:\n\none",)),
        Message("m2", ("Bob:\n\none", "Bob:")),
        Message("m3", ("Bob:\n\ntwo",)),
    ]
    painted = [PaintedRow(row) for row in rows]
    answer = read_answer([], painted, messages, columns=40, is_spinner=lambda _: False)
    said = [(passage.message_id, passage.lines) for passage in answer.passages if passage.kind != "unsaid"]
    assert said == [
        ("m1", ["Bob:", "", "one"]), (None, ["first"]),
        ("m2", ["Bob:", "", "one"]), (None, ["second"]),
        ("m3", ["Bob:", "", "two"]), (None, ["third"]),
    ]  # fmt: skip


@pytest.mark.parametrize("below", [["", "  Some title"], ["", "› hello", "", "  Some title"]])
def test_an_empty_composer_that_was_cleared_into_history_is_no_message(below: list[str]) -> None:
    """A program that starts clears what it painted first: its splash with its composer goes into history."""
    profile = replace(GENERIC, ready=(regex.compile(r"^› Ask me$"),))
    painted = [PaintedRow(row) for row in ["  Some title", "", "› Ask me", "", "  ? for help", *below]]
    answer = read_answer(
        [], painted, [], columns=40, is_spinner=lambda _: False, profile=profile, mark="› ", greets=False
    )
    said = [(passage.kind, passage.lines) for passage in answer.passages if passage.kind == "typed"]
    assert said == ([("typed", ["hello"])] if "› hello" in below else [])


@pytest.mark.requirement("DEL-02b")
@pytest.mark.parametrize("quote", ["  > two", "  two", "● two", "  > two, if you like"])
def test_a_quote_of_a_message_that_was_sent_during_the_answer_is_the_programs(quote: str) -> None:
    rows = ["> one", "", "● You said:", "", quote, "", "  That is it.", "", "> two", "", "● And this is two."]
    said = [line for kind, lines in read(rows, "one", "two") if kind == "text" for line in lines]
    assert [line.strip("> ") for line in said if line] == [
        "You said:",
        quote.strip("●> "),
        "That is it.",
        "And this is two.",
    ]


@pytest.mark.requirement("DEL-02c")
def test_messages_that_are_rendered_and_resemble_each_other_are_each_found() -> None:
    """Three agents that answer at once: the terminal has lost the first echo, and all messages have the same words."""
    code = ["", "  def turn(rows):", "      return rows", "", "  It ends."]
    rows = [
        "",
        "> Bob:",
        "",
        "  Turn 1 is short:",
        *code,
        "",
        "● second",
        "",
        "> Bob:",
        "",
        "  Turn 2 is short:",
        *code,
    ]
    rows += ["", "● third"]
    messages = [
        Message(f"m{n}", (text, rendered(text)))
        for n in range(3)
        for text in [f"Bob:\n\nTurn {n} is short:\n\n```python\ndef turn(rows):\n    return rows\n```\n\nIt ends."]
    ]
    painted = [PaintedRow(row) for row in rows]
    answer = read_answer([], painted, messages, columns=40, is_spinner=lambda _: False, mark="> ")
    said = [(passage.message_id, passage.lines[-1]) for passage in answer.passages if passage.kind != "unsaid"]
    assert said == [("m1", "It ends."), (None, "second"), ("m2", "It ends."), (None, "third")]


@pytest.mark.requirement("DEL-03c")
@pytest.mark.parametrize("begun", ["●", "● I will", "● I will run"])
def test_an_answer_that_had_begun_before_the_attach_goes_on_as_a_block(begun: str) -> None:
    rows = ["> one", "", "● I will run one.", "", "● Bash(make)", "  ⎿ done", "", "● It is done."]
    before = [PaintedRow(row) for row in [*rows[:2], begun]]
    painted = [PaintedRow(row) for row in rows]
    answer = read_answer(before, painted, [], columns=40, is_spinner=lambda _: False, mark="> ")
    said = [(passage.kind, passage.lines) for passage in answer.passages if passage.kind != "unsaid"]
    rest = rows[2].removeprefix(begun).strip()
    assert said == [("text", [rest]), ("activity", rows[4:6]), ("text", ["It is done."])]


BOX = ["╭──────────────╮", "│ a small note │", "╰──────────────╯"]


@pytest.mark.requirement("DEL-02b")
@pytest.mark.parametrize("above", ["● It says:", "● It says:\n  > this"])
def test_a_box_within_a_paragraph_is_drawn_by_the_answer(above: str) -> None:
    rows = ["> hello", "", *above.split("\n"), *("  " + row for row in BOX), "  That is all."]
    [_, (kind, lines)] = read(rows, "hello")
    assert (kind, lines[-4:]) == ("text", [*BOX, "That is all."])


@pytest.mark.requirement("DEL-02b")
@pytest.mark.parametrize(
    "rows",
    [
        ["● I read it.", *BOX, "● Read."],
        ["● I read it.", "", *BOX, "", "● Read."],
        ["I read it.", *BOX, "That is all."],
        ["  ╭────╮", "  │ ls │", "  ╰────╯", *("  " + row for row in BOX), "  ╭────╮", "  │ ls │", "  ╰────╯"],
    ],
    ids=["left of the text", "by itself", "without a bullet", "between boxes"],
)
def test_a_box_that_stands_left_of_the_text_or_by_itself_is_a_tool_call(rows: list[str]) -> None:
    said = read(["> hello", "", *rows], "hello")
    assert [line.strip() for kind, lines in said if kind == "activity" for line in lines if "note" in line] == [
        "│ a small note │"
    ]


@pytest.mark.requirement("DEL-02b")
@pytest.mark.parametrize("quote", ["  > two", "  two", "● two"])
def test_such_a_quote_in_output_that_answers_no_known_message_is_the_programs(quote: str) -> None:
    rows = ["● You said:", "", quote, "", "> two", "", "● And this is two."]
    message = Message("m1", ("two",), during_output=True)
    painted = [PaintedRow(row) for row in rows]
    answer = read_answer([], painted, [message], columns=40, is_spinner=lambda _: False, mark="> ")
    shown = [passage.rows[0].text for passage in answer.passages if passage.kind == "injected"]
    assert shown == ["> two"]


@pytest.mark.requirement("DEL-01", "DEL-03a")
@pytest.mark.parametrize(
    ("rows", "text"),
    [
        pytest.param(["λ hello", "", "hello", "to you"], ["hello", "to you"], id="quote below a labelled echo"),
        pytest.param(
            [
                "> hello", "", "┌──────┬───────┐", "│ name │ says  │", "├──────┼───────┤", "│ ann  │ good  │",
                "│      │ day   │", "├──────┼───────┤", "│ bob  │ night │", "└──────┴───────┘",
            ],
            ["name\tsays", "ann\tgood day", "bob\tnight"],
            id="cells wrapped between rules",
        ),
        pytest.param(
            ["> hello", "", "name   says", "─────  ─────", "ann    day", "bob    night"],
            ["name\tsays", "ann\tday", "bob\tnight"],
            id="columns under rules",
        ),
        pytest.param(
            ["> hello", "", "┌────────", "all of it is said", "", "and more"],
            ["┌────────", "all of it is said", "", "and more"],
            id="corner that begins no box",
        ),
        pytest.param(
            ["> hello", "", "See https://a.example/?b=1 (https:/", "/a.example/?b=1).", "", "https://a.example (ok)"],
            ["See https://a.example/?b=1.", "", "https://a.example (ok)"],
            id="address that is the text of its link",
        ),
    ],
)  # fmt: skip
def test_an_answer_keeps_what_it_shows(rows: list[str], text: list[str]) -> None:
    assert read(rows, "hello") == [("injected", ["hello"]), ("text", text)]


ECHO = ("injected", ["hello"])


@pytest.mark.requirement("DEL-01", "DEL-03a")
@pytest.mark.parametrize(
    ("rows", "passages"),
    [
        pytest.param(["> hello", "", "Hi!"], [ECHO, ("text", ["Hi!"])], id="plain"),
        pytest.param(["> hello", "", "● Hi!", "  You!"], [ECHO, ("text", ["Hi!", "You!"])], id="bullet and indent"),
        pytest.param(["> hello"], [ECHO], id="no answer yet"),
        pytest.param([], [], id="nothing"),
        pytest.param(["", "", ""], [], id="blank rows"),
        pytest.param(["noise", "> hello", "Hi!"], [ECHO, ("text", ["Hi!"])], id="what stands above the echo"),
        pytest.param(["> hello", "", "Hi!", "✻ Thinking", ""], [ECHO, ("text", ["Hi!"])], id="spinner"),
        pytest.param(["> hello", "", "Hi!", "", "  Worked for 3s • 20:35"], [ECHO, ("text", ["Hi!"])], id="footer"),
        pytest.param(
            ["> hello", "", "Hi!", "", "Tokens: 86 sent, 9 received."], [ECHO, ("text", ["Hi!"])], id="tokens"
        ),
        *(
            pytest.param(["> hello", "", "Hi!", "", footer], [ECHO, ("text", ["Hi!"])], id=footer)
            for footer in ("✻ Gebacken für 12 Sek.", "─ 用时 12秒 ─────", "Готово за 3 с · 20:35", "▶ fertig nach 0:12")
        ),
        *(
            pytest.param(["> hello", "", "★ Hi!", "", last], [ECHO, *(("text", part) for part in said)], id=last)
            for last, said in (
                ("  It took 3 s", [["Hi!", "", "It took 3 s"]]),
                ("★ It took 3 s", [["Hi!"], ["It took 3 s"]]),
                ("  → 3 files", [["Hi!", "", "→ 3 files"]]),
            )
        ),
        pytest.param(["> hello", "", "★ 42 · 3"], [ECHO, ("text", ["42 · 3"])], id="an answer like a footer"),
        pytest.param(
            ["> hello", "", "★ One", "", "  two", "", "★ Three"],
            [ECHO, ("text", ["One", "", "two"]), ("text", ["Three"])],
            id="a bullet of another kind",
        ),
        pytest.param(["> hello", "", "🚀 Off", "  we go"], [ECHO, ("text", ["🚀 Off", "  we go"])], id="an emoji"),
        pytest.param(
            ["> hello", "", "● Let me see.", "", "● Bash(ls)", "  ↳  a.py", "", "● One file."],
            [ECHO, ("text", ["Let me see."]), ("activity", ["● Bash(ls)", "  ↳  a.py"]), ("text", ["One file."])],
            id="a corner of another kind",
        ),
        pytest.param(
            ["> hello", "", "● Let me see.", "", "● Bash(ls)", "  ⎿  a.py", "", "● One file."],
            [ECHO, ("text", ["Let me see."]), ("activity", ["● Bash(ls)", "  ⎿  a.py"]), ("text", ["One file."])],
            id="what it does",
        ),
        pytest.param(
            ["> hello", "", "● Items:", "", "  - one", "    more of one", "  - two"],
            [ECHO, ("text", ["Items:", "", "- one", "  more of one", "- two"])],
            id="layout of a list",
        ),
        pytest.param(
            ["> hello", "", "● Code:", "", "    def f():", "        return 1", "", "  Done."],
            [ECHO, ("text", ["Code:", "", "  def f():", "      return 1", "", "Done."])],
            id="layout of code",
        ),
        pytest.param(
            ["> hello", "", "● You said:", "", "  > hello", "", "  indeed"],
            [ECHO, ("text", ["You said:", "", "> hello", "", "indeed"])],
            id="a quote",
        ),
        pytest.param(
            ["> hello", "", "● Let me see.", "", "  ✓  Write  a.py", "", "      1 x = 1", "", "● Done."],
            [
                ECHO,
                ("text", ["Let me see."]),
                ("activity", ["  ✓  Write  a.py", "", "      1 x = 1"]),
                ("text", ["Done."]),
            ],
            id="an outcome in columns, and what came of it",
        ),
        pytest.param(
            ["> hello", "", "● Checked:", "", "  ✓ one thing", "  ✓ another"],
            [ECHO, ("text", ["Checked:", "", "✓ one thing", "✓ another"])],
            id="a list of outcomes",
        ),
        pytest.param(
            ["> hello", "", "● Hi!", "╭────────╮", "│ help   │", "╰────────╯"],
            [ECHO, ("text", ["Hi!"]), ("activity", ["╭────────╮", "│ help   │", "╰────────╯"])],
            id="a box at the end",
        ),
        pytest.param(
            [
                "> hello",
                "",
                "├──────┼──────┤",
                "│ a    │ b    │",
                "├──────┼──────┤",
                "│ 1    │ 2    │",
                "└──────┴──────┘",
            ],
            [ECHO, ("text", ["a\tb", "1\t2"])],
            id="a table whose top was not seen",
        ),
        pytest.param(
            ["> hello", "", "│ a    │ b    │", "│ 1    │ 2    │"],
            [ECHO, ("text", ["│ a    │ b    │", "│ 1    │ 2    │"])],
            id="a table",
        ),
    ],
)
def test_answers(rows: list[str], passages: list[tuple[str, list[str]]]) -> None:
    assert read(rows, "hello") == passages


@pytest.mark.requirement("DEL-01")
@pytest.mark.parametrize(
    "rows",
    [
        ["● It takes 5 minutes."],
        ["● 42 seconds"],
        ["● Done.", "", "  The build took 12 seconds."],
        ["● The window is", "", "  200k tokens"],
        ["Plan:", "", "wait 10 s and try again"],
    ],
    ids=lambda rows: rows[-1].strip(),
)
def test_an_answer_may_end_in_a_duration(rows: list[str]) -> None:
    said = [line for kind, lines in read(["> hello", "", *rows], "hello") if kind == "text" for line in lines]
    assert said[-1] == rows[-1].lstrip("● ")


@pytest.mark.requirement("DEL-01")
@pytest.mark.requirement("DEL-03c")
@pytest.mark.parametrize(
    ("rows", "said", "done"),
    [
        (
            ["● So far", "  and no more.", "  ⎿  Interrupted · What now?"],
            ["So far", "and no more."],
            "  ⎿  Interrupted",
        ),
        (["● So far.", "  ⎿  Interrupted · What now?"], ["So far."], "  ⎿  Interrupted"),
        (["• So far.", "", "■ Conversation interrupted - tell us"], ["So far."], "■ Conversation interrupted"),
        (["✦ So far", "  and more.", "", "ℹ An update is available."], ["So far", "and more."], "ℹ An update"),
        (["✦ So far", "  and more.", "", "ℹ Request cancelled."], ["So far", "and more."], "ℹ Request cancelled"),
    ],
)
def test_that_an_answer_was_broken_off_is_a_notice_and_what_was_said_stays_said(
    rows: list[str], said: list[str], done: str
) -> None:
    passages = read(["> hello", "", *rows], "hello")
    assert [kind for kind, _ in passages] == ["injected", "text", "activity"]
    assert passages[1][1] == said
    assert passages[2][1][0].startswith(done)


@pytest.mark.requirement("DEL-03c")
def test_a_call_that_was_broken_off_is_a_deed() -> None:
    deed = ["● Bash(sleep 9)", "  ⎿  Interrupted · What now?"]
    assert read(["> hello", "", *deed], "hello") == [ECHO, ("activity", deed)]


@pytest.mark.requirement("DEL-03c")
def test_an_answer_may_speak_of_interruptions() -> None:
    rows = ["● These are left:", "", "  ■ Orders cancelled: none", "  ■ Orders sent: two"]
    ((kind, lines),) = read(["> hello", "", *rows], "hello")[1:]
    assert (kind, lines[0], len(lines)) == ("text", "These are left:", 4)


@pytest.mark.parametrize(
    ("code", "numbered", "said"),
    [
        pytest.param([f"row {n}" for n in range(1, 13)], "{:4d} {}", "{1}", id="code without an indent"),
        pytest.param(["if x:", "    y()"], "{:4d} {}", "{1}", id="code with one"),
        pytest.param([f"row {n}" for n in range(1, 13)], "{:4d}  {}", "{0:2d}  {1}", id="the text's own numbers"),
        pytest.param([f"row {n}" for n in range(1, 13)], "  {} {}", "{0} {1}", id="a list begins in one column"),
        pytest.param(["row 1", "row 2"], "  {} {}", "{0} {1}", id="too few to tell"),
    ],
)
def test_numbers_in_front_of_code_are_left_out(code: list[str], numbered: str, said: str) -> None:
    rows = ["> hello", "", "✦ So:", "", *(numbered.format(n, row) for n, row in enumerate(code, 1))]
    lines = read(rows, "hello")[1][1][2:]
    assert [line.strip() for line in lines] == [said.format(n, row).strip() for n, row in enumerate(code, 1)]


def test_an_answer_may_give_a_tip() -> None:
    assert read(["> hello", "", "● One.", "  Tip: two.", "  Three."], "hello")[1:] == [
        ("text", ["One.", "Tip: two.", "Three."])
    ]


@pytest.mark.requirement("DEL-01")
def test_an_answer_may_be_a_list_and_nothing_else() -> None:
    assert [line for _, lines in read(["> hello", "", "* one", "* two"], "hello")[1:] for line in lines] == [
        "* one",
        "* two",
    ]


def test_what_did_not_change_is_old_digits_aside() -> None:
    before = ("> before", "", "● old", "clock 12:01")
    rows = ["> before", "", "● old", "clock 12:02", "● new"]
    assert read(rows, before=before) == [("text", ["new"])]
    assert read(rows, before=("> other", *before[1:]))[0][1][0] == "> before"


def test_a_second_message_divides_the_answers() -> None:
    rows = ["> one", "", "● first", "", "> two", "", "● second"]
    assert read(rows, "one", "two") == [
        ("injected", ["one"]),
        ("text", ["first"]),
        ("injected", ["two"]),
        ("text", ["second"]),
    ]


def test_an_echo_that_is_not_there_takes_nothing_away() -> None:
    assert read(["> one", "", "● first"], "one", "two") == [("injected", ["one"]), ("text", ["first"])]
    assert read(["● only words"], "one") == [("text", ["only words"])]


@pytest.mark.requirement("DEL-02b")
def test_of_copies_behind_the_same_mark_the_last_is_the_echo_and_a_quote_is_none() -> None:
    rows = ["> hello", "", "● begun", "", "> hello", "", "● begun and ended"]
    assert read(rows, "hello") == [ECHO, ("text", ["begun and ended"])]
    rows = ["> hello", "", "● You said:", "", "  hello", "", "  indeed"]
    assert read(rows, "hello") == [ECHO, ("text", ["You said:", "", "hello", "", "indeed"])]


def test_of_messages_that_read_the_same_each_has_its_own_echo() -> None:
    rows = ["> hello", "", "● one", "", "> hello", "", "● two"]
    assert read(rows, "hello", "hello") == [ECHO, ("text", ["one"]), ECHO, ("text", ["two"])]


@pytest.mark.requirement("DEL-02a")
@pytest.mark.parametrize("shown", ["Bob (2):", "[Pasted text #7 +4 lines]"])
def test_of_a_message_whose_echo_was_missed_the_form_in_the_composer_takes_no_part_of_another_echo(shown: str) -> None:
    rows = ["> Ann (1):", "", "  one", "", "● first", "", "> Bob (2):", "", "  three", "", "● third"]
    messages = [
        Message("m1", ("Ann (1):\n\none",)),
        Message("m2", ("Bob (2):\n\ntwo", shown)),
        Message("m3", ("Bob (2):\n\nthree",)),
    ]
    answer = read_answer([], [PaintedRow(row) for row in rows], messages, columns=40, is_spinner=lambda _: False)
    said = [(passage.message_id, passage.lines) for passage in answer.passages if passage.kind != "unsaid"]
    assert said == [
        ("m1", ["Ann (1):", "", "one"]), (None, ["first"]),
        ("m3", ["Bob (2):", "", "three"]), (None, ["third"]),
    ]  # fmt: skip


LONG = "the piece is yours\nspeak to all"


@pytest.mark.requirement("DEL-02a", "DEL-02b")
@pytest.mark.parametrize(
    ("message", "quote", "is_echo"),
    [
        (Message("m2", (LONG,), wordless=True, unwatched=True), "[Pasted text #7 +2 lines]", True),
        (Message("m2", (LONG,), wordless=True), "[Pasted text #7 +2 lines]", False),
        (Message("m2", (LONG,), wordless=True, unwatched=True), "[sic]", False),
        (Message("m2", (LONG,), wordless=True, unwatched=True), "as in [1]", False),
        (Message("m2", ("go on",), wordless=True, unwatched=True), "[1 of 3]", False),
    ],
)
def test_a_row_in_brackets_is_the_echo_of_a_long_message_that_was_sent_unwatched(
    message: Message, quote: str, is_echo: bool
) -> None:
    rows = ["> one", "", "● first", "", f"> {quote}", "", "● second"]
    answer = read_answer(
        [], [PaintedRow(row) for row in rows], [Message("m1", ("one",)), message], columns=40,
        is_spinner=lambda _: False, mark="> ",
    )  # fmt: skip
    assert answer.accounted == 1 + is_echo


@pytest.mark.requirement("DEL-02a")
def test_a_row_in_brackets_below_a_later_message_is_no_echo_of_an_earlier_one() -> None:
    rows = ["> one", "", "● first", "", "> three", "", "● third:", "", "> [1 of 3]"]
    messages = [
        Message("m1", ("one",)),
        Message("m2", (LONG,), wordless=True, unwatched=True),
        Message("m3", ("three",)),
    ]
    answer = read_answer(
        [], [PaintedRow(row) for row in rows], messages, columns=40, is_spinner=lambda _: False, mark="> "
    )
    assert [passage.message_id for passage in answer.passages if passage.kind == "injected"] == ["m1", "m3"]


def test_a_beheaded_echo_at_the_top_or_behind_rows_nobody_saw() -> None:
    message = "a first line that left\nand a second line that is here"
    assert read(["  and a second line that is here", "", "Hi!"], message)[1:] == [("text", ["Hi!"])]
    rows = ["old", "", "  and a second line that is here", "", "Hi!"]
    assert ("text", ["Hi!"]) in read(rows, message, skipped_at=1)
    assert read(rows, message)[0][1][0] == "old", "anywhere else it could be the answer's own words"


@pytest.mark.requirement("DEL-01")
def test_rows_nobody_saw_are_a_gap() -> None:
    passages = read(["> hello", "", "one", "", "two"], "hello", skipped_at=3)
    assert passages == [ECHO, ("gap", []), ("text", ["one", "two"])]


def test_a_typed_message_is_told_as_such() -> None:
    rows = [PaintedRow("> hello"), PaintedRow("Hi!")]
    answer = read_answer([], rows, [Message(None, ("hello",))], columns=40, is_spinner=lambda row: False)
    assert [(p.kind, p.message_id) for p in answer.passages] == [("typed", None), ("text", None)]
    assert answer.accounted == 1


def test_what_a_profile_knows() -> None:
    profile = Profile(
        "p",
        footers=(regex.compile("^bye"),),
        chrome=(regex.compile("^== "),),
        activity=(regex.compile("^> run "),),
    )
    rows = ["> hello", "Hi!", "== status ==", "there", "bye now"]
    assert read(rows, "hello", profile=profile) == [ECHO, ("text", ["Hi!", "there"])]
    assert read(rows, "hello") == [ECHO, ("text", rows[1:])]
    assert read(["> hello", "> run ls"], "hello", profile=profile) == [ECHO, ("activity", ["> run ls"])]


@pytest.mark.requirement("DEL-03c")
def test_a_paragraph_that_a_profile_knows_for_a_deed() -> None:
    profile = Profile("p", activity=(regex.compile("^  Called "),))
    deeds = [
        "  Called two",
        "  tools",
        "",
        "● I called.",
        "",
        "  Called one",
        "",
        "  Called it",
        "  twice.",
        "",
        "  All.",
    ]
    assert read(["> hello", "", *deeds], "hello", profile=profile) == [
        ECHO, ("activity", ["  Called two", "  tools"]), ("text", ["I called."]), ("activity", ["  Called one"]),
        ("activity", ["  Called it", "  twice."]), ("text", ["All."]),
    ]  # fmt: skip
    said = ["> hello", "", "● Called one.", "  Called two."]
    assert read(said, "hello", profile=profile) == [ECHO, ("text", ["Called one.", "Called two."])]


def test_painted_lines_are_unwrapped_and_lose_their_footer() -> None:
    rows = ["a painted line that fills forty columns", "and goes on", "", "Tokens: 5 sent, 3 received."]
    assert painted_lines(rows, 40).lines == ["a painted line that fills forty columns and goes on"]


def test_a_painted_line_is_waited_for_while_its_rows_are_full() -> None:
    full = "a painted line that fills forty columns."
    assert ended_lines([full], 40) == 0
    assert ended_lines([full, "and its end"], 40) == 2
    assert ended_lines(["a line", full, full], 40) == 1
    assert ended_lines([full, " " * 40, full], 40) == 2
    rule = "\u2500" * 40
    assert painted_lines([rule], 40, goes_on=True).lines == [rule]


@pytest.mark.requirement("DEL-01")
def test_painted_lines_may_repeat_themselves() -> None:
    warning = "warning: this happened in the very same place again"
    assert painted_lines([warning, warning, warning + " and more"], 80).lines == [
        warning,
        warning,
        warning + " and more",
    ]


@pytest.mark.parametrize(
    ("rows", "rule", "unsaid"),
    [
        (["words", "> hello", "Hi!"], "above_echo", ["words"]),
        (["> hello", "Hi!", "✻ Thinking"], "spinner", ["✻ Thinking"]),
        (["> hello", "Hi!", "", "Worked for 3s • 20:35"], "footer", ["Worked for 3s • 20:35"]),
    ],
)
def test_what_is_not_said_is_there_with_the_rule(rows: list[str], rule: Rule, unsaid: list[str]) -> None:
    answer = read_answer(
        [],
        [PaintedRow(row) for row in rows],
        [Message("m", ("hello",))],
        columns=40,
        is_spinner=lambda row: row.startswith("✻"),
    )
    left_out = [(p.rule, [row.text for row in p.rows if row.text]) for p in answer.passages if p.kind == "unsaid"]
    assert left_out == [(rule, unsaid)]


@pytest.mark.parametrize("hostile", ["● " * 30, RULE, "> hello", "│", "⎿", "", "●", "1" * 79, "Name (3):"])
def test_whatever_it_paints_an_answer_is_read(hostile: str) -> None:
    for count in (1, 2, 50):
        assert read([hostile] * count, "hello", hostile) is not None
        assert painted_lines([hostile] * count, 40) is not None


def test_a_panel_below_the_row_that_sums_up_is_no_answer_and_another_block_is() -> None:
    rows = ["> hello", "", "● Hi!", "", "◆ Worked for 2s", "", "  1 task (0 done)", "  ◻ Sharpen the plane"]
    assert read(rows, "hello") == [ECHO, ("text", ["Hi!"])]
    more = [*rows[:5], "", "● And one more thing."]
    assert read(more, "hello")[-2:] == [("text", ["Hi!"]), ("text", ["And one more thing."])]


@pytest.mark.requirement("DEL-03c")
def test_rows_that_left_the_end_and_stand_there_again_are_a_panel() -> None:
    before = ("● Hi!", "", "  1 task (0 done)", "  ◻ Sharpen the plane", "", RULE, "❯", RULE)
    rows = ["● Hi!", "", "> hello", "", "● Well.", "", "  1 task (0 done)", "  ◻ Sharpen the plane", ""]
    assert read(rows, "hello", before=before) == [ECHO, ("text", ["Well."])]


def test_an_answer_may_be_the_same_as_the_last_one() -> None:
    before = ("> hello", "", "● One.", "", "● Two.", "", "● Three.", "", "● Four.", "", RULE, "❯", RULE)
    rows = [*before[:9], "", "● One.", "", "● Two.", "", "● Three.", "", "● Four."]
    assert [lines for _, lines in read(rows, before=before)] == [["One."], ["Two."], ["Three."], ["Four."]]


@pytest.mark.requirement("DEL-03c")
def test_a_hook_under_a_sentence_leaves_that_said() -> None:
    rows = ["> hello", "", "● Here is what I propose.", "  ⎿ User rejected the plan:", "     1. Oil the hinges"]
    assert read(rows, "hello") == [ECHO, ("text", ["Here is what I propose."]), ("activity", rows[3:])]


@pytest.mark.requirement("DEL-03c")
def test_a_box_whose_bottom_is_not_painted_yet_is_a_tool_call() -> None:
    box = ["╭──────────╮", "│ ⊶ Shell  │", "│ make     │"]
    assert read(["> hello", "", *box], "hello") == [ECHO, ("activity", box)]


@pytest.mark.requirement("DEL-03c")
@pytest.mark.parametrize(
    ("rows", "gaps"),
    [
        (["● So far", "", "▣ Build · interrupted"], 1),
        (["● So far and no more.", "", "▣ Build · interrupted"], 0),
        (["● The build was interrupted"], 0),
    ],
)
def test_an_answer_that_was_broken_off_within_a_line_leaves_a_gap(rows: list[str], gaps: int) -> None:
    profile = replace(GENERIC, footers=(regex.compile("^▣ Build"),))
    passages = read(["> hello", "", *rows], "hello", profile=profile)
    assert [kind for kind, _ in passages].count("gap") == gaps
    assert ("text", [rows[0].lstrip("● ")]) in passages


@pytest.mark.requirement("DEL-02b")
def test_a_message_cut_short_in_the_transcript_stands_below_what_its_composer_left() -> None:
    """Codex shows one row of a message of many; rows of its composer scrolled away while that was tall."""
    message = "A long message.\n  1) a room\n  2) a door\n  3) a lamp"
    rows = ["› 2) a door", "  3) a lamp", "", "› A long message. 1) a room 2…", "", "• Fine."]
    answer = read_answer(
        [], [PaintedRow(row) for row in rows], [Message("m1", (message, "2) a door\n3) a lamp"))],
        columns=40, is_spinner=lambda _: False, mark="› ",
    )  # fmt: skip
    said = [(passage.kind, passage.rule, passage.lines) for passage in answer.passages if passage.kind != "unsaid"]
    assert said == [("injected", "echo_cut_short", message.split("\n")), ("text", "answer", ["Fine."])]
