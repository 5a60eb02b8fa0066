"""A circle in the panes of its members, on a clock of the test's own."""

from collections.abc import Collection, Mapping
from types import MappingProxyType

import msgspec
import pytest

from streamrelay.errors import PieceNotHeld, UsageError
from streamrelay.events import Event, Injected, Origin, Text, TurnEnded, TurnStarted
from streamrelay.gathering.ceremony import Ceremony
from streamrelay.gathering.circle import Circle, CircleSeat, StoredCircle
from streamrelay.gathering.members import Member
from streamrelay.gathering.plan import Breath, Plan
from streamrelay.gathering.steps import Effect
from streamrelay.relay.rules import Deliver, Notice
from tests.gathering.decided import TEXTS

MEMBERS = (
    Member(name="Rex", number=1),
    Member(name="Sage", number=2),
    Member(name="Ada", number=3, role="harvester"),
)


def held(nodes: Mapping[int, str] = MappingProxyType({}), people: Collection[int] = ()) -> Circle:
    """A circle of agents in panes; `people` are persons, and those with a node, or none, have no pane."""
    plan = Plan(
        rhythm="weekly", question="What is alive?", breath=Breath(1, 1, 1), beats_per_turn=2, beat_interval_seconds=60.0
    )
    humans = {*people, *nodes}
    members = [msgspec.structs.replace(member, is_human=member.number in humans) for member in MEMBERS]
    seats = [
        CircleSeat(
            number=member.number, name=member.name, session="" if member.number in nodes else member.name,
            pane="" if member.number in nodes else f"%{member.number}", is_human=member.is_human,
            node=nodes.get(member.number, ""),
        )
        for member in members
    ]  # fmt: skip
    return Circle(Ceremony("g", plan, tuple(members), TEXTS), seats, started_at=0.0)


def delivered(effects: list[Effect]) -> list[str]:
    return [effect.text for effect in effects if isinstance(effect, Deliver | Notice)]


def test_sensed_work_is_in_the_next_beat_and_is_ignored_after_the_close() -> None:
    circle = held()
    circle.begin(0.0)
    assert circle.sense("main is red", 1.0) == []
    prompts: list[str] = []
    while not prompts and (due := circle.deadline()) is not None:
        prompts = [text for text in delivered(circle.advance(due)) if text.startswith("[Beat")]
    assert len(prompts) == 1
    assert "main is red" in prompts[0]
    # The first call leaves time for the harvest, the second closes the circle at once.
    circle.close(due or 0.0)
    circle.close(due or 0.0)
    assert circle.closed
    before = circle.stored()
    assert circle.sense("main is green", 9_999.0) == []
    assert circle.stored() == before


def agents(circle: Circle) -> Circle:
    """Let every member speak in turns, as coding agents do."""
    for seat in circle.seats.values():
        circle.speaks_in_turns(seat.pane, whole=True)
    return circle


def seat(number: int) -> str:
    return f"%{number}"


def reached(circle: Circle, now: float, turn: int) -> list[Effect]:
    """Let the prompt of the member that is heard enter its pane: that turn answers it."""
    hearing = circle.stored().hearing
    assert hearing is not None
    event = Injected(message_id=hearing.prompt, state="entering", pane=seat(hearing.number), turn=turn)
    return circle.handle(event, now)


def text(number: int, words: str, turn: int, origin: Origin = "program") -> Text:
    return Text(text=words, origin=origin, pane=seat(number), turn=turn)


def ended(number: int, turn: int, *, certain: bool = True) -> TurnEnded:
    return TurnEnded(reason="signal" if certain else "quiet", certain=certain, pane=seat(number), turn=turn)


def spoken(circle: Circle, *events: Event, now: float = 1.0) -> list[Effect]:
    return [effect for event in events for effect in circle.handle(event, now)]


def contributions(effects: list[Effect]) -> list[tuple[str, str, list[str]]]:
    """The head and the text of each contribution, and who gets it."""
    notices = [effect for effect in effects if isinstance(effect, Notice) and effect.head.endswith("):")]
    return [(notice.head, notice.text, [who.name for who in notice.listeners]) for notice in notices]


def speaker(circle: Circle) -> str:
    return circle.ceremony.holder.name if circle.ceremony.holder else ""


