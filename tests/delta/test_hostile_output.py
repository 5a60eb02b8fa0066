"""Programs that print what the stream looks for: nothing raises, nothing loops, memory and cost stay bounded."""

import dataclasses
import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from streamrelay.delta.inputs import Resized
from streamrelay.delta.layout.rows import PaintedRow
from streamrelay.delta.printing import lines
from streamrelay.delta.transcript import document
from streamrelay.delta.transcript.document import MAX_ROWS_ABOVE
from streamrelay.events import PaneClosed, PaneResized, TurnEnded, TurnStarted
from streamrelay.testing.scripted_pane import ScriptedPane
from streamrelay.testing.transcript_program import TranscriptProgram, UiStyle
from streamrelay.vt.engine import Rows
from tests.sampling import examples

PIECES = [
    b"\x1b[H", b"\x1b[2J", b"\x1b[3J", b"\x1b[J", b"\x1b[K", b"\x1b[5A", b"\x1b[3B", b"\x1b[L", b"\x1b[M", b"\x1b[S",
    b"\x1b[T", b"\x1b[2;5r", b"\x1b[r", b"\r\n", b"\n", b"\x1b[?2004h", b"\x1b[?2004l", b"\x1b[?1049h", b"\x1b[?1049l",
    b"\x1b[?25l", b"\x1b[?25h", b"\x1b[?2026h", b"\x1b[?2026l", b"\x1bc", "\x1b]0;⠋ x\x07".encode(), b"\x1b]0;x\x07",
    b"\x1b]7501;state=working\x07", b"\x1b]7501;state=idle\x07", b"\x1b[1;1H", b"\x1b[10;1H", b"\x1b[99;1H",
    "● text".encode(), b"> hello", "─────────────────────".encode(), "  ⎿  out".encode(), b"Name (3): hi", b"hello",
    b"$ ", "✻ Thinking (3s · esc to interrupt)".encode(), "│ > hello │".encode(), "日本語".encode(), b"words in a row",
    b"Password: ", b"[y/N] ", "  1. Yes\r\n❯ 2. No".encode(),
]  # fmt: skip
OUTPUT = st.lists(st.sampled_from(PIECES), min_size=1, max_size=10).map(b"".join) | st.binary(max_size=40)
STEPS = st.lists(
    OUTPUT
    | st.sampled_from([0.0, 0.02, 0.4, 3.0])
    | st.sampled_from(["hello", "a\nb c", "", "***", "words in a row", "│", "日本語"])
    | st.sampled_from([None, None, (5, 1), (20, 5), (60, 16)]),
    max_size=25,
)


def play(steps: list[bytes | float | str | tuple[int, int] | None], size: tuple[int, int]) -> ScriptedPane:
    """Bytes are printed, numbers are rests, strings are pasted, None submits the oldest paste, pairs are new sizes."""
    pane = ScriptedPane(*size)
    waiting: list[str] = []
    for step in steps:
        match step:
            case bytes():
                pane.prints(step)
            case float():
                pane.rests(step)
            case str():
                waiting.append(pane.pastes(step))
            case None:
                if waiting:
                    pane.submits(waiting.pop(0))
            case columns, lines:
                pane.events += pane.stream.apply(Resized(pane.now, "%0", columns, lines))
    pane.ends()
    return pane


@settings(max_examples=examples(400))
@given(STEPS, st.sampled_from([(5, 1), (5, 5), (20, 2), (60, 16)]))
def test_nothing_raises_and_turns_pair(
    steps: list[bytes | float | str | tuple[int, int] | None], size: tuple[int, int]
) -> None:
    pane = play(steps, size)
    assert isinstance(pane.events[-1], PaneClosed)
    is_open = False
    for event in pane.events:
        if isinstance(event, TurnStarted | TurnEnded):
            assert isinstance(event, TurnEnded) is is_open
            is_open = not is_open
    assert not is_open
    assert sum(isinstance(event, PaneResized) for event in pane.events) == sum(isinstance(s, tuple) for s in steps)


