"""Turns that say nothing new, and chains of answers: what stops two polite agents, and what must not."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from streamrelay.relay.loop_guard import LoopGuard, is_acknowledgement
from streamrelay.relay.rules import Participant, Rules

ANN = Participant("$1", "%1", "Ann", 1)
BOB = Participant("$2", "%2", "Bob", 2)

POLITE = [
    "Thanks!", "Thank you so much!", "You're welcome! Happy to help.", "Got it, thanks.", "Sounds good — talk soon!",
    "Perfect. Have a great day!", "👍", "You’re welcome.", "OK.\n\nLet me know if you need more.",
    "Understood. Standing by.", "Thanks for the quick review!", "Danke schön! Gern geschehen.",
]  # fmt: skip
NEWS = [
    "The tests pass.", "Thanks! The tests pass now.", "OK, I renamed it to parse_line.", "Thanks, which file?",
    "Agreed.", "No.", "Yes", "done", "Great: 42", "Thanks. " * 60,
]  # fmt: skip


@pytest.mark.parametrize("text", POLITE)
def test_manners_are_known_as_such(text):
    assert is_acknowledgement(text)


@pytest.mark.parametrize("text", NEWS)
def test_what_may_say_something_is_no_acknowledgement(text):
    assert not is_acknowledgement(text)


def test_a_user_adds_phrases_of_their_own():
    assert not is_acknowledgement("Ça marche.")
    assert is_acknowledgement("Ça  marche! Merci.", ("ça marche",))


@example("-")
@given(st.text(max_size=300) | st.sampled_from(["Thanks!", "Great. Thank you.", "likewise, bye"]))
def test_any_text_is_judged(text):
    assert is_acknowledgement(f" {text}\n") is is_acknowledgement(text)
    assert not is_acknowledgement(f"{text}?")
    assert not is_acknowledgement(f"{text} The tests fail.")


@pytest.mark.requirement("REL-05b")
def test_agents_thank_each_other_twice_and_no_more(talk):
    conversation = talk()
    conversation.turn(ANN, "Please review parse_line.")
    conversation.turn(BOB, "Done: it is fine.")
    for number in range(20):
        conversation.turn((ANN, BOB)[number % 2], POLITE[number % len(POLITE)])
    assert conversation.delivered()[2:] == POLITE[:2]
    withheld = conversation.withheld()
    assert [event.count for event in withheld] == list(range(1, 19))
    assert {event.reason for event in withheld} <= {"acknowledgement", "repetition"}
    assert withheld[0].why == "turn 3 in a row without new content; at most 2 go out"
    assert withheld[0].text == POLITE[2]


@pytest.mark.requirement("REL-05b")
def test_news_opens_the_conversation_again(talk):
    conversation = talk()
    conversation.turn(ANN, "Please review parse_line.")
    for text in ("Thanks!", "You're welcome!", "Bye!", "One more thing: the docs.", "Thanks!"):
        conversation.turn(BOB if text != "You're welcome!" else ANN, text)
    assert "Bye!" not in conversation.delivered()
    assert conversation.delivered()[-2:] == ["One more thing: the docs.", "Thanks!"]


@pytest.mark.requirement("REL-05b")
def test_saying_the_same_again_is_nothing_new(talk):
    conversation = talk()
    conversation.turn(ANN, "Start.")
    for _ in range(10):
        conversation.turn(BOB, "I wait for the build to finish.")
        conversation.turn(ANN, "I wait for your review.")
    assert len(conversation.delivered()) == 1 + 2 + 2
    assert {event.reason for event in conversation.withheld()} == {"repetition"}


def test_what_a_program_prints_is_news(talk):
    conversation = talk(Rules(acknowledgements=1))
    conversation.turn(ANN, "Start.")
    conversation.turn(BOB, "Thanks!")
    conversation.machine.speaks_in_turns(ANN.pane, whole=False)
    conversation.turn(ANN, "OK")
    conversation.turn(BOB, "Got it.")
    assert conversation.delivered() == ["Start.", "Thanks!", "OK", "Got it."]


def test_a_person_who_types_begins_anew(talk):
    conversation = talk(Rules(acknowledgements=1))
    conversation.turn(ANN, "Start.")
    conversation.turn(BOB, "Thanks!")
    conversation.turn(BOB, "Got it.")
    conversation.typed(BOB, "be nice")
    conversation.turn(BOB, "Understood.")
    assert conversation.delivered() == ["Start.", "Thanks!", "Understood."]


@pytest.mark.parametrize("rules", [Rules(acknowledgements=0), Rules(acknowledgements=99)])
def test_the_dampener_is_a_matter_of_configuration(talk, rules):
    conversation = talk(rules)
    conversation.turn(ANN, "Start.")
    for _ in range(20):
        conversation.turn(BOB, "Thanks!")
    assert len(conversation.delivered()) == 21


@pytest.mark.requirement("REL-05a")
def test_a_chain_of_answers_has_an_end_until_a_person_says_something(talk):
    conversation = talk(Rules(hops=5))
    for number in range(1, 7):
        conversation.turn((BOB, ANN)[number % 2], f"answer {number}")
    assert conversation.delivered() == [f"answer {number}" for number in range(1, 6)]
    (withheld,) = conversation.withheld()
    assert withheld.reason == "hops"
    assert "answer 6 in a chain of at most 5" in withheld.why
    conversation.typed(BOB, "go on")
    conversation.turn(BOB, "news")
    assert conversation.delivered()[-1] == "news"


def test_who_speaks_of_their_own_accord_is_no_chain(talk):
    conversation = talk(Rules(hops=2))
    for number in range(10):
        conversation.turn(ANN, f"report {number}")
    assert len(conversation.delivered()) == 10


def test_without_a_limit_a_chain_has_none(talk):
    conversation = talk(Rules(hops=0))
    for number in range(2000):
        conversation.turn((ANN, BOB)[number % 2], f"answer {number}")
    assert len(conversation.delivered()) == 2000


def test_turns_without_new_content_are_counted_from_the_first_one_on() -> None:
    guard = LoopGuard()
    assert [
        (guard.judge("%1", text), guard.in_a_row) for text in ("Thanks!", "Got it, thanks.", "The tests pass.")
    ] == [
        ("acknowledgement", 1),
        ("acknowledgement", 2),
        ("", 0),
    ]
