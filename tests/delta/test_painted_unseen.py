"""Messages of which a program shows nothing, or only a placeholder, beside what a person types meanwhile."""

from dataclasses import replace

import pytest

from streamrelay.events import Gap, NeedsHuman
from streamrelay.testing.painted_talk import LOOKS, SILENT, TELLING, Talk, name
from streamrelay.testing.transcript_program import UiStyle

pytestmark = pytest.mark.sampled(6)

every_look = pytest.mark.parametrize("look", LOOKS, ids=name)
FOLDED = "Ivy ({}):\n\nhello {}"
"""A message of several lines, which a program folds into a placeholder."""


def _begun(look: UiStyle) -> Talk:
    talk = Talk(look)
    talk.sends("question 0")
    talk.answers("answer 0")
    return talk


def _sends_unseen(talk: Talk, text: str) -> None:
    """Paste and submit a message before the program has painted any of it."""
    talk.pane.submits(talk.pane.pastes(text))
    talk.paints(talk.program.drafts(text) + talk.program.submits())


@pytest.mark.requirement("DEL-02c", "DEL-05")
@every_look
def test_a_command_that_is_not_shown_does_not_take_the_place_of_the_next_message(look: UiStyle) -> None:
    talk = _begun(look)
    talk.types("/compact")
    talk.program.queues()
    talk.paints(talk.program.works())
    talk.answers("Compacted.")
    for number in (1, 2):
        talk.sends(f"question {number}")
        talk.answers(f"answer {number}")
    assert talk.heard()[-4:] == [
        ("injected", "question 1"),
        ("program", "answer 1"),
        ("injected", "question 2"),
        ("program", "answer 2"),
    ]
    assert not talk.pane.said("typed")


@pytest.mark.requirement("DEL-02c")
@every_look
def test_a_message_that_was_lost_does_not_take_the_place_of_the_next(look: UiStyle) -> None:
    talk = _begun(look)
    message_id = talk.pane.pastes("lost")
    talk.pane.rests(0.5)
    talk.pane.submits(message_id)
    talk.pane.rests(20)
    talk.sends("question 1")
    talk.answers("answer 1")
    assert talk.heard()[2:] == [("injected", "question 1"), ("program", "answer 1")]
    assert talk.of(Gap)


@pytest.mark.requirement("DEL-02c")
@pytest.mark.parametrize("look", TELLING, ids=name)
def test_nor_that_of_one_of_which_only_a_placeholder_is_ever_shown(look: UiStyle) -> None:
    talk = _begun(replace(look, folds_from=3))
    talk.pane.submits(talk.pane.pastes(FOLDED.format(0, 0)))
    talk.pane.rests(20)
    for number in (1, 2):
        _sends_unseen(talk, FOLDED.format(number, number))
        talk.answers(f"answer {number}")
    assert talk.heard()[2:] == [
        ("injected", "Ivy (1):"),
        ("injected", "hello 1"),
        ("program", "answer 1"),
        ("injected", "Ivy (2):"),
        ("injected", "hello 2"),
        ("program", "answer 2"),
    ]


@pytest.mark.requirement("DEL-05")
@pytest.mark.parametrize("is_seen", [True, False])
@pytest.mark.parametrize(("message", "typed"), [("question 1", "what of the keys"), ("go on with the next", "go on")])
@every_look
def test_what_is_typed_while_a_message_is_in_the_queue_is_typed(
    look: UiStyle, message: str, typed: str, is_seen: bool
) -> None:
    talk = Talk(look)
    talk.sends("question 0")
    talk.streams("answer")
    if is_seen:
        talk.asks(message)
        talk.program.queues()
    else:
        talk.pane.submits(talk.pane.pastes(message))
    talk.paints(*(talk.program.works() for _ in range(20)))
    talk.types(typed)
    talk.program.queues()
    talk.streams(" 0")
    talk.paints(talk.program.submits(message))
    talk.streams("answer 1")
    talk.paints(talk.program.submits(typed))
    talk.answers("answer 2")
    assert talk.heard() == [
        ("injected", "question 0"),
        ("program", "answer 0"),
        ("injected", message),
        ("program", "answer 1"),
        ("typed", typed),
        ("program", "answer 2"),
    ]


