"""The rules of the ceremony, one by one, on a clock of the test's own."""

import msgspec
import pytest

from streamrelay.errors import PieceNotHeld, UsageError
from streamrelay.events import (
    Contribution,
    GatheringClosed,
    GatheringLeft,
    GatheringOpened,
    GatheringPhase,
    Piece,
    RelayWithheld,
)
from streamrelay.gathering.ceremony import Ceremony
from streamrelay.gathering.members import Member
from streamrelay.gathering.plan import Breath, Plan
from streamrelay.gathering.steps import (
    Announce,
    Contribute,
    Left,
    Passed,
    Prompt,
    PublishGatheringEvent,
    Reached,
    Said,
    Sensed,
    Stopped,
    WithdrawPrompts,
)
from tests.gathering.decided import ADA, MO, REX, SAGE, TEXTS, passes_at_once, prompt, states, told


class TestBeginning:
    def test_all_are_seeded_and_the_first_round_is_announced_before_the_piece_is_given(self, circle):
        ceremony = circle().ceremony
        opened, *effects = ceremony.begin(5.0, "History signals: the parser was slow.")
        assert isinstance(opened.event, GatheringOpened)
        assert opened.event.participants == ("Rex (2)", "Mo (4)", "Sage (7)", "Ada (1)")
        seeds = [e for e in effects if isinstance(e, Prompt) and e.kind == "seed"]
        assert [seed.to for seed in seeds] == [REX, MO, SAGE, ADA]
        assert all("History signals: the parser was slow." in seed.text for seed in seeds)
        (announced,) = [e for e in effects if isinstance(e, Announce)]
        assert announced.to == (REX, MO, SAGE, ADA)
        assert [effects.index(seed) for seed in seeds] == [0, 1, 2, 3]
        assert effects.index(announced) < effects.index(prompt(effects))
        assert ceremony.begin(6.0) == []

    def test_nothing_happens_before_it_begins_but_that_somebody_leaves(self, circle):
        ceremony = circle().ceremony
        assert ceremony.handle(Said(REX, "early"), 0.0) == []
        assert ceremony.deadline() is None
        assert ceremony.pause(0.0) == []
        ceremony.handle(Left(REX, "start_failed"), 0.0)
        effects = ceremony.begin(1.0)
        assert {e.to for e in effects if isinstance(e, Prompt)} == {MO, SAGE, ADA}
        assert states(effects) == [("Mo (4)", "given")]

    def test_closed_before_it_begins_it_is_over(self, circle):
        ceremony = circle().ceremony
        assert told(ceremony.close(0.0), GatheringClosed)[0].reason == "stopped"
        assert ceremony.begin(1.0) == []