def in_harvest(circle: Circle) -> Circle:
    """Bring the circle to its harvest, with nothing said."""
    circle.begin(0.0)
    circle.close(0.5)
    assert circle.ceremony.state.harvest_due is not None
    return circle


def test_an_agent_is_heard_from_the_turn_that_answers_its_prompt() -> None:
    circle = agents(held())
    circle.begin(0.0)
    assert not circle.concerns(text(1, "Before.", 3)), "the prompt has not arrived"
    reached(circle, 1.0, turn=3)
    assert not circle.concerns(text(1, "An answer to another message.", 2))
    assert circle.concerns(text(1, "Mine.", 3))
    assert not circle.concerns(text(1, "An echo.", 3, "injected"))
    effects = spoken(circle, text(1, "Late.", 2), text(1, "Mine.", 3), text(1, "Really.", 3), ended(1, 3))
    assert contributions(effects) == [("Rex (1):", "Rex (1):\n\nMine.\nReally.", ["Sage", "Ada"])]


def test_a_member_that_does_not_hold_the_piece_is_not_heard_and_ends_no_tenure() -> None:
    circle = agents(held())
    circle.begin(0.0)
    reached(circle, 1.0, turn=1)
    assert not circle.concerns(text(2, "Mine.", 5))
    assert spoken(circle, text(2, "Mine.", 5), ended(2, 5)) == []
    assert speaker(circle) == "Rex"
    circle.mute("Rex", muted=True)
    assert not circle.concerns(text(1, "Mine.", 1))
    circle.mute("Rex", muted=False)
    assert circle.concerns(text(1, "Mine.", 1))


def test_a_pass_by_the_tool_takes_effect_when_that_turn_ends_and_not_before() -> None:
    circle = agents(held())
    circle.begin(0.0)
    reached(circle, 1.0, turn=3)
    spoken(circle, TurnStarted(pane=seat(1), turn=3), text(1, "Mine.", 3))
    assert circle.pass_piece(None, "Rex", 2.0) == []
    spoken(circle, ended(1, 2), TurnStarted(pane=seat(1), turn=4))
    assert speaker(circle) == "Rex"
    effects = spoken(circle, text(1, "More.", 4), ended(1, 4))
    assert [words for _, words, _ in contributions(effects)] == ["Rex (1):\n\nMore."]
    assert speaker(circle) == "Sage"


def test_a_session_at_rest_passes_at_once_and_another_one_cannot() -> None:
    circle = agents(held())
    circle.begin(0.0)
    with pytest.raises(PieceNotHeld, match="Rex holds the piece"):
        circle.pass_piece(None, "Sage", 1.0)
    circle.pass_piece(None, "Rex", 1.0)
    assert speaker(circle) == "Sage"


def test_the_unfinished_lines_of_a_printing_program_count_when_it_passes_or_its_time_is_up() -> None:
    circle = held()
    circle.begin(0.0)
    reached(circle, 1.0, turn=1)
    spoken(circle, text(1, "Half a word", 1))
    assert [words for _, words, _ in contributions(circle.pass_piece(1, "", 1.1))] == ["Rex (1):\n\nHalf a word"]
    reached(circle, 2.0, turn=1)
    said: list[str] = []
    while speaker(circle) == "Sage" and (due := circle.deadline()) is not None:
        # Written in the moment at which the next beat, or the end of the tenure, is due.
        spoken(circle, text(2, f"at {due:.0f}", 1), now=due)
        said += [words for _, words, _ in contributions(circle.advance(due))]
    assert len(said) > 1
    assert all(words.startswith("Sage (2):\n\nat ") for words in said), said


def test_an_agents_unfinished_turn_counts_neither_at_the_end_of_its_time_nor_in_its_next_one() -> None:
    circle = agents(held())
    circle.begin(0.0)
    reached(circle, 1.0, turn=3)
    spoken(circle, text(1, "Unfinished.", 3))
    while speaker(circle) == "Rex" and (due := circle.deadline()) is not None:
        assert contributions(circle.advance(due)) == []
    assert speaker(circle) == "Sage"
    circle.pass_piece(2, "", due or 0.0)
    assert speaker(circle) == "Rex"
    assert contributions(spoken(circle, ended(1, 3), now=due or 0.0)) == []


