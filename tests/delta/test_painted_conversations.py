"""Conversations with a program that paints its screen itself: echoes, silences, several messages at once."""

from dataclasses import replace

import pytest

from streamrelay.delta.turns import UNHEARD
from streamrelay.events import Gap, Live, TurnEnded, TurnStarted
from streamrelay.testing.painted_talk import LOOKS, SILENT, TELLING, Talk, name
from streamrelay.testing.transcript_program import UiStyle

pytestmark = pytest.mark.sampled(6)

every_look = pytest.mark.parametrize("look", LOOKS, ids=name)

LINES = [f"line {n} {'word ' * (n % 5)}end {n}" for n in range(30)]
"""An answer of more rows than a screen has."""


@pytest.mark.requirement("DEL-01", "DEL-02c", "DEL-03a", "DEL-04a")
@every_look
def test_an_answer_taller_than_the_screen(look: UiStyle) -> None:
    talk = Talk(look)
    talk.sends("tell me all")
    talk.answers("\n".join(LINES))
    assert talk.heard() == [("injected", "tell me all"), *(("program", line) for line in LINES)]
    (started,), (ended,) = talk.of(TurnStarted), talk.ends()
    assert (started.turn, ended.turn) == (1, 1)
    assert ended.certain is (look.witness is not None)
    assert ended.reason == ("quiet" if look.witness is None else "signal")


@pytest.mark.requirement("DEL-02c")
@every_look
def test_the_same_message_three_times(look: UiStyle) -> None:
    talk = Talk(look)
    for number in range(3):
        talk.sends("go on")
        talk.answers(f"part {number}")
    assert talk.heard() == [
        pair for number in range(3) for pair in (("injected", "go on"), ("program", f"part {number}"))
    ]
    assert [ended.turn for ended in talk.ends()] == [1, 2, 3]


@pytest.mark.requirement("DEL-02b")
@every_look
def test_a_quote_of_the_message_is_the_program_s(look: UiStyle) -> None:
    talk = Talk(look)
    talk.sends("hello there")
    talk.answers("You said:\nhello there\nand I reply")
    assert talk.pane.said() == ["You said:", "hello there", "and I reply"]
    assert talk.pane.said("injected") == ["hello there"]


MESSAGE = "one\ntwo\nthree\nfour\nfive"


@pytest.mark.requirement("DEL-02c", "DEL-02b")
@pytest.mark.parametrize("in_transcript", ["placeholder", "whole"])
@every_look
def test_a_placeholder_in_the_composer(look: UiStyle, in_transcript: str) -> None:
    talk = Talk(replace(look, folds_from=4))
    talk.asks(MESSAGE)
    talk.paints(talk.program.submits(MESSAGE if in_transcript == "whole" else None))
    talk.answers(f"You pasted:\n{MESSAGE}\nthanks")
    assert talk.pane.said("injected") == MESSAGE.split("\n")
    assert talk.pane.said() == ["You pasted:", *MESSAGE.split("\n"), "thanks"]


# Silences


@pytest.mark.requirement("DEL-04a")
@pytest.mark.parametrize("stall", [0.5, 2.0, 10.0, 30.0])
@pytest.mark.parametrize("look", TELLING, ids=name)
def test_no_stall_ends_the_turn_of_a_program_that_shows_its_state(look: UiStyle, stall: float) -> None:
    talk = Talk(look)
    talk.sends("think hard")
    talk.streams("a beginning")
    talk.pane.rests(stall)
    assert talk.ends() == []
    finished = talk.pane.now
    talk.answers(" and\nan end")
    (ended,) = talk.ends()
    assert ended.t > finished
    assert ended.certain
    assert talk.pane.said() == ["a beginning and", "an end"]


@pytest.mark.requirement("DEL-04a")
@pytest.mark.parametrize("look", TELLING, ids=name)
def test_no_stall_before_the_first_word_ends_a_turn(look: UiStyle) -> None:
    talk = Talk(look)
    talk.sends("think hard")
    talk.paints(talk.program.works())
    talk.pane.rests(30.0)
    assert talk.ends() == []
    talk.answers("done")
    assert talk.pane.said() == ["done"]


@pytest.mark.requirement("DEL-04b", "DEL-01")
@pytest.mark.parametrize("stall", [2.0, 30.0])
@pytest.mark.parametrize("look", SILENT, ids=name)
def test_a_stall_between_paragraphs_is_an_uncertain_end_and_a_continuation(look: UiStyle, stall: float) -> None:
    talk = Talk(look)
    talk.sends("think hard")
    talk.streams("a beginning\n")
    talk.pane.rests(stall)
    (ended,) = talk.ends()
    assert (ended.reason, ended.certain) == ("quiet", False)
    talk.answers("\nan end")
    assert [line for line in talk.pane.said() if line] == ["a beginning", "an end"]
    assert [(type(event), event.turn) for event in talk.of(TurnStarted, TurnEnded)] == [
        (TurnStarted, 1),
        (TurnEnded, 1),
    ] * 2


