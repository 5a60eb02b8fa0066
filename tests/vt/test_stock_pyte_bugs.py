"""What stock pyte 0.8.2 gets wrong, one row each: right here, and shown to be wrong there."""

from dataclasses import dataclass, field
from typing import Any

import pyte
import pytest

from streamrelay.vt import TmuxScreen

COLUMNS, LINES = 20, 4


@dataclass(frozen=True)
class Case:
    """Bytes and the first rows that tmux shows after them, with their cursor."""

    data: str
    rows: list[str]
    cursor: tuple[int, int]
    history: list[str] = field(default_factory=list)


CASES = {
    "private form of a public CSI (mc)": Case("a\x1b[?1001rb", ["ab"], (2, 0)),
    "private SGR": Case("a\x1b[?4mb", ["ab"], (2, 0)),
    "surplus parameters": Case("a\x1b[1;2Cb", ["a b"], (3, 0)),
    "the rest of the chunk after an odd sequence": Case("\x1b[?1001rall that follows", ["all that follows"], (16, 0)),
    "emoji variation selector": Case("⚠\ufe0f Warning: full", ["⚠\ufe0f Warning: full"], (15, 0)),
    "zero width joiner": Case("👩\u200d💻x", ["👩\u200d💻x"], (3, 0)),
    "zero width space": Case("a\u200bb", ["a\u200bb"], (2, 0)),
    "byte order mark": Case("\ufeffab", ["ab"], (2, 0)),
    "DCS payload": Case("a\x1bP1$r0m\x1b\\b", ["ab"], (2, 0)),
    "APC payload": Case("a\x1b_Gf=100;AAAA\x1b\\b", ["ab"], (2, 0)),
    "PM payload": Case("a\x1b^private\x1b\\b", ["ab"], (2, 0)),
    "SOS payload": Case("a\x1bXstring\x1b\\b", ["ab"], (2, 0)),
    "ESC k title": Case("a\x1bktitle\x1b\\b", ["ab"], (2, 0)),
    "SGR with colons": Case("\x1b[4:3ma\x1b[38:2::255:0:0mb", ["ab"], (2, 0)),
    "kitty keyboard, pop": Case("a\x1b[<ub", ["ab"], (2, 0)),
    "kitty keyboard, set": Case("a\x1b[=1;1ub", ["ab"], (2, 0)),
    "DECSTR": Case("a\x1b[!pb", ["ab"], (2, 0)),
    "OSC ended by another ESC": Case("a\x1b]0;abc\x1b[31mb", ["ab"], (2, 0)),
    "alternate screen 47": Case("abc\x1b[?47hdef\x1b[?47lghi", ["abc   ghi"], (9, 0)),
    "alternate screen 1047": Case("abc\x1b[?1047hdef\x1b[?1047lghi", ["abc   ghi"], (9, 0)),
    "alternate screen 1049": Case("abc\x1b[?1049hdef\x1b[?1049lghi", ["abcghi"], (6, 0)),
    "REP": Case("ab\x1b[3bZ", ["abbbbZ"], (6, 0)),
    "SU": Case("1\r\n2\r\n3\x1b[1S", ["2", "3"], (1, 2), ["1"]),
    "SD": Case("1\r\n2\x1b[1T", ["", "1", "2"], (1, 1)),
    "CBT": Case("\x1b[18Ga\x1b[Zb", [" " * 16 + "ba"], (17, 0)),
    "HPA": Case("ab\x1b[5`x", ["ab  x"], (5, 0)),
    "CSI s and u": Case("ab\x1b[s\r\ncd\x1b[uX", ["abX", "cd"], (3, 0)),
    "wide character at the margin": Case("x" * 19 + "世y", ["x" * 19, "世y"], (3, 1)),
    "wide character, first half overwritten": Case("a世b\x1b[1;2Hx", ["ax b"], (2, 0)),
    "wide character, second half overwritten": Case("a世b\x1b[1;3Hx", ["a xb"], (3, 0)),
}

RIGHT_IN_STOCK = {"HPA"}
"""Rows beyond the known bugs, here because tmux is easily got wrong."""


def stock(data: bytes) -> tuple[list[str], tuple[int, int], int]:
    screen = pyte.HistoryScreen(COLUMNS, LINES)
    pyte.ByteStream(screen).feed(data)
    rows = [row.rstrip() for row in screen.display]
    return rows, (screen.cursor.x, screen.cursor.y), len(screen.history.top)


def expected(case: Case) -> tuple[list[str], tuple[int, int], int]:
    return case.rows + [""] * (LINES - len(case.rows)), case.cursor, len(case.history)


@pytest.mark.parametrize("name", CASES)
def test_right_here(name: str) -> None:
    case = CASES[name]
    screen = TmuxScreen(COLUMNS, LINES)
    screen.feed(case.data.encode())
    assert (screen.text(), (screen.cursor.x, screen.cursor.y), len(screen.history_text())) == expected(case)
    assert screen.history_text() == case.history


@pytest.mark.parametrize("name", sorted(CASES.keys() - RIGHT_IN_STOCK))
def test_wrong_in_stock_pyte(name: str) -> None:
    case = CASES[name]
    try:
        shown = stock(case.data.encode())
    except (TypeError, IndexError):
        return
    assert shown != expected(case)


def test_as_tmux_shows_it(oracle: Any) -> None:
    answers = oracle.ask([case.data.encode() for case in CASES.values()], COLUMNS, LINES)
    for (name, case), answer in zip(CASES.items(), answers, strict=True):
        if "\ufe0f" in case.data and oracle.widths.quirks.widens:
            continue
        rows = [row.rstrip(" ") for row in answer.rows]
        assert (rows, answer.cursor) == (case.history + expected(case)[0], case.cursor), name


def test_xterm_modify_keys_is_no_underline() -> None:
    screen = TmuxScreen(COLUMNS, LINES)
    screen.feed(b"a\x1b[>4;2mb")
    assert screen.row(0).runs == ()
    assert not screen.buffer[0][1].underscore


def test_soft_wraps_are_told() -> None:
    screen = TmuxScreen(COLUMNS, LINES)
    screen.feed(b"x" * 25 + b"\r\nend")
    assert [screen.row(y).wrapped for y in range(3)] == [True, False, False]
