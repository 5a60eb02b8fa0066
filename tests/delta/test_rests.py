"""When a pane is looked at again after it printed: a line that is whole asks for nothing, and nothing is lost."""

import random

import pytest

from streamrelay.delta.attention import REST
from streamrelay.delta.frames import SETTLE
from streamrelay.delta.stream import DeltaStream
from streamrelay.events import encode
from streamrelay.testing.scripted import ScriptedPane

PARTS = [
    "a line\r\n", "half", "\r\n", "\r\x1b[K50 %", "\rdone\r\n", "$ ", "Password: ", "Continue? [y/N] ", "y\r\n",
    "\x1b[?25l", "\x1b[?25h", "\x1b[A", "\x1b[2K", "\x1b[5;1H", "\x1b[H\x1b[2J", "\x1b[?2004h", "\x1b[?2004l\r\r\n",
    "? Which one?\r\n❯ 1. this\r\n  2. that\r\n", "Press Enter to continue\r\n", "\x1b[?1049h", "\x1b[?1049l",
    "\x1b[31mred\x1b[0m\r\n", "x" * 200 + "\r\n", "tail\r\n" * 40,
]  # fmt: skip
PAUSES = [0.0, 0.0, SETTLE / 2, SETTLE * 2, REST * 2, 5.0]


def waits(pane: ScriptedPane) -> float | None:
    deadline = pane.stream.deadline()
    return None if deadline is None else deadline - pane.now


@pytest.mark.parametrize("printed", ["a line\r\n", "\x1b[31mred\x1b[m\r\n", "one\r\ntwo\r\n", "50 %\r100 %\r\n"])
def test_a_program_that_has_ended_its_line_is_left_alone_until_its_turn_ends(printed: str) -> None:
    pane = ScriptedPane()
    pane.prints(printed)
    left = waits(pane)
    assert left is not None
    assert left > SETTLE
    pane.rests(left)
    assert waits(pane) is None


@pytest.mark.parametrize(
    "printed",
    [
        "half a line",
        "Password: ",
        "\x1b[?25la line\r\n",
        "\x1b[?2004h$ ",
        "below\x1b[H\r\n",
        "one\r\ntwo\x1b[A\r",
        "❯ 1. this\r\n  2. that\x1b[A\r",
    ],
)
def test_anything_else_is_looked_at_when_it_rests(printed: str) -> None:
    pane = ScriptedPane()
    pane.prints(printed)
    assert waits(pane) == pytest.approx(SETTLE)


def test_a_question_stands_until_a_look_has_shown_otherwise() -> None:
    pane = ScriptedPane()
    pane.prints("Password: ")
    pane.rests(REST * 2)
    pane.prints("\r\n")
    assert pane.stream.needs_human == "password"
    assert waits(pane) == pytest.approx(SETTLE)


def said(parts: list[tuple[str, float]]) -> list[bytes]:
    pane = ScriptedPane(40, 12)
    for text, pause in parts:
        if text == "m":
            pane.sends("hello there")
        else:
            pane.prints(text)
        pane.rests(pause)
    pane.rests()
    return [encode(event) for event in pane.events]


@pytest.mark.parametrize("seed", range(60))
def test_the_events_are_those_of_looking_at_every_rest(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    pick = random.Random(f"rests {seed}")
    favoured = pick.sample(PARTS, 4) + ["a line\r\n"] * 4 + ["m"]
    parts = [(pick.choice(favoured if pick.random() < 0.8 else PARTS), pick.choice(PAUSES)) for _ in range(60)]
    events = said(parts)
    monkeypatch.setattr(DeltaStream, "_is_past_all", property(lambda _self: False))
    assert events == said(parts)
