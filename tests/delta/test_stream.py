"""What the stream tells besides lines: live text, turns, needs, sizes, gaps, and the end."""

import pytest

from streamrelay.delta.inputs import Ended, Missed, Ran, Reseeded, Resized
from streamrelay.delta.prompt_detection import REST
from streamrelay.delta.stream import DeltaStream
from streamrelay.events import (
    Event,
    Gap,
    Injected,
    Live,
    NeedsHuman,
    PaneClosed,
    PaneOpened,
    PaneResized,
    ProgramChanged,
    Retracted,
    Text,
    TurnEnded,
    TurnStarted,
)
from streamrelay.testing.scripted_pane import ScriptedPane
from streamrelay.vt import TmuxScreen
from streamrelay.vt.engine import Cursor, Snapshot


@pytest.fixture
def pane() -> ScriptedPane:
    return ScriptedPane()


def of(pane: ScriptedPane, *kinds: type[Event]) -> list[Event]:
    return [event for event in pane.events if isinstance(event, kinds)]


def screen(*rows: bytes, cursor: Cursor, alternate: bool = False) -> Snapshot:
    return Snapshot(20, len(rows), rows, (False,) * len(rows), cursor, alternate=alternate)


def test_a_line_that_rests_unfinished_is_shown_live_until_it_is_text(pane: ScriptedPane) -> None:
    pane.prints("half")
    pane.rests(0.1)
    pane.prints(" a line")
    pane.rests(0.1)
    pane.prints("\r\nnext\r\n")
    shown = [(type(event), event.text, event.line) for event in of(pane, Live, Text)]  # type: ignore[attr-defined]
    assert shown == [(Live, "half", 1), (Live, "half a line", 1), (Text, "half a line", 1), (Text, "next", 2)]
    assert of(pane, Retracted) == []


def test_a_line_that_does_not_rest_is_not_shown_live(pane: ScriptedPane) -> None:
    pane.prints("half")
    pane.prints(" a line\r\n")
    pane.rests(0.1)
    assert of(pane, Live) == []


def test_live_text_that_is_erased_is_taken_back(pane: ScriptedPane) -> None:
    pane.prints("working...")
    pane.rests(0.1)
    pane.prints("\r\x1b[K")
    pane.rests(0.1)
    assert [type(event) for event in of(pane, Live, Retracted)] == [Live, Retracted]
    pane.ends()
    assert pane.said() == []


def test_live_text_that_proves_to_be_an_echo_is_taken_back(pane: ScriptedPane) -> None:
    pane.prints("$ ")
    pane.rests(0.1)
    pane.sends("ls", painted="ls")
    pane.prints("\r\n")
    pane.rests(0.1)
    lives = {event.line for event in of(pane, Live)}  # type: ignore[attr-defined]
    retracted = {event.line for event in of(pane, Retracted)}  # type: ignore[attr-defined]
    assert lives == retracted


def test_an_echo_in_the_gap_is_not_shown_live(pane: ScriptedPane) -> None:
    pane.sends("hello", painted="hello")
    assert of(pane, Live) == []


def test_a_program_that_only_prints_opens_turn_nought(pane: ScriptedPane) -> None:
    pane.prints("Welcome\r\n")
    pane.rests()
    (started,), (ended,) = of(pane, TurnStarted), of(pane, TurnEnded)
    assert (started.turn, ended.turn) == (0, 0)
    assert pane.texts()[0].turn == 0


@pytest.mark.requirement("DEL-04b")
def test_a_turn_and_its_continuation(pane: ScriptedPane) -> None:
    pane.sends("hello", painted="hello\r\n")
    pane.prints("one\r\n")
    pane.rests(2.0)
    pane.prints("two\r\n")
    pane.rests(2.0)
    turns = of(pane, TurnStarted, TurnEnded)
    assert [(type(event), event.turn) for event in turns] == [(TurnStarted, 1), (TurnEnded, 1)] * 2
    assert [event.message_id for event in turns if isinstance(event, TurnStarted)] == ["m1", None]
    assert [event.certain for event in turns if isinstance(event, TurnEnded)] == [False, False]


