"""Messages that a program gets by its own API: they go past its composer, and its transcript shows them."""

import pytest

from streamrelay.delta.layout.rows import PaintedRow
from streamrelay.delta.messages import OutstandingMessage, Phase
from streamrelay.delta.transcript.answers import Message, read_answer
from streamrelay.delta.transcript.conversation import Conversation
from streamrelay.delta.transcript.echoes import spelling
from streamrelay.delta.turns import Turns
from streamrelay.events import Injected
from streamrelay.testing.painted_talk import LOOKS, Talk, exchanges, name
from streamrelay.testing.transcript_program import UiStyle
from streamrelay.vt import TmuxScreen

every_look = pytest.mark.parametrize("look", LOOKS, ids=name)


@pytest.mark.sampled(6)
@pytest.mark.requirement("DLV-10", "DEL-11")
@every_look
def test_a_message_goes_past_a_draft_and_the_draft_is_typed_when_a_person_submits_it(look: UiStyle) -> None:
    talk = Talk(look)
    talk.sends("question 0")
    talk.answers("answer 0")
    talk.types("what of the keys")
    for number in (1, 2):
        talk.hands_over(f"question {number}")
        talk.answers(f"answer {number}")
    assert talk.pane.stream.pane_state.composer.typed == "what of the keys"
    talk.paints(talk.program.submits())
    talk.answers("the last answer")
    assert talk.heard() == [
        *exchanges(3),
        ("typed", "what of the keys"),
        ("program", "the last answer"),
    ]
    painted = [event.message_id for event in talk.of(Injected) if event.state == "painted"]
    assert painted == ["m1"]


@pytest.mark.sampled(6)
@pytest.mark.requirement("DLV-10", "DEL-11")
@every_look
def test_messages_that_a_program_holds_while_it_works_are_answered_in_their_order(look: UiStyle) -> None:
    talk = Talk(look)
    talk.sends("question 0")
    talk.types("a thought")
    queue = [f"question {number}" for number in (1, 2)]
    for question in queue:
        talk.pane.hands_over(question)
        talk.paints(talk.program.works())
    for number, question in enumerate(queue):
        talk.streams(f"answer {number}")
        talk.paints(talk.program.shows(question), talk.program.works())
    talk.answers("the last answer")
    assert talk.heard() == [*exchanges(2), ("injected", "question 2"), ("program", "the last answer")]


@pytest.mark.requirement("DLV-10")
def test_what_the_api_did_not_take_is_pasted_under_the_same_id() -> None:
    talk = Talk(LOOKS[0])
    message_id = talk.pane.hands_over("hello")
    assert talk.pane.pastes("hello", message_id) == message_id
    talk.paints(talk.program.drafts("hello"), rest=0.12)
    talk.pane.submits(message_id)
    talk.paints(talk.program.submits())
    talk.answers("Hi!")
    assert talk.heard() == [("injected", "hello"), ("program", "Hi!")]


@pytest.mark.requirement("DLV-10", "DEL-01")
def test_copies_of_held_messages_in_boxes_are_not_text() -> None:
    """A program that scrolls shows the boxes of the messages that it holds in several places."""
    box = ["  ┃", "  ┃  {}", "  ┃", ""]
    boxes = lambda *texts: [row.format(text) for text in texts for row in box]  # noqa: E731
    rows = [*boxes("one"), "     first", "", *boxes("two", "three"), *boxes("two", "three"), "     second", ""]
    messages = [Message(text, (text,)) for text in ("one", "two", "three")]
    answer = read_answer([], [PaintedRow(row) for row in rows], messages, columns=40, is_spinner=lambda _: False)
    said = [(passage.kind, passage.lines) for passage in answer.passages if passage.kind != "unsaid"]
    assert said == [
        ("injected", ["one"]),
        ("text", ["first"]),
        ("injected", ["two"]),
        ("injected", ["three"]),
        ("text", ["second"]),
    ]


@pytest.mark.requirement("DEL-01")
def test_a_message_behind_another_mark_than_its_echo_is_no_copy() -> None:
    """The quote is taken for the echo, being the first to spell the message; the echo below it must not be dropped."""
    rows = ["> one", "", "● You said:", "", "  > two", "", "> two", "", "● second"]
    messages = [Message(text, (text,)) for text in ("one", "two")]
    answer = read_answer([], [PaintedRow(row) for row in rows], messages, columns=40, is_spinner=lambda _: False)
    text = [line for passage in answer.passages if passage.kind == "text" for line in passage.lines]
    assert "> two" in [line.strip() for line in text]


TEXT = "what of the keys, and of the row below them?"


def of_phase(phase: Phase) -> OutstandingMessage:
    """Return a message of ours in that phase, of which no composer has shown anything."""
    return OutstandingMessage("m1", TEXT, phase=phase)


@pytest.mark.requirement("DLV-10", "DLV-03a")
@pytest.mark.parametrize(("phase", "is_there"), [("pasting", True), ("submitted", True), ("past_composer", False)])
class TestPhases:
    """What a message past the composer is not taken for, each with the phases in which it is."""

    def test_what_the_composer_holds(self, phase: Phase, is_there: bool) -> None:
        assert of_phase(phase).may_stand_in(spelling(TEXT)) is is_there

    def test_a_draft(self, phase: Phase, is_there: bool) -> None:
        assert of_phase(phase).stands_as(TEXT) is is_there

    def test_the_beginning_of_a_draft_after_the_enter(self, phase: Phase, is_there: bool) -> None:
        assert of_phase(phase).may_show(TEXT[:12]) is is_there

    def test_a_placeholder_in_the_transcript(self, phase: Phase, is_there: bool) -> None:
        assert of_phase(phase).is_wordless is is_there


@pytest.mark.requirement("DLV-10")
def test_what_is_pasted_after_all_is_outstanding_once() -> None:
    screen = TmuxScreen(60, 20)
    conversation = Conversation(screen, Turns())
    conversation.reset(screen.take(), answering=False)
    conversation.hand_over("m1", "hello", during_output=False)
    conversation.inject("m1", "hello")
    conversation.submit("m1", during_output=False)
    assert not conversation.awaits_draft


@pytest.mark.requirement("DEL-11")
@pytest.mark.sampled(6)
@every_look
def test_a_person_who_drafts_the_words_of_a_message_again_gets_its_answer(look: UiStyle) -> None:
    """The message is past the composer: what stands there is another draft with the same words."""
    talk = Talk(look)
    talk.sends("question 0")
    talk.answers("answer 0")
    talk.types("yes please")
    talk.paints(talk.program.submits(), talk.program.works())
    talk.streams("answer")
    talk.types("yes please")
    talk.answers(" 1")
    assert talk.heard() == [*exchanges(1), ("typed", "yes please"), ("program", "answer 1")]


@pytest.mark.requirement("DLV-10")
def test_a_message_past_the_composer_is_never_being_pasted() -> None:
    """What a person types right behind it is a draft, and not the paste of the message."""
    talk = Talk(LOOKS[0])
    talk.sends("question 0")
    talk.answers("answer 0")
    talk.pane.hands_over("question 1")
    talk.types("what of the keys")
    assert talk.pane.stream.pane_state.composer.typed == "what of the keys"
    talk.paints(talk.program.shows("question 1"), talk.program.works())
    talk.answers("answer 1")
    talk.paints(talk.program.submits())
    talk.answers("the last answer")
    assert talk.heard() == [*exchanges(2), ("typed", "what of the keys"), ("program", "the last answer")]
