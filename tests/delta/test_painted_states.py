"""What a program that paints its screen tells of its state, and what stands there that is no part of its answer."""

import pytest

from streamrelay.delta.turns import UNHEARD
from streamrelay.events import NeedsHuman
from streamrelay.testing.painted_talk import LOOKS, TELLING, Talk, name
from streamrelay.testing.transcript_program import Look

every_look = pytest.mark.parametrize("look", LOOKS, ids=name)

KNOWN = ("title", "agent_state")


@pytest.mark.requirement("DEL-04a")
@pytest.mark.parametrize("look", [look for look in TELLING if look.witness in KNOWN], ids=name)
def test_a_program_that_tells_its_state_is_waited_for_until_it_tells(look: Look) -> None:
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


DIALOG = (" Run it now?", " ❯ 1. Yes", "   2. No", "", " Enter to confirm")


@pytest.mark.requirement("DEL-03a", "DEL-10")
@every_look
def test_a_dialog_right_behind_an_answer_is_no_part_of_it(look: Look) -> None:
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
