"""The rules of the ceremony, one by one, on a clock of the test's own."""

import pytest

from streamrelay.gathering.ceremony import Ceremony
from streamrelay.gathering.library import find_rhythm, load_texts
from streamrelay.gathering.members import Member
from streamrelay.gathering.plan import plan_for
from streamrelay.gathering.steps import Announce, Closed, Contribute, Prompt, Reached, Said

SAGE, REX, ADA = (
    Member(name="Sage", number=3),
    Member(name="Rex", number=1),
    Member(name="Ada", number=9, role="harvester"),
)


@pytest.fixture
def ceremony() -> Ceremony:
    plan = plan_for(find_rhythm("daily"))
    return Ceremony("g", plan, [SAGE, REX, ADA], load_texts())


def test_a_circle_begins_with_the_lowest_number_and_all_hear_it(ceremony):
    effects = ceremony.begin(100.0)
    assert [(p.to, p.kind) for p in effects if isinstance(p, Prompt)] == [
        (1, "seed"), (3, "seed"), (9, "seed"), (1, "turn"),
    ]  # fmt: skip
    (announced,) = [effect for effect in effects if isinstance(effect, Announce)]
    assert announced.to == (1, 3, 9)
    assert announced.text.startswith("--- Phase: INHALE (round 1/1) ---\n")
    assert ceremony.deadline() == 160.0
    ceremony.handle(Reached(1, effects[-2].message_id), 101.5)
    assert ceremony.deadline() == 161.5
    heard = ceremony.handle(Said(1, "I saw a thing."), 110.0)
    assert [e for e in heard if isinstance(e, Contribute)] == [Contribute("g-6", 1, (3, 9), "I saw a thing.")]
    assert not [e for e in ceremony.handle(Said(3, "Noted."), 111.0) if isinstance(e, Contribute | Closed)]
