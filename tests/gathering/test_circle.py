"""A circle in the panes of its members, on a clock of the test's own."""

from streamrelay.gathering.ceremony import Ceremony
from streamrelay.gathering.circle import Circle, CircleSeat
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


def held() -> Circle:
    plan = Plan(
        rhythm="weekly", question="What is alive?", breath=Breath(1, 1, 1), beats_per_turn=2, beat_interval_seconds=60.0
    )
    seats = [
        CircleSeat(number=member.number, name=member.name, session=member.name, pane=f"%{member.number}")
        for member in MEMBERS
    ]
    return Circle(Ceremony("g", plan, MEMBERS, TEXTS), seats, started_at=0.0)


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
