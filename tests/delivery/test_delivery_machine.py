"""The receipts of one pane, with a clock that is handed in."""

from dataclasses import replace

import pytest

from streamrelay.delivery.inflight import UNSUBMITTED, ComposerText
from streamrelay.delivery.machine import (
    CANCELLED,
    CONFIRM,
    LOOK_AGAIN,
    MAX_QUEUE,
    MAX_WAIT,
    MIN_WAIT,
    PICTURE_REST,
    RESUMED,
    STARTING,
    UNHEARD,
    DeliveryMachine,
    Enter,
    HandOver,
    PaneView,
    Paste,
    ReportState,
)
from streamrelay.delivery.message import DeliveryPolicy, Message
from streamrelay.delta.pane_state import PaneState
from streamrelay.events import Gap, Injected, TurnEnded, TurnStarted, Vote
from tests.delivery.machines import DIALOG, EMPTY, LEAVING, WORKING, Pane, holding, profile


def test_from_queued_to_answered() -> None:
    pane = Pane()
    pane.put("m1")
    pane.deliver("m1")
    pane.answer("m1", 1)
    assert pane.told() == ["queued", "pasted", "painted", "submitted", "turn_started", "answered signal"]
    assert pane.machine.idle


def test_the_enter_comes_when_the_paint_has_settled_and_not_before() -> None:
    pane = Pane()
    pane.put("m1")
    pane.look()
    pane.look(after=MIN_WAIT / 2)
    assert pane.count(Enter) == 0
    pane.hear(Injected(message_id="m1", state="painted"))
    pane.look(after=MIN_WAIT / 4)
    assert pane.count(Enter) == 0
    assert pane.machine.deadline() == pytest.approx(MIN_WAIT)
    pane.look(after=MIN_WAIT / 4)
    assert pane.count(Enter) == 1


def test_the_enter_comes_later_than_where_a_burst_of_characters_is_taken_for_a_paste() -> None:
    pane = Pane()
    pane.put("m1")
    pane.look()
    pane.hear(Injected(message_id="m1", state="painted"))
    pane.look(after=0.125)
    assert pane.count(Enter) == 0
    pane.look(after=0.03)
    assert pane.count(Enter) == 1


def test_a_program_that_paints_nothing_gets_its_enter_at_last() -> None:
    pane = Pane()
    pane.put("m1")
    pane.look()
    pane.look(after=MAX_WAIT + 0.01)
    assert pane.told() == ["queued", "pasted", "submitted"]


def taking(pane: Pane) -> None:
    """Let the program take a first message, so that it is not starting any more."""
    pane.put("m0")
    pane.deliver("m0")
    pane.answer("m0", 1)


@pytest.mark.requirement("DLV-02b")
@pytest.mark.parametrize("is_starting", [True, False])
def test_one_retry_of_enter_where_the_text_still_stands_and_no_turn_has_begun(is_starting: bool) -> None:
    pane = Pane()
    if not is_starting:
        taking(pane)
    before = pane.count(Enter)
    pane.put("m1", "m2")
    pane.deliver("m1")
    pane.look(after=(STARTING if is_starting else CONFIRM) - 0.1)
    assert pane.count(Enter) == before + 1
    pane.look(after=0.2)
    assert pane.count(Enter) == before + 2
    pane.look(after=UNSUBMITTED - 0.1)
    assert pane.count(Enter) == before + 2
    assert pane.told() == ["queued", "pasted", "painted", "submitted"]
    assert pane.told("m2") == ["queued", "queued not_ready"]
    pane.look(after=0.2)
    assert pane.count(Enter) == before + 2
    assert pane.told()[-1] == "unconfirmed not_submitted"


@pytest.mark.requirement("DLV-01a")
@pytest.mark.parametrize("after", [CONFIRM, 2 * CONFIRM + 1, STARTING + CONFIRM, STARTING + UNSUBMITTED - 1])
def test_a_message_that_a_starting_agent_submits_late_is_answered_and_never_failed(after: float) -> None:
    pane = Pane()
    pane.put("m1")
    pane.deliver("m1")
    for _ in range(int(after)):
        pane.look(after=1.0)
    pane.answer("m1", 1)
    assert pane.told() == ["queued", "pasted", "painted", "submitted", "turn_started", "answered signal"]
    assert pane.count(Enter) == (1 if after < STARTING else 2)
    assert pane.machine.rests


