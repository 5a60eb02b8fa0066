"""What stands on a painted screen besides answers: deeds, drafts, live text, repaints, editors."""

from dataclasses import replace

import pytest

from streamrelay.delta.inputs import Resized
from streamrelay.events import Activity, Gap, Live, PaneResized, Retracted, Text, TurnStarted
from streamrelay.testing.painted_talk import LOOKS, Talk, name
from streamrelay.testing.scripted_pane import ScriptedPane
from streamrelay.testing.transcript_program import UiStyle

pytestmark = pytest.mark.sampled(6)

every_look = pytest.mark.parametrize("look", LOOKS, ids=name)

LINES = [f"line {n} {'word ' * (n % 5)}end {n}" for n in range(30)]
"""An answer of more rows than a screen has."""


@pytest.mark.requirement("DEL-03c")
@every_look
def test_what_the_program_does_is_activity(look: UiStyle) -> None:
    talk = Talk(look)
    talk.sends("list the files")
    talk.paints(talk.program.says("I will look."), talk.program.calls_tool("Bash(ls)", "a.py"))
    talk.answers("One file.")
    assert talk.pane.said() == ["I will look.", "One file."]
    (activity,) = talk.of(Activity)
    assert isinstance(activity, Activity)
    assert activity.text == "● Bash(ls)\n  ⎿  a.py"


@pytest.mark.requirement("DEL-05")
@every_look
def test_what_a_person_types_and_submits_is_typed(look: UiStyle) -> None:
    talk = Talk(look)
    talk.types("what is up")
    assert talk.heard() == []
    talk.paints(talk.program.submits())
    talk.answers("not much")
    assert talk.heard() == [("typed", "what is up"), ("program", "not much")]
    assert [ended.turn for ended in talk.ends()] == [1]


@pytest.mark.requirement("DEL-01")
@every_look
def test_notices_above_a_message_that_stays_in_the_composer_come_once(look: UiStyle) -> None:
    talk = Talk(look)
    talk.asks("hello there")
    for notice in ("notice one", "\nnotice two"):
        talk.paints(talk.program.says(notice), rest=30.0)
    talk.pane.ends()
    # Nobody can tell whether what scrolls off an alternate screen meanwhile was said: there it is a gap.
    assert talk.pane.said() == ([] if look.alternate else ["notice one", "notice two"])
    assert len(talk.of(Gap)) == (1 if look.alternate else 0)


@pytest.mark.requirement("DEL-05")
@every_look
def test_a_draft_that_a_person_deletes_was_not_submitted(look: UiStyle) -> None:
    talk = Talk(look)
    for draft in ("w", "wh", "wha", "wh", "w", ""):
        talk.paints(talk.program.drafts(draft))
    talk.pane.rests()
    assert talk.heard() == []
    assert talk.of(TurnStarted) == []


@pytest.mark.requirement("DEL-07a", "DEL-07b")
@every_look
def test_live_text_is_shown_in_time_and_replaced_or_taken_back(look: UiStyle) -> None:
    talk = Talk(look)
    talk.sends("tell me")
    talk.paints(talk.program.works())
    before = talk.pane.now
    talk.paints(talk.program.says("a first"))
    live = [event for event in talk.of(Live) if event.t >= before]
    assert [event.text for event in live if isinstance(event, Live)][-1].endswith("a first")
    assert live[0].t - before <= 0.1
    talk.answers(" answer\nwith two lines")
    talk.pane.ends()
    shown: set[int] = set()
    for event in talk.pane.events:
        if isinstance(event, Live):
            shown.add(event.line)
        elif isinstance(event, Retracted):
            assert event.line in shown
            shown.discard(event.line)
        elif isinstance(event, Text) and event.origin == "program":
            shown.discard(event.line)
    assert shown == set()


# Repaints that are not news


@pytest.mark.requirement("DEL-08")
@pytest.mark.parametrize("wipes_history", [False, True], ids=["2J", "3J"])
@every_look
def test_a_transcript_painted_anew_between_turns_says_nothing(look: UiStyle, wipes_history: bool) -> None:
    talk = Talk(look)
    talk.sends("tell me all")
    talk.answers("\n".join(LINES))
    heard = talk.heard()
    talk.paints(talk.program.repaints(wipes_history=wipes_history), rest=5.0)
    assert talk.heard() == heard
    talk.sends("and now")
    talk.answers("no more")
    assert talk.heard()[len(heard) :] == [("injected", "and now"), ("program", "no more")]


@pytest.mark.requirement("DEL-08")
@pytest.mark.parametrize("wipes_history", [False, True], ids=["2J", "3J"])
@every_look
def test_a_transcript_painted_anew_in_mid_answer_doubles_nothing(look: UiStyle, wipes_history: bool) -> None:
    talk = Talk(look)
    talk.sends("tell me all")
    talk.streams("\n".join(LINES[:20]))
    talk.paints(talk.program.repaints(wipes_history=wipes_history), rest=0.1)
    talk.answers("\n" + "\n".join(LINES[20:]))
    assert talk.heard() == [("injected", "tell me all"), *(("program", line) for line in LINES)]