class TestTenure:
    def test_time_runs_from_when_the_prompt_has_reached_the_speaker(self, circle):
        ceremony = circle().ceremony
        given = prompt(ceremony.begin(0.0))
        assert ceremony.deadline() == 60.0
        assert ceremony.handle(Reached(REX, "another"), 1.0) == []
        assert ceremony.handle(Reached(MO, given.message_id), 1.0) == []
        assert states(ceremony.handle(Reached(REX, given.message_id), 7.5)) == [("Rex (2)", "begun")]
        assert ceremony.deadline() == 67.5

    def test_whoever_speaks_is_there(self, circle):
        ceremony = circle().ceremony
        ceremony.begin(0.0)
        assert states(ceremony.handle(Said(REX, "Here."), 3.0)) == [("Rex (2)", "begun")]
        assert ceremony.deadline() == 63.0

    def test_who_is_not_reached_has_its_time_all_the_same_and_the_circle_goes_on(self, circle):
        played = circle(lambda p: [(0.0, Said(p.to, "harvest"))] if p.kind == "harvest" else [])
        played.run()
        assert played.closed == "complete"
        # 18 tenures of 60 s until they begin, 3 beats of 60 s, 30 s for last words that nobody says.
        assert played.now == 1000.0 + 18 * (60 + 180 + 30)
        assert [e.how for e in played.told(Piece) if e.state == "passed"] == ["time"] * 18

    def test_a_late_step_does_not_move_the_beats_after_it(self, circle):
        ceremony = circle().ceremony
        ceremony.handle(Reached(REX, prompt(ceremony.begin(0.0)).message_id), 0.0)
        assert [p.kind for p in ceremony.advance(61.5) if isinstance(p, Prompt)] == ["beat"]
        assert ceremony.deadline() == 120.0

    @pytest.mark.requirement("GAT-11b")
    def test_a_beat_that_has_not_reached_the_speaker_is_superseded_by_the_next(self, circle):
        ceremony = circle().ceremony
        ceremony.handle(Reached(REX, prompt(ceremony.begin(0.0)).message_id), 0.0)
        first = prompt(ceremony.advance(60.0), "beat")
        effects = ceremony.advance(120.0)
        assert effects[0] == WithdrawPrompts(REX, (first.message_id,))
        second = prompt(effects, "beat")
        ceremony.handle(Reached(REX, second.message_id), 121.0)
        effects = ceremony.advance(180.0)
        last = prompt(effects, "last")
        assert not [e for e in effects if isinstance(e, WithdrawPrompts)]
        assert ceremony.advance(210.0)[0] == WithdrawPrompts(REX, (last.message_id,))

    def test_the_prompt_that_gives_the_piece_stays_on_its_way_until_the_piece_goes_on(self, circle):
        ceremony = circle().ceremony
        given = prompt(ceremony.begin(0.0))
        assert states(ceremony.advance(60.0)) == [("Rex (2)", "begun")]
        assert not [e for e in ceremony.advance(120.0) if isinstance(e, WithdrawPrompts)]
        passed = ceremony.handle(Passed(REX), 130.0)
        assert passed[0].message_ids[0] == given.message_id

    @pytest.mark.requirement("GAT-11a")
    def test_with_one_beat_there_is_only_the_last_question(self, circle):
        ceremony = circle(beats_per_turn=1).ceremony
        ceremony.handle(Reached(REX, prompt(ceremony.begin(0.0)).message_id), 0.0)
        assert [p.kind for p in ceremony.advance(60.0) if isinstance(p, Prompt)] == ["last"]

    def test_what_is_sensed_is_in_the_beats_to_come(self, circle):
        ceremony = circle().ceremony
        ceremony.handle(Reached(REX, prompt(ceremony.begin(0.0)).message_id), 0.0)
        ceremony.handle(Sensed("main is red; two todos\nare open."), 1.0)
        assert prompt(ceremony.advance(60.0), "beat").text == (
            "[Beat 1/3] Signals: 4 in the circle; inhale, round 1 of 2, 5 more rounds after it. main is red; two todos "
            "are open. Is your thread still alive? Continue, pivot, or pass."
        )

    @pytest.mark.requirement("GAT-12b")
    def test_who_is_named_does_not_get_the_piece_out_of_order(self, circle):
        ceremony = circle().ceremony
        ceremony.begin(0.0)
        effects = ceremony.handle(Said(REX, "Enough. I pass to Sage."), 5.0)
        assert states(effects) == [("Rex (2)", "begun"), ("Rex (2)", "phrase"), ("Mo (4)", "given")]
        assert [e.text for e in effects if isinstance(e, Contribute)] == ["Enough. I pass to Sage."]
        assert states(ceremony.handle(Passed(MO), 6.0)) == [("Mo (4)", "tool"), ("Sage (7)", "given")]

    @pytest.mark.requirement("GAT-12b")
    @pytest.mark.parametrize("number", [MO, ADA, 99])
    def test_nobody_passes_what_it_does_not_hold(self, circle, number):
        ceremony = circle().ceremony
        ceremony.begin(0.0)
        with pytest.raises(PieceNotHeld, match=r"Rex \(2\) does"):
            ceremony.handle(Passed(number), 1.0)

    @pytest.mark.parametrize("kind", [Stopped, Said], ids=["silent", "said"])
    def test_last_words_end_a_tenure_when_they_are_said_or_kept_back(self, circle, kind):
        ceremony = circle().ceremony
        given = prompt(ceremony.begin(0.0)).message_id
        ceremony.handle(Reached(REX, given), 0.0)
        for due in (60.0, 120.0):
            ceremony.advance(due)
        last = prompt(ceremony.advance(180.0), "last")
        # An answer to something from before is a contribution like any other.
        before = Stopped(REX, given) if kind is Stopped else Said(REX, "Still the old thread.", answers=given)
        assert states(ceremony.handle(before, 181.0)) == []
        own = Stopped(REX, last.message_id) if kind is Stopped else Said(REX, "Farewell.", answers=last.message_id)
        assert states(ceremony.handle(own, 182.0)) == [("Rex (2)", "last_words"), ("Mo (4)", "given")]

    def test_last_words_that_are_printed_line_by_line_have_all_their_time(self, circle):
        ceremony = circle().ceremony
        ceremony.handle(Reached(REX, prompt(ceremony.begin(0.0)).message_id), 0.0)
        for due in (60.0, 120.0):
            ceremony.advance(due)
        last = prompt(ceremony.advance(180.0), "last")
        for at in (181.0, 209.0):
            effects = ceremony.handle(Said(REX, "A line.", whole=False, answers=last.message_id), at)
            assert [type(e) for e in effects] == [PublishGatheringEvent, Contribute]
        assert states(ceremony.advance(210.0)) == [("Rex (2)", "time"), ("Mo (4)", "given")]


