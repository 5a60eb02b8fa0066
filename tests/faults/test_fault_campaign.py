"""A live daemon under seeded faults loses, doubles, echoes, reorders and misattributes nothing."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from streamrelay.testing.tmux import PrivateTmux
from tests.faults.campaign import run_campaign
from tests.faults.histories import Record, Said, link_history, notes_history, relay_history
from tests.faults.schedule import FAULTS, schedule
from tests.history_checker import check

SEEDS, SHORT = 20, 3
"""Seeds of `scripts/test all`, and the faults of each; `python -m tests.faults --seeds 500` runs as many as wanted."""


@pytest.mark.slow  # a seed takes 15 to 30 s on two busy cores
@pytest.mark.requirement("DLV-07a")
@pytest.mark.sampled(1)
@pytest.mark.parametrize("seed", range(SEEDS))
async def test_no_word_is_lost_doubled_echoed_or_misattributed(
    private_tmux: PrivateTmux, state: Path, seed: int
) -> None:
    faults = schedule(seed, SHORT)
    verdict = await run_campaign(private_tmux, private_tmux.directory / "exchange", state, faults)
    replay = f"python -m tests.faults --seed {seed} --faults {SHORT}"
    assert not verdict.findings, (replay, faults, verdict.findings[:5])
    assert verdict.said > 2 * SHORT


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


def test_a_relay_and_the_notes_of_a_user_are_judged_by_what_is_due() -> None:
    said = {"Una": ["a", "b"], "Vic": []}
    heard: dict[str, list[tuple[str, str]]] = {"Una": [], "Vic": [("Una", "a")]}
    assert not check([relay_history(said, heard, {"Una": 1, "Vic": 0})]).findings
    assert check([relay_history(said, heard, {"Una": 2, "Vic": 0})]).counts == {"lost": 1}
    assert check([notes_history("Dee", [], ["never"])]).counts == {"invented": 1}
    records: list[list[Record]] = [notes_history("Cy", ["note 1"], ["note 1"]), notes_history("Dee", [], [])]
    assert json.loads(json.dumps(records)) == records
    assert not check(records).findings