def _resizes(talk: Talk, columns: int, lines: int) -> None:
    """The program learns of its new size a while later, and paints all that fits once more, wrapped for it."""
    talk.pane.events += talk.pane.stream.apply(Resized(talk.pane.now, "%0", columns, lines))
    talk.pane.rests(0.2)
    look = talk.program.style
    talk.program.style = replace(look, columns=columns, lines=lines)
    talk.program.says("")
    talk.paints(talk.program.repaints(wipes_history=False), rest=0.1)


PARAGRAPHS = [f"Number {n} of all {'words that are many ' * (1 + n % 6)}ends with {n}." for n in range(24)]
"""Lines that are wrapped in one size and not in another."""


@pytest.mark.requirement("DEL-08")
@pytest.mark.parametrize("sizes", [[(50, 14)], [(44, 12), (100, 30), (70, 20)]], ids=["one", "three"])
@every_look
def test_new_sizes_in_mid_answer_lose_and_double_nothing(look: UiStyle, sizes: list[tuple[int, int]]) -> None:
    talk = Talk(look)
    talk.sends("tell me all")
    talk.streams("\n\n".join(PARAGRAPHS[:8]))
    for n, (columns, lines) in enumerate(sizes):
        _resizes(talk, columns, lines)
        talk.streams("\n\n" + "\n\n".join(PARAGRAPHS[8 + 4 * n : 12 + 4 * n]))
    talk.answers("\n\n" + "\n\n".join(PARAGRAPHS[8 + 4 * len(sizes) :]))
    talk.pane.rests(30.0)  # An answer whose message is not to be seen is waited for, without a signal.
    assert talk.heard() == [("injected", "tell me all"), *(("program", line) for line in PARAGRAPHS)]
    assert not talk.of(Gap)
    assert len(talk.of(PaneResized)) == len(sizes)


@pytest.mark.requirement("DEL-02c")
def test_a_program_that_erases_all_below_from_the_top_of_the_screen() -> None:
    talk = Talk(UiStyle(erases_below=True))
    talk.sends("hello there")
    talk.answers("fine")
    assert talk.heard() == [("injected", "hello there"), ("program", "fine")]


@pytest.mark.requirement("DEL-06", "DEL-02c")
def test_an_editor_between_two_commands_of_a_shell_says_nothing() -> None:
    pane = ScriptedPane()
    pane.prints("\x1b[?2004h$ ")
    pane.rests()
    pane.sends("edit", painted="edit")
    pane.prints("\r\n\x1b[?2004l\r\x1b[?1049h\x1b[?2004h\x1b[2J\x1b[Htext\r\n~\r\n~\x1b[24;1H-- INSERT --\x1b[1;5H")
    pane.rests()
    pane.sends("inserted", painted="\x1b[1;1Hinserted\x1b[1;9H")
    pane.prints("\x1b[2;1Htext\x1b[K\x1b[24;1H2 lines\x1b[2;1H")
    pane.rests()
    pane.prints("\x1b[?2004l\x1b[?1049l\x1b[?2004h$ ")
    pane.rests()
    pane.sends("echo hi", painted="echo hi")
    pane.prints("\r\n\x1b[?2004l\rhi\r\n\x1b[?2004h$ ")
    pane.ends()
    assert pane.said() == ["hi"]


@pytest.mark.requirement("DEL-01")
def test_an_answer_taller_than_what_is_remembered_is_said_behind_a_gap() -> None:
    talk = Talk(UiStyle(witness="title"))
    talk.sends("everything")
    for start in range(0, 12_000, 100):
        rows = "".join(f"\x1b[16;1H\r\nrow {n}" for n in range(start, start + 100))
        talk.paints(rows.encode(), rest=0.02)
    talk.paints(b"\r\n", talk.program.rests(), rest=5.0)
    said = [line for line in talk.pane.said() if line.startswith("row ")]
    (gap,) = talk.of(Gap)
    assert isinstance(gap, Gap)
    assert gap.lost_lines is not None
    first = int(said[0].removeprefix("row "))
    assert said == [f"row {n}" for n in range(first, first + len(said))]
    assert len(said) > 5000
    assert gap.lost_lines >= first > 0


@pytest.mark.requirement("DEL-01", "DEL-08")
@pytest.mark.parametrize("pause", [0.5, 3.0])
@every_look
def test_what_is_said_again_in_a_transcript_that_was_cleared_is_new(look: UiStyle, pause: float) -> None:
    talk = Talk(look)
    for _ in range(2):
        talk.sends("hello there")
        talk.answers("fine")
        talk.asks("/clear")
        talk.program.queues()
        talk.program.transcript.clear()
        talk.paints(talk.program.repaints(wipes_history=not look.alternate), rest=pause)
    said = [(origin, text) for origin, text in talk.heard() if text != "/clear"]
    assert said == [("injected", "hello there"), ("program", "fine")] * 2
