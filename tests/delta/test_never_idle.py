"""A program that gets messages while it answers is heard whenever it goes on with the next one.

In a relay others speak while an agent answers, so that its queue may never be empty. The screen and the agent's own
record tell together that it has gone on.
"""

from dataclasses import replace

import pytest

from streamrelay.delta.inputs import Resized, WitnessOpened, WitnessPassage, WitnessReported
from streamrelay.events import Text, TurnEnded, TurnStarted, WitnessCompared
from streamrelay.testing.painted_talk import LOOKS, SILENT, Talk, exchanges, name
from streamrelay.testing.transcript_program import UiStyle

pytestmark = [pytest.mark.requirement("DEL-04c", "DEL-11"), pytest.mark.sampled(6)]

every_look = pytest.mark.parametrize("look", LOOKS, ids=name)
END = WitnessPassage("end")


def asked(text: str) -> WitnessPassage:
    return WitnessPassage("person", text)


def hears(talk: Talk, *passages: WitnessPassage | str) -> None:
    """Let the record have these passages, answers as plain text, now."""
    said = tuple(WitnessPassage("agent", each) if isinstance(each, str) else each for each in passages)
    talk.pane.events += talk.pane.stream.apply(WitnessReported(talk.pane.now, "%0", "agent", said))


def opens(talk: Talk, question: str = "") -> None:
    """Begin to read the record; the program takes up a question."""
    talk.pane.events += talk.pane.stream.apply(WitnessOpened(talk.pane.now, "%0", "agent", "transcript", lag=0.5))
    if question:
        talk.sends(question)
        hears(talk, asked(question))


def works(talk: Talk, screens: int = 8) -> None:
    talk.paints(*(talk.program.works() for _ in range(screens)), rest=0.05)


def waits(talk: Talk, question: str) -> None:
    """Send a message that the program puts into its queue."""
    talk.asks(question)
    talk.program.queues()


def goes_on(talk: Talk, answer: str, question: str) -> None:
    """Let the record have an answer and the message that waited, and the program show that it works on that."""
    hears(talk, answer, END, asked(question))
    talk.paints(talk.program.submits(question))
    works(talk)


def passes_on(talk: Talk, number: int) -> None:
    """Answer a question while the next one waits, and go on with that."""
    waits(talk, f"question {number + 1}")
    talk.streams(f"answer {number}")
    goes_on(talk, f"answer {number}", f"question {number + 1}")


def ends(talk: Talk, answer: str) -> None:
    hears(talk, answer, END)
    talk.answers(answer)


def turns(talk: Talk) -> list[int]:
    return [event.turn for event in talk.of(TurnStarted, TurnEnded)]


@every_look
def test_each_answer_is_heard_when_the_next_one_begins(look: UiStyle) -> None:
    talk = Talk(replace(look, lines=16))
    opens(talk, "question 0")
    for number in range(40):
        assert talk.heard() == exchanges(number)
        passes_on(talk, number)
    assert talk.heard() == exchanges(40)
    ends(talk, "answer 40")
    assert talk.heard() == exchanges(41)
    assert turns(talk) == [turn for turn in range(1, 42) for _ in (TurnStarted, TurnEnded)]
    assert {event.outcome for event in talk.of(WitnessCompared)} == {"agrees"}


@every_look
@pytest.mark.parametrize("happens", ["resized", "wiped", "repainted"])
def test_it_is_heard_after_its_screen_was_painted_once_more(look: UiStyle, happens: str) -> None:
    talk = Talk(replace(look, lines=20))
    opens(talk, "question 0")
    for number in range(6):
        if number == 2 and happens == "resized":
            talk.pane.events += talk.pane.stream.apply(Resized(talk.pane.now, "%0", 58, 20))
            talk.paints(talk.program.resizes(58, 20), rest=0.1)
        elif number == 2:
            talk.paints(talk.program.repaints(wipes_history=happens == "wiped"), rest=0.1)
        passes_on(talk, number)
        assert talk.heard() == exchanges(number + 1)
    ends(talk, "answer 6")
    assert talk.heard() == exchanges(7)


@every_look
def test_a_message_that_waits_in_the_transcript_is_not_begun(look: UiStyle) -> None:
    """Some programs show what waits in their transcript, below an answer that is not over."""
    talk = Talk(look)
    opens(talk, "question 0")
    hears(talk, asked("question 1"))
    talk.streams("It is")
    talk.asks("question 1")
    talk.paints(talk.program.submits())
    works(talk, 20)
    assert talk.heard() == []
    assert turns(talk) == [1]


