"""What a person types into a program that paints its screen, in the midst of an answer too."""

from dataclasses import replace

import pytest

from streamrelay.events import Gap, TurnStarted
from streamrelay.testing.painted_talk import LOOKS, TELLING, Talk, exchanges, name
from streamrelay.testing.transcript_program import UiStyle

pytestmark = pytest.mark.sampled(6)

every_look = pytest.mark.parametrize("look", LOOKS, ids=name)


def _takes_up(talk: Talk, queue: list[str]) -> None:
    """Answer what was asked first, and then the messages that were put into a queue meanwhile."""
    for number, question in enumerate(queue):
        talk.streams(f"answer {number}")
        talk.paints(talk.program.submits(question))
    talk.answers("the last answer")


@pytest.mark.requirement("DEL-05", "DEL-04c")
@pytest.mark.parametrize("works", [5, 80])
@every_look
def test_what_a_person_types_while_queued_messages_are_answered_is_typed(look: UiStyle, works: int) -> None:
    talk = Talk(look)
    talk.sends("question 0")
    queue = []
    for number in (1, 2):
        talk.asks(f"question {number}")
        queue.append(talk.program.queues())
        talk.paints(talk.program.works())
    talk.types("what of the keys")
    queue.append(talk.program.queues())
    for number, question in enumerate(queue):
        talk.paints(*(talk.program.works() for _ in range(works)))
        talk.paints(talk.program.says(f"answer {number}"), talk.program.submits(question))
    talk.answers("the last answer")
    assert talk.heard() == [
        *exchanges(3),
        ("typed", "what of the keys"),
        ("program", "the last answer"),
    ]
    assert [event.turn for event in talk.of(TurnStarted)] == [event.turn for event in talk.ends()] == [1, 2, 3, 4]


@pytest.mark.requirement("DEL-05")
@every_look
def test_what_a_person_types_between_two_queued_messages_comes_between_them(look: UiStyle) -> None:
    talk = Talk(look)
    talk.sends("question 0")
    talk.types("what of the keys")
    queue = [talk.program.queues()]
    talk.paints(talk.program.works())
    talk.asks("question 1")
    queue.append(talk.program.queues())
    _takes_up(talk, queue)
    assert talk.heard() == [
        ("injected", "question 0"),
        ("program", "answer 0"),
        ("typed", "what of the keys"),
        ("program", "answer 1"),
        ("injected", "question 1"),
        ("program", "the last answer"),
    ]


@pytest.mark.requirement("DEL-05")
@every_look
def test_the_same_words_typed_twice_in_mid_answer_are_typed_both_times(look: UiStyle) -> None:
    talk = Talk(look)
    talk.sends("question 0")
    queue = []
    for _ in range(2):
        talk.types("go on")
        queue.append(talk.program.queues())
        talk.paints(talk.program.works())
    _takes_up(talk, queue)
    assert talk.heard() == [
        ("injected", "question 0"),
        ("program", "answer 0"),
        ("typed", "go on"),
        ("program", "answer 1"),
        ("typed", "go on"),
        ("program", "the last answer"),
    ]


@pytest.mark.requirement("DEL-05")
@every_look
def test_a_draft_deleted_in_mid_answer_was_not_submitted_though_it_stands_further_up(look: UiStyle) -> None:
    talk = Talk(look)
    talk.sends("go on")
    talk.answers("an answer")
    talk.sends("and now")
    talk.types("go on")
    talk.program.queues()
    talk.streams("another answer\nof two lines")
    talk.answers("")
    assert talk.heard()[2:] == [("injected", "and now"), ("program", "another answer"), ("program", "of two lines")]
    assert talk.ends()[-1].turn == 2


@pytest.mark.requirement("DEL-05", "DEL-04a")
@pytest.mark.parametrize("look", [look for look in LOOKS if look.witness == "furniture"], ids=name)
def test_a_hint_that_gives_way_to_a_draft_ends_no_turn_and_one_in_its_place_is_no_draft(look: UiStyle) -> None:
    talk = Talk(look)
    talk.sends("go on")
    talk.streams("a beginning")
    talk.program.works("Thinking… (4s)")
    talk.types("what of the keys")
    talk.pane.rests(5.0)
    assert talk.ends() == []
    draft = talk.program.queues()
    talk.program.style = replace(look, placeholder="Press up to edit")
    talk.paints(talk.program.works(look.label))
    talk.streams(" and an end")
    talk.program.style = look
    talk.paints(talk.program.submits(draft))
    talk.answers("in the drawer")
    assert talk.heard() == [
        ("injected", "go on"),
        ("program", "a beginning and an end"),
        ("typed", "what of the keys"),
        ("program", "in the drawer"),
    ]