@pytest.mark.parametrize("seen", ["the box is empty", "a turn has begun"])
def test_no_retry_otherwise(seen: str) -> None:
    pane = Pane()
    pane.put("m1")
    pane.deliver("m1")
    if seen == "a turn has begun":
        pane.hear(TurnStarted(message_id="m1", turn=1))
    pane.look(EMPTY if seen == "the box is empty" else None, after=CONFIRM + 1)
    assert pane.count(Enter) == 1
    assert pane.machine.idle


@pytest.mark.parametrize("taken", [True, False])
def test_a_question_behind_the_enter_may_have_taken_it_for_its_answer(taken: bool) -> None:
    pane = Pane()
    pane.put("m1", "m2")
    pane.deliver("m1")
    pane.look(DIALOG, after=0.5)
    pane.hear(TurnStarted(message_id="m1", turn=1))
    pane.look(DIALOG, after=CONFIRM)
    assert pane.count(Enter) == 1
    pane.look(EMPTY if taken else holding("text of m1"), after=0.5)
    assert pane.count(Enter) == (1 if taken else 2)


@pytest.mark.requirement("DLV-03a", "DLV-04")
@pytest.mark.parametrize(
    ("pane_state", "reason"),
    [(DIALOG, "needs_human"), (holding("half a wo"), "draft"), (WORKING, "at_work"), (LEAVING, "at_work")],
)
def test_a_message_waits_for_as_long_as_something_stands_in_the_way_and_says_so_once(
    pane_state: PaneState, reason: str
) -> None:
    pane = Pane()
    pane.put("m1")
    for _ in range(100):
        pane.look(pane_state, after=1.0)
    assert pane.told() == ["queued", f"queued {reason}"]
    assert pane.count(Paste) == 0
    pane.look(EMPTY)
    assert pane.count(Paste) == 1


@pytest.mark.requirement("DLV-04")
@pytest.mark.parametrize("pane_state", [DIALOG, LEAVING])
def test_no_enter_into_what_came_after_the_paste(pane_state: PaneState) -> None:
    pane = Pane()
    pane.put("m1")
    pane.look(EMPTY)
    for _ in range(20):
        pane.look(pane_state, after=1.0)
    assert pane.count(Enter) == 0
    pane.look(holding("text of m1"))
    assert pane.count(Enter) == 1


def test_a_policy_can_say_that_it_fails_instead() -> None:
    pane = Pane(DeliveryPolicy(needs_human="fail"))
    pane.put("m1", "m2")
    pane.look(DIALOG)
    assert pane.told() == ["queued", "failed needs_human"]
    assert pane.told("m2") == ["queued", "failed needs_human"]
    pane = Pane(DeliveryPolicy(patience=5))
    pane.put("m1")
    pane.look(WORKING, after=4.9)
    assert pane.told()[-1] == "queued at_work"
    pane.look(after=0.2)
    assert pane.told()[-1] == "failed at_work"


@pytest.mark.parametrize(("mid_turn", "waits"), [("hold", True), ("queue", False)])
def test_what_comes_in_mid_answer_follows_the_profile(mid_turn: str, waits: bool) -> None:
    pane = Pane(profile=profile(mid_turn))
    pane.put("m1")
    pane.deliver("m1")
    pane.put("m2")
    # The answer has not begun, but it is to be expected.
    pane.look(EMPTY, after=0.01)
    assert (pane.count(Paste) == 1) == waits
    pane.answer("m1", 1)
    pane.look(EMPTY)
    assert pane.count(Paste) == 2


@pytest.mark.parametrize("prints", [True, False])
def test_a_program_that_only_prints_is_never_waited_for(prints: bool) -> None:
    pane = Pane()
    pane.put("m1")
    pane.look(replace(WORKING, prints=prints))
    assert (pane.count(Paste) == 1) == prints


def test_an_answer_that_never_begins_is_not_waited_for_without_end() -> None:
    pane = Pane(profile=profile("hold"))
    pane.put("m1")
    pane.deliver("m1")
    pane.put("m2")
    pane.look(EMPTY, after=UNHEARD - 1)
    assert pane.count(Paste) == 1
    pane.look(EMPTY, after=1.1)
    assert pane.count(Paste) == 2


