"""pyte's face of the screen: what works on a `pyte.HistoryScreen` works here, with pyte's own answers."""

from typing import Any

import pyte
import pytest
from pyte.screens import Char, HistoryScreen, Margins

from streamrelay.vt import TmuxScreen

SHARED = {
    "text": "hello\r\nworld",
    "colours": "\x1b[1;3;4;5;7;9;31;44mx\x1b[0my\x1b[91;102mz\x1b[38;5;200mp\x1b[48;2;1;2;3mq",
    "wide": "a世b界",
    "moves": "abc\x1b[2;3Hd\x1b[Ae\x1b[2Df\x1b[3Gg\x1b[2dh",
    "erasing": "abcdef\x1b[1;3H\x1b[K\r\nghijkl\x1b[2;3H\x1b[1K\r\nmnop\x1b[2K",
    "inserting": "abcdef\x1b[1;3H\x1b[2@\r\nghijkl\x1b[2;3H\x1b[2P\x1b[1;1H\x1b[L",
    "scrolling": "1\r\n2\r\n3\r\n4\r\n5\r\n6",
    "region": "1\r\n2\r\n3\r\n4\x1b[2;3r\x1b[3;1H\nx",
    "tabs": "\tx\x1b[3g\ty\x1b[5G\x1bH\r\tz",
    "saved": "ab\x1b7\r\ncd\x1b8X",
    "origin": "\x1b[2;3r\x1b[?6hx\x1b[2;1Hy",
    "alignment": "\x1b#8",
    "insert mode": "abc\r\x1b[4hxy",
    "reverse index": "a\r\nb\x1b[H\x1bMtop",
}
"""Streams on which pyte and tmux agree."""


def pair(data: str, columns: int = 12, lines: int = 4) -> tuple[TmuxScreen, HistoryScreen]:
    ours, stock = TmuxScreen(columns, lines), pyte.HistoryScreen(columns, lines)
    ours.feed(data.encode())
    pyte.ByteStream(stock).feed(data.encode())
    return ours, stock


def cells(screen: Any) -> list[list[Char]]:
    return [[screen.buffer[y][x] for x in range(screen.columns)] for y in range(screen.lines)]


@pytest.mark.requirement("VT-03a")
def test_it_is_a_history_screen_whose_views_work() -> None:
    screen, _ = pair("1\r\n2\r\n3\r\n4\r\n\x1b[31m5世")
    assert isinstance(screen, HistoryScreen)
    assert screen.display == ["2" + " " * 11, "3" + " " * 11, "4" + " " * 11, "5世" + " " * 9]
    assert screen.buffer[3][0] == Char("5", fg="red")
    assert [screen.buffer[3][x].data for x in range(4)] == ["5", "世", "", " "]
    assert screen.history.top[0][0] == Char("1")
    assert len(screen.history.top) == 1
    assert (screen.cursor.x, screen.cursor.y, screen.cursor.attrs.fg, screen.cursor.hidden) == (3, 3, "red", False)


@pytest.mark.requirement("VT-03b")
@pytest.mark.parametrize("data", SHARED.values(), ids=SHARED)
def test_same_as_stock_pyte_where_tmux_agrees(data: str) -> None:
    ours, stock = pair(data)
    assert ours.display == stock.display
    assert cells(ours) == cells(stock)
    assert (ours.cursor.x, ours.cursor.y) == (stock.cursor.x, stock.cursor.y)
    assert ours.cursor.attrs == stock.cursor.attrs
    assert [row[0].data for row in ours.history.top] == [row[0].data for row in stock.history.top]
    assert ours.margins == stock.margins
    assert ours.mode == stock.mode
    assert ours.tabstops == stock.tabstops


@pytest.mark.parametrize("data", SHARED.values(), ids=SHARED)
def test_a_stream_of_pyte_drives_it(data: str) -> None:
    fed, _ = pair(data)
    driven = TmuxScreen(12, 4)
    pyte.ByteStream(driven).feed(data.encode())
    assert cells(driven) == cells(fed)
    assert (driven.cursor.x, driven.cursor.y) == (fed.cursor.x, fed.cursor.y)


def test_dirty_is_kept_until_cleared_and_apart_from_frames() -> None:
    screen = TmuxScreen(10, 4)
    assert screen.dirty == {0, 1, 2, 3}
    screen.dirty.clear()
    screen.feed(b"\x1b[2;1Hx")
    screen.take()
    screen.feed(b"\x1b[3;1Hy")
    assert screen.dirty == {1, 2}
    assert screen.take().dirty == 0b100
    screen.dirty.clear()
    assert screen.dirty == set()
    screen.feed(b"\x1b[4;1H\n")
    assert screen.dirty == {0, 1, 2, 3}


def test_paging_shows_history_until_something_is_fed() -> None:
    ours, stock = pair("\r\n".join(map(str, range(20))))
    for turn in ("prev_page", "prev_page", "next_page", "prev_page", "prev_page", "prev_page"):
        getattr(ours, turn)()
        getattr(stock, turn)()
        assert ours.display == stock.display
        assert [row[0].data for row in ours.history.top] == [row[0].data for row in stock.history.top]
        assert [row[0].data for row in ours.history.bottom] == [row[0].data for row in stock.history.bottom]
    assert ours.cursor.hidden
    ours.feed(b"!")
    assert ours.display[3].rstrip() == "19!"
    assert not ours.cursor.hidden


def test_modes_margins_charsets_and_title_are_views() -> None:
    screen = TmuxScreen(10, 4)
    screen.feed(b"\x1b[2;3r\x1b[4h\x1b[?25l\x1b)0\x0e\x1b]2;name\x07")
    assert screen.margins == Margins(1, 2)
    assert screen.mode == {pyte.modes.IRM, pyte.modes.DECAWM}
    assert screen.cursor.hidden
    assert (screen.charset, screen.g1_charset) == (1, pyte.charsets.VT100_MAP)
    assert screen.title == "name"


def test_the_views_cannot_be_written_to() -> None:
    screen: Any = TmuxScreen(10, 4)
    with pytest.raises(TypeError):
        screen.buffer[0][0] = Char("x")
    with pytest.raises(AttributeError):
        screen.title = "x"


def test_resize_takes_what_pyte_takes() -> None:
    screen = TmuxScreen(10, 4)
    screen.feed(b"abc")
    screen.resize(columns=2)
    assert (screen.lines, screen.columns, screen.display[0]) == (4, 2, "c ")
    assert screen.history_text() == ["ab"]