ASKED_BETWEEN = [
    ("injected", "question 0"),
    ("program", "answer 0"),
    ("typed", "what of the keys"),
    ("program", "in the drawer"),
    ("injected", "question 1"),
    ("program", "answer 1"),
]


def _typed_at_once(talk: Talk, text: str) -> None:
    """Type and submit so quickly that no snapshot shows the draft, and begin to be answered."""
    talk.program.drafts(text)
    talk.paints(talk.program.submits())


@pytest.mark.requirement("DEL-05", "DEL-04c")
@pytest.mark.parametrize("look", TELLING, ids=name)
def test_what_nobody_saw_being_typed_is_said_though_a_message_is_submitted_right_behind_its_answer(
    look: UiStyle,
) -> None:
    talk = Talk(look)
    talk.sends("question 0")
    talk.answers("answer 0")
    _typed_at_once(talk, "what of the keys")
    message_id = talk.pane.pastes("question 1")
    talk.paints(talk.program.drafts("question 1"))
    talk.streams("in the drawer")
    talk.paints(talk.program.rests(), rest=0.05)
    talk.pane.submits(message_id)
    talk.paints(talk.program.submits())
    talk.answers("answer 1")
    assert talk.heard() == ASKED_BETWEEN
    assert [text.turn for text in talk.pane.texts() if text.text] == [1, 1, 2, 2, 3, 3]
    assert [event.turn for event in talk.ends()][-2:] == [2, 3]


@pytest.mark.requirement("DEL-05", "DEL-04c")
@pytest.mark.parametrize("look", TELLING, ids=name)
def test_what_nobody_saw_being_typed_is_said_though_a_message_is_submitted_during_its_answer(look: UiStyle) -> None:
    talk = Talk(look)
    talk.sends("question 0")
    talk.answers("answer 0")
    _typed_at_once(talk, "what of the keys")
    talk.asks("question 1")
    queued = talk.program.queues()
    talk.streams("in the drawer")
    talk.paints(talk.program.submits(queued))
    talk.answers("answer 1")
    assert talk.heard() == ASKED_BETWEEN


@pytest.mark.requirement("DEL-05", "DEL-04c")
@pytest.mark.parametrize("rest", [0.0, 0.3, 3.0])
@every_look
def test_what_a_program_says_unasked_is_said_though_a_message_is_submitted_meanwhile(
    look: UiStyle, rest: float
) -> None:
    talk = Talk(look)
    talk.sends("question 0")
    talk.answers("answer 0")
    talk.paints(talk.program.works())
    talk.streams("the build is done")
    talk.asks("question 1")
    queued = talk.program.queues()
    talk.streams(", and it is green")
    talk.paints(talk.program.rests(), rest=rest)
    talk.paints(talk.program.submits(queued))
    talk.answers("answer 1")
    # Without a witness nobody can tell whether it has said all, and what it said so far is not kept waiting.
    unasked = ["the build is done, and it is green"] if look.witness else ["the build is done", ", and it is green"]
    assert talk.heard() == [
        ("injected", "question 0"),
        ("program", "answer 0"),
        *(("program", text) for text in unasked),
        ("injected", "question 1"),
        ("program", "answer 1"),
    ]
    assert talk.of(Gap) == []
    assert [event.turn for event in talk.of(TurnStarted)] == [event.turn for event in talk.ends()]