@pytest.mark.requirement("DEL-04b", "DEL-01")
@pytest.mark.parametrize("look", SILENT, ids=name)
def test_a_stall_inside_a_line_neither_loses_nor_doubles_a_word(look: UiStyle) -> None:
    talk = Talk(look)
    talk.sends("think hard")
    talk.streams("first line\na beginning")
    talk.pane.rests(2.0)
    talk.answers(" and an end")
    assert " ".join(talk.pane.said()).split() == ["first", "line", "a", "beginning", "and", "an", "end"]


# Messages that are shown late, or never


@pytest.mark.requirement("DEL-02c")
@pytest.mark.parametrize("delay", [0.5, 3.0, 60.0])
@every_look
def test_a_program_that_does_nothing_for_a_while_after_the_enter(look: UiStyle, delay: float) -> None:
    talk = Talk(look)
    talk.asks("hello there")
    talk.pane.rests(delay)
    talk.paints(talk.program.submits())
    talk.answers("fine")
    assert talk.heard() == [("injected", "hello there"), ("program", "fine")]


@pytest.mark.requirement("DEL-02c")
@every_look
def test_a_composer_that_empties_long_before_the_transcript_shows_the_message(look: UiStyle) -> None:
    talk = Talk(look)
    talk.asks("hello there")
    draft = talk.program.queues()
    talk.paints(talk.program.works(), rest=3.0)
    talk.paints(talk.program.submits(draft))
    talk.answers("fine")
    assert talk.heard() == [("injected", "hello there"), ("program", "fine")]


@pytest.mark.requirement("DEL-04c")
@pytest.mark.parametrize("pause", [0.2, 2.0])
@every_look
def test_a_second_message_in_mid_answer_is_shown_when_the_first_is_answered(look: UiStyle, pause: float) -> None:
    talk = Talk(look)
    talk.sends("first question")
    talk.streams("the first answer begins")
    talk.asks("second question")
    draft = talk.program.queues()
    talk.streams(" and goes on\nto its end")
    if pause > 1:
        talk.paints(talk.program.rests())
    talk.pane.rests(pause)
    talk.paints(talk.program.submits(draft))
    talk.answers("the second answer")
    assert talk.heard() == [
        ("injected", "first question"),
        ("program", "the first answer begins and goes on"),
        ("program", "to its end"),
        ("injected", "second question"),
        ("program", "the second answer"),
    ]
    assert [text.turn for text in talk.pane.texts() if text.text] == [1, 1, 1, 2, 2]
    assert [ended.turn for ended in talk.ends()] == [1, 2]


@pytest.mark.requirement("DEL-04c", "DEL-07b")
@every_look
def test_an_answer_that_is_aborted_and_erased_was_live_only(look: UiStyle) -> None:
    talk = Talk(look)
    talk.sends("first question")
    talk.streams("an answer that is never finished")
    assert any("finished" in event.text for event in talk.of(Live) if isinstance(event, Live))
    talk.asks("second question")
    talk.paints(talk.program.aborts())
    talk.paints(talk.program.submits())
    talk.answers("the second answer")
    talk.pane.rests(30.0)
    assert talk.pane.said() == ["the second answer"]
    assert talk.pane.said("injected") == ["first question", "second question"]


@pytest.mark.requirement("DEL-01")
@every_look
def test_an_answer_to_a_message_that_is_never_shown_is_said_or_a_gap(look: UiStyle) -> None:
    talk = Talk(look)
    talk.asks("hello there")
    talk.program.queues()
    talk.paints(talk.program.works())
    talk.answers("fine\nand good")
    talk.pane.rests(30.0)
    # An alternate screen without a witness that ends the turn shows nothing to go by.
    is_lost = look.alternate and look.witness in {None, "furniture"}
    assert talk.pane.said() == ([] if is_lost else ["fine", "and good"])
    assert len(talk.of(Gap)) == (1 if is_lost else 0)
    assert len(talk.ends()) == 1


@every_look
def test_messages_that_are_never_shown_are_neither_said_nor_kept(look: UiStyle) -> None:
    talk = Talk(look)
    for number in range(200):
        message_id = talk.pane.pastes(f"message {number} which nobody shows")
        talk.pane.submits(message_id)
        talk.paints(talk.program.works(), rest=0.01)
    talk.answers("at last")
    talk.pane.ends()
    assert not any("nobody shows" in text for _, text in talk.heard())