class TestHearing:
    @pytest.mark.requirement("GAT-09a", "GAT-13a")
    def test_only_the_holder_is_heard_and_nobody_is_answered(self, circle):
        ceremony = circle().ceremony
        ceremony.begin(0.0)
        for number in (MO, SAGE, ADA):
            effects = ceremony.handle(Said(number, "I agree."), 1.0)
            assert [type(e) for e in effects] == [PublishGatheringEvent]
            (withheld,) = told(effects, RelayWithheld)
            assert (withheld.reason, withheld.text) == ("without_piece", "I agree.")
        assert ceremony.handle(Said(55, "a stranger"), 1.0) == []
        assert ceremony.handle(Said(REX, " \n\t\n"), 2.0) == []
        heard = ceremony.handle(Said(REX, "\n\n  Two\nlines \n"), 3.0)
        assert [e for e in heard if isinstance(e, Contribute)] == [
            Contribute("g-7", REX, (MO, SAGE, ADA), "  Two\nlines ")
        ]

    def test_of_a_flood_so_much_is_heard_and_no_more(self, circle):
        ceremony = circle(most_contributions=3, longest_tenure=100).ceremony
        ceremony.begin(0.0)
        heard = [
            [e.text for e in ceremony.handle(Said(REX, text, whole=False), 1.0) if isinstance(e, Contribute)]
            for text in ("a" * 60, "b" * 60, "c", "d")
        ]
        assert heard == [["a" * 60], ["b" * 40 + "\n[… 20 more characters are left out]"], [], []]
        assert ceremony.state.withheld == {"too_much": 2}
        # It can still pass, and the next tenure has room again.
        assert states(ceremony.handle(Said(REX, "I pass."), 2.0))[-1] == ("Mo (4)", "given")

    def test_many_small_contributions_are_a_flood_too(self, circle):
        ceremony = circle().ceremony
        ceremony.begin(0.0)
        effects = [e for n in range(1_000) for e in ceremony.handle(Said(REX, f"line {n}", whole=False), 1.0)]
        assert sum(isinstance(e, Contribute) for e in effects) == 32

    def test_a_digest_that_was_taken_back_is_told_with_the_next_prompt_and_one_that_arrived_is_not(self, circle):
        for arrived in (False, True):
            ceremony = circle(listening="digest", breath=Breath(2, 1, 1)).ceremony
            ceremony.begin(0.0)
            given = prompt(ceremony.handle(Said(REX, "First. I pass."), 1.0))
            assert given.text.endswith("Rex (2):\n\nFirst. I pass.")
            assert ceremony.handle(Passed(MO), 2.0)[0] == WithdrawPrompts(MO, (given.message_id,))
            if arrived:
                assert ceremony.handle(Reached(MO, given.message_id), 2.1) == []
            ceremony.handle(Passed(SAGE), 3.0)
            again = prompt(ceremony.handle(Said(REX, "Second. I pass."), 4.0))
            assert ("First." in again.text.removeprefix(again.head)) == (not arrived)
            assert "Second." in again.text.removeprefix(again.head)