@pytest.mark.requirement("DEL-04a")
def test_no_silence_ends_the_turn_of_a_command_that_a_line_editor_submitted(pane: ScriptedPane) -> None:
    pane.prints("\x1b[?2004h$ ")
    pane.rests()
    pane.sends("make", painted="make")
    pane.prints("\r\n\x1b[?2004l\rcompiling\r\n")
    pane.rests(3600)
    assert of(pane, TurnEnded) == []
    pane.prints("done\r\n\x1b[?2004h$ ")
    pane.rests(1)
    (ended,) = of(pane, TurnEnded)
    assert isinstance(ended, TurnEnded)
    assert (ended.reason, ended.certain, ended.turn) == ("composer", True, 1)
    assert {vote.by: vote.says for vote in ended.votes} == {"composer": "idle", "quiet": "idle"}


def test_every_turn_that_starts_ends_before_the_next(pane: ScriptedPane) -> None:
    for text in ("hello", "and", "again"):
        pane.sends(text)
        pane.prints(f"{text}\r\n")
        pane.rests()
    pane.ends()
    kinds = [type(event) for event in of(pane, TurnStarted, TurnEnded)]
    assert kinds == [TurnStarted, TurnEnded] * 3
    assert pane.said() == ["hello", "and", "again"]


def test_states_of_an_injection_in_their_order(pane: ScriptedPane) -> None:
    pane.sends("at once", painted="at once")
    pane.prints("\r\n")
    pane.sends("unseen")
    states = [(event.message_id, event.state) for event in of(pane, Injected)]  # type: ignore[attr-defined]
    assert states == [("m1", "pasting"), ("m1", "painted"), ("m1", "entering"), ("m2", "pasting"), ("m2", "entering")]


def test_a_question_that_rests_needs_a_human_once(pane: ScriptedPane) -> None:
    pane.prints("Password: ")
    pane.rests(REST / 2)
    assert pane.stream.needs_human is None
    pane.rests(REST)
    assert pane.stream.needs_human == "password"
    pane.rests()
    (need,) = of(pane, NeedsHuman)
    assert isinstance(need, NeedsHuman)
    assert (need.kind, need.text) == ("password", "Password:")
    pane.prints("\r\n")
    assert pane.stream.needs_human == "password"  # until a look has shown otherwise: nothing is typed meanwhile
    pane.rests()
    assert pane.stream.needs_human is None


def test_what_moves_beside_a_question_does_not_hide_it(pane: ScriptedPane) -> None:
    pane.prints("Password: ")
    for _ in range(20):
        pane.prints("\x1b7\x1b[6H.\x1b8")
        pane.rests(REST / 3)
    assert len(of(pane, NeedsHuman)) == 1
    assert pane.stream.needs_human == "password"


def test_a_question_that_is_answered_at_once_needs_nobody(pane: ScriptedPane) -> None:
    pane.prints("Continue? [y/N] ")
    pane.rests(REST / 2)
    pane.prints("y\r\n")
    pane.rests()
    assert of(pane, NeedsHuman) == []


def test_the_same_question_again_needs_a_human_again(pane: ScriptedPane) -> None:
    for _ in range(2):
        pane.prints("Continue? [y/N] ")
        pane.rests()
        pane.prints("maybe\r\n")
        pane.rests()
    assert len(of(pane, NeedsHuman)) == 2


def test_a_question_that_stood_there_before_anybody_watched(pane: ScriptedPane) -> None:
    pane.begins(screen(b"Password: ", b"", cursor=Cursor(10, 0)))
    pane.rests()
    assert pane.stream.needs_human == "password"


def test_what_stood_there_before_is_not_said_and_its_open_line_is_a_prompt() -> None:
    pane = ScriptedPane(20, 3)
    pane.begins(screen(b"old", b"$ ", b"", cursor=Cursor(2, 1)))
    pane.sends("ls", painted="ls")
    pane.prints("\r\nfile\r\n$ ")
    pane.ends()
    assert [(event.text, event.origin) for event in pane.texts()] == [("ls", "injected"), ("file", "program")]


def test_a_new_size_is_said_and_nothing_is_said_twice() -> None:
    pane = ScriptedPane(20, 3)
    pane.prints("one\r\ntwo\r\n")
    pane.events += pane.stream.apply(
        Reseeded(pane.now, "%0", Snapshot(10, 2, (b"two", b""), (False,) * 2, Cursor(0, 1)))
    )
    pane.prints("three\r\n")
    (resized,) = of(pane, PaneResized)
    assert isinstance(resized, PaneResized)
    assert (resized.columns, resized.lines) == (10, 2)
    assert pane.said() == ["one", "two", "three"]


