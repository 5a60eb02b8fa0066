"""What an excursion from a saved cursor writes over rows, and carriage returns within a line that wraps."""

import pytest

from streamrelay.vt import TmuxScreen
from streamrelay.vt.engine import Overlay, Return

BEGUN = "one\r\ntwo\r\nthree"
OVERLAYS = {
    "a place by its number": ("\x1b7\x1b[1;8Hnoon\x1b8", [Overlay(0, "one", "one    noon")]),
    "saved as ANSI.SYS does": ("\x1b[s\x1b[2d\x1b[2Kbar\x1b[u", [Overlay(1, "two", "     bar")]),
    "the cursor's own row": ("\x1b7\x1b[3;9Hnoon\x1b8", [Overlay(2, "three", "three   noon")]),
    "a row below": ("\x1b7\x1b[4;1Hbar\x1b8", [Overlay(3, "", "bar")]),
    "two rows": ("\x1b7\x1b[1;1HO\x1b[2;1HT\x1b8", [Overlay(0, "one", "One"), Overlay(1, "two", "Two")]),
    "moves relative to the cursor": ("\x1b7\x1b[2A\rdone\x1b8", []),
    "nothing written": ("\x1b7\x1b[1;8H\x1b8", []),
    "a cursor that is not restored": ("\x1b7\x1b[1;8Hnoon", []),
    "lines that scroll": ("\x1b7\x1b[4;1Hbar\r\n\x1b8", []),
    "lines that are inserted": ("\x1b7\x1b[1;1H\x1b[Lnew\x1b8", []),
    "the other screen": ("\x1b7\x1b[?1049h\x1b[1;1Hfull\x1b8", []),
    "back from the other screen": ("\x1b[?1049h\x1b7\x1b[1;1Hfull\x1b[?1049l\x1b8", []),
    "a blank row above": ("\x1b[2;1H\x1b[K\x1b[4;1H\x1b7\x1b[2;1Hnew\x1b8", []),
}


@pytest.mark.requirement("ENG-03b")
@pytest.mark.parametrize("read_size", [1, 100])
@pytest.mark.parametrize("name", OVERLAYS)
def test_overlays(name: str, read_size: int) -> None:
    written, overlays = OVERLAYS[name]
    screen = TmuxScreen(12, 4)
    screen.feed(BEGUN.encode())
    screen.take()
    for start in range(0, len(written), read_size):
        screen.feed(written[start : start + read_size].encode())
    assert list(screen.take().overlays) == overlays
    assert screen.take().overlays == ()


def test_an_excursion_to_the_first_row_begins_no_screen_anew() -> None:
    screen = TmuxScreen(12, 4)
    screen.feed(BEGUN.encode())
    screen.feed(b"\x1b7\x1b[1;8Hnoon\x1b8")
    assert screen.take().restarts == ()
    screen.feed(b"\x1b7\x1b[1;8Hnoon")
    assert len(screen.take().restarts) == 1


RETURNS = {
    "within a row": ("ab\rc", []),
    "in the second row of a line": ("abcdefg\rx", [Return(1, "fg", 0)]),
    "at the end of a line": ("abcdefg\r\n", []),
    "twice": ("abcdefg\rx\ry", [Return(1, "fg", 0, is_written_over=True)]),
    "where nothing stands yet": ("abcde \rf", []),
    "on the other screen": ("\x1b[?1049habcdefg\rx", []),
    "at the end of a line that is gone up to later": ("abcdefg\r\n\x1b[2dx", []),
    "at the end of a line, with a colour between": ("abcdefg\r\x1b[m\n\x1b[2dx", []),
    "before a line feed, and written over": ("abcdefg\rx\n", [Return(1, "fg", 0, is_written_over=True)]),
    "written over with what stood there": ("abcdefg\rxy\rfg", [Return(1, "fg", 0, is_written_over=True)]),
    "where the row above left the screen": ("1\r\n2\r\nabcdefghijklmnopqr\rx", [Return(5, "pqr", 2)]),
}


@pytest.mark.requirement("ENG-03b")
@pytest.mark.parametrize("read_size", [1, 100])
@pytest.mark.parametrize("name", RETURNS)
def test_returns(name: str, read_size: int) -> None:
    written, returns = RETURNS[name]
    screen = TmuxScreen(5, 4)
    for start in range(0, len(written), read_size):
        screen.feed(written[start : start + read_size].encode())
    assert list(screen.take().returns) == returns
    assert screen.take().returns == ()