@pytest.mark.requirement("DEL-01")
@pytest.mark.parametrize("look", TELLING, ids=name)
def test_a_line_that_was_being_written_when_the_pane_closed_is_a_gap(look: UiStyle) -> None:
    talk = Talk(look)
    talk.sends("go on")
    whole = [f"Thing {n} is certain." for n in range(4)]
    talk.streams("\n".join([*whole, "Another is not"]))
    talk.pane.ends()
    assert talk.pane.said() == whole
    assert len(talk.of(Gap)) == 1


@every_look
def test_a_placeholder_that_half_a_snapshot_does_not_show_is_known_behind_its_enter(look: UiStyle) -> None:
    """The program says something during the paste, and a read ends where its composer is wiped."""
    talk = Talk(look)
    talk.sends("first")
    talk.streams("one")
    message_id = talk.pane.pastes("second\nand more\nof it")
    folded = "[Pasted text #1 +3 lines]"
    talk.paints(talk.program.drafts(folded), rest=0.12)
    talk.paints(talk.program.drafts(""), rest=0.12)
    talk.pane.submits(message_id)
    talk.paints(talk.program.submits(folded))
    talk.answers("two")
    second = [("injected", line) for line in ("second", "and more", "of it")]
    assert talk.heard() == [("injected", "first"), ("program", "one"), *second, ("program", "two")]


@pytest.mark.requirement("DEL-02c", "DEL-05")
@pytest.mark.parametrize("folds_from", [None, 3])
@pytest.mark.parametrize("first", ["hello there", "Ivy (3):\n\nhello there"])
@every_look
def test_a_message_that_the_composer_shows_only_behind_its_enter_is_nobody_s_draft(
    look: UiStyle, first: str, folds_from: int | None
) -> None:
    """And the program is silent, before it goes to work, for so long that its turn seems over."""
    talk = Talk(replace(look, folds_from=folds_from))
    second = first.replace("hello", "again")
    heard = []
    for text, answer in ((first, "fine"), (second, "finer")):
        message_id = talk.pane.pastes(text)
        if text == first:
            talk.pane.submits(message_id)
        talk.paints(talk.program.drafts(text), rest=0.12)
        if text == second:
            talk.pane.submits(message_id)
        draft = talk.program.queues()
        talk.paints(talk.program.drafts(""), rest=0.12)
        talk.paints(talk.program.shows(draft), rest=2.0)
        talk.paints(talk.program.works())
        talk.answers(answer)
        heard += [("injected", line) for line in text.split("\n") if line] + [("program", answer)]
    assert talk.heard() == heard
    assert [ended.turn for ended in talk.ends()] == sorted(ended.turn for ended in talk.ends())
    assert {ended.turn for ended in talk.ends()} == {1, 2}


@pytest.mark.requirement("DEL-01", "DEL-02c")
@pytest.mark.parametrize("before", [(), ("first",)])
@every_look
def test_a_placeholder_that_no_composer_was_seen_to_show_stands_for_the_message(
    look: UiStyle, before: tuple[str, ...]
) -> None:
    """The program reads the paste and its Enter at once."""
    talk = Talk(replace(look, folds_from=3))
    for text in before:
        talk.sends(text)
        talk.answers("one")
    text = "Ivy (3):\n\nhello there"
    talk.pane.submits(talk.pane.pastes(text))
    talk.paints(talk.program.drafts(text) + talk.program.submits())
    talk.answers("> two\n> three")
    talk.pane.rests(UNHEARD)
    assert talk.heard()[2 * len(before) :] == [
        ("injected", "Ivy (3):"),
        ("injected", "hello there"),
        ("program", "> two"),
        ("program", "> three"),
    ]
    assert [ended.turn for ended in talk.ends()] == list(range(1, len(before) + 2))


# What a person types meanwhile


@pytest.mark.requirement("DEL-01")
@pytest.mark.parametrize("look", SILENT, ids=name)
def test_a_spinner_that_goes_long_after_the_end_lets_nothing_be_said_again(look: UiStyle) -> None:
    """The rows that it had taken come back at the top."""
    talk = Talk(look)
    talk.sends("tell me all")
    talk.streams("\n".join(LINES))
    talk.pane.rests(5.0)
    heard = talk.heard()
    assert heard[1:] == [("program", line) for line in LINES]
    talk.paints(talk.program.rests(), rest=5.0)
    assert talk.heard() == heard