@pytest.mark.requirement("DEL-05")
@every_look
def test_what_is_typed_while_a_message_is_answered_that_only_a_placeholder_stands_for_is_typed(look: UiStyle) -> None:
    talk = _begun(replace(look, folds_from=3))
    _sends_unseen(talk, FOLDED.format(1, 1))
    talk.streams("a long\nanswer")
    talk.types("what of the keys")
    typed = talk.program.queues()
    talk.streams("\nand more")
    talk.paints(talk.program.submits(typed))
    talk.answers("in the drawer")
    assert talk.heard()[2:] == [
        ("injected", "Ivy (1):"),
        ("injected", "hello 1"),
        ("program", "a long"),
        ("program", "answer"),
        ("program", "and more"),
        ("typed", "what of the keys"),
        ("program", "in the drawer"),
    ]


@pytest.mark.requirement("DEL-02c")
@every_look
def test_another_hint_in_the_empty_composer_is_not_the_message_that_a_placeholder_stands_for(look: UiStyle) -> None:
    look = replace(look, folds_from=3)
    talk = _begun(look)
    talk.program.style = replace(look, placeholder="Try: write a test for foo.py")
    _sends_unseen(talk, FOLDED.format(1, 1))
    talk.answers("answer 1")
    talk.pane.rests(20)
    talk.sends("question 2")
    talk.answers("answer 2")
    assert talk.heard()[2:] == [
        ("injected", "Ivy (1):"),
        ("injected", "hello 1"),
        ("program", "answer 1"),
        ("injected", "question 2"),
        ("program", "answer 2"),
    ]


@pytest.mark.requirement("DEL-05")
@pytest.mark.parametrize("seen", ["", "a", "alpha beta"])
@every_look
def test_an_answer_without_a_mark_of_its_own_is_not_taken_for_typed(look: UiStyle, seen: str) -> None:
    talk = _begun(replace(look, bullet="  "))
    if seen:
        talk.paints(talk.program.drafts(seen))
    talk.program.drafts("alpha beta gamma")
    talk.paints(talk.program.submits())
    talk.answers("Because it is.\nAnd so on.")
    assert talk.heard()[2:] == [
        ("typed", "alpha beta gamma"),
        ("program", "Because it is."),
        ("program", "And so on."),
    ]


@pytest.mark.requirement("DEL-05")
@pytest.mark.parametrize("look", TELLING, ids=name)
def test_what_is_typed_is_said_whole_where_it_is_shown_cut_short(look: UiStyle) -> None:
    talk = _begun(look)
    talk.types("please read @notes.md and tell me why it is so")
    talk.paints(talk.program.submits("please read @notes.md and tell me why it is…"))
    talk.answers("Because.")
    assert talk.heard()[2:] == [
        ("typed", "please read @notes.md and tell me why it is so"),
        ("program", "Because."),
    ]


@pytest.mark.requirement("DEL-10")
@every_look
def test_a_question_beside_what_turns_is_seen_in_updates_that_never_end(look: UiStyle) -> None:
    talk = _begun(replace(look, synchronized=False))
    talk.paints(b"\x1b[?2026h" + talk.program.works(), rest=0.08)
    question = talk.program.asks("Do you want to proceed?", "❯ 1. Yes", "  2. No", "", "Esc to cancel")
    talk.paints(b"\x1b[?2026h" + question, rest=0.08)
    for turning in b"-/|\\" * 15:
        talk.paints(b"\x1b[?2026h\x1b7\x1b[1;1H%c\x1b8" % turning, rest=0.08)
    assert [event.kind for event in talk.of(NeedsHuman)] == ["permission"]