def test_two_queued_messages_have_an_answer_each() -> None:
    pane = Pane(profile=profile("queue"))
    pane.put("m1", "m2")
    pane.deliver("m1")
    pane.deliver("m2")
    pane.hear(TurnStarted(message_id="m1", turn=1))
    pane.hear(TurnEnded(reason="superseded", certain=True, turn=1))
    assert pane.told("m1")[-1] == "answered superseded"
    assert pane.told("m2")[-1] == "submitted"
    pane.hear(TurnStarted(message_id="m2", turn=2))
    pane.hear(TurnEnded(reason="signal", certain=True, turn=2))
    assert pane.told("m2")[-2:] == ["turn_started", "answered signal"]


def test_a_signal_that_ends_one_answer_says_nothing_of_the_message_that_waits_in_the_program() -> None:
    pane = Pane(profile=profile("queue"))
    pane.put("m1", "m2")
    pane.deliver("m1")
    pane.deliver("m2")
    pane.hear(TurnStarted(message_id="m1", turn=1))
    pane.hear(TurnEnded(reason="signal", certain=True, turn=2))
    assert pane.told("m1")[-1] == "answered signal"
    assert pane.told("m2")[-1] == "submitted"


def test_what_the_stream_says_before_tmux_has_answered_is_told_behind_it() -> None:
    machine = DeliveryMachine()
    machine.put(Message("m1", "x"), 0.0)
    machine.look(PaneView(EMPTY), 0.0)
    assert machine.handle(Injected(message_id="m1", state="painted"), 0.0) == []
    assert machine.pasted(0.0) == [ReportState("m1", "pasted"), ReportState("m1", "painted")]
    assert machine.look(PaneView(holding("x")), MIN_WAIT) == [Enter(Message("m1", "x"), 1)]
    machine.handle(Injected(message_id="m1", state="entering", turn=1), MIN_WAIT)
    assert machine.handle(TurnStarted(message_id="m1", turn=1), MIN_WAIT) == []
    assert machine.handle(TurnEnded(reason="quiet", certain=False, turn=1), MIN_WAIT) == []
    assert machine.entered(MIN_WAIT) == [
        ReportState("m1", "submitted"), ReportState("m1", "turn_started"), ReportState("m1", "answered", "quiet"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("witness", "reason"), [("title", "unheard"), ("agent_state", "unheard"), ("furniture", "quiet")]
)
def test_silence_of_a_program_that_tells_its_state_is_no_answer_that_was_heard(witness: str, reason: str) -> None:
    pane = Pane()
    pane.put("m1")
    pane.deliver("m1")
    pane.hear(TurnStarted(message_id="m1", turn=1))
    votes = (Vote(by=witness, says="idle", since=0.0), Vote(by="quiet", says="idle", since=1.0))
    pane.hear(TurnEnded(reason="quiet", certain=False, turn=1, votes=votes))
    assert pane.told("m1")[-1] == f"answered {reason}"


def test_the_end_of_the_pane_leaves_what_was_begun_unconfirmed_and_fails_the_rest() -> None:
    pane = Pane()
    pane.put("m1", "m2")
    pane.look(EMPTY)
    pane.effects += pane.machine.stop("server_lost")
    assert pane.told("m1")[-1] == "unconfirmed server_lost"
    assert pane.told("m2")[-1] == "failed server_lost"
    assert pane.machine.idle


@pytest.mark.requirement("DLV-01a")
def test_a_message_whose_program_ends_before_its_answer_is_unconfirmed() -> None:
    closed, stopped = Pane(), Pane()
    for pane in (closed, stopped):
        pane.put("m1")
        pane.deliver("m1")
        pane.hear(TurnStarted(message_id="m1", turn=1))
    closed.hear(TurnEnded(reason="closed", certain=True, turn=1))
    closed.effects += closed.machine.stop("pane_gone")
    assert closed.told()[-2:] == ["turn_started", "unconfirmed closed"]
    stopped.effects += stopped.machine.stop("program_left")
    stopped.hear(TurnEnded(reason="signal", certain=True, turn=1))
    assert stopped.told()[-2:] == ["turn_started", "unconfirmed program_left"]


@pytest.mark.requirement("DLV-01a")
@pytest.mark.parametrize("reason", ["needs_human", "not_submitted"])
def test_nothing_is_told_of_an_answer_after_the_last_receipt(reason: str) -> None:
    pane = Pane(DeliveryPolicy(needs_human="fail"))
    pane.put("m1")
    if reason == "needs_human":
        pane.look(EMPTY)
        pane.machine.look(PaneView(holding("text of m1")), 2 * MAX_WAIT)
        pane.hear(Injected(message_id="m1", state="entering", turn=1))
        pane.machine.put_off()
        pane.look(DIALOG, after=3 * MAX_WAIT)
    else:
        pane.deliver("m1")
        pane.look(after=STARTING)
        pane.look(after=UNSUBMITTED)
    last = f"{'failed' if reason == 'needs_human' else 'unconfirmed'} {reason}"
    assert pane.told()[-1] == last
    pane.answer("m1", 1)
    assert pane.told()[-1] == last
    assert pane.machine.rests


def test_a_refusal_fails_the_message_with_its_reason() -> None:
    machine = DeliveryMachine()
    machine.put(Message("m1", "x"), 0.0)
    machine.look(PaneView(EMPTY), 0.0)
    assert machine.refused("program_left") == [ReportState("m1", "failed", "program_left")]


def test_what_is_put_off_is_tried_again() -> None:
    machine = DeliveryMachine()
    machine.put(Message("m1", "x"), 0.0)
    assert machine.look(PaneView(EMPTY), 0.0) == [Paste(Message("m1", "x"))]
    machine.put_off()
    assert machine.look(PaneView(LEAVING), 0.1) == [ReportState("m1", "queued", "at_work")]
    assert machine.look(PaneView(EMPTY), 0.2) == [Paste(Message("m1", "x"))]
    machine.pasted(0.2)
    assert machine.look(PaneView(holding("x")), 2.0) == [Enter(Message("m1", "x"), 1)]
    machine.put_off()
    assert machine.look(PaneView(holding("x")), 2.1) == [Enter(Message("m1", "x"), 1)]


def test_what_was_taken_back_is_not_entered_nor_typed_again() -> None:
    pane = Pane()
    pane.put("m1", "m2")
    pane.look(EMPTY)
    pane.effects += pane.machine.taken_back()
    pane.look(LEAVING, after=2.0)
    assert pane.told() == ["queued", "pasted", "unconfirmed taken_back"]
    assert (pane.count(Paste), pane.count(Enter)) == (1, 0)
    pane.look(EMPTY, after=1.0)
    assert pane.told("m2") == ["queued", "queued at_work", "pasted"]


def test_what_the_stream_says_while_an_enter_is_put_off_is_told_behind_it() -> None:
    """The stream was told that the Enter is coming, and takes what the program paints meanwhile for its work."""
    machine = DeliveryMachine()
    machine.put(Message("m1", "x"), 0.0)
    machine.look(PaneView(EMPTY), 0.0)
    machine.pasted(0.0)
    assert machine.look(PaneView(holding("x")), 2.0) == [Enter(Message("m1", "x"), 1)]
    machine.handle(Injected(message_id="m1", state="entering", turn=1), 2.0)
    machine.put_off()
    assert machine.handle(TurnStarted(message_id="m1", turn=1), 2.01) == []
    assert machine.look(PaneView(holding("x")), 2.02) == [Enter(Message("m1", "x"), 1)]
    assert machine.entered(2.03) == [ReportState("m1", "submitted"), ReportState("m1", "turn_started")]


def test_a_screen_at_rest_for_a_tenth_of_a_second_is_judged_at_once() -> None:
    machine, message = DeliveryMachine(), Message("m1", "x")
    machine.put(message, 0.0)
    assert machine.look(PaneView(EMPTY, last_output=0.0), 0.1) == [Paste(message)]


def test_nothing_is_typed_while_the_screen_is_being_painted_but_for_one_that_never_rests() -> None:
    machine, message = DeliveryMachine(), Message("m1", "x")
    machine.put(message, 0.0)
    assert machine.look(PaneView(EMPTY, last_output=0.0), PICTURE_REST / 2) == []
    assert machine.deadline() == PICTURE_REST
    assert machine.look(PaneView(EMPTY, last_output=0.0), PICTURE_REST) == [Paste(message)]
    machine.put_off()
    assert machine.look(PaneView(EMPTY, last_output=5.0), 5.0) == []
    assert machine.look(PaneView(EMPTY, last_output=5.0 + MAX_WAIT), 5.0 + MAX_WAIT) == [Paste(message)]
    prints = replace(EMPTY, converses=False)
    machine.put_off()
    assert machine.look(PaneView(prints, last_output=9.0), 9.0) == [Paste(message)]


def test_what_waits_can_be_withdrawn_and_what_is_typed_cannot() -> None:
    pane = Pane()
    pane.put("m1", "m2", "m3")
    pane.look(DIALOG)
    for message_id in ("m1", "m3", "unknown"):
        pane.effects += pane.machine.withdraw(message_id)
    assert [pane.told(f"m{number}")[-1] for number in (1, 2, 3)] == [
        "failed superseded", "queued needs_human", "failed superseded",
    ]  # fmt: skip
    pane.deliver("m2")
    pane.effects += pane.machine.withdraw("m2")
    pane.answer("m2", 1)
    assert pane.told("m2")[-1] == "answered signal"
    assert pane.machine.idle


def test_too_many_are_refused() -> None:
    pane = Pane()
    pane.put(*(f"m{number}" for number in range(MAX_QUEUE + 1)))
    assert pane.told(f"m{MAX_QUEUE}") == ["failed too_many_waiting"]


def test_a_message_whose_enter_is_missing_is_submitted_as_soon_as_it_is_seen_there() -> None:
    """Soon after a restart little may be known of the screen."""
    pane = Pane()
    pane.machine.resume(Message("m1", "text of m1"), 0.0)
    pane.look(EMPTY, after=1.0)
    assert pane.told() == []
    pane.look(holding("text of m1"), after=RESUMED - 1.5)
    assert pane.count(Paste) == 0
    assert pane.told() == ["submitted"]


def test_one_that_is_not_seen_there_is_unconfirmed() -> None:
    pane = Pane()
    pane.machine.resume(Message("m1", "text of m1"), 0.0)
    pane.look(EMPTY, after=RESUMED)
    assert pane.count(Paste) == 0
    assert pane.told() == ["unconfirmed text_gone"]


@pytest.mark.requirement("DLV-01a", "DLV-07a")
def test_what_an_earlier_process_has_pasted_is_neither_withdrawn_nor_failed_as_if_it_was_never_typed() -> None:
    pane = Pane()
    for message_id in ("m1", "m2"):
        pane.machine.resume(Message(message_id, f"text of {message_id}"), 0.0)
    pane.put("m3")
    assert pane.machine.withdraw("m1") == []
    pane.look(holding("text of m1"), after=0.0)
    pane.effects += pane.machine.stop("pane_gone")
    assert [pane.told(each)[-1] for each in ("m1", "m2")] == ["unconfirmed pane_gone"] * 2
    assert pane.told("m3") == ["queued", "failed pane_gone"]
    assert pane.machine.idle


@pytest.mark.requirement("DLV-09a")
def test_a_message_is_cancelled_while_it_waits_and_never_once_it_is_pasted() -> None:
    """Every state a message can be in, in one pane: only the waiting ones end as `failed cancelled`."""
    pane = Pane()
    pane.put("m1", "m2", "m3", "m4")
    pane.look(DIALOG)
    for message_id in ("m1", "m3", "m3", "unknown"):
        pane.effects += pane.machine.withdraw(message_id, CANCELLED)
    assert pane.told("m1") == ["queued", "queued needs_human", "failed cancelled"]
    assert pane.told("m3") == ["queued", "queued needs_human", "failed cancelled"]
    for step in (
        lambda: pane.look(EMPTY),  # pasted
        lambda: pane.hear(Injected(message_id="m2", state="painted")),
        lambda: pane.look(holding("text of m2"), after=MIN_WAIT),  # submitted
        lambda: pane.hear(TurnStarted(message_id="m2", turn=1)),
        lambda: pane.answer("m2", 1),
    ):
        step()
        before = len(pane.effects)
        assert pane.machine.withdraw("m2", CANCELLED) == []
        assert len(pane.effects) == before
    assert pane.told("m2")[-1] == "answered signal"
    pane.deliver("m4")
    assert "submitted" in pane.told("m4")


@pytest.mark.requirement("DLV-09a")
@pytest.mark.parametrize("fate", ["pasted", "put off", "refused"])
def test_a_message_that_is_cancelled_while_tmux_pastes_it_is_either_pasted_or_cancelled(fate: str) -> None:
    machine, message = DeliveryMachine(), Message("m1", "x")
    machine.put(message, 0.0)
    assert machine.look(PaneView(EMPTY), 0.0) == [Paste(message)]
    assert machine.withdraw("m1", CANCELLED) == []
    assert machine.is_pasting("m1")
    match fate:
        case "pasted":
            assert machine.pasted(0.1) == [ReportState("m1", "pasted")]
            assert machine.look(PaneView(holding("x")), 5.0) == [Enter(message, 1)]
            assert machine.put_off() == []  # the Enter: the text stands there
            assert machine.look(PaneView(holding("x")), 5.0) == [Enter(message, 1)]
        case "put off":
            assert machine.put_off() == [ReportState("m1", "failed", "cancelled")]
            assert machine.look(PaneView(EMPTY), 5.0) == []
        case _:
            assert machine.refused("program_left") == [ReportState("m1", "failed", "program_left")]
    assert not machine.is_pasting("m1")


@pytest.mark.requirement("DLV-09b")
def test_what_waits_behind_a_message_is_told_what_that_waits_for() -> None:
    """Whether the current message waits, is pasted, or is submitted into the arms of a dialog."""
    waiting, settling, confirming = Pane(), Pane(), Pane()
    for pane in (waiting, settling, confirming):
        pane.put("m1")
    settling.look(EMPTY)
    confirming.deliver("m1")
    for pane in (waiting, settling, confirming):
        pane.put("m2")
        pane.look(DIALOG, after=0.1)
        pane.look(DIALOG, after=1.0)
        assert pane.told("m2") == ["queued", "queued needs_human"]
    waiting.look(holding("half a wo"), after=0.1)
    assert waiting.told("m2") == ["queued", "queued needs_human", "queued draft"]


@pytest.mark.requirement("DLV-04")
def test_what_waits_behind_a_message_fails_by_its_own_policy_and_patience() -> None:
    pane = Pane()
    pane.put("m1")
    for message_id, policy in {
        "m2": DeliveryPolicy(needs_human="fail"),
        "m3": DeliveryPolicy(patience=2.0),
        "m4": DeliveryPolicy(),
    }.items():
        pane.effects += pane.machine.put(Message(message_id, "x", policy=policy), pane.now)
    pane.look(DIALOG)
    assert pane.told("m2")[-1] == "failed needs_human"
    pane.look(DIALOG, after=1.0)
    assert pane.told("m3")[-1] == "queued needs_human"
    pane.look(DIALOG, after=1.0)
    assert [pane.told(one)[-1] for one in ("m1", "m3", "m4")] == [
        "queued needs_human", "failed needs_human", "queued needs_human",
    ]  # fmt: skip


def test_a_message_whose_answer_is_unreadable_is_not_answered() -> None:
    pane = Pane()
    pane.put("m1")
    pane.deliver("m1")
    pane.hear(TurnStarted(message_id="m1", turn=1))
    pane.hear(Gap(reason="unreadable", turn=1))
    pane.hear(TurnEnded(reason="signal", certain=True, turn=1))
    assert pane.told("m1")[-1] == "unconfirmed unreadable"


def handing(pane: Pane, message_id: str = "m1") -> None:
    """Let the machine ask for a message to be handed to the program's own API."""
    pane.put(message_id)
    effects = pane.machine.look(PaneView(holding("a draft"), None, None, None, "auto"), pane.now)
    assert effects == [HandOver(Message(message_id, f"text of {message_id}"))]


@pytest.mark.requirement("DLV-10")
def test_what_the_api_has_follows_the_api_and_not_the_stream() -> None:
    pane = Pane()
    handing(pane)
    pane.hear(Injected(message_id="m1", state="entering", turn=1))
    pane.effects += pane.machine.handed_over(pane.now, is_held=True)
    pane.hear(TurnStarted(message_id="m1", turn=1))
    pane.hear(TurnEnded(reason="superseded", certain=True, turn=1))
    assert pane.told() == ["queued", "submitted held"]
    for answering in ("held", "started", "started", "answered", "answered"):
        pane.effects += pane.machine.lane_reports("m1", answering)
    assert pane.told() == ["queued", "submitted held", "turn_started", "answered signal"]
    assert pane.machine.rests


@pytest.mark.requirement("DLV-10")
@pytest.mark.parametrize("types", [True, False])
def test_what_the_api_has_not_got_is_typed_if_the_user_allows_that(types: bool) -> None:
    pane = Pane()
    handing(pane)
    pane.effects += pane.machine.no_lane(types=types)
    assert pane.told() == (["queued"] if types else ["queued", "failed no_lane"])
    if types:
        looked = PaneView(EMPTY, None, None, None, "auto")
        assert pane.machine.look(looked, pane.now) == [Paste(Message("m1", "text of m1"))]


@pytest.mark.requirement("DLV-10", "DLV-09b")
@pytest.mark.parametrize(("fate", "told"), [("no_lane", "failed cancelled"), ("taken", "submitted"), ("unknown", "")])
def test_a_message_that_is_cancelled_while_the_api_gets_it_is_either_taken_or_cancelled(fate: str, told: str) -> None:
    pane = Pane()
    handing(pane)
    pane.effects += pane.machine.withdraw("m1", CANCELLED)
    assert pane.machine.is_pasting("m1")
    match fate:
        case "no_lane":
            pane.effects += pane.machine.no_lane(types=True)
        case "taken":
            pane.effects += pane.machine.handed_over(pane.now, is_held=False)
        case _:
            pane.effects += pane.machine.refused("no_reply", "unconfirmed")
    assert pane.told()[-1] == (told or "unconfirmed no_reply")
    assert not pane.machine.is_pasting("m1")


@pytest.mark.requirement("DLV-10")
@pytest.mark.parametrize("end", ["the API is silent", "the pane is gone", "while the API gets it"])
def test_a_message_of_which_the_api_tells_nothing_more_is_unconfirmed(end: str) -> None:
    pane = Pane()
    handing(pane)
    if end == "while the API gets it":
        pane.effects += pane.machine.stop("pane_gone")
    else:
        pane.effects += pane.machine.handed_over(pane.now, is_held=False)
        pane.effects += pane.machine.lane_lost() if end == "the API is silent" else pane.machine.stop("pane_gone")
    assert pane.told()[-1] == ("unconfirmed no_reply" if end == "the API is silent" else "unconfirmed pane_gone")
    assert pane.machine.lane_reports("m1", "answered") == []
    assert pane.machine.rests


@pytest.mark.parametrize("pane_state", [DIALOG, LEAVING, holding("half a wo")])
def test_what_cannot_be_typed_yet_is_looked_at_again_after_a_moment(pane_state):
    pane = Pane()
    pane.put("m1")
    pane.look(pane_state)
    assert pane.machine.deadline() == pane.now + LOOK_AGAIN > pane.now


def test_a_text_that_two_enters_left_in_the_composer_is_looked_at_again_after_a_moment() -> None:
    pane = Pane()
    pane.put("m1")
    pane.deliver("m1")
    pane.look(after=STARTING)
    assert pane.count(Enter) == 2
    pane.look(after=0.1)
    assert pane.machine.deadline() == pane.now + LOOK_AGAIN


@pytest.mark.parametrize("pane_state", [DIALOG, LEAVING])
def test_a_paste_that_cannot_be_submitted_yet_is_looked_at_again_after_a_moment(pane_state):
    pane = Pane()
    pane.put("m1")
    pane.look(EMPTY)
    pane.hear(Injected(message_id="m1", state="painted"))
    pane.look(replace(pane_state, composer=holding("text of m1").composer), after=MIN_WAIT)
    assert pane.count(Enter) == 0
    assert pane.machine.deadline() == pane.now + LOOK_AGAIN


@pytest.mark.requirement("DLV-02b", "DLV-03a", "DLV-07a")
@pytest.mark.parametrize("attempts", [0, 2])
def test_a_later_machine_knows_the_text_that_an_earlier_one_left_in_the_composer(attempts: int) -> None:
    earlier, pane = Pane(), Pane()
    unsubmitted(earlier)
    text = earlier.machine.composer_text
    assert text == ComposerText("m1", "text of m1")
    pane.machine.recall(text, attempts, since=-UNSUBMITTED if attempts else 0.0)
    assert pane.machine.composer_text == text
    assert pane.machine.rests
    pane.put("m2")
    pane.look(holding("text of m1"), after=0.1)
    assert pane.count(Enter) == 1, "m1 makes room"
    assert "queued draft" not in pane.told("m2")
    pane.look(EMPTY, after=0.1)
    assert pane.machine.composer_text is None
    pane.deliver("m2")
    assert pane.told("m1") == []
    assert pane.told("m2")[-1] == "submitted"


def test_a_later_machine_takes_another_text_for_a_draft() -> None:
    pane = Pane()
    pane.machine.recall(ComposerText("m1", "text of m1"), 2, since=-UNSUBMITTED)
    pane.put("m2")
    pane.look(holding("text of m1, and more of a person"), after=0.1)
    assert pane.told("m2") == ["queued", "queued draft"]
    assert pane.count(Enter) == 0


def test_the_composers_text_is_known_from_the_enter_until_it_is_taken() -> None:
    pane = Pane()
    pane.put("m1")
    pane.look(EMPTY)
    assert pane.machine.composer_text is None, "a paste without its Enter is recovered by its mark"
    pane.hear(Injected(message_id="m1", state="painted"))
    pane.look(holding("text of m1"), after=MIN_WAIT)
    assert pane.machine.composer_text == ComposerText("m1", "text of m1")
    pane.answer("m1", 1)
    assert pane.machine.composer_text is None


def unsubmitted(pane: Pane) -> None:
    """Let m1 stay in the composer until its last receipt."""
    pane.put("m1")
    pane.deliver("m1")
    pane.look(after=STARTING)
    pane.look(after=UNSUBMITTED)
    assert pane.told()[-1] == "unconfirmed not_submitted"


@pytest.mark.requirement("DLV-02b", "DLV-03a")
def test_a_text_that_stays_in_the_composer_is_no_draft_of_a_person_and_makes_room() -> None:
    pane = Pane()
    unsubmitted(pane)
    pane.put("m2")
    pane.look(after=0.1)
    assert pane.told("m2") == ["queued", "queued not_ready"]
    assert pane.count(Enter) == 2
    # One Enter more for the message behind it, and none for the same one again.
    pane.look(after=UNSUBMITTED)
    assert pane.count(Enter) == 3
    for _ in range(5):
        pane.look(after=UNSUBMITTED)
    assert pane.count(Enter) == 3
    assert "queued draft" not in pane.told("m2")
    # The program takes it at last, or a person clears it: nothing more is told of it, and the next one goes.
    before = pane.told()
    pane.hear(TurnStarted(message_id="m1", turn=1))
    pane.hear(TurnEnded(reason="signal", certain=True, turn=1))
    pane.deliver("m2")
    assert pane.told() == before
    assert pane.told("m2")[-1] == "submitted"
    assert pane.count(Paste) == 2


@pytest.mark.requirement("DLV-03a")
def test_a_text_that_a_person_has_changed_is_a_draft() -> None:
    pane = Pane()
    unsubmitted(pane)
    pane.put("m2")
    for _ in range(5):
        pane.look(holding("text of m1, and more"), after=UNSUBMITTED)
    assert pane.told("m2") == ["queued", "queued draft"]
    assert pane.count(Enter) == 2


@pytest.mark.requirement("DLV-03a")
@pytest.mark.parametrize(
    ("state", "reason"), [(replace(holding("text of m1"), needs_human="permission"), "needs_human"), (None, "")]
)
def test_room_is_made_only_where_a_message_could_be_typed(state: PaneState | None, reason: str) -> None:
    pane = Pane(profile=None if reason else profile("hold"))
    unsubmitted(pane)
    pane.put("m2")
    pane.look(state or replace(holding("text of m1"), answers=True), after=2 * UNSUBMITTED)
    assert pane.count(Enter) == 2
    assert pane.told("m2")[-1] == f"queued {reason or 'at_work'}"


@pytest.mark.requirement("DLV-02b", "DLV-03a")
def test_a_text_of_an_earlier_process_that_shows_late_gets_its_enter_when_a_message_waits() -> None:
    """Its process was killed between paste and Enter, and the screen showed the text only after the last receipt."""
    pane = Pane()
    pane.machine.resume(Message("m1", "text of m1\nand its second line"), pane.now)
    pane.look(EMPTY, after=MAX_WAIT)
    pane.look(EMPTY, after=RESUMED)
    assert pane.told() == ["unconfirmed text_gone"]
    pane.look(holding("text of m1\nand its second line"), after=1.0)
    assert pane.count(Enter) == 0
    pane.put("m2")
    pane.look(after=0.1)
    assert [effect.message.message_id for effect in pane.effects if isinstance(effect, Enter)] == ["m1"]
    pane.look(EMPTY, after=0.1)
    pane.look(EMPTY, after=0.1)
    assert pane.told() == ["unconfirmed text_gone"]
    assert pane.told("m2")[-1] == "pasted"


@pytest.mark.requirement("DLV-03a")
def test_a_word_of_an_earlier_message_that_a_person_types_is_a_draft() -> None:
    pane = Pane()
    pane.machine.resume(Message("m1", "text of m1"), pane.now)
    pane.look(EMPTY, after=MAX_WAIT)
    pane.look(EMPTY, after=RESUMED)
    pane.put("m2")
    for typed in ("t", "te", "text of"):
        pane.look(holding(typed), after=UNSUBMITTED)
        assert pane.count(Enter) == 0
    assert pane.told("m2")[-1] == "queued draft"