def test_the_same_size_again_is_not_said() -> None:
    pane = ScriptedPane(20, 2)
    pane.events += pane.stream.apply(Reseeded(pane.now, "%0", screen(b"", b"", cursor=Cursor(0, 0))))
    assert pane.events == []


def test_a_recorded_resize() -> None:
    pane = ScriptedPane(20, 3)
    pane.prints("one\r\n")
    pane.events += pane.stream.apply(Resized(pane.now, "%0", 40, 5))
    pane.prints("two\r\n")
    pane.ends()
    assert pane.said() == ["one", "two"]
    assert len(of(pane, PaneResized)) == 1


@pytest.mark.requirement("DEL-01")
def test_lines_printed_under_a_hidden_cursor_are_said_when_their_program_is_quiet(pane: ScriptedPane) -> None:
    pane.prints("\x1b[?25lone\r\ntwo\r\n")
    pane.rests()
    assert pane.said() == ["one", "two"]
    pane.prints("three\r\n")
    pane.rests()
    assert pane.said() == ["one", "two", "three"]


@pytest.mark.requirement("DEL-01")
@pytest.mark.parametrize("seeded", [True, False])
def test_lines_printed_under_a_hidden_cursor_outlive_a_new_screen(seeded: bool) -> None:
    pane = ScriptedPane(20, 4)
    pane.prints("\x1b[?25lone\r\ntwo\r\n")
    pane.rests(0.1)
    if seeded:
        rows = (b"one", b"two", b"", b"", b"")
        pane.events += pane.stream.apply(Reseeded(pane.now, "%0", Snapshot(30, 5, rows, (False,) * 5, Cursor(0, 2))))
    else:
        pane.events += pane.stream.apply(Resized(pane.now, "%0", 30, 5))
    pane.prints("three\r\n\x1b[?25h")
    pane.rests()
    assert pane.said() == ["one", "two", "three"]


def test_a_program_in_place_of_another_has_none_of_its_modes() -> None:
    pane = ScriptedPane(20, 4)
    pane.prints("\x1b[?2004h$ \x1b[?25l\x1b[?1049h\x1b[Hpicture")
    pane.rests(0.1)
    blank = screen(b"", b"", b"", b"", cursor=Cursor(0, 0))
    pane.events += pane.stream.apply(Reseeded(pane.now, "%0", blank, respawned=True))
    pane.prints("one\r\ntwo\r\n")
    assert pane.said() == ["one", "two"]
    assert not pane.stream.converses
    assert not pane.stream.pane_state.asks_for_paste


LONG_LINE = "compiling the kernel with many options and flags ... "


def squeezed(pane: ScriptedPane, *, seeded: bool) -> None:
    """Let the pane become so small that it holds only the end of its open line."""
    if seeded:
        rows = (LONG_LINE[40:].encode(), b"")
        pane.events += pane.stream.apply(
            Reseeded(pane.now, "%0", Snapshot(20, 2, rows, (False,) * 2, Cursor(len(LONG_LINE) - 40, 0)))
        )
    else:
        pane.events += pane.stream.apply(Resized(pane.now, "%0", 20, 2))


@pytest.mark.requirement("DEL-01", "DEL-08")
@pytest.mark.parametrize("seeded", [True, False])
def test_a_new_size_leaves_the_open_line_its_head(seeded: bool) -> None:
    pane = ScriptedPane(80, 4)
    pane.prints(LONG_LINE)
    pane.rests(0.1)
    squeezed(pane, seeded=seeded)
    pane.prints("ok\r\nend\r\n")
    pane.rests()
    assert pane.said() == [LONG_LINE + "ok", "end"]


@pytest.mark.requirement("DEL-02a", "DEL-08")
@pytest.mark.parametrize("seeded", [True, False])
def test_an_echo_that_a_new_size_leaves_only_the_end_of_is_an_echo(seeded: bool) -> None:
    pane = ScriptedPane(80, 4)
    message_id = pane.pastes(LONG_LINE.strip())
    pane.prints(LONG_LINE)
    squeezed(pane, seeded=seeded)
    pane.submits(message_id)
    pane.prints("\r\nok\r\n")
    pane.rests()
    assert pane.said() == ["ok"]


