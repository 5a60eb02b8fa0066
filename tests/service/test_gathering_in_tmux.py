"""Gatherings of scripted agents in real tmux: who heard what, by their own account, compared with a model."""

import json
import re
import stat
from collections.abc import Sequence
from typing import Any

import pytest
from msgspec import structs

from streamrelay.config.settings import HistoryTable, SessionsTable
from streamrelay.errors import (
    InGathering,
    NestedGathering,
    NotAllowed,
    PieceNotHeld,
    SessionTaken,
    StreamrelayError,
    UsageError,
)
from streamrelay.events import Text
from streamrelay.links.link import LinkPolicy
from streamrelay.relay.rules import Rules
from streamrelay.service import gatherings
from streamrelay.service.api import Invited, SendMessage
from streamrelay.service.local import LocalService
from streamrelay.testing.waiting import wait_until_async
from tests.service.circles import PIECE, CircleStage, Model, until
from tests.service.conftest import PATIENCE, Stage, journaled

HARVEST = "todos: none\n\n## Trail\n\nNothing moved; ask again."


@pytest.fixture
def circle(stage: Stage) -> CircleStage:
    return CircleStage(stage.tmux, stage.folder)


def breath(rounds: int) -> list[tuple[str, int]]:
    return [(phase, rounds) for phase in ("INHALE", "HOLD", "EXHALE")]


async def person_speaks(
    circle: CircleStage, service: LocalService, name: str, number: int, tenures: int
) -> Sequence[list[str]]:
    """Sit at an agent in a pane, and type whenever the piece comes; return what was typed in each tenure."""
    said = []
    for tenure in range(1, tenures + 1):
        await wait_until_async(
            lambda: sum(PIECE.match(got) is not None for got in circle.heard(name)) >= tenure,  # noqa: B023
            PATIENCE,
            f"tenure {tenure} of {name}",
        )
        words = [f"typed words {tenure}", "I pass."]
        for each in words:
            await types_at_rest(circle, service, name, each)
        said.append(words)
    return said


async def types_at_rest(circle: CircleStage, service: LocalService, name: str, text: str) -> None:
    """Type a line as a person who looks first.

    A beat may come between his look and his line, which may then be part of the answer to that: he says it again.
    """
    while True:
        await until(lambda: rests(circle, service, name), PATIENCE)
        got, told = len(circle.heard(name)), await typed(service, text)
        circle.types(name, text)
        await wait_until_async(lambda: text in circle.heard(name)[got:], PATIENCE, f"{name} to get {text}")  # noqa: B023
        if circle.heard(name)[got] == text:
            return
        await until(lambda: rests(circle, service, name), PATIENCE)
        if await typed(service, text) > told:
            return


async def typed(service: LocalService, text: str) -> int:
    """Return how often somebody is said to have typed it."""
    return sum(event.origin == "typed" and event.text == text for event in await journaled(service, Text))


async def rests(circle: CircleStage, service: LocalService, name: str) -> bool:
    """Tell whether an agent has answered everything: who types into its work cannot be told from it."""
    (state,) = [session.state for session in await service.sessions() if session.title == name]
    return state == "idle" and len(circle.said(name)) == len(circle.heard(name))


