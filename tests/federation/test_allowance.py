"""A peer's allowance: a minute's worth at once, filled evenly, for messages and for bytes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamrelay.errors import NotAllowed, UsageError
from streamrelay.federation import allowance
from streamrelay.federation.allowance import MAX_WAIT, MIN_WAIT, MINUTE, Allowance, Limits, read_limits
from streamrelay.federation.node import Node
from streamrelay.service.api import Peer, SendMessage
from streamrelay.service.machine import ServiceMachine
from streamrelay.testing.waiting import wait_until_async
from tests.federation.conftest import Machines, until_connected
from tests.service.conftest import PATIENCE


def test_a_minutes_worth_passes_at_once_and_then_one_at_a_time() -> None:
    peer = Allowance(Limits(messages=30))
    for _ in range(30):
        assert peer.wait(0.0) == 0.0
        peer.spend(1_000_000)
    assert peer.wait(0.0) == 2.0
    assert peer.wait(1.0) == 1.0
    assert peer.wait(1.9) == MIN_WAIT
    assert peer.wait(2.0) == 0.0
    peer.spend(1)
    assert peer.wait(2.0) == 2.0
    assert peer.wait(10_000.0) == 0.0
    for _ in range(30):
        peer.spend(1)
    assert peer.wait(10_000.0) == 2.0


def test_what_is_no_message_waits_for_bytes_only() -> None:
    peer = Allowance(Limits(messages=1, size=600))
    peer.spend(100)
    assert peer.wait(0.0) > 0.0
    assert peer.wait(0.0, counts=False) == 0.0
    peer.spend(600, counts=False)
    assert peer.wait(0.0, counts=False) == pytest.approx(10.1)


def test_what_is_larger_than_a_minutes_worth_passes_and_is_paid_afterwards() -> None:
    peer = Allowance(Limits(size=1_000))
    assert peer.wait(0.0) == 0.0
    peer.spend(10_000)
    assert peer.wait(0.0) == MAX_WAIT
    assert peer.wait(9 * MINUTE - 1.0) > 0.0
    assert peer.wait(9 * MINUTE + 1.0) == 0.0


def test_without_limits_nothing_waits() -> None:
    peer = Allowance(Limits())
    for _ in range(1_000):
        peer.spend(1_000_000)
        assert peer.wait(0.0) == 0.0


@given(
    st.integers(1, 500),
    st.integers(1, 100_000),
    st.lists(st.tuples(st.floats(0, 90), st.integers(0, 5_000)), max_size=200),
)
def test_no_more_is_taken_than_the_time_allows(messages: int, size: int, steps: list[tuple[float, int]]) -> None:
    peer, now, taken, total, largest = Allowance(Limits(messages, size)), 0.0, 0, 0, 0
    for pause, length in steps:
        now += pause
        if not peer.wait(now):
            peer.spend(length)
            taken, total, largest = taken + 1, total + length, max(largest, length)
    minutes = 1 + now / MINUTE
    assert taken <= messages * minutes + 1e-6
    assert total <= size * minutes + largest + 1e-6


def test_lines_name_a_peer_or_all_others() -> None:
    limits = read_limits(["beta", "gamma", "delta"], ["beta 60", "* 600"], ["gamma 1000000"])
    assert limits == {"beta": Limits(60), "gamma": Limits(600, 1_000_000), "delta": Limits(600)}
    assert str(limits["gamma"]) == "600 messages and 1,000,000 bytes a minute"


@pytest.mark.parametrize("line", ["", "beta", "beta many", "beta -1", "beta 0", "beta 1.5", "60"])
def test_other_lines_are_refused(line: str) -> None:
    with pytest.raises(UsageError, match=r"invalid federation\.messages_per_minute"):
        read_limits(["beta"], [line], [])


def test_a_request_beyond_the_allowance_is_refused_with_the_time_to_wait() -> None:
    node = Node("alpha", ["beta"], ServiceMachine(), lambda _: True)
    node.allowances["beta"] = Allowance(Limits(messages=2))
    for _ in range(2):
        node.check_request("beta", 0.0)
    with pytest.raises(NotAllowed, match="alpha takes at most 2 messages a minute from beta; try again in 30 seconds"):
        node.check_request("beta", 0.0)
    node.check_request("beta", 30.0)


@pytest.mark.requirement("NET-05")
async def test_a_node_slows_a_peer_down_and_both_say_so(machines: Machines, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(allowance, "MINUTE", 6.0)
    machines.beta.start("Bob")
    texts = [f"message {number}" for number in range(7)]
    async with machines.alpha.as_node() as alpha, machines.beta.as_node(messages_per_minute=("alpha 3",)) as beta:
        await until_connected(alpha)
        await until_connected(beta)
        for number, text in enumerate(texts):
            await alpha.send_message(SendMessage(to="Bob@beta", text=text, message_id=f"m{number}"))

        async def is_told() -> list[Peer]:
            return [peer for peer in await alpha.peers() if peer.why == "beta takes at most 3 messages a minute"]

        await wait_until_async(is_told, PATIENCE, "alpha to know why its messages wait")
        assert [peer.slowed > 0 for peer in await beta.peers()] == [True]
        await machines.beta.until_heard("Bob", *texts)

        async def is_quiet() -> bool:
            (peer,) = await alpha.peers()
            return (peer.why, peer.waiting) == ("", {})

        await wait_until_async(is_quiet, PATIENCE, "nothing to wait any more")
    assert machines.beta.heard("Bob") == texts
