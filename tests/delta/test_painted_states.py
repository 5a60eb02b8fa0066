"""What a program that paints its screen tells of its state, and what stands there that is no part of its answer."""

import pytest

from streamrelay.delta.turns import UNHEARD
from streamrelay.events import Gap, NeedsHuman, TurnEnded, TurnStarted
from streamrelay.testing.painted_talk import LOOKS, TELLING, Talk, name
from streamrelay.testing.transcript_program import UiStyle

pytestmark = pytest.mark.sampled(6)

every_look = pytest.mark.parametrize("look", LOOKS, ids=name)

KNOWN = ("title", "agent_state")


@pytest.mark.requirement("DEL-04a")
@pytest.mark.parametrize("look", [look for look in TELLING if look.witness in KNOWN], ids=name)
def test_a_program_that_tells_its_state_is_waited_for_until_it_tells(look: UiStyle) -> None:
    talk = Talk(look)
    talk.sends("first")
    talk.answers("one")
    talk.asks("second")
    talk.paints(talk.program.shows(), rest=5.0)
    assert len(talk.ends()) == 1, "it has the message in a queue"
    talk.answers("two")
    assert [(ended.turn, ended.reason, ended.certain) for ended in talk.ends()] == [
        (1, "signal", True), (2, "signal", True),
    ]  # fmt: skip
    talk.asks("third")
    talk.paints(talk.program.shows(), rest=UNHEARD + 1.0)
    last = talk.ends()[-1]
    assert (last.turn, last.reason, last.certain) == (3, "quiet", False)
    talk.answers("three")
    assert talk.pane.said() == ["one", "two", "three"]
    assert (talk.ends()[-1].turn, talk.ends()[-1].reason) == (3, "signal")


@pytest.mark.requirement("DEL-04c")
@pytest.mark.parametrize("look", [look for look in TELLING if look.witness in KNOWN], ids=name)
def test_a_message_to_a_program_that_is_busy_starting_has_a_turn_of_its_own(look: UiStyle) -> None:
    """Codex says that it is at work while it starts its tools, and takes messages meanwhile."""
    talk = Talk(look, seeded=True)
    talk.paints(talk.program.works(), rest=2.0)
    talk.sends("first")
    talk.answers("one")
    talk.sends("second")
    talk.answers("two")
    assert [
        (type(event).__name__, event.turn, event.message_id if isinstance(event, TurnStarted) else event.reason)
        for event in talk.of(TurnStarted, TurnEnded)
    ] == [
        ("TurnStarted", 0, None), ("TurnEnded", 0, "superseded"),
        ("TurnStarted", 1, "m1"), ("TurnEnded", 1, "signal"),
        ("TurnStarted", 2, "m2"), ("TurnEnded", 2, "signal"),
    ]  # fmt: skip
    assert [(text.text, text.turn) for text in talk.pane.texts() if text.text] == [
        ("first", 1), ("one", 1), ("second", 2), ("two", 2),
    ]  # fmt: skip


DIALOG = (" Run it now?", " ❯ 1. Yes", "   2. No", "", " Enter to confirm")


@pytest.mark.requirement("DEL-03a", "DEL-10")
@every_look
def test_a_dialog_right_behind_an_answer_is_no_part_of_it(look: UiStyle) -> None:
    talk = Talk(look)
    talk.sends("first")
    talk.streams("the answer\nand its end")
    talk.paints(talk.program.rests(), rest=0.05)
    talk.paints(talk.program.asks(*DIALOG), rest=60.0)
    assert (talk.ends(), talk.pane.said()) == ([], []), "it is read when the dialog is gone"
    assert [event.text for event in talk.of(NeedsHuman)] == ["Run it now?"]
    talk.paints(talk.program.asks(), rest=5.0)
    assert talk.pane.said() == ["the answer", "and its end"]
    assert [ended.turn for ended in talk.ends()] == [1]
    talk.sends("second")
    talk.answers("more")
    assert talk.pane.said() == ["the answer", "and its end", "more"]


PANEL = ("Commands", "  /help   show this", "  /clear  forget all")


@pytest.mark.requirement("DEL-05")
@every_look
def test_an_answer_is_read_when_its_composer_is_back(look: UiStyle) -> None:
    """A panel that is no dialog stands in its place: where the answer ends is not known before."""
    talk = Talk(look)
    talk.sends("first")
    talk.answers("one")
    talk.sends("second")
    talk.streams("two")
    talk.paints(talk.program.asks(*PANEL), talk.program.rests(), rest=5.0)
    assert ("program", "two") not in talk.heard()
    talk.paints(talk.program.asks(), rest=5.0)
    assert talk.heard()[-1] == ("program", "two")


@pytest.mark.requirement("DEL-05")
@every_look
def test_of_a_screen_without_its_composer_nothing_is_said_but_a_gap(look: UiStyle) -> None:
    talk = Talk(look)
    talk.sends("first")
    talk.answers("one")
    talk.sends("second")
    talk.streams("two")
    talk.paints(talk.program.asks(*PANEL), rest=1.0)
    talk.pane.ends()
    assert talk.heard()[-1] == ("program", "one")
    assert [gap.reason for gap in talk.of(Gap)] == ["unreadable"]