@pytest.mark.requirement("DEL-05", "DEL-04c")
@pytest.mark.parametrize(("before", "behind"), [("", "in the drawer"), ("in the", " drawer"), ("in the drawer", "")])
@every_look
def test_what_was_typed_right_before_a_message_is_answered_in_a_turn_of_its_own(
    look: UiStyle, before: str, behind: str
) -> None:
    talk = Talk(look)
    talk.sends("question 0")
    talk.answers("answer 0")
    talk.types("what of the keys")
    typed = talk.program.queues()
    talk.paints(talk.program.drafts(""))
    message_id = talk.pane.pastes("question 1")
    talk.paints(talk.program.drafts("question 1"))
    talk.paints(talk.program.shows(typed))
    if before:
        talk.streams(before)
    talk.pane.submits(message_id)
    if behind:
        talk.streams(behind)
    talk.paints(talk.program.submits())
    talk.answers("answer 1")
    assert talk.heard() == ASKED_BETWEEN
    assert [text.turn for text in talk.pane.texts() if text.text] == [1, 1, 2, 2, 3, 3]
    assert [event.turn for event in talk.of(TurnStarted)][-2:] == [event.turn for event in talk.ends()][-2:] == [2, 3]


@pytest.mark.requirement("DEL-05", "DEL-04c")
@pytest.mark.parametrize("rest", [0.3, 3.0])
@every_look
def test_what_a_program_goes_on_to_say_unasked_is_said_though_a_message_waits(look: UiStyle, rest: float) -> None:
    talk = Talk(look)
    talk.sends("question 0")
    talk.answers("answer 0")
    talk.paints(talk.program.works())
    talk.streams("the build is done")
    talk.asks("question 1")
    queued = talk.program.queues()
    for unasked in (", and it is green", "so are we"):
        talk.streams(unasked)
        talk.paints(talk.program.rests(), rest=rest)
    talk.paints(talk.program.works(), talk.program.submits(queued))
    talk.answers("answer 1")
    said = talk.heard()
    # The bullet of what is read together with the end of another line is taken for its own.
    unasked = "".join(text.removeprefix("● ") for _, text in said[2:-2])
    assert unasked == "the build is done, and it is greenso are we"
    assert said[-2:] == [("injected", "question 1"), ("program", "answer 1")]
    assert talk.of(Gap) == []


@pytest.mark.requirement("DEL-05", "DEL-04c")
@pytest.mark.parametrize("asked", ["typed", "typed, typed", "typed, injected", "injected, typed"])
@pytest.mark.parametrize("works", [True, False], ids=["at-work", "at-rest"])
@every_look
def test_what_a_program_says_unasked_is_said_though_a_person_types_meanwhile(
    look: UiStyle, works: bool, asked: str
) -> None:
    talk = Talk(look)
    talk.sends("question 0")
    talk.answers("answer 0")
    talk.paints(talk.program.works())
    talk.streams("the build is done")
    if not works:
        talk.paints(talk.program.rests(), rest=0.05)
    heard, queue = talk.heard(), []
    for number, origin in enumerate(asked.split(", "), 1):
        if origin == "typed":
            talk.types(f"question {number}")
        else:
            talk.asks(f"question {number}")
        queue.append((origin, talk.program.queues()))
        talk.paints(talk.program.works() if works else talk.program.rests())
    heard.append(("program", "the build is done"))
    for number, (origin, text) in enumerate(queue, 1):
        talk.paints(talk.program.submits(text))
        talk.streams(f"answer {number}")
        heard += [(origin, text), ("program", f"answer {number}")]
    talk.answers("")
    assert talk.heard() == heard
    assert talk.of(Gap) == []
    assert [event.turn for event in talk.of(TurnStarted)] == [event.turn for event in talk.ends()]


ENDS_UNSEEN = {
    "a": "alpha beta gamma delta",
    "please tell me why it": "please tell me why it is so",
    "The quick": "The quick brown fox jumps over the lazy dog, and then, late in the evening, over the dog again",
}


@pytest.mark.requirement("DEL-05")
@pytest.mark.parametrize("seen", ["", *ENDS_UNSEEN])
@every_look
def test_what_is_typed_is_heard_to_its_end_though_no_snapshot_shows_the_last_keys_before_the_enter(
    look: UiStyle, seen: str
) -> None:
    talk = Talk(look)
    talk.sends("first")
    talk.answers("One.")
    if seen:
        talk.paints(talk.program.drafts(seen))
    whole = ENDS_UNSEEN.get(seen, ENDS_UNSEEN["The quick"])
    talk.program.drafts(whole)
    talk.paints(talk.program.submits())
    talk.answers("Because.")
    assert talk.heard()[2:] == [("typed", whole), ("program", "Because.")]
    assert [event.turn for event in talk.pane.texts() if event.text] == [1, 1, 2, 2]