@pytest.mark.requirement("GAT-04", "GAT-05", "GAT-07", "GAT-08", "GAT-09a", "GAT-13a", "GAT-13b", "GAT-17")
@pytest.mark.parametrize("listening", ["each", pytest.param("digest", marks=pytest.mark.slow)])
async def test_a_short_gathering_from_the_seed_to_the_harvest(circle: CircleStage, listening: str) -> None:
    async with circle.service() as service:
        held = await circle.held(
            service,
            circle.invited("Sage", 1),
            circle.invited("Rex", 2, answers=["words {number} of Rex", "more words {number} of Rex", "I pass."]),
            circle.invited("Ada", 3, answers=[HARVEST], role="harvester"),
            listening=listening,
            beat_interval_seconds=1.0,  # longer than an agent takes to answer: it passes before the next beat
            opening_question="What matters today?",
        )
        assert [(member.started_here, member.agent) for member in held.participants] == [(True, "sprite")] * 3
        over = await circle.until_over(service, held.gathering)
        told = await service.gathering_transcript(held.gathering)
        assert [session.in_relay for session in await service.sessions()] == [""] * 4, "they go on, free"
    model = Model(circle, {1: "Sage", 2: "Rex"}, (3, "Ada"), breath(1), beats=2)
    said = model.check(digest=listening == "digest")
    assert over.state == "closed"
    assert over.reason == "complete"
    assert over.harvest.split() == HARVEST.split()
    assert [(f"{entry.name} ({entry.number})", entry.text) for entry in told.entries if entry.kind == "said"] == said
    for text in ("What matters today?", "Sage (1), speaker", "Ada (3), harvester", "1-1-1"):
        assert all(text in circle.heard(name)[0] for name in ("Sage", "Rex", "Ada"))
    marks = circle.tmux.run("list-panes", "-a", "-F", "#{@streamrelay_gathering}").split()
    assert marks == [held.gathering] * 3
    exported = circle.folder / "state" / "gatherings" / held.gathering
    assert exported.with_suffix(".md").read_text() == told.markdown
    assert json.loads(exported.with_suffix(".json").read_text())["trail"] == "Nothing moved; ask again."
    assert stat.S_IMODE(exported.with_suffix(".md").stat().st_mode) == 0o600


async def whole(circle: CircleStage, rounds: int, listening: str, names: Sequence[str]) -> None:
    """Some agents and a person who sits at another one, each as often as there are rounds; and a harvester."""
    answers = {
        "Sage": ["words {number} of Sage", "I pass."],
        "Rex": ["words {number} of Rex", "I pass to Mo.", "more words {number} of Rex"],
    }
    numbers = {"Sage": 2, "Rex": 5, "Ivy": 7, "Mo": 1}
    circle.start("Mo")
    async with circle.service() as service:
        held = await circle.held(
            service,
            *(circle.invited(name, numbers[name], answers=answers.get(name, ())) for name in names),
            Invited(name="Mo", number=1, is_human=True, session="Mo"),
            circle.invited("Ada", 3, answers=[HARVEST], role="harvester"),
            listening=listening,
            structure=f"{rounds}-{rounds}-{rounds}",
            beat_interval_seconds=1.5,
            last_words_seconds=10.0,
        )
        typed = await person_speaks(circle, service, "Mo", 1, 3 * rounds)
        over = await circle.until_over(service, held.gathering, PATIENCE * rounds)
    speakers = {numbers[name]: name for name in (*names, "Mo")}
    model = Model(circle, speakers, (3, "Ada"), breath(rounds), beats=2, typed={"Mo": list(typed)})
    said = model.check(digest=listening == "digest")
    assert sum(who == "Mo (1)" for who, _ in said) == 6 * rounds, "what the person's agent says to him is not his"
    assert over.harvest.split() == HARVEST.split()
    prompts = {member.name: member.prompts for member in over.participants}
    assert prompts == {name: len(circle.heard(name)) - 6 * rounds * (name == "Mo") for name in prompts}


@pytest.mark.requirement("GAT-14", "GAT-10")
@pytest.mark.timeout(120)
async def test_a_person_at_an_agent_is_heard_by_what_he_types(circle: CircleStage) -> None:
    await whole(circle, 1, "each", ["Sage"])


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize("listening", ["each", "digest"])
async def test_a_full_gathering_of_three_agents_a_person_and_a_harvester(circle: CircleStage, listening: str) -> None:
    await whole(circle, 2, listening, ["Sage", "Rex", "Ivy"])


