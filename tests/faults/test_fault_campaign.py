"""A live daemon under seeded faults loses, doubles, echoes, reorders and misattributes nothing."""

import asyncio
import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.daemon.clocks import OwnClock
from tests.faults.campaign import HOUR, ends_tmux, on_each_server
from tests.faults.histories import (
    Record,
    Said,
    council_history,
    gathering_history,
    link_history,
    notes_history,
    relay_history,
)
from tests.faults.schedule import FAULTS, schedule
from tests.history_checker import check

ROOT = Path(__file__).parents[2]
FAULTS_OF_EACH, AT_ONCE = 3, 4
"""Faults of each schedule, and how many schedules run at the same time; a schedule mostly waits for its agents."""
GROUPS, IN_DEFAULT_RUN = 125, 5
"""Groups of `AT_ONCE` seeds: 500 seeds in `scripts/test all`, 20 of them in the default run."""


@pytest.mark.requirement("DLV-07a", "GAT-15")
@pytest.mark.spread
@pytest.mark.timeout(400)
@pytest.mark.sampled(IN_DEFAULT_RUN)
@pytest.mark.parametrize("group", range(GROUPS))
async def test_no_word_is_lost_doubled_echoed_or_misattributed(group: int) -> None:
    seeds = range(group * AT_ONCE, (group + 1) * AT_ONCE)
    for seed, (status, told) in zip(seeds, await asyncio.gather(*map(played, seeds)), strict=True):
        replay = f"python -m tests.faults --seed {seed} --faults {FAULTS_OF_EACH}\n{told}"
        assert status == 0, replay
        said = re.match(rf"seed {seed}: (\d+) said", told)
        assert said is not None, replay
        assert int(said[1]) > 2 * FAULTS_OF_EACH, replay


async def played(seed: int) -> tuple[int, str]:
    """Run the schedule of a seed in a process of its own; return its exit status and its output."""
    words = ["-m", "tests.faults", "--seed", str(seed), "--faults", str(FAULTS_OF_EACH)]
    process = await asyncio.create_subprocess_exec(
        sys.executable, *words, cwd=ROOT, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT
    )
    told, _ = await process.communicate()
    return await process.wait(), told.decode()


def test_the_same_seed_makes_the_same_schedule_with_every_kind_of_fault() -> None:
    assert schedule(4, 30) == schedule(4, 30)
    assert schedule(4, 30) != schedule(5, 30)
    assert {fault.kind for fault in schedule(4, len(FAULTS))} == set(FAULTS)


def good() -> tuple[list[Said], dict[str, list[str]]]:
    """Ann and Bob link with a budget of four deliveries; Bob's last answer is beyond it."""
    said = [
        Said("Ann", "begin", 0.0), Said("Bob", "Bob says 1", 1.0), Said("Ann", "Ann says 1", 2.0),
        Said("Bob", "Bob says 2", 3.0), Said("Ann", "Ann says 2", 4.0),
    ]  # fmt: skip
    heard = {
        "Ann": ["[From Bob] Bob says 1", "[From Bob] Bob says 2", "[streamrelay] the budget is spent"],
        "Bob": ["[From Ann] begin", "[From Ann] Ann says 1"],
    }
    return said, heard


@pytest.mark.requirement("DLV-07a")
@pytest.mark.parametrize(
    ("plant", "kind"),
    [
        (lambda typed: typed.pop(0), "lost"),
        (lambda typed: typed.append(typed[0]), "doubled"),
        (lambda typed: typed.insert(0, typed.pop(1)), "reordered"),
        (lambda typed: typed.append("[From Ann] Ann says 1"), "echoed"),
        (lambda typed: typed.append("[From Bob] never said"), "invented"),
        (lambda typed: typed.append(typed.pop(0).replace("From Bob", "From Cy")), "misattributed"),
    ],
    ids=["lost", "doubled", "reordered", "echoed", "invented", "misattributed"],
)
def test_the_judge_finds_each_planted_fault_in_what_an_agent_wrote(
    plant: Callable[[list[str]], object], kind: str
) -> None:
    said, heard = good()
    assert not check([link_history(said, heard, 4)]).findings
    plant(heard["Ann"])
    assert check([link_history(said, heard, 4)]).counts == {kind: 1}


