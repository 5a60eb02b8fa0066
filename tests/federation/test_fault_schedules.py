"""Under seeded schedules of faults nothing is lost, doubled, reordered or misattributed, as the checker says."""

from typing import Any

import pytest

from streamrelay.federation.allowance import MINUTE, Limits
from streamrelay.federation.channel import Channel, Verdict
from streamrelay.federation.envelope import Envelope
from streamrelay.federation.node import Node
from tests.federation.fault_simulation import FAULTS, Simulation

MESSAGES, FAULT_COUNT = 150, 100
MAX_BODY = 2_000
"""Bytes of the largest body of a simulation, about."""


@pytest.mark.requirement("NET-03", "NET-07")
@pytest.mark.sampled(3)
@pytest.mark.parametrize("seed", range(50))
def test_no_word_is_lost_doubled_reordered_or_misattributed(seed: int) -> None:
    simulation = Simulation(seed, nodes=2 + seed % 4 // 3)
    verdict = simulation.run(MESSAGES, FAULT_COUNT)
    assert not verdict.findings, (seed, verdict.findings[:3])
    # A word is said unless its speaker's node was killed before it was stored.
    assert verdict.said >= MESSAGES * len(simulation.nodes) - simulation.faults["kill_in_step"]
    assert sum(simulation.faults.values()) == FAULT_COUNT


@pytest.mark.requirement("NET-03", "NET-05")
@pytest.mark.sampled(2)
@pytest.mark.parametrize("seed", range(10))
def test_limits_slow_peers_down_and_lose_nothing(seed: int) -> None:
    limits = Limits(messages=60, size=100_000)
    simulation = Simulation(seed, limits=limits)
    verdict = simulation.run(MESSAGES, FAULT_COUNT // 2)
    assert not verdict.findings, (seed, verdict.findings[:3])
    assert verdict.said >= MESSAGES * 2 - simulation.faults["kill_in_step"]
    for node in simulation.nodes:
        # After a start a minute's worth may come at once.
        minutes = simulation.now / MINUTE + 1 + node.deaths
        assert 0 < node.taken["messages"] <= minutes * limits.messages
        assert node.taken["bytes"] <= minutes * limits.size + MAX_BODY * (1 + node.deaths)
        assert node.node.allowances[node.peers[0]].slowed or node.deaths


def test_the_same_seed_makes_the_same_history() -> None:
    first, second = Simulation(4), Simulation(4)
    assert str(first.run(40, 30)) == str(second.run(40, 30))
    assert [node.history for node in first.nodes] == [node.history for node in second.nodes]
    assert first.faults == second.faults


def test_a_schedule_makes_every_kind_of_fault_and_refuses_what_is_hostile() -> None:
    simulation = Simulation(2)
    assert not simulation.run(MESSAGES, 200).findings
    assert set(simulation.faults) == set(FAULTS)
    assert {"clock", "replayed"} <= set(simulation.refused)


@pytest.mark.requirement("NET-07")
def test_a_node_that_takes_what_it_knows_again_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    take = Channel.take

    def take_again(channel: Channel, envelope: Envelope, **limits: Any) -> Verdict:
        verdict = take(channel, envelope, **limits)
        return "new" if verdict == "known" else verdict

    monkeypatch.setattr(Channel, "take", take_again)
    assert "doubled" in Simulation(1).run(MESSAGES, FAULT_COUNT).counts


@pytest.mark.requirement("NET-07")
def test_a_node_that_acknowledges_what_it_has_not_taken_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    take = Channel.take

    def take_gaps(channel: Channel, envelope: Envelope, **limits: Any) -> Verdict:
        if take(channel, envelope, **limits) == "early":
            channel.state.received = envelope.number
            return "new"
        return "known" if envelope.number < channel.state.received else "new"

    monkeypatch.setattr(Channel, "take", take_gaps)
    assert set(Simulation(1).run(MESSAGES, FAULT_COUNT).counts) & {"lost", "doubled"}


@pytest.mark.requirement("NET-07")
def test_a_node_that_does_not_store_what_it_posts_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    changes = Node.changes

    def changes_without_posts(node: Node) -> dict[str, bytes | None]:
        return {key: value for key, value in changes(node).items() if not key.startswith("post/")}

    monkeypatch.setattr(Node, "changes", changes_without_posts)
    assert "lost" in Simulation(1).run(MESSAGES, FAULT_COUNT).counts