@pytest.mark.requirement("DEL-04a")
@pytest.mark.parametrize("look", SILENT, ids=name)
def test_one_update_that_comes_in_slowly_is_no_end_of_the_turn(look: UiStyle) -> None:
    talk = Talk(replace(look, synchronized=False))
    talk.sends("question 0")
    talk.streams("answer 0")
    snapshot = talk.program.says(" is\n" + "\n".join(f"row {row}" for row in range(8)))
    update = b"\x1b[?2026h" + snapshot + talk.program.repaints() + b"\x1b[?2026l"
    for start in range(0, len(update), len(update) // 25):
        talk.paints(update[start : start + len(update) // 25], rest=0.1)
    talk.paints(talk.program.rests(), rest=5.0)
    assert talk.pane.said() == ["answer 0 is", *(f"row {row}" for row in range(8))]


@pytest.mark.requirement("DEL-05", "DEL-04c")
@pytest.mark.parametrize(
    ("draft", "message"), [("q", "question 1"), ("I", FOLDED.format(1, 1)), ("[", FOLDED.format(1, 1))]
)
@pytest.mark.parametrize("folds_from", [None, 3])
@every_look
def test_a_deleted_draft_with_which_the_next_message_begins_was_not_typed(
    look: UiStyle, draft: str, message: str, folds_from: int | None
) -> None:
    talk = _begun(replace(look, folds_from=folds_from))
    talk.types(draft)
    talk.paints(talk.program.drafts(""))
    talk.sends(message)
    talk.answers("answer 1")
    assert not talk.pane.said("typed")
    assert talk.heard()[2:] == [*(("injected", line) for line in message.split("\n") if line), ("program", "answer 1")]
    assert talk.ends()[-1].turn == 2


@pytest.mark.requirement("DEL-05", "DEL-02b")
@every_look
def test_nor_one_with_which_a_quote_in_the_answer_to_a_later_message_begins(look: UiStyle) -> None:
    talk = _begun(replace(look, bullet=""))
    talk.types("w")
    talk.paints(talk.program.drafts(""))
    talk.sends("question 1")
    talk.answers("so it is\n> what was asked\nand more")
    assert talk.heard()[2:] == [
        ("injected", "question 1"),
        ("program", "so it is"),
        ("program", "> what was asked"),
        ("program", "and more"),
    ]


@pytest.mark.requirement("DEL-05")
@every_look
def test_a_draft_that_is_deleted_while_another_waits_in_the_queue_was_not_typed(look: UiStyle) -> None:
    talk = Talk(look)
    talk.sends("question 0")
    talk.streams("answer")
    talk.types("go on with it")
    typed = talk.program.queues()
    talk.paints(talk.program.works())
    talk.types("g")
    talk.paints(talk.program.drafts(""))
    talk.streams(" 0")
    talk.paints(talk.program.submits(typed))
    talk.answers("answer 1")
    talk.sends("question 2")
    talk.answers("answer 2")
    assert talk.heard()[2:] == [
        ("typed", "go on with it"),
        ("program", "answer 1"),
        ("injected", "question 2"),
        ("program", "answer 2"),
    ]
    assert not talk.of(Gap)


@pytest.mark.requirement("DEL-05")
@every_look
def test_paragraphs_that_nobody_saw_being_typed_are_typed(look: UiStyle) -> None:
    talk = _begun(look)
    talk.program.drafts("first thing\n\nsecond thing")
    talk.paints(talk.program.submits())
    talk.answers("in the drawer")
    assert talk.heard()[2:] == [("typed", "first thing"), ("typed", "second thing"), ("program", "in the drawer")]


@pytest.mark.requirement("DEL-05")
@pytest.mark.parametrize("splash", ["✻ Welcome", "• Loading", "❯ agent", "> Loading extensions"])
@every_look
def test_a_splash_before_the_first_snapshot_is_not_the_composer(look: UiStyle, splash: str) -> None:
    talk = Talk(replace(look, placeholder="Try: write a test"), splash=splash)
    talk.types("what of the keys")
    talk.paints(talk.program.submits())
    talk.answers("in the drawer")
    assert talk.heard() == [("typed", "what of the keys"), ("program", "in the drawer")]


@pytest.mark.requirement("DEL-05")
@pytest.mark.parametrize("look", TELLING, ids=name)
def test_a_session_that_is_printed_again_at_the_start_answers_nothing_though_the_program_works(look: UiStyle) -> None:
    talk = Talk(look, seeded=True)
    program = talk.program
    talk.paints(program.shows("what of the keys") + program.says("in the drawer") + program.rests())
    talk.paints(program.works() + program.rests(), rest=5.0)
    assert not talk.heard()
    talk.sends("question 0")
    talk.answers("answer 0")
    assert talk.heard() == [("injected", "question 0"), ("program", "answer 0")]


@pytest.mark.requirement("DEL-05")
@pytest.mark.parametrize("look", [look for look in TELLING if look.witness != "furniture"], ids=name)
def test_a_message_that_the_program_was_started_with_is_answered(look: UiStyle) -> None:
    talk = Talk(look, seeded=True)
    talk.paints(talk.program.shows("what of the keys"), talk.program.works())
    talk.answers("in the drawer")
    assert talk.heard() == [("typed", "what of the keys"), ("program", "in the drawer")]
