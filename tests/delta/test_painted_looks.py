"""Whatever a program that keeps a transcript looks like, and whatever language it speaks, it is heard the same."""

from dataclasses import replace

import pytest

from streamrelay.testing.painted_talk import Talk, name
from streamrelay.testing.transcript_program import UiStyle
from streamrelay.testing.ui_variants import DRESSES

pytestmark = pytest.mark.sampled(12)

PLACES = [
    UiStyle(lines=24),
    UiStyle(lines=24, witness="title", repaints_all=True),
    UiStyle(lines=24, witness="furniture", synchronized=True),
    UiStyle(lines=24, alternate=True, witness="agent_state"),
    UiStyle(lines=24, alternate=True, repaints_all=True),
]


@pytest.mark.requirement("DEL-01", "DEL-02c", "DEL-03a", "DEL-03b")
@pytest.mark.parametrize("columns", [60, 110, 220])
@pytest.mark.parametrize("look", PLACES, ids=name)
@pytest.mark.parametrize("dress", DRESSES)
def test_two_messages_and_their_answers(dress: str, look: UiStyle, columns: int) -> None:
    worn = DRESSES[dress]
    talk = Talk(replace(look, columns=columns, **worn.look))
    expected = []
    for message, answer in zip(worn.messages, worn.answers, strict=True):
        talk.sends(message)
        talk.answers(answer)
        expected += [("injected", message), *(("program", line) for line in answer.split("\n") if line)]
    talk.pane.rests(12.0)
    assert talk.heard() == expected
