"""How a ceremony closes, rests and comes back, on a clock of the test's own."""

import pytest

from streamrelay.errors import PieceNotHeld
from streamrelay.events import (
    Contribution,
    GatheringClosed,
    GatheringLeft,
    Piece,
    RelayWithheld,
)
from streamrelay.gathering.ceremony import HARVEST_REST, MAX_HELD, Ceremony
from streamrelay.gathering.steps import (
    Contribute,
    Left,
    Passed,
    Prompt,
    Reached,
    Said,
    Stopped,
)
from tests.gathering.decided import ADA, MO, REX, SAGE, TEXTS, passes_at_once, prompt, states, told


class TestClose:
    @pytest.mark.requirement("GAT-13a")
    def test_the_harvester_gets_all_that_was_said_with_who_said_it(self, circle):
        played = circle(passes_at_once, previous="gathering-before")
        played.run()
        ((t, text),) = played.of(ADA, "harvest")
        assert t == 36.0
        block = "".join(f"\n\n{name} ({n}):\n\nWords of {n}." for name, n in (("Rex", 2), ("Mo", 4), ("Sage", 7)))
        assert text.endswith(block * 6)
        for home in (
            "todos",
            "document edits",
            "memory entries",
            "vision seeds",
            "## Trail",
            "gathering-before",
            "weekly",
        ):
            assert home in text
        assert played.of(ADA, "turn", "beat", "last") == []

    def test_the_close_is_one_round(self, circle):
        played = circle(lambda asked: passes_at_once(asked) if asked.kind != "harvest" else ())
        played.run(until=40.0)
        state = played.ceremony.state
        assert (state.phase, state.round, played.ceremony.plan.breath.rounds("close")) == ("close", 1, 1)

    @pytest.mark.requirement("GAT-13b")
    def test_the_harvest_is_waited_for_and_no_longer(self, circle):
        def silent(asked):
            return passes_at_once(asked) if asked.kind != "harvest" else ()

        played = circle(silent)
        played.run()
        assert played.now == 1000.0 + 36 + 600
        assert played.told(GatheringClosed)[0].harvested is False
        played = circle(silent, harvest_seconds=45.0)
        played.run()
        assert played.now == 1000.0 + 36 + 45

    def test_a_harvester_that_prints_is_done_when_it_rests_or_stops(self, circle):
        def prints(asked):
            if asked.kind == "harvest":
                yield 10.0, Said(ADA, "todos", whole=False)
                yield 14.0, Said(ADA, "seeds", whole=False)
            else:
                yield from passes_at_once(asked)

        played = circle(prints)
        played.run()
        assert played.now == 1000.0 + 36 + 14 + HARVEST_REST
        assert [e.text for e in played.ceremony.record if e.kind == "harvest"] == ["todos", "seeds"]
        played = circle(prints)
        played.at(36 + 15.0, Stopped(ADA))
        played.run()
        assert played.now == 1000.0 + 36 + 15

    def test_a_harvester_that_stops_without_a_word_is_still_waited_for(self, circle):
        played = circle(
            lambda p: passes_at_once(p) if p.kind != "harvest" else [(1.0, Stopped(ADA)), (9.0, Said(ADA, "x"))]
        )
        played.run()
        assert played.now == 1000.0 + 36 + 9

    @pytest.mark.requirement("GAT-16b")
    def test_closed_early_it_has_its_harvest_and_closed_again_it_has_none(self, circle):
        played = circle(passes_at_once)
        played.at(3.5, played.ceremony.close)
        played.run()
        assert played.closed == "stopped"
        assert [(e.speaker, e.how) for e in played.told(Piece) if e.state == "passed"] == [
            ("Rex (2)", "tool"), ("Mo (4)", "closed"),
        ]  # fmt: skip
        assert played.of(ADA, "harvest")[0][1].endswith("Rex (2):\n\nWords of 2.\n\nMo (4):\n\nWords of 4.")
        played = circle(passes_at_once)
        played.at(3.5, played.ceremony.close)
        played.at(4.0, played.ceremony.close)
        played.run()
        assert played.now == 1004.0
        assert played.told(GatheringClosed)[0].harvested is False

    def test_what_comes_after_the_end_is_nothing(self, circle):
        played = circle(passes_at_once)
        played.run()
        ceremony: Ceremony = played.ceremony
        assert ceremony.handle(Said(REX, "And another thing."), 9e9) == []
        assert [ceremony.close(9e9), ceremony.pause(9e9), ceremony.resume(9e9), ceremony.advance(9e9)] == [[]] * 4
        assert ceremony.deadline() is None
        with pytest.raises(PieceNotHeld, match="no member does"):
            ceremony.handle(Passed(REX), 9e9)


