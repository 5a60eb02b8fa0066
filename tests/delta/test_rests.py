"""When a pane is looked at again after it printed: a line that is whole asks for nothing, and nothing is lost.

Nor is anything lost where a line that is written over is shown less often than it rests.
"""

import itertools
import random

import msgspec
import pytest

from streamrelay.delta import stream
from streamrelay.delta.frames import SETTLE
from streamrelay.delta.prompt_detection import REST
from streamrelay.delta.stream import SHOWN_FOR, DeltaStream
from streamrelay.events import Event, Live, NeedsHuman, Retracted, encode
from streamrelay.testing.scripted_pane import ScriptedPane

PARTS = [
    "a line\r\n", "half", "\r\n", "\r\x1b[K50 %", "\rdone\r\n", "$ ", "Password: ", "Continue? [y/N] ", "y\r\n",
    "\x1b[?25l", "\x1b[?25h", "\x1b[A", "\x1b[2K", "\x1b[5;1H", "\x1b[H\x1b[2J", "\x1b[?2004h", "\x1b[?2004l\r\r\n",
    "? Which one?\r\n❯ 1. this\r\n  2. that\r\n", "Press Enter to continue\r\n", "\x1b[?1049h", "\x1b[?1049l",
    "\x1b[31mred\x1b[0m\r\n", "x" * 200 + "\r\n", "tail\r\n" * 40,
]  # fmt: skip
STATES = ["\r 10 %", "\r 20 %", "\r\x1b[K$ ", "\rls", "Name: ", "Bob", "\b\b", "\r\x1b[K"]
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


def said(parts: list[tuple[str, float]], *without: type[Event]) -> list[bytes]:
    pane = ScriptedPane(40, 12)
    for text, pause in parts:
        if text == "m":
            pane.sends("hello there")
        else:
            pane.prints(text)
        pane.rests(pause)
    pane.rests()
    return [encode(event) for event in pane.events if not isinstance(event, without)]


def words(parts: list[tuple[str, float]]) -> list[str]:
    """What was said, without times: a rest may come later."""
    kept = (b"text", b"origin", b"message_id", b"turn", b"line")
    # A question that is written over within a second is told or not as a look happens to fall.
    events = [msgspec.json.decode(line) for line in said(parts, Live, Retracted, NeedsHuman)]
    return [str({key: event.get(key.decode()) for key in kept} | {b"event": event["event"]}) for event in events]


@pytest.mark.sampled(12)
@pytest.mark.parametrize("seed", range(60))
def test_the_events_are_those_of_looking_at_every_rest(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    pick = random.Random(f"rests {seed}")
    favoured = pick.sample(PARTS, 4) + ["a line\r\n"] * 4 + ["m"]
    parts = [(pick.choice(favoured if pick.random() < 0.8 else PARTS), pick.choice(PAUSES)) for _ in range(60)]
    events = said(parts)
    monkeypatch.setattr(DeltaStream, "_is_past_all", property(lambda _self: False))
    assert events == said(parts)


def test_a_line_that_is_written_over_is_shown_no_sooner_than_it_is_read_and_as_it_stands_in_the_end() -> None:
    pane = ScriptedPane()
    for percent in range(40):
        pane.prints(f"\r{percent:3} %")
        pane.rests(0.03)
    pane.rests(SHOWN_FOR)
    shown = [event for event in pane.events if isinstance(event, Live)]
    assert shown[-1].text == " 39 %"
    assert len(shown) > 5
    assert min(after.t - before.t for before, after in itertools.pairwise(shown)) >= SHOWN_FOR - 1e-6


def test_a_prompt_behind_a_line_that_is_written_over_is_known_at_once() -> None:
    pane = ScriptedPane()
    pane.prints("$ ")
    pane.rests(1.0)
    pane.sends("make", painted="make")
    pane.prints("\r\n 10 %")
    pane.rests(SETTLE)
    pane.prints("\r\x1b[K$ ")
    pane.rests(SETTLE)
    pane.prints("ls\r\n")
    assert pane.said("typed") == ["ls"]


@pytest.mark.sampled(12)
@pytest.mark.parametrize("seed", range(100))
def test_the_words_are_those_of_showing_a_line_at_every_rest(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    pick = random.Random(f"shown {seed}")
    favoured = [*pick.sample(PARTS + STATES, 3), *STATES]
    pauses = [0.0, SETTLE / 2, SETTLE * 2, 0.03, 0.05, SHOWN_FOR * 2]
    parts = [(pick.choice(favoured if pick.random() < 0.8 else PARTS), pick.choice(pauses)) for _ in range(60)]
    heard = words(parts)
    monkeypatch.setattr(stream, "SHOWN_FOR", 0.0)
    assert heard == words(parts)
