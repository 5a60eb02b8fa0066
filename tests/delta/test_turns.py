import pytest

from streamrelay.delta.turns import QUIET, SIGNAL_REST, Began, Turns
from streamrelay.events import Vote


def answering(turns: Turns, at: float = 1.0, message_id: str | None = "m1") -> Turns:
    turns.submitted(message_id)
    turns.output(at)
    turns.said()
    return turns


def test_a_turn_begins_with_the_first_word_after_a_submission() -> None:
    turns = Turns()
    turns.submitted("m1")
    turns.output(1.0)
    assert turns.said() == Began(1, "m1")
    assert turns.said() is None


@pytest.mark.requirement("DEL-04b")
def test_without_a_witness_silence_ends_a_turn_and_is_not_certain() -> None:
    turns = answering(Turns())
    assert turns.deadline() == 1.0 + QUIET
    assert turns.advance(1.0 + QUIET - 0.01) is None
    ended = turns.advance(1.0 + QUIET)
    assert ended is not None
    assert (ended.turn, ended.reason, ended.certain) == (1, "quiet", False)
    assert ended.votes == (Vote("quiet", "idle", 1.0),)
    assert turns.deadline() is None


@pytest.mark.requirement("DEL-04a")
def test_what_was_typed_ahead_ends_a_turn_that_is_over_without_a_rest() -> None:
    turns = answering(Turns())
    turns.vote("composer", "busy", 1.0)
    turns.see_typed()
    assert turns.deadline() is None
    turns.vote("composer", "idle", 2.0)
    assert turns.deadline() == 2.0 + SIGNAL_REST
    turns.output(2.05)
    turns.see_typed()
    assert turns.deadline() == 2.05
    ended = turns.advance(2.06)
    assert ended is not None
    assert (ended.reason, ended.certain) == ("composer", True)
    answering(turns, 3.0).vote("composer", "idle", 3.0)
    assert turns.deadline() == 3.0 + QUIET


@pytest.mark.requirement("DEL-04b")
def test_what_comes_later_without_a_message_opens_a_continuation_of_the_same_number() -> None:
    turns = answering(Turns())
    turns.advance(10.0)
    turns.output(20.0)
    assert turns.said() == Began(1, None)


@pytest.mark.requirement("DEL-04a")
def test_the_word_of_a_stop_hook_ends_a_turn_for_certain() -> None:
    turns = answering(Turns(), at=1.0)
    turns.stopped(1.4)
    assert turns.deadline() == 1.4 + SIGNAL_REST
    ended = turns.advance(1.4 + SIGNAL_REST)
    assert ended is not None
    assert (ended.reason, ended.certain) == ("signal", True)
    assert Vote("hook", "idle", 1.4) in ended.votes


def test_the_word_of_a_stop_hook_ends_nothing_while_another_witness_says_busy() -> None:
    turns = answering(Turns(), at=1.0)
    turns.vote("furniture", "busy", 1.1)
    turns.stopped(1.4)
    assert turns.deadline() is None
    turns.vote("furniture", "idle", 2.0)
    ended = turns.advance(2.0 + SIGNAL_REST)
    assert ended is not None
    assert (ended.certain, ended.disagreements) == (True, 1)


def test_the_word_of_a_stop_hook_that_comes_late_is_not_about_the_message_that_overtook_it() -> None:
    turns = answering(Turns(), at=1.0)
    assert turns.advance(1.0 + QUIET) is not None
    turns.submitted("m2", 3.0)
    turns.output(3.05)
    turns.said()
    turns.stopped(3.1)
    ended = turns.advance(3.05 + QUIET)
    assert turns.turn == 2
    assert ended is not None
    assert not ended.certain


def test_output_puts_the_end_off() -> None:
    turns = answering(Turns())
    turns.output(2.0)
    assert turns.advance(1.0 + QUIET) is None
    assert turns.deadline() == 2.0 + QUIET


@pytest.mark.requirement("DEL-04a")
def test_a_witness_that_says_busy_is_believed_through_any_silence() -> None:
    turns = Turns()
    turns.vote("signal", "busy", 0.5)
    answering(turns)
    assert turns.deadline() is None
    assert turns.advance(1e6) is None


@pytest.mark.requirement("DEL-04a")
def test_idle_and_a_short_rest_end_a_turn_for_certain() -> None:
    turns = Turns()
    turns.vote("composer", "busy", 0.5)
    answering(turns)
    turns.vote("composer", "idle", 1.0)
    assert turns.deadline() == 1.0 + SIGNAL_REST
    ended = turns.advance(1.0 + SIGNAL_REST)
    assert ended is not None
    assert (ended.reason, ended.certain) == ("composer", True)
    assert ended.votes == (Vote("composer", "idle", 1.0), Vote("quiet", "idle", 1.0))


def test_one_busy_witness_outweighs_an_idle_one() -> None:
    turns = Turns()
    turns.vote("signal", "busy", 0.5)
    turns.vote("composer", "idle", 0.6)
    assert answering(turns).deadline() is None


def test_a_witness_that_only_ever_said_idle_proves_nothing() -> None:
    turns = Turns()
    turns.vote("composer", "idle", 0.5)
    assert answering(turns).deadline() == 1.0 + QUIET


def test_a_signal_names_the_reason() -> None:
    turns = Turns()
    turns.vote("composer", "idle", 0.1)
    turns.vote("signal", "busy", 0.5)
    answering(turns)
    turns.vote("signal", "idle", 1.0)
    ended = turns.advance(2.0)
    assert ended is not None
    assert ended.reason == "signal"