@pytest.mark.requirement("GAT-14", "GAT-12b", "GAT-16b")
async def test_a_person_without_a_session_speaks_by_calls(circle: CircleStage) -> None:
    async with circle.service() as service:
        held = await circle.held(
            service,
            Invited(name="You", number=1, is_human=True),
            circle.invited("Rex", 2),
            circle.invited("Ada", 3, role="harvester"),
            beats_per_turn=3,
            beat_interval_seconds=0.5,
        )
        gathering = held.gathering
        assert held.speaker == 1
        assert held.participants[0].asked.startswith("You (1), the piece is yours. Phase: INHALE (round 1/1).")
        with pytest.raises(PieceNotHeld):
            await service.pass_piece(gathering, number=2)
        with pytest.raises(UsageError, match="is not a person"):
            await service.say_in_gathering(gathering, 2, "x")

        async def beat() -> bool:
            return (await service.gathering(gathering)).participants[0].asked.startswith("[Beat 1/3] Signals: ")

        await until(beat, PATIENCE)
        paused = await service.pause_gathering(gathering, True)
        assert (paused.state, paused.next_beat_at) == ("paused", None)
        await service.pause_gathering(gathering, False)
        await service.say_in_gathering(gathering, 1, "first words\nof two lines")
        await circle.until_heard("Rex", "You (1):\n\nfirst words\nof two lines")
        assert (await service.pass_piece(gathering, number=1)).speaker == 2
        with pytest.raises(PieceNotHeld):
            await service.say_in_gathering(gathering, 1, "too late")
        closing = await service.close_gathering(gathering)
        assert (closing.state, closing.phase) == ("harvesting", "close")
        over = await circle.until_over(service, gathering)
    assert (over.state, over.reason) == ("closed", "stopped")
    assert over.harvest.startswith("words ")
    assert circle.heard("Ada").count("You (1):\n\nfirst words\nof two lines") == 1
    assert not any(got.startswith("[Beat") for name in ("Rex", "Ada") for got in circle.heard(name) if "1/3" in got)


@pytest.mark.requirement("GAT-09b", "GAT-03b")
async def test_beside_the_piece_nothing_is_sent_and_no_other_circle_begun(circle: CircleStage) -> None:
    circle.start("Eve")
    async with circle.service() as service:
        held = await circle.held(
            service,
            *(circle.invited(name, number) for number, name in enumerate(("Sage", "Rex"), 1)),
            circle.invited("Ada", 3, role="harvester"),
        )
        sage = held.participants[0].session
        for request in (
            SendMessage(to=sage, text="psst", caller="Eve"),
            SendMessage(to="Eve", text="psst", caller=sage),
        ):
            with pytest.raises(InGathering, match="talking piece"):
                await service.send_message(request)
        with pytest.raises(NestedGathering, match="Cannot start a gathering from within a gathering"):
            await circle.held(service, *held_again(circle), caller=sage)
        with pytest.raises(SessionTaken):
            await circle.held(service, Invited(name="S", number=1, session=sage), *held_again(circle)[1:])
        assert len(await service.sessions()) == 5, "nothing was started"
        await service.close_gathering(held.gathering)
        over = await service.close_gathering(held.gathering, end_sessions=True)
        assert over.state == "closed"
        await circle.until_over(service, held.gathering)
        assert {session.title for session in await service.sessions()} == {"keeper", "Eve"}
        assert (await service.send_message(SendMessage(to="Eve", text="now"))).delivery.state not in {
            "failed",
            "unconfirmed",
        }
    assert not any("psst" in got for name in ("Eve", "Sage") for got in circle.heard(name))