def test_what_a_member_was_saying_is_said_after_a_restart() -> None:
    circle = agents(held())
    circle.begin(0.0)
    reached(circle, 1.0, turn=3)
    spoken(circle, TurnStarted(pane=seat(1), turn=3), text(1, "Mine.", 3))
    stored = msgspec.json.decode(msgspec.json.encode(circle.stored()), type=StoredCircle)
    restored = Circle.restored(stored, list(circle.ceremony.record), TEXTS, 1.0)
    assert restored.stored() == stored
    assert [words for _, words, _ in contributions(spoken(restored, ended(1, 3)))] == ["Rex (1):\n\nMine."]
    assert restored.pass_piece(None, "Rex", 2.0)


def test_no_id_is_given_again_from_an_older_copy() -> None:
    circle = agents(held())
    circle.begin(0.0)
    reached(circle, 1.0, turn=3)
    stored, record = circle.stored(), list(circle.ceremony.record)
    given: list[str] = []
    for life in ("", "c40d17", "0b5e21"):
        again = Circle.restored(stored, record, TEXTS, 1.0, life)
        assert again.stored() == stored
        spoken(again, TurnStarted(pane=seat(1), turn=3), text(1, "Mine.", 3), ended(1, 3))
        new = [entry.message_id for entry in again.ceremony.record[len(record) :] if entry.message_id]
        assert new
        given += new
    assert len(given) == len(set(given))


@pytest.mark.parametrize(
    ("in_turns", "certain", "at_once"), [(True, True, True), (True, False, False), (False, False, False)]
)
def test_only_a_turn_that_surely_ended_completes_the_harvest_at_once(
    in_turns: bool, certain: bool, at_once: bool
) -> None:
    circle = in_harvest(agents(held()) if in_turns else held())
    reached(circle, 1.0, turn=2)
    spoken(circle, text(3, "The harvest.", 2), ended(3, 2, certain=certain))
    assert circle.closed is at_once
    while not circle.closed and (due := circle.deadline()) is not None:
        circle.advance(due)
    assert circle.ceremony.state.closed == "stopped"


def test_members_that_have_left_and_strangers_are_not_there() -> None:
    circle = held()
    circle.begin(0.0)
    assert (circle.has("%1"), circle.has("%9")) == (True, False)
    circle.leave("%1", "pane_gone", 1.0)
    assert not circle.has("%1")
    assert [seat.name for seat in circle.present] == ["Sage", "Ada"]
    assert circle.leave("%9", "pane_gone", 2.0) == []


def test_people_elsewhere_are_those_on_other_machines_that_have_not_left() -> None:
    circle = held(nodes={2: "beta"})
    circle.begin(0.0)
    assert [seat.name for seat in circle.people_elsewhere] == ["Sage"]
    circle.dismiss(2, "left", 1.0)
    assert circle.people_elsewhere == []


def test_a_person_without_a_pane_is_prompted_on_the_page_and_speaks_by_calls() -> None:
    circle = held(nodes={1: ""}, people=(1,))
    effects = circle.begin(0.0)
    assert not any(who.name == "Rex" for effect in effects if isinstance(effect, Notice) for who in effect.listeners)
    assert "piece" in circle.asked[1]
    assert circle.say(1, "By hand.", 1.0)
    assert contributions(circle.say(1, "Again.", 2.0)) == [("Rex (1):", "Rex (1):\n\nAgain.", ["Sage", "Ada"])]
    with pytest.raises(UsageError, match="participant 2 of g is not a person"):
        circle.say(2, "No person.", 3.0)
    circle.pass_piece(1, "", 4.0)
    with pytest.raises(PieceNotHeld, match="Rex does not hold the piece now"):
        circle.say(1, "Too late.", 5.0)


def test_a_person_at_an_agent_speaks_by_what_they_type() -> None:
    circle = agents(held(people=(1,)))
    circle.begin(0.0)
    reached(circle, 1.0, turn=1)
    assert not circle.concerns(text(1, "The agent's answer.", 1))
    effects = spoken(circle, text(1, "By hand.", 1, "typed"), text(1, "  ", 1, "typed"))
    assert [words for _, words, _ in contributions(effects)] == ["Rex (1):\n\nBy hand."]
    assert spoken(circle, ended(1, 1)) == []
    assert speaker(circle) == "Rex"