class TestPause:
    @pytest.mark.requirement("GAT-16b")
    def test_in_a_pause_nothing_goes_out_and_what_was_said_goes_out_after_it(self, circle):
        ceremony = circle().ceremony
        ceremony.handle(Reached(REX, prompt(ceremony.begin(0.0)).message_id), 0.0)
        ceremony.pause(50.0)
        assert ceremony.pause(51.0) == []
        assert ceremony.advance(1e6) == []
        assert ceremony.handle(Said(REX, "Into the pause. I pass."), 55.0) == []
        assert ceremony.handle(Left(SAGE, "pane_gone"), 56.0) == []
        effects = ceremony.resume(1_050.0)
        assert [e.text for e in effects if isinstance(e, Contribute)] == ["Into the pause. I pass."]
        assert states(effects) == [("Rex (2)", "phrase"), ("Mo (4)", "given")]
        assert told(effects, GatheringLeft)

    def test_the_time_that_was_left_is_left(self, circle):
        ceremony = circle().ceremony
        ceremony.handle(Reached(REX, prompt(ceremony.begin(0.0)).message_id), 0.0)
        ceremony.pause(50.0)
        ceremony.resume(1_050.0)
        assert ceremony.deadline() == 1_060.0

    def test_a_pause_holds_so_much(self, circle):
        ceremony = circle().ceremony
        ceremony.begin(0.0)
        ceremony.pause(1.0)
        effects = [e for n in range(MAX_HELD + 5) for e in ceremony.handle(Said(REX, f"{n}"), 2.0)]
        assert [e.reason for e in told(effects, RelayWithheld)] == ["too_many_waiting"] * 5
        assert len(ceremony.state.held) == MAX_HELD

    def test_the_piece_can_be_passed_in_a_pause_once(self, circle):
        ceremony = circle().ceremony
        ceremony.begin(0.0)
        ceremony.pause(1.0)
        ceremony.handle(Passed(REX), 2.0)
        ceremony.handle(Passed(REX), 3.0)
        assert states(ceremony.resume(4.0)) == [("Rex (2)", "tool"), ("Mo (4)", "given")]

    def test_closing_ends_the_pause_first(self, circle):
        ceremony = circle().ceremony
        ceremony.begin(0.0)
        ceremony.pause(1.0)
        ceremony.handle(Said(REX, "Before the end."), 2.0)
        effects = ceremony.close(3.0)
        assert told(effects, Contribution)[0].text == "Before the end."
        assert ceremony.state.phase == "close"


class TestRestart:
    @pytest.mark.requirement("GAT-16b")
    def test_on_another_clock_what_was_left_is_left(self, circle):
        played = circle()
        played.run(until=0.0)
        played.ceremony.handle(Reached(REX, "g-6"), 1_010.0)
        assert played.ceremony.deadline() == 1_070.0
        played.restart(now=3.0)
        assert played.ceremony.deadline() == 63.0
        assert [e.kind for e in played.ceremony.advance(63.0) if isinstance(e, Prompt)] == ["beat"]

    @pytest.mark.requirement("GAT-16b")
    def test_in_a_pause_too_what_was_left_is_left(self, circle):
        played = circle()
        played.run(until=0.0)
        played.ceremony.handle(Reached(REX, "g-6"), 1_010.0)
        played.ceremony.pause(1_030.0)
        played.ceremony.handle(Said(MO, "meanwhile"), 1_900.0)
        played.restart(now=3.0)
        assert played.ceremony.deadline() is None
        played.ceremony.resume(503.0)
        assert played.ceremony.deadline() == 543.0

    def test_entries_behind_the_last_step_that_was_kept_are_not_taken_up(self, circle):
        ceremony = circle().ceremony
        ceremony.begin(0.0)
        stored = ceremony.stored()
        ceremony.handle(Said(REX, "not kept"), 1.0)
        again = Ceremony.restored(stored, ceremony.record, TEXTS)
        assert len(again.record) == stored.entries == 1