class TestLeaving:
    def test_when_the_holder_is_gone_the_piece_goes_on_at_once(self, circle):
        ceremony = circle().ceremony
        ceremony.begin(0.0)
        effects = ceremony.handle(Left(REX, "pane_gone"), 9.0)
        assert told(effects, GatheringLeft)[0].participant == "Rex (2)"
        assert states(effects) == [("Rex (2)", "left"), ("Mo (4)", "given")]
        assert ceremony.handle(Left(REX, "pane_gone"), 9.0) == []

    def test_who_is_gone_gets_no_piece_and_hears_nothing(self, circle):
        played = circle(passes_at_once)
        played.at(0.5, Left(SAGE, "program_left"))
        played.run()
        assert played.closed == "complete"
        assert {e.speaker for e in played.told(Piece)} == {"Rex (2)", "Mo (4)"}
        assert [t for t, _ in played.of(SAGE)] == [0.0, 0.0]

    def test_one_speaker_is_enough_to_go_on_and_none_is_the_close(self, circle):
        played = circle(passes_at_once)
        played.at(0.25, Left(SAGE, "pane_gone"))
        played.at(0.5, Left(MO, "pane_gone"))
        played.at(4.5, Left(REX, "pane_gone"))
        played.run()
        assert played.closed == "no_speakers"
        assert [e.text for e in played.told(Contribution)] == ["Words of 2."] * 2 + ["The harvest."]

    def test_without_a_harvester_there_is_a_close_and_no_harvest(self, circle):
        played = circle(passes_at_once)
        played.at(0.5, Left(ADA, "pane_gone"))
        played.run()
        assert played.closed == "complete"
        (closed,) = played.told(GatheringClosed)
        assert (closed.contributions, closed.harvested) == (18, False)
        assert [e.phase for e in played.told(GatheringPhase)][-1] == "close"

    def test_a_harvester_that_goes_in_the_close_is_not_waited_for(self, circle):
        played = circle(lambda p: passes_at_once(p) if p.kind != "harvest" else [(1.0, Left(ADA, "pane_gone"))])
        played.run()
        assert played.closed == "complete"
        assert played.now == 1000.0 + 36 + 1


def test_a_text_with_a_field_that_nothing_fills_is_refused_before_anything_is_said():
    texts = msgspec.structs.replace(TEXTS, beat="[{beet}]")
    plan = Plan(rhythm="x", breath=Breath(1, 1, 1), beats_per_turn=1, beat_interval_seconds=1.0)
    members = [Member(name=n, number=i) for i, n in enumerate("ab", 1)]
    with pytest.raises(UsageError, match="beet"):
        Ceremony("g", plan, [*members, Member(name="h", number=3, role="harvester")], texts)


@pytest.mark.requirement("GAT-10")
def test_what_a_gathering_costs_each_is_counted(circle):
    for listening, got in (("each", 1 + 7 + 6 + 12), ("digest", 1 + 7 + 6)):
        played = circle(passes_at_once, listening=listening)
        played.run()
        traffic = played.told(GatheringClosed)[0].traffic
        assert traffic["Rex (2)"].received == got == len(played.of(REX))
        assert traffic["Rex (2)"].received_characters == sum(len(text) for _, text in played.of(REX))
        assert (traffic["Rex (2)"].sent, traffic["Ada (1)"].sent) == (6, 1)