def between_machines() -> dict[str, list[str]]:
    """What Eve on alpha and Fay on beta received over a broker; their link had a budget of four deliveries."""
    return {
        "Fay": ["[From Eve@alpha] begin far", "[From Eve@alpha] Eve says 1"],
        "Eve": ["[From Fay@beta] Fay says 1", "[From Fay@beta] Fay says 2", "[streamrelay] the budget is spent"],
    }


SAID_FAR = [
    Said("Eve", "begin far", 0.0), Said("Fay", "Fay says 1", 1.0), Said("Eve", "Eve says 1", 2.0),
    Said("Fay", "Fay says 2", 3.0), Said("Eve", "Eve says 2", 4.0),
]  # fmt: skip


@pytest.mark.requirement("DLV-07a", "NET-02d")
@pytest.mark.parametrize(
    ("plant", "kind"),
    [
        (lambda told: told.pop(0), "lost"),
        (lambda told: told.append(told[0]), "doubled"),
        (lambda told: told.reverse(), "reordered"),
        (lambda told: told.append("[From Eve@alpha] Eve says 1"), "echoed"),
        (lambda told: told.append("[From Fay@beta] never said"), "invented"),
        (lambda told: told.append(told.pop(0).replace("Fay@beta", "Eve@beta")), "misattributed"),
    ],
    ids=["lost", "doubled", "reordered", "echoed", "invented", "misattributed"],
)
def test_the_judge_finds_what_a_restarted_broker_could_do(plant: Callable[[list[str]], object], kind: str) -> None:
    heard = between_machines()
    assert not check([link_history(SAID_FAR, heard, 4, "far")]).findings
    plant(heard["Eve"])
    assert check([link_history(SAID_FAR, heard, 4, "far")]).counts == {kind: 1}


@pytest.mark.requirement("DLV-07a")
@pytest.mark.parametrize(
    ("heard", "kind"),
    [
        (["note 1", "note 3", "note 2"], "reordered"),  # a message after the jump has an earlier time
        (["note 1", "note 3"], "lost"),  # a waiting message seems to be an hour old
        (["note 1", "note 2", "note 3", "note 2"], "doubled"),  # a typed message seems to be due again
    ],
    ids=["backwards", "forwards", "twice"],
)
def test_the_judge_finds_what_a_clock_that_jumps_could_do(heard: list[str], kind: str) -> None:
    notes = ["note 1", "note 2", "note 3"]
    assert not check([notes_history("Cy", notes, notes, 3)]).findings
    assert check([notes_history("Cy", notes, heard, 3)]).counts == {kind: 1}


@pytest.mark.parametrize("seconds", [HOUR, -HOUR])
def test_a_moved_clock_moves_the_time_of_day_alone(tmp_path: Path, seconds: int) -> None:
    clock = OwnClock.where_possible(tmp_path / "clock")
    if clock is None:
        pytest.skip("libfaketime is not installed")
    clock.move(seconds)
    code = "import time, threading; threading.Event().wait(0.1); print(time.time(), time.monotonic())"
    before = time.monotonic()
    environment = os.environ | clock.environment
    told = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, check=True)
    of_day, monotonic = map(float, told.stdout.split())
    assert abs(of_day - time.time() - seconds) < 60
    assert before < monotonic < time.monotonic()


def test_a_relay_and_the_notes_of_a_user_are_judged_by_what_is_due() -> None:
    said = {"Una": ["a", "b"], "Vic": []}
    heard: dict[str, list[tuple[str, str]]] = {"Una": [], "Vic": [("Una", "a")]}
    assert not check([relay_history(said, heard, {"Una": 1, "Vic": 0})]).findings
    assert check([relay_history(said, heard, {"Una": 2, "Vic": 0})]).counts == {"lost": 1}
    assert check([notes_history("Dee", [], ["never"], 0)]).counts == {"invented": 1}
    records: list[list[Record]] = [notes_history("Cy", ["note 1"], ["note 1"], 1), notes_history("Dee", [], [], 0)]
    assert json.loads(json.dumps(records)) == records
    assert not check(records).findings