@pytest.mark.requirement("REL-10c")
@pytest.mark.parametrize("decided", ["paused", "muted", "paused meanwhile"])
async def test_whoever_may_not_speak_calls_no_gathering_together(
    circle: CircleStage, decided: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = ("Eve", "Sage", "Rex", "Ada")
    for name in names:
        circle.start(name)
    members = [
        Invited(name=name, number=number, session=name, role="harvester" if name == "Ada" else "speaker")
        for number, name in enumerate(names[1:], 1)
    ]
    async with circle.service() as service:
        if decided == "muted":
            await service.mute("Eve", True)
        elif decided == "paused":
            await service.pause(True)
        else:
            taken = gatherings.pulse

            async def pulse(*given: Any, **said: Any) -> Any:
                await service.pause(True)
                return await taken(*given, **said)

            monkeypatch.setattr(gatherings, "pulse", pulse)
        with pytest.raises(NotAllowed, match="muted you" if decided == "muted" else "paused everything"):
            await circle.held(service, *members, caller="Eve", opening_question="a secret?")
        assert await service.gatherings() == []
        if decided != "muted":
            await service.pause(False)
        await service.send_message(SendMessage(to="Sage", text="a person's"))
        await circle.until_heard("Sage", "a person's")
    assert circle.heard("Sage") == ["a person's"]


def held_again(circle: CircleStage) -> list[Invited]:
    return [
        circle.invited("Tom", 1),
        circle.invited("Kim", 2),
        circle.invited("Zoe", 3, role="harvester"),
    ]


TWO = (Invited(name="A", number=1, agent="sprite"), Invited(name="B", number=2, agent="sprite"))
HARVESTER = Invited(name="H", number=9, agent="sprite", role="harvester")


@pytest.mark.requirement("GAT-03a")
@pytest.mark.parametrize(
    ("participants", "more", "words"),
    [
        ((TWO[0], structs.replace(TWO[1], number=1), HARVESTER), {}, "number 1"),
        ((TWO[0], HARVESTER), {}, "at least two speakers"),
        ((*TWO, HARVESTER, structs.replace(HARVESTER, number=8, name="I")), {}, "exactly one harvester"),
        (TWO, {}, "exactly one harvester"),
        ((*TWO, HARVESTER), {"hold_rounds": 0}, "hold has 0 rounds"),
        ((*TWO, HARVESTER), {"rhythm": "hourly"}, "unknown rhythm: 'hourly'"),
        ((*TWO, HARVESTER), {"structure": "2-2"}, "invalid structure"),
        ((structs.replace(TWO[0], name="A\x1b[2J"), TWO[1], HARVESTER), {}, "has invalid characters"),
        ((structs.replace(TWO[0], agent=""), TWO[1], HARVESTER), {}, "neither an agent"),
        ((structs.replace(TWO[0], is_human=True), TWO[1], HARVESTER), {}, "is a person"),
        ((*TWO, HARVESTER), {"beat_interval_seconds": 0.0}, "beat_interval_seconds"),
        ((*TWO, HARVESTER), {"listening": "digest", "harvest_seconds": -1.0}, "harvest_seconds"),
        ((structs.replace(TWO[0], agent="", session="nobody"), TWO[1], HARVESTER), {}, "nobody"),
        ((structs.replace(TWO[0], agent="no-such-program"), TWO[1], HARVESTER), {}, "no-such-program"),
    ],
)
async def test_what_cannot_be_held_starts_nothing(circle: CircleStage, participants, more, words: str) -> None:
    before = circle.tmux.run("list-panes", "-a", "-F", "#{pane_id}")
    async with circle.service() as service:
        with pytest.raises(StreamrelayError, match=re.escape(words)):
            await circle.held(service, *participants, **more)
        assert await service.gatherings() == []
    assert circle.tmux.run("list-panes", "-a", "-F", "#{pane_id}") == before


async def several(circle: CircleStage, count: int, names: Sequence[str], beat: float, patience: float) -> None:
    """Hold gatherings at once: each member hears all of its own circle, and nothing of any other."""
    circles = {group: {number: f"{name}{group}" for number, name in enumerate(names, 1)} for group in range(count)}

    async def begin(service: LocalService, group: int) -> str:
        speakers = [circle.invited(name, number) for number, name in circles[group].items()]
        harvester = circle.invited(f"Ada{group}", 5, role="harvester")
        held = await circle.held(
            service,
            *speakers,
            harvester,
            beats_per_turn=1,
            beat_interval_seconds=beat,
            last_words_seconds=60.0,
            reach_seconds=300.0,
            harvest_seconds=300.0,
        )
        return held.gathering

    async with circle.service() as service:
        service.configure(policy=LinkPolicy(), rules=Rules(), retention=HistoryTable(), starting=SessionsTable(most=0))
        gatherings = [await begin(service, group) for group in range(count)]
        for gathering in gatherings:
            assert (await circle.until_over(service, gathering, patience)).reason == "complete"
    for group, speakers in circles.items():
        said = Model(circle, speakers, (5, f"Ada{group}"), breath(1), beats=1).check()
        assert len(said) == 2 * 3 * len(names), "in three rounds, each answers the piece and the last question"


@pytest.mark.timeout(180)
async def test_two_gatherings_at_once_hear_nothing_of_each_other(circle: CircleStage) -> None:
    await several(circle, 2, ("Sage", "Rex"), 0.5, PATIENCE * 2)


@pytest.mark.slow
@pytest.mark.timeout(1200)
async def test_twenty_gatherings_of_five_at_once(circle: CircleStage) -> None:
    await several(circle, 20, ("Sage", "Rex", "Ivy", "Mo"), 4.0, 600.0)
