"""A channel takes each thing once, in order, whatever the way between loses, repeats and reorders."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamrelay.federation.channel import (
    ACK_DELAY,
    MAX_TIMEOUT,
    MAX_UNACKNOWLEDGED,
    PATIENCE,
    WINDOW,
    Channel,
    ChannelState,
)
from streamrelay.federation.envelope import Envelope
from streamrelay.federation.messages import Ack

FATES = st.lists(st.sampled_from(["come", "come", "come", "lost", "twice", "late"]), max_size=40)


def pair() -> tuple[Channel, Channel]:
    return Channel("alpha", "beta", ChannelState(1)), Channel("beta", "alpha", ChannelState(1))


class Way:
    """From one end to the other, and the acknowledgements back."""

    def __init__(self, here: Channel, there: Channel) -> None:
        self.here, self.there = here, there
        self.arrived: list[bytes] = []
        self.late: list[Envelope] = []

    def carry(self, fates: list[str]) -> None:
        for number, envelope in enumerate(self.here.sendable(0.0)):
            match fates[number] if number < len(fates) else "come":
                case "lost":
                    pass
                case "late":
                    self.late.append(envelope)
                case "twice":
                    self.arrive(envelope)
                    self.arrive(envelope)
                case _:
                    self.arrive(envelope)

    def arrive(self, envelope: Envelope) -> None:
        if self.there.take(envelope) == "new":
            self.arrived.append(bytes(envelope.body))

    def acknowledge(self) -> None:
        state = self.there.state
        ack = Ack(epoch=state.their_epoch, up_to=state.received, life=state.their_life)
        self.here.acknowledge(ack, 0.0)


@given(st.lists(st.tuples(st.integers(0, 5), FATES, st.booleans()), max_size=12))
def test_all_arrives_once_and_in_order(rounds: list[tuple[int, list[str], bool]]) -> None:
    way = Way(*pair())
    posted: list[bytes] = []
    for count, fates, restarts in rounds:
        for _ in range(count):
            posted.append(str(len(posted)).encode())
            way.here.post(posted[-1])
        way.here.kept()
        way.carry(fates)
        way.acknowledge()
        if restarts:
            waiting = {number: body for number, body in enumerate(posted, 1) if number > way.there.state.received}
            way.here = Channel.restored("alpha", "beta", way.here.state, waiting)
            way.there = Channel.restored("beta", "alpha", way.there.state, {})
        way.here.send_again()
    way.carry([])
    for envelope in way.late:
        way.arrive(envelope)
    way.acknowledge()
    assert way.arrived == posted
    assert way.here.waiting == 0


def test_what_is_not_kept_is_not_sent() -> None:
    here, _ = pair()
    here.post(b"1")
    assert not here.sendable(0.0)
    here.kept()
    assert [envelope.number for envelope in here.sendable(0.0)] == [1]
    assert not here.sendable(0.0)


def test_so_much_is_under_way_and_no_more() -> None:
    here, _ = pair()
    for _ in range(WINDOW + 5):
        here.post(b"x")
    here.kept()
    assert len(here.sendable(0.0)) == WINDOW
    assert here.acknowledge(Ack(epoch=1, up_to=3), 0.0) == [1, 2, 3]
    assert [envelope.number for envelope in here.sendable(0.0)] == [WINDOW + 1, WINDOW + 2, WINDOW + 3]


def test_what_nobody_acknowledges_is_overdue_later_and_later() -> None:
    here, _ = pair()
    here.post(b"x")
    here.kept()
    assert not here.overdue(100.0)
    now, waits = 0.0, []
    for _ in range(8):
        here.sendable(now)
        began = now
        while not here.overdue(now):
            now += 1.0
        waits.append(now - began)
        here.send_again()
    assert waits[:3] == [PATIENCE, 2 * PATIENCE, 4 * PATIENCE]
    assert waits[-1] == MAX_TIMEOUT
    here.acknowledge(Ack(epoch=1, up_to=1), now)
    assert not here.overdue(now + 1_000.0)


def test_what_is_missing_is_asked_for_and_sent_at_once() -> None:
    here, there = pair()
    for body in (b"1", b"2", b"3"):
        here.post(body)
    here.kept()
    first, second, third = here.sendable(0.0)
    assert [there.take(one) for one in (first, third)] == ["new", "early"]
    assert here.acknowledge(Ack(epoch=1, up_to=1, missing=True), 0.0) == [1]
    again = here.sendable(0.0)
    assert [there.take(one) for one in (*again, second)] == ["new", "new", "known"]


def test_a_sender_that_lost_its_state_is_followed_and_its_past_is_not() -> None:
    here, there = pair()
    here.post(b"1"), here.post(b"2")
    here.kept()
    old = here.sendable(0.0)
    assert [there.take(one) for one in old] == ["new", "new"]
    anew = Channel("alpha", "beta", ChannelState(2))
    anew.post(b"3"), anew.post(b"4")
    anew.kept()
    third, fourth = anew.sendable(0.0)
    assert [there.take(one) for one in (fourth, third, fourth, *old)] == ["early", "new", "new", "known", "known"]
    # Whoever acknowledges the numbers of before acknowledges nothing.
    assert anew.acknowledge(Ack(epoch=1, up_to=2), 0.0) == []


def test_a_receiver_that_lost_its_state_goes_on_where_nobody_has_what_comes() -> None:
    here, there = pair()
    for number in range(5):
        here.post(str(number).encode())
    here.kept()
    here.sendable(0.0)
    here.acknowledge(Ack(epoch=1, up_to=3), 0.0)
    here.send_again()
    there = Channel("beta", "alpha", ChannelState(1))
    assert [there.take(one) for one in reversed(here.sendable(0.0))] == ["early", "new"]
    assert there.state.received == 4


@pytest.mark.parametrize("up_to", [-1, 0, 7, 1 << 62])
def test_an_acknowledgement_of_what_was_not_sent_counts_for_nothing(up_to: int) -> None:
    here, _ = pair()
    for _ in range(3):
        here.post(b"x")
    here.kept()
    assert here.acknowledge(Ack(epoch=1, up_to=up_to, missing=True), 0.0) == []
    assert [bytes(msgspec.Raw(one.body)) for one in here.sendable(0.0)] == [b"x", b"x", b"x"]


def sent(count: int, *, epoch: int = 1) -> list[Envelope]:
    here = Channel("alpha", "beta", ChannelState(epoch))
    for _ in range(count):
        here.post(b"x")
    here.kept()
    return here.sendable(0.0)


def test_an_acknowledgement_waits_for_others_but_not_long() -> None:
    _, there = pair()
    first, second, third = sent(3)
    there.take(first), there.kept()
    assert there.acknowledgement(10.0) is None
    there.take(second), there.kept()
    assert there.acknowledgement(10.0 + ACK_DELAY / 2) is None
    assert there.owes_acknowledgement
    assert there.acknowledgement(10.0 + ACK_DELAY) == Ack(epoch=1, up_to=2)
    assert not there.owes_acknowledgement
    assert there.acknowledgement(20.0, is_sending=True) is None
    there.take(third), there.kept()
    assert there.acknowledgement(20.0, is_sending=True) == Ack(epoch=1, up_to=3)


def test_many_envelopes_and_a_hole_are_acknowledged_at_once() -> None:
    _, there = pair()
    *many, _lost, early = sent(MAX_UNACKNOWLEDGED + 2)
    for envelope in many:
        there.take(envelope)
    there.kept()
    assert there.acknowledgement(0.0) == Ack(epoch=1, up_to=len(many))
    there.take(early)
    assert there.acknowledgement(0.0) == Ack(epoch=1, up_to=len(many), missing=True)
    there.take(many[0])
    assert there.acknowledgement(0.0, is_sending=True) == Ack(epoch=1, up_to=len(many))


def test_nothing_is_acknowledged_before_it_is_committed() -> None:
    _, there = pair()
    (envelope,) = sent(1)
    there.take(envelope)
    assert there.acknowledgement(100.0, is_sending=True) is None
    there.kept()
    assert there.acknowledgement(100.0, is_sending=True) == Ack(epoch=1, up_to=1)


def test_a_series_of_which_nothing_was_taken_is_acknowledged_from_its_beginning() -> None:
    _, there = pair()
    for envelope in sent(2):
        there.take(envelope)
    there.kept()
    assert there.take(sent(2, epoch=7)[1]) == "early"
    assert there.acknowledgement(0.0) == Ack(epoch=7, up_to=0, missing=True)


def test_a_sender_that_is_slowed_waits_sends_less_at_a_time_and_then_more_again() -> None:
    here, there = pair()
    for number in range(WINDOW):
        here.post(b"%d" % number)
    here.kept()
    sent = here.sendable(0.0)
    verdicts = [
        there.take(envelope, wait=0.0 if envelope.number <= 10 else 3.0, limit="10 a minute") for envelope in sent
    ]
    assert verdicts[:10] == ["new"] * 10
    assert set(verdicts[10:]) == {"slowed", "early"}
    there.kept()
    ack = there.acknowledgement(0.0)
    assert ack is not None
    assert (ack.up_to, ack.slow, ack.limit) == (10, 3.0, "10 a minute")
    assert here.acknowledge(ack, 0.0) == list(range(1, 11))
    assert here.limit == "10 a minute"
    assert not here.sendable(2.9)
    assert not here.overdue(1_000.0)
    again = here.sendable(3.0)
    assert [envelope.number for envelope in again] == list(range(11, 11 + WINDOW // 2))
    assert {there.take(envelope) for envelope in again} == {"new"}
    there.kept()
    ack = there.acknowledgement(3.0)
    assert ack is not None
    assert (ack.slow, ack.limit) == (0.0, "")
    here.acknowledge(ack, 3.0)
    rest = here.sendable(3.0)
    assert len(rest) == WINDOW - 10 - WINDOW // 2
    here.acknowledge(Ack(epoch=1, up_to=WINDOW), 3.0)
    assert (here.waiting, here.limit) == (0, "")


def test_the_first_envelope_of_a_series_can_be_put_off_too() -> None:
    here, there = pair()
    here.post(b"1")
    here.kept()
    (first,) = here.sendable(0.0)
    assert there.take(first, wait=1.0) == "slowed"
    assert there.state == ChannelState(1)
    ack = there.acknowledgement(0.0)
    assert ack is not None
    assert (ack.up_to, ack.slow) == (0, 1.0)
    here.acknowledge(ack, 0.0)
    assert not here.sendable(0.9)
    assert [there.take(envelope) for envelope in here.sendable(1.0)] == ["new"]


# After a loss of power a node goes on with an older copy of its database


def restored(channel: Channel, copy: ChannelState, *, life: int, waiting: dict[int, bytes] | None = None) -> Channel:
    """Return what a node of the same name makes of an older copy, in a later life."""
    here, peer = ("alpha", "beta") if channel.peer == "beta" else ("beta", "alpha")
    return Channel.restored(here, peer, msgspec.structs.replace(copy), waiting or {}, life=life)


def post(channel: Channel, *bodies: bytes) -> None:
    for body in bodies:
        channel.post(body)
    channel.kept()


def until_acknowledged(here: Channel, there: Channel) -> list[bytes]:
    """Carry what waits and its acknowledgement; return what was new there."""
    new = [bytes(one.body) for one in here.sendable(0.0) if there.take(one) == "new"]
    there.kept()
    ack = there.acknowledgement(0.0, is_sending=True)
    if ack is not None:
        here.acknowledge(ack, 0.0)
    return new


def test_a_sender_that_went_back_loses_nothing_that_it_posts_then() -> None:
    here = Channel("alpha", "beta", ChannelState(1), life=1)
    there = Channel("beta", "alpha", ChannelState(1), life=1)
    post(here, b"1", b"2")
    copy = msgspec.structs.replace(here.state)
    post(here, b"3", b"4")
    of_old = here.sendable(0.0)
    assert [there.take(one) for one in of_old] == ["new"] * 4
    there.kept()
    ack_of_old = there.acknowledgement(0.0, is_sending=True)
    assert ack_of_old is not None

    # Numbers 3 and 4 are given again, for others; 1 and 2 still wait in the copy.
    here = restored(here, copy, life=2, waiting={1: b"1", 2: b"2"})
    post(here, b"three", b"four", b"five")
    again = here.sendable(0.0)
    assert here.acknowledge(ack_of_old, 0.0) == []
    assert [there.take(one) for one in again] == ["known", "known", "new", "new", "new"]
    # What the past life sent may still arrive, and is not taken for what comes next.
    assert [there.take(one) for one in of_old] == ["known"] * 4
    there.kept()
    ack = there.acknowledgement(0.0, is_sending=True)
    assert ack is not None
    assert here.acknowledge(ack, 0.0) == [1, 2, 3, 4, 5]
    assert there.lost == 0


def test_a_sender_that_starts_again_with_all_it_had_sends_nothing_twice() -> None:
    here = Channel("alpha", "beta", ChannelState(1), life=1)
    there = Channel("beta", "alpha", ChannelState(1), life=1)
    post(here, b"1", b"2")
    for one in here.sendable(0.0):
        there.take(one)
    here = restored(here, here.state, life=2, waiting={1: b"1", 2: b"2"})
    post(here, b"3")
    assert until_acknowledged(here, there) == [b"3"]
    assert (here.waiting, there.state.received) == (0, 3)


def test_a_sender_whose_clock_went_back_too_is_taken_after_one_acknowledgement() -> None:
    here = Channel("alpha", "beta", ChannelState(1), life=1)
    there = Channel("beta", "alpha", ChannelState(1), life=1)
    post(here, b"1")
    copy = msgspec.structs.replace(here.state)
    assert until_acknowledged(here, there) == [b"1"]
    here = restored(here, here.state, life=9)
    post(here, b"2")
    assert until_acknowledged(here, there) == [b"2"]
    here = restored(here, copy, life=3)
    post(here, b"two")
    assert until_acknowledged(here, there) == []
    assert here.waiting == 1
    assert until_acknowledged(here, there) == [b"two"]
    assert here.waiting == 0


def test_a_life_that_nobody_heard_of_is_remembered_until_a_later_one_is_acknowledged() -> None:
    here = Channel("alpha", "beta", ChannelState(1), life=1)
    there = Channel("beta", "alpha", ChannelState(1), life=1)
    copy = msgspec.structs.replace(here.state)
    post(here, b"1")
    assert until_acknowledged(here, there) == [b"1"]
    here = restored(here, copy, life=2)
    post(here, b"one")
    here = restored(here, here.state, life=3, waiting={1: b"one"})
    assert until_acknowledged(here, there) == [b"one"]
    post(here, b"2")
    assert [one.lives for one in here.sendable(0.0)] == [((3, 1),)]


def test_a_receiver_that_went_back_counts_what_it_acknowledged_and_lost() -> None:
    here = Channel("alpha", "beta", ChannelState(1), life=1)
    there = Channel("beta", "alpha", ChannelState(1), life=1)
    post(here, b"1")
    assert until_acknowledged(here, there) == [b"1"]
    copy = msgspec.structs.replace(there.state)
    post(here, b"2", b"3")
    assert until_acknowledged(here, there) == [b"2", b"3"]
    post(here, b"4")
    there = restored(there, copy, life=2)
    assert until_acknowledged(here, there) == [b"4"]
    assert (there.lost, here.waiting) == (2, 0)


STEPS = st.lists(
    st.sampled_from(["post", "carry", "carry", "lose acknowledgement", "copy", "go back", "restart"]), max_size=30
)


@given(STEPS)
def test_whatever_a_sender_forgets_what_it_posts_later_arrives_once_and_in_order(steps: list[str]) -> None:
    here = Channel("alpha", "beta", ChannelState(1), life=1)
    there = Channel("beta", "alpha", ChannelState(1))
    life, number = 1, 0
    arrived: list[bytes] = []
    posted: list[bytes] = []
    """What was posted and not undone before it was sent."""

    def copied() -> tuple[ChannelState, dict[int, bytes], list[bytes]]:
        bodies = here.waiting_bodies
        waiting = dict(zip(range(here.first_waiting, here.first_waiting + len(bodies)), bodies, strict=True))
        return msgspec.structs.replace(here.state), waiting, list(posted)

    copy = copied()
    for step in steps:
        match step:
            case "post":
                number += 1
                post(here, b"%d" % number)
                posted.append(b"%d" % number)
            case "carry":
                arrived += until_acknowledged(here, there)
            case "lose acknowledgement":
                arrived += [bytes(one.body) for one in here.sendable(0.0) if there.take(one) == "new"]
                there.kept()
            case "copy":
                copy = copied()
            case _:
                life += 1
                if step == "restart":
                    copy = copied()
                state, waiting, before = copy
                # What arrived of the undone commits has arrived; the rest of them never was.
                posted = [one for one in posted if one in before or one in arrived]
                here = restored(here, state, life=life, waiting=waiting)
                copy = copied()
    for _ in range(3):
        here.send_again()
        arrived += until_acknowledged(here, there)
    assert arrived == posted
    assert (here.waiting, there.lost) == (0, 0)