RELAYED = {"Una": ["a", "b"], "Vic": ["c"]}
Plant = Callable[[list[tuple[str, str]]], object]


@pytest.mark.requirement("DLV-07a")
@pytest.mark.parametrize(
    ("plant", "kind"),
    [
        (lambda heard: heard.pop(), "lost"),
        (lambda heard: heard.append(heard[0]), "doubled"),
        (lambda heard: heard.reverse(), "reordered"),
        (lambda heard: heard.append(("Vic", "c")), "echoed"),
        (lambda heard: heard.append(("Una", "never said")), "invented"),
        (lambda heard: heard.append(("Vic", "a")), "invented"),
    ],
)
def test_the_judge_finds_each_planted_fault_of_a_relay(plant: Plant, kind: str) -> None:
    heard = {"Una": [("Vic", "c")], "Vic": [("Una", "a"), ("Una", "b")]}
    due = {"Una": 2, "Vic": 1}
    assert not check([relay_history(RELAYED, heard, due)]).findings
    plant(heard["Vic"])
    assert check([relay_history(RELAYED, heard, due)]).counts == {kind: 1}


@pytest.mark.requirement("DLV-07a")
@pytest.mark.parametrize(
    ("plant", "kind"),
    [
        (lambda heard: heard.pop(0), "lost"),
        (lambda heard: heard.append("note 1"), "doubled"),
        (lambda heard: heard.reverse(), "reordered"),
        (lambda heard: heard.append("note 4"), "invented"),
    ],
)
def test_the_judge_finds_each_planted_fault_of_notes(plant: Callable[[list[str]], object], kind: str) -> None:
    sent, heard = ["note 1", "note 2", "note 3"], ["note 1", "note 2"]
    assert not check([notes_history("Cy", sent, heard, 2)]).findings
    plant(heard)
    assert check([notes_history("Cy", sent, heard, 2)]).counts == {kind: 1}


def circle() -> dict[str, list[tuple[str, str]]]:
    """What each member of a gathering was told, and answered: two tenures, and the harvest."""
    piece = "{}, the piece is yours. Phase: INHALE (round 1/1).\n"
    beat = "[Beat 1/2] Signals: none. Is your thread still alive? Continue, pivot, or pass."
    close = "Ivy (3), the circle has closed and it is your turn: make the harvest.\n"
    gil, again, hua = "Gil (1):\n\nGil says 1", "Gil (1):\n\nGil says 2", "Hua (2):\n\nHua says 3"
    return {
        "Gil": [(piece.format("Gil (1)"), "Gil says 1"), (beat, "Gil says 2"), (hua, "Gil says 3")],
        "Hua": [(gil, "Hua says 1"), (again, "Hua says 2"), (piece.format("Hua (2)"), "Hua says 3")],
        "Ivy": [(gil, "one"), (again, "two"), (hua, "three"), ("\n\n".join((close, gil, again, hua)), "harvest")],
    }


def replaced(told: list[tuple[str, str]], place: int, old: str, new: str) -> None:
    message, answer = told[place]
    assert old in message
    told[place] = message.replace(old, new), answer


@pytest.mark.requirement("DLV-07a", "GAT-15")
@pytest.mark.parametrize(
    ("member", "plant", "kind"),
    [
        ("Ivy", lambda told: told.pop(1), "lost"),
        ("Ivy", lambda told: told.append(told[0]), "doubled"),
        ("Ivy", lambda told: told.insert(0, told.pop(1)), "reordered"),
        ("Gil", lambda told: told.append(("Gil (1):\n\nGil says 2", "")), "echoed"),
        ("Hua", lambda told: told.append(("Gil (1):\n\nGil says 3", "")), "invented"),
        ("Ivy", lambda told: replaced(told, 0, "Gil (1)", "Hua (2)"), "misattributed"),
        ("Ivy", lambda told: replaced(told, 3, "\n\nGil (1):\n\nGil says 2", ""), "lost"),
        ("Ivy", lambda told: replaced(told, 3, "Hua says 3", "Hua says 2"), "invented"),
    ],
    ids=["lost", "doubled", "reordered", "echoed", "outside its tenure", "misattributed", "not harvested", "harvest"],
)
def test_the_judge_finds_each_planted_fault_of_a_gathering(member: str, plant: Plant, kind: str) -> None:
    told = circle()
    assert not check([gathering_history(told, ("Gil", "Hua"), is_over=True)]).findings
    plant(told[member])
    assert check([gathering_history(told, ("Gil", "Hua"), is_over=True)]).counts[kind] == 1