def test_the_end_of_the_pane_ends_what_is_being_said() -> None:
    ended = answering(Turns()).close()
    assert ended is not None
    assert (ended.reason, ended.certain) == ("closed", True)
    assert Turns().close() is None


def test_what_is_submitted_at_a_prompt_ends_the_turn_before() -> None:
    turns = Turns()
    turns.said()
    turns.output(1.0)
    ended = turns.submitted("next", at_prompt=True)
    assert ended is not None
    assert (ended.turn, ended.reason, ended.certain) == (0, "superseded", False)
    assert turns.said() == Began(1, "next")


def test_a_new_message_does_not_end_the_turn_of_a_program_known_to_be_busy() -> None:
    turns = Turns()
    turns.vote("composer", "busy", 0.5)
    turns.said()
    turns.output(1.0)
    assert turns.submitted("next", at_prompt=True) is None


def test_a_message_in_mid_answer_ends_nothing() -> None:
    turns = answering(Turns())
    assert turns.submitted("next") is None


@pytest.mark.requirement("DEL-04c")
def test_a_message_in_the_midst_of_what_answers_nothing_begins_a_turn_of_its_own() -> None:
    """Gemini CLI paints its greeting for seconds, and takes messages meanwhile."""
    turns = Turns()
    turns.vote("title", "idle", 0.5)
    turns.said()
    turns.output(1.0)
    ended = turns.submitted("m1")
    assert ended is not None
    assert (ended.turn, ended.reason, ended.certain) == (0, "superseded", False)
    assert turns.said() == Began(1, "m1")
    turns.vote("title", "busy", 2.0)
    turns.vote("title", "idle", 3.0)
    answered = turns.advance(3.0 + SIGNAL_REST)
    assert answered is not None
    assert (answered.turn, answered.certain) == (1, True)


def test_more_of_an_answer_that_was_over_is_not_the_answer_to_the_next_message() -> None:
    turns = answering(Turns())
    turns.advance(10.0)
    turns.output(20.0)
    turns.said()
    ended = turns.submitted("m2")
    assert ended is not None
    assert ended.turn == 1
    assert turns.said() == Began(2, "m2")


@pytest.mark.requirement("DEL-04a")
def test_work_on_one_answer_tells_nothing_of_a_message_that_still_waits() -> None:
    """It came while the program was frozen: what it paints on thawing is not the end of the next answer."""
    turns = answering(Turns())
    turns.vote("furniture", "busy", 1.0)
    turns.submitted("m2")
    turns.vote("furniture", "idle", 4.0)
    ended = turns.advance(4.0 + SIGNAL_REST)
    assert ended is not None
    assert ended.certain
    turns.output(6.0)
    assert turns.said() is not None
    assert turns.deadline() == 6.0 + QUIET
    turns.vote("furniture", "busy", 6.1)
    assert turns.deadline() is None


def test_without_a_witness_that_can_be_heard_quiet_decides_and_is_not_certain() -> None:
    turns = answering(Turns())
    turns.vote("furniture", "busy", 1.0)
    turns.output(1.5)
    turns.doubt("furniture")
    assert turns.deadline() == 1.5 + QUIET
    assert not turns.is_certain
    turns.vote("furniture", "idle", 2.0)
    assert turns.is_certain


def test_a_program_that_tells_its_state_is_not_doubted() -> None:
    turns = answering(Turns())
    turns.vote("furniture", "busy", 1.0)
    turns.vote("title", "busy", 1.0)
    turns.output(1.5)
    turns.doubt("furniture")
    turns.vote("title", "idle", 1.5)
    assert turns.is_certain


@pytest.mark.requirement("DEL-04a")
def test_the_screen_alone_is_given_the_time_that_a_profile_knows() -> None:
    turns = answering(Turns())
    turns.screen_rest = 0.5
    turns.vote("furniture", "busy", 1.0)
    turns.vote("furniture", "idle", 4.0)
    assert turns.deadline() == 4.5
    turns.vote("title", "idle", 4.1)
    assert turns.deadline() == 4.1 + SIGNAL_REST


@pytest.mark.requirement("DEL-04b")
def test_a_program_whose_answer_is_there_was_at_work_while_output_was_missed() -> None:
    turns = answering(Turns())
    turns.see_answer()
    assert turns.worked == "unknown"
    turns.miss()
    assert turns.worked == "missed"
    turns.vote("title", "idle", 1.2)
    assert turns.deadline() == 1.0 + QUIET
    turns.see_answer()
    assert turns.worked == "answered"
    assert turns.deadline() == 1.2 + SIGNAL_REST
    ended = turns.advance(1.2 + SIGNAL_REST)
    assert ended is not None
    assert (ended.reason, ended.certain) == ("signal", True)


@pytest.mark.requirement("DEL-04b")
def test_what_was_missed_before_a_message_tells_nothing_of_its_turn() -> None:
    turns = Turns()
    turns.miss()
    assert answering(turns).worked == "unknown"


@pytest.mark.requirement("DEL-04b")
def test_how_it_is_known_that_the_program_has_worked() -> None:
    """What a witness has said counts, and output that was missed after it takes none of that back."""
    turns = answering(Turns())
    turns.vote("title", "busy", 1.1)
    turns.miss()
    assert turns.worked == "said"
    turns.vote("title", "idle", 1.2)
    turns.stopped(1.3)
    assert turns.worked == "stopped"
    turns.advance(1.3 + SIGNAL_REST)
    assert turns.worked == "unknown"
    answering(turns).exited(0, 2.0)
    assert turns.worked == "exited"
    turns.dismiss("shell")
    assert turns.worked == "unknown"