@pytest.mark.parametrize("mode", ["1049", "47"])
def test_a_full_screen_program_says_nothing_and_leaving_it_goes_on(pane: ScriptedPane, mode: str) -> None:
    pane.prints(f"before\r\n\x1b[?{mode}h\x1b[2J\x1b[Hfull\r\nscreen\r\n")
    pane.rests()
    pane.prints(f"more\r\n\x1b[?{mode}l")
    pane.prints("after\r\n")
    pane.ends()
    assert [line for line in pane.said() if line] == ["before", "after"]


def test_what_stands_open_at_the_end_is_final(pane: ScriptedPane) -> None:
    pane.prints("one\r\nno line feed")
    pane.ends()
    assert pane.said() == ["one", "no line feed"]
    assert isinstance(pane.events[-1], PaneClosed)
    assert isinstance(pane.events[-2], TurnEnded)


def test_a_prompt_at_the_end_is_not_said(pane: ScriptedPane) -> None:
    pane.prints("\x1b[?2004h$ ")
    pane.rests()
    pane.sends("ls", painted="ls")
    pane.prints("\r\n\x1b[?2004l\rfile\r\n\x1b[?2004h$ ")
    pane.ends()
    assert pane.said() == ["file"]


def test_gaps_and_programs_are_passed_on_with_the_time() -> None:
    stream = DeltaStream(TmuxScreen(20, 3), session="s", pane="%4")
    events = stream.opened(0.5, command="cat", title="t")
    events += stream.apply(Missed(1.0, "%0", "moved", lost_lines=3))
    events += stream.apply(Ran(2.0, "%0", "vi"))
    events += stream.apply(Ended(3.0, "%0", "session_gone", tail_certain=True))
    assert [type(event) for event in events] == [PaneOpened, Gap, ProgramChanged, PaneClosed]
    assert [event.t for event in events] == [0.5, 1.0, 2.0, 3.0]
    assert {(event.session, event.pane) for event in events} == {("s", "%4")}
    assert stream.now == 3.0


def test_output_and_echo_on_one_row_share_its_number(pane: ScriptedPane) -> None:
    pane.sends("hello", painted="hello")
    pane.prints("hello\r\n\r\nafter\r\n")
    assert [(event.text, event.line) for event in pane.texts()] == [("hello", 1), ("hello", 1), ("after", 3)]


@pytest.mark.requirement("DEL-01", "DEL-07a")
def test_lines_that_leave_the_screen_while_it_is_painted_are_unwrapped_too() -> None:
    pane = ScriptedPane(40, 6)
    words = "one two three four five six seven eight nine ten eleven twelve"
    rows = ["one two three four five six seven eight", "nine ten eleven twelve"]
    pane.prints("\x1b[?25l")
    for number in range(8):
        for row in (f"{number}:", *rows):
            pane.prints(f"{row:40}\r\n\x1b[A\x1b[2K{row:40}\r\n")
        pane.prints(f"{'':40}\r\n")
        pane.rests(0.1)
    said = [line for line in pane.said() if line]
    assert said == [line for number in range(6) for line in (f"{number}:", words)]
    pane.prints("\x1b[?25h")
    pane.rests(0.1)
    pane.ends()
    assert [line for line in pane.said() if line] == [line for number in range(8) for line in (f"{number}:", words)]


def test_what_an_agent_painted_before_its_composer_is_chrome_though_it_asked_for_paste_before() -> None:
    """An agent that is watched from after its request for bracketed paste on is known by its composer."""
    pane = ScriptedPane(40, 12)
    pane.begins(Snapshot(40, 12, (b"",) * 12, (False,) * 12, Cursor(0, 0)))
    pane.prints("Welcome to the agent\r\nmodel: x\r\n\r\n")
    edge = "─" * 36
    pane.prints(f"╭{edge}╮\r\n│ > {' ' * 33}│\r\n╰{edge}╯\r\n  ? for shortcuts\x1b[2A\x1b[5G")
    pane.rests()
    assert pane.said() == []
    assert pane.stream.converses
