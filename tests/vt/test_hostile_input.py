"""A small share of `python -m streamrelay.testing.fuzz`, and time that grows with the input and not faster."""

import random
import time
from collections.abc import Callable

import pytest

from streamrelay.control import Version
from streamrelay.panes.widths import expected
from streamrelay.testing import fuzz
from streamrelay.vt import TmuxScreen

SMALL = 30_000
"""Bytes; and four times as many must not take much more than four times as long."""
MARGIN = 2.5

GROWING: dict[str, Callable[[int], bytes]] = {
    "unterminated OSC": lambda size: b"\x1b]0;" + b"x" * size,
    "unterminated DCS": lambda size: b"\x1bPq" + b"x\x1bx" * (size // 3),
    "DCS with an improper head": lambda size: b"\x1bP:" + b"x" * size,
    "unterminated APC": lambda size: b"\x1b_" + b"x" * size,
    "endless parameters": lambda size: b"\x1b[" + b"1;" * (size // 2),
    "huge parameter": lambda size: b"\x1b[" + b"9" * size + b"m",
    "endless intermediates": lambda size: b"\x1b" + b" " * size,
    "controls inside a sequence": lambda size: b"\x1b[" + b"\r1" * (size // 2),
    "one line": lambda size: b"x" * size,
    "one line of wide characters": lambda size: "世".encode() * (size // 3),
    "one line, no wrap mode": lambda size: b"\x1b[?7l" + b"x" * size,
    "one line, insert mode": lambda size: b"\x1b[4h" + b"x" * (size // 4),
    "combining storm": lambda size: b"e" + "\u0301".encode() * (size // 2),
    "joiner storm": lambda size: "👩\u200d".encode() * (size // 7),
    "escapes": lambda size: b"\x1b" * size,
    "styles": lambda size: b"\x1b[1;31mx" * (size // 8),
    "line feeds": lambda size: b"\n" * size,
    "deep region": lambda size: b"\x1b[2;40r\x1b[40;1H" + b"\n" * size,
    "scrolling back and forth": lambda size: b"\x1b[99999S\x1b[99999T" * (size // 16),
    "lines inserted": lambda size: b"\x1b[99999L\x1b[M" * (size // 11),
    "repeats": lambda size: b"x\x1b[99999b" * (size // 9),
    "screens cleared": lambda size: b"x\x1b[2J" * (size // 5),
    "alternate screens": lambda size: b"\x1b[?1049h\x1b[?1049l" * (size // 16),
    "bells": lambda size: b"\a" * size,
    "no UTF-8": lambda size: b"\xff\xe4" * (size // 2),
    "title that is no UTF-8": lambda size: b"\x1b]0;" + b"\xff" * size,
    "lines": lambda size: b"a line\r\n" * (size // 8),
    "lines in colour": lambda size: b"\x1b[31mred \x1b[1mline\r\n" * (size // 19),
    "lines and something else": lambda size: (b"a line of text\r\n" * 40 + b"\t") * (size // 641),
}


def seconds(data: bytes, chunk: int) -> float:
    began = time.process_time()
    screen = TmuxScreen(80, 50, 2000)
    for start in range(0, len(data), chunk):
        screen.feed(data[start : start + chunk])
    screen.take()
    return time.process_time() - began


@pytest.mark.sampled(3)
@pytest.mark.requirement("VT-02")
@pytest.mark.parametrize("name", GROWING)
def test_time_grows_with_the_input_and_not_faster(name: str) -> None:
    make = GROWING[name]
    for chunk, share in ((1 << 30, 1), (1000, 1), (1, 8)):
        small, large = make(SMALL // share), make(4 * SMALL // share)
        for _ in range(4):  # a busy machine may spoil one or two
            ratio = seconds(large, chunk) / max(seconds(small, chunk), 1e-4)
            if ratio < 4 * MARGIN:
                break
        else:
            pytest.fail(f"{name}, pieces of {chunk}: four times the input took {ratio:.1f} times as long")


@pytest.mark.sampled(6)
@pytest.mark.requirement("VT-02", "VT-05")
@pytest.mark.parametrize("version", ["3.3a", "3.5a", "3.8"])
@pytest.mark.parametrize("text", ["👩\u200d💻X", "⚠️X", "🇫🇮X", "1️⃣X", "👍🏽X", "\ufffd\u200d💻X"], ids=ascii)
def test_what_joins_does_so_wherever_a_read_ends(version: str, text: str) -> None:
    def shown(*reads: bytes) -> tuple[int, str]:
        screen = TmuxScreen(20, 3, widths=expected(Version.parse(version)))
        for read in reads:
            screen.feed(read)
        return screen.cursor.x, screen.text()[0]

    data = text.encode()
    assert {shown(data[:cut], data[cut:]) for cut in range(1, len(data))} == {shown(data)}


@pytest.mark.requirement("VT-02")
def test_streams_made_up_to_break_it() -> None:
    choose = random.Random("quick share")
    for _ in range(600):
        fuzz.check(fuzz.stream(choose), choose)


@pytest.mark.requirement("VT-02")
def test_random_bytes() -> None:
    fuzz.random_bytes(1, random.Random("random"))


def test_a_line_of_a_million_characters() -> None:
    screen = TmuxScreen(100, 10, 500)
    screen.feed(b"x" * 1_000_000)
    assert screen.row(9).text == "x" * 100
    assert screen.take().history_total == 9_990
    assert len(screen.history_text()) <= 500


def test_nobody_who_feeds_without_taking_fills_the_memory() -> None:
    screen = TmuxScreen(20, 5, history=100)
    for _ in range(50):
        screen.feed(b"line\r\n" * 1000)
        assert len(screen._terminal.grid.history._unseen) <= 110
    assert len(screen.take().committed) == 100
    screen.feed(b"line\r\n" * 1000)
    assert len(screen.take().committed) == 1000  # whoever takes after every feed misses nothing
    screen.feed(b"line\r\n" * 1000)
    screen.feed(b"x")
    assert len(screen.take().committed) == 100