ENTERED = ["topic 1", "topic 2"]
TRANSCRIPT = [
    ("You", "topic 1"), ("Kit", "Kit says 1"), ("Lou", "Lou says 1"),
    ("You", "topic 2"), ("Kit", "Kit says 2"), ("Lou", "Lou says 2"),
]  # fmt: skip


def council() -> dict[str, list[tuple[str, str]]]:
    """What each member of a council was typed, and answered, in two rounds."""
    return {
        "Kit": [("You are Kit.\n\n[You]: topic 1", "Kit says 1"),
                ("[Lou]: Lou says 1\n\n[You]: topic 2", "Kit says 2")],
        "Lou": [("[You]: topic 1\n\n[Kit]: Kit says 1", "Lou says 1"),
                ("[You]: topic 2\n\n[Kit]: Kit says 2", "Lou says 2")],
    }  # fmt: skip


@pytest.mark.requirement("DLV-07a", "COU-11")
@pytest.mark.parametrize(
    ("plant", "kind"),
    [
        (lambda told, _: replaced(told["Lou"], 1, "[You]: topic 2\n\n", ""), "lost"),
        (lambda told, _: replaced(told["Kit"], 1, "[You]: topic 2", "[You]: topic 1\n\n[You]: topic 2"), "doubled"),
        (lambda told, _: told["Kit"].insert(0, ("[Lou]: Lou says 2", "")), "reordered"),
        (lambda told, _: told["Kit"].append(("[Kit]: Kit says 2", "")), "echoed"),
        (lambda told, _: told["Kit"].append(("[You]: never said", "")), "invented"),
        (lambda told, _: replaced(told["Kit"], 1, "[Lou]: Lou", "[You]: Lou"), "misattributed"),
        (lambda _, read: read.pop(), "lost"),
        (lambda _, read: read.insert(0, read.pop(4)), "reordered"),
    ],
    ids=["lost", "doubled", "reordered", "echoed", "invented", "misattributed", "not read", "read late"],
)
def test_the_judge_finds_each_planted_fault_of_a_council(
    plant: Callable[[dict[str, list[tuple[str, str]]], list[tuple[str, str]]], object], kind: str
) -> None:
    told, read = council(), list(TRANSCRIPT)
    assert not check([council_history("You", ENTERED, read, told, is_over=True)]).findings
    plant(told, read)
    found = check([council_history("You", ENTERED, read, told, is_over=True)]).counts
    assert found.get(kind), found


def test_nothing_is_due_when_the_tmux_server_ends_but_nothing_may_be_doubled_either() -> None:
    said, heard = good()
    heard["Bob"].pop()
    assert not check([link_history(said, heard, 0)]).findings
    heard["Ann"].append(heard["Ann"][0])
    assert check([link_history(said, heard, 0)]).counts == {"doubled": 1}
    told = circle()
    del told["Ivy"][1:]
    assert not check([gathering_history(told, ("Gil", "Hua"), is_over=False)]).findings
    told["Ivy"] *= 2
    assert check([gathering_history(told, ("Gil", "Hua"), is_over=False)]).counts == {"doubled": 1}


def test_a_schedule_is_divided_where_its_tmux_server_ends() -> None:
    faults = schedule(3, 2 * len(FAULTS))
    parts = on_each_server(faults)
    assert [fault for part in parts for fault in part] == faults
    assert [ends_tmux(part) for part in parts] == [True, True, False]