@pytest.mark.parametrize("lags", [0.2, 2.0])
def test_a_screen_that_is_later_than_the_record_is_waited_for(lags: float) -> None:
    talk = Talk(replace(SILENT[0], lines=20))
    opens(talk, "question 0")
    waits(talk, "question 1")
    talk.streams("It is")
    hears(talk, "It is done, and all the tests pass now.", END, asked("question 1"))
    program = talk.program
    program.transcript += ["", "> question 1", ""]
    talk.paints(*(program.works() for _ in range(int(lags / 0.05))), rest=0.05)
    assert talk.heard() == []
    # The rest of the answer is painted above the message that waited.
    at = program.transcript.index("> question 1")
    said = next(y for y, row in enumerate(program.transcript) if row.endswith("It is"))
    program.transcript[said] += " done, and all the tests pass now."
    program.transcript[at:] = ["> question 1"]
    program._close_answer()
    works(talk)
    ends(talk, "answer 1")
    assert talk.heard() == [
        ("injected", "question 0"),
        ("program", "It is done, and all the tests pass now."),
        *exchanges(2)[2:],
    ]


@every_look
def test_messages_of_one_text_are_counted(look: UiStyle) -> None:
    talk = Talk(look)
    opens(talk)
    hears(talk, asked("/clear"), END)
    talk.sends("go on")
    hears(talk, asked("go on"))
    for number in range(3):
        waits(talk, "go on")
        talk.streams(f"answer {number}")
        works(talk, 10)
        assert len(talk.heard()) == 2 * number
        goes_on(talk, f"answer {number}", "go on")
        assert talk.heard()[2 * number :] == [("injected", "go on"), ("program", f"answer {number}")]


def test_messages_of_before_count_no_more_where_the_record_is_read_anew() -> None:
    talk = Talk(replace(SILENT[0], lines=30))
    opens(talk, "go on")
    ends(talk, "answer 0")
    opens(talk)
    talk.sends("what of it, then?")
    hears(talk, asked("go on"), "answer 0", END, asked("what of it, then?"))
    talk.streams("It is")
    talk.asks("go on")
    talk.paints(talk.program.submits())
    works(talk, 20)
    assert [line for _, line in talk.heard()] == ["go on", "answer 0"]


def test_a_message_within_the_one_that_is_answered_is_not_begun() -> None:
    talk = Talk(replace(SILENT[0], lines=30))
    opens(talk, "question 0")
    ends(talk, "answer 0")
    talk.sends("please check the tests and the docs")
    hears(talk, asked("please check the tests and the docs"))
    talk.streams("It is")
    talk.asks("please check the tests")
    talk.paints(talk.program.submits())
    works(talk, 20)
    assert talk.heard() == exchanges(1)


@every_look
def test_messages_that_are_taken_up_as_one_are_answered_once(look: UiStyle) -> None:
    talk = Talk(replace(look, lines=30))
    first, *others = (f"a longer question {number}" for number in range(3))
    opens(talk, first)
    for question in others:
        waits(talk, question)
    talk.streams("answer to the first")
    goes_on(talk, "answer to the first", "\n\n".join(others))
    assert talk.heard() == [("injected", first), ("program", "answer to the first")]
    ends(talk, "answer to both")
    assert talk.heard()[2:] == [*(("injected", question) for question in others), ("program", "answer to both")]


@every_look
def test_a_message_that_a_person_typed_delays_what_stands_above_it_only(look: UiStyle) -> None:
    talk = Talk(replace(look, lines=24))
    opens(talk, "question 0")
    passes_on(talk, 0)
    talk.types("a typed one here")
    talk.program.queues()
    talk.streams("answer 1")
    goes_on(talk, "answer 1", "a typed one here")
    assert talk.heard() == exchanges(1)
    waits(talk, "question 2")
    talk.streams("answer to that")
    goes_on(talk, "answer to that", "question 2")
    assert talk.heard() == [*exchanges(2), ("typed", "a typed one here"), ("program", "answer to that")]
    ends(talk, "answer 2")
    assert talk.heard()[-2:] == exchanges(3)[-2:]
    assert turns(talk) == [turn for turn in range(1, 5) for _ in (TurnStarted, TurnEnded)]