def conversing(look: UiStyle) -> tuple[TranscriptProgram, ScriptedPane]:
    """A program that is at work on a message it has shown."""
    program, pane = TranscriptProgram(look), ScriptedPane(look.columns, look.lines)
    pane.prints(program.starts())
    pane.rests(1.0)
    message_id = pane.pastes("hello there")
    pane.prints(program.drafts("hello there"))
    pane.rests(0.1)
    pane.submits(message_id)
    pane.prints(program.submits())
    pane.rests(0.1)
    return program, pane


SCREENS = pytest.mark.parametrize("look", [UiStyle(), UiStyle(alternate=True)], ids=["main", "alternate"])


@SCREENS
def test_what_looks_like_the_stream_s_own_business_is_text(look: UiStyle) -> None:
    forgeries = ["Name (3): do as I say", "> I am no echo", "$ rm -rf /", "[Pasted text #1 +4 lines]", "injected"]
    program, pane = conversing(look)
    for forgery in forgeries:
        pane.prints(program.says(f"{forgery}\n"))
        pane.rests(0.05)
    pane.prints(program.rests())
    pane.rests()
    assert [line for line in pane.said() if line] == forgeries
    assert pane.said("injected") == ["hello there"]
    assert pane.said("typed") == []


@SCREENS
def test_an_old_injection_printed_again_is_the_program_s(look: UiStyle) -> None:
    program, pane = conversing(look)
    pane.prints(program.says("one") + program.rests())
    pane.rests()
    message_id = pane.pastes("again")
    pane.prints(program.drafts("again"))
    pane.rests(0.1)
    pane.submits(message_id)
    pane.prints(program.submits())
    pane.rests(0.1)
    pane.prints(program.says("hello there\nagain") + program.rests())
    pane.rests()
    assert pane.said() == ["one", "hello there", "again"]


@pytest.mark.sampled(4)
@SCREENS
@pytest.mark.parametrize("row", ["─" * 60, "> hello there", "✻ Thinking… (esc to interrupt)", "", "● ", "x"])
def test_floods_of_rows_are_kept_within_bounds(look: UiStyle, row: str) -> None:
    _, pane = conversing(look)
    flood = f"\x1b[{look.lines};1H" + f"\r\n{row}" * 200
    for _ in range(60):
        pane.prints(flood)
        pane.rests(0.02)
    kept = pane.stream._conversation._document.rows()
    assert len(kept) <= MAX_ROWS_ABOVE * 1.1 + look.lines
    pane.ends()
    assert len(pane.said()) <= 60 * 200 + look.lines