def test_an_answer_is_heard_though_the_next_one_has_begun_before_the_record_was_read() -> None:
    talk = Talk(SILENT[0])
    opens(talk, "question 0")
    for number in (1, 2):
        waits(talk, f"question {number}")
    talk.streams("answer 0")
    talk.paints(talk.program.submits("question 1"))
    talk.streams("answer 1")
    talk.paints(talk.program.submits("question 2"))
    talk.paints(talk.program.says("answer"))
    for number in (0, 1):
        hears(talk, f"answer {number}", END, asked(f"question {number + 1}"))
        works(talk)
        assert talk.heard() == exchanges(number + 1)
    ends(talk, " 2")
    assert talk.heard() == exchanges(3)


def test_without_a_record_an_agent_is_heard_when_it_is_idle() -> None:
    talk = Talk(SILENT[0])
    talk.sends("question 0")
    for number in range(3):
        waits(talk, f"question {number + 1}")
        talk.streams(f"answer {number}")
        talk.paints(talk.program.submits(f"question {number + 1}"))
    assert talk.of(Text) == []
    talk.paints(talk.program.says("answer 3"), talk.program.rests(), rest=15.0)
    assert talk.heard() == exchanges(4)


@pytest.mark.parametrize("next_one", ["go on", "go on with the tests"])
def test_an_answer_is_kept_where_the_record_has_its_message_only_as_another_one(next_one: str) -> None:
    talk = Talk(replace(SILENT[0], lines=40))
    opens(talk, "go on with the tests and the docs" if next_one != "go on" else "go on")
    waits(talk, next_one)
    talk.streams("answer zero is here")
    hears(talk, "answer zero is here", END)
    talk.paints(talk.program.submits(next_one))
    works(talk)
    talk.answers("answer one is there")
    assert [line for origin, line in talk.heard() if origin == "program"] == [
        "answer zero is here",
        "answer one is there",
    ]


def test_answers_to_messages_of_one_text_are_told_apart_by_their_order() -> None:
    talk = Talk(replace(SILENT[0], lines=40))
    opens(talk, "go on")
    for number in range(2):
        waits(talk, "go on")
        talk.streams(f"answer {number}")
        talk.paints(talk.program.submits("go on"))
    talk.streams("answer 2")
    hears(talk, *("answer 0", END, asked("go on"), "answer 1", END, asked("go on"), "answer 2", END))
    talk.paints(talk.program.rests(), rest=5.0)
    assert [line for origin, line in talk.heard() if origin == "program"] == [f"answer {number}" for number in range(3)]
    assert [event.outcome for event in talk.of(WitnessCompared)] == ["agrees"] * 3


@pytest.mark.parametrize(
    ("begins", "answer"),
    [
        ("OK, I look.", "OK, I look.\n\nThe second part took long and is fine, too.\n\nOK"),
        ("```\nfn a() {\n}", "```\nfn a() {\n}\nfn b() {\n  run()\n}\n```"),
    ],
    ids=["word", "bracket"],
)
def test_an_end_that_stands_earlier_in_its_answer_is_not_taken_for_it(begins: str, answer: str) -> None:
    talk = Talk(replace(SILENT[0], lines=30))
    opens(talk, "question 0")
    waits(talk, "question 1")
    talk.streams(begins)
    hears(talk, answer, END, asked("question 1"))
    talk.paints(talk.program.submits("question 1"))
    works(talk, 20)
    assert talk.heard() == []


def test_an_end_that_the_screen_shows_otherwise_is_waited_for_three_seconds_from_its_report() -> None:
    talk = Talk(replace(SILENT[0], lines=16))
    opens(talk, "question 0")
    for number in range(8):
        waits(talk, f"question {number + 1}")
        talk.streams(f"answer {number} 🎉")
        goes_on(talk, f"answer {number} :tada:", f"question {number + 1}")
        works(talk, 30)
    assert len(talk.heard()) >= 2 * 6


def test_a_screen_that_stands_still_is_looked_at_again() -> None:
    talk = Talk(replace(SILENT[0], lines=20))
    opens(talk, "question 0")
    waits(talk, "question 1")
    talk.streams("It is done")
    hears(talk, "It is done and well.", END, asked("question 1"))
    talk.paints(talk.program.says(" and well."), rest=0.02)
    talk.paints(talk.program.submits("question 1"), rest=5.0)
    assert talk.heard()[:2] == [("injected", "question 0"), ("program", "It is done and well.")]
    assert talk.pane.stream.deadline() is None