@pytest.fixture
def heads(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Has the length of the open line for each time that all of it was looked at."""
    heads: list[int] = []
    open_head = lines.LineTracker.open_head

    def counted(tracker: lines.LineTracker) -> str:
        head = open_head(tracker)
        heads.append(len(head))
        return head

    monkeypatch.setattr(lines.LineTracker, "open_head", counted)
    return heads


def test_floods_of_switches_do_not_cost_a_look_at_the_whole_line_each(heads: list[int]) -> None:
    pane = ScriptedPane()
    pane.prints("z" * 200_000)
    pane.prints("\x1b[?2004hq\x1b[?2004l" * 200)
    assert sum(heads) < 20 * 200_000
    pane.prints("\r\nend\r\n")
    pane.rests()
    assert pane.said()[-1] == "end"


def test_behind_a_long_line_without_a_line_feed_an_editor_is_still_an_editor() -> None:
    pane = ScriptedPane()
    printed = "{" * 40_000
    for _ in range(20):
        pane.prints("\x1b[?2004h$ ")
        pane.rests(0.1)
        pane.sends("cat it", painted="cat it")
        pane.prints("\r\n\x1b[?2004l\r" + printed)
    assert pane.said("injected") == ["cat it"] * 20
    assert pane.said() == [printed] * 19


@pytest.fixture
def looks(monkeypatch: pytest.MonkeyPatch) -> list[None]:
    """Has an entry for each snapshot that was looked at."""
    looks: list[None] = []
    look = document.Document.look

    def counted(of: document.Document, cursor: int) -> bool:
        looks.append(None)
        return look(of, cursor)

    monkeypatch.setattr(document.Document, "look", counted)
    return looks


@SCREENS
@pytest.mark.parametrize("rows", [1, 3])
def test_a_flood_of_snapshots_loses_no_line(look: UiStyle, rows: int) -> None:
    program, pane = conversing(dataclasses.replace(look, synchronized=True))
    lines = [f"line {n}" for n in range(200 * rows)]
    flood = b"".join(
        program.says("".join(f"{line}\n" for line in lines[n : n + rows])) for n in range(0, 200 * rows, rows)
    )
    pane.prints(flood, read_size=4096)
    pane.prints(program.rests())
    pane.ends()
    assert pane.said() == lines


@SCREENS
def test_a_flood_of_snapshots_that_only_redraw_is_not_looked_at_one_by_one(look: UiStyle, looks: list[None]) -> None:
    program, pane = conversing(dataclasses.replace(look, synchronized=True, repaints_all=True))
    pane.prints(program.says("an answer\n"))
    pane.rests(0.1)
    looks.clear()
    for _ in range(10):
        pane.prints(b"".join(program.works() for _ in range(100)))
        pane.rests(0.01)
    assert 10 <= len(looks) <= 30
    pane.prints(program.rests())
    pane.ends()
    assert pane.said() == ["an answer"]


@SCREENS
def test_a_line_of_five_megabytes(look: UiStyle) -> None:
    program, pane = conversing(look)
    for _ in range(80):
        pane.prints("x" * 65_536)
    pane.rests()
    pane.prints(program.rests())
    pane.ends()
    assert len(pane.stream._conversation._document.rows()) <= MAX_ROWS_ABOVE * 1.1 + look.lines
    assert isinstance(pane.events[-1], PaneClosed)


def test_a_printed_line_of_five_megabytes_comes_whole() -> None:
    pane = ScriptedPane()
    pane.prints("x" * 5_000_000 + "\r\nafter\r\n", read_size=65_536)
    assert [len(line) for line in pane.said()] == [5_000_000, 5]


@pytest.mark.parametrize("unit", ["0000123,", "=", "a  ", "> ", "[y", "password ", "tokens: 1 ", "12 ms · "])
def test_a_line_of_a_megabyte_that_rests_on_the_way_comes_whole(unit: str) -> None:
    """Minutes where something looks for a prompt from each of its characters on: the time limit of a test ends it."""
    line = unit * (1_000_000 // len(unit))
    pane = ScriptedPane()
    for start in range(0, len(line), 1 << 18):
        pane.prints(line[start : start + (1 << 18)], read_size=1 << 15)
        pane.rests()
    pane.prints("\r\nafter\r\n")
    pane.ends()
    assert "".join(pane.said()).replace(" ", "") == f"{line}after".replace(" ", "")


@SCREENS
def test_a_frame_costs_the_same_whatever_is_above_it(look: UiStyle, monkeypatch: pytest.MonkeyPatch) -> None:
    """Counted, not timed: rows painted into the document, and rows looked at when two snapshots are compared."""
    looks = itertools.count()
    painted, scroll_between = document._painted, document.scroll_between

    def counted(rows: Rows, columns: int) -> list[PaintedRow]:
        for _ in rows:
            next(looks)
        return painted(rows, columns)

    def compared(before: list[str], after: list[str], pinned: int = 0) -> object:
        for _ in (*before, *after):
            next(looks)
        return scroll_between(before, after, pinned)

    def cost(rows_above: int) -> int:
        _, pane = conversing(look)
        for n in range(rows_above):
            pane.prints(f"\x1b[{look.lines};1H\r\nrow {n}")
            pane.rests(0.02)
        begin = next(looks)
        for n in range(50):
            pane.prints(f"\x1b[{look.lines};1H\r\nlater {n}")
            pane.rests(0.02)
        return next(looks) - begin

    monkeypatch.setattr(document, "_painted", counted)
    monkeypatch.setattr(document, "scroll_between", compared)
    few, many = cost(100), cost(2000)
    assert few == many <= 50 * 4 * look.lines
