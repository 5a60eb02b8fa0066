"""Made-up streams against a running tmux: screen, history, blanks, soft wraps, styles, cursor; and back by a seed."""

import json
import random
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from streamrelay.testing.oracle import CUT_OFF, Oracle
from streamrelay.vt import TmuxScreen
from streamrelay.vt.engine import Cursor, Row, Snapshot
from streamrelay.vt.rows import Line
from streamrelay.vt.widths import Widths

MICRO = Path(__file__).parent.parent / "corpus" / "vt" / "micro.jsonl"
PARTS = [
    "text", "more of it, and longer than a row is", "\r\n", "\n", "\r", "\b", "\t", "世界", "e\u0301", "é", "\x1b[m",
    "\x1b[1;31m", "\x1b[44m", "\x1b[4:3m", "\x1b[38;5;200m", "\x1b[H", "\x1b[3;5H", "\x1b[A", "\x1b[2B", "\x1b[3C",
    "\x1b[4D", "\x1b[K", "\x1b[1K", "\x1b[J", "\x1b[2J", "\x1b[2P", "\x1b[3@", "\x1b[2X", "\x1b[L", "\x1b[M", "\x1b[S",
    "\x1b[T", "\x1b[2;4r", "\x1b[r", "\x1b7", "\x1b8", "\x1bM", "\x1bD", "\x1b[?1049h", "\x1b[?1049l", "\x1b[?6h",
    "\x1b[?25l", "\x1b[5b", "\x1b]0;title\x07", "\x1bPq\x1b\\", "\x1b[99m",
]  # fmt: skip
WRITTEN = [
    "🇩🇪x", "🇩🇪🇫🇮x", "🇩x",
    "❤\ufe0fx", "⚠\ufe0f Warning: full", "✔\ufe0f done\r\n❤\ufe0f love", "👍🏽 yes", "👩\u200d💻x",
    "👩🏽\u200d💻x", "1\ufe0f\u20e3 one", "👍\ufe0fx", "🏽x", "a🏽x", "e\u0301\ufe0fx", "x\u200d\x1b[5Cé",
    "❤\ufe0f\ufe0fx", "\ufe0fx", "ab\r\ufe0fx",
    "⚠\ufe0f  ⚠\ufe0f  ⚠\ufe0f  ⚠\ufe0f  ⚠\ufe0f  ⚠\ufe0f  ⚠\ufe0f  ⚠\ufe0f  ⚠\ufe0f  ",
    "\x1b[31m❤\ufe0f\x1b[mx\x1b[2Dy", "❤\ufe0f\x1b[Dyz", "世\x1b[Dx", "世\x1b[2bx", "é\x1b[20bx",
    "世\x1b[30bx", "\u0378x", "a\tb\tc", "\ta\r\n世\tb", "a\t\x1b[41mb\t\x1b[mc", "abc\t\t\t\td",
    "\t\t\r\nx\ty\t\r\n", "\x1b[44m\tx", "\x1b[1;4;7;31;44ma世界\x1b[m\bx", "\x1b[44m世界\x1b[42m\r\x1b[Cxy",
    "\x1b[44m世界\x1b[m\r\x1b[C世", "\x1b[44m世\x1b[m\rx", "\x1b[44m世\x1b[41m\bé",
    "世\r\x1b[Ce\u0301x", "世界\r\x1b[Cxe\u0301", "世界\x1b[3De\u0301\u0301x", "世界\r\x1b[Céx",
]  # fmt: skip

COUNTS = ["", "0", "1", "2", "3", "5", "9", "99"]
LOOKS = [
    "", "0", "1", "31", "44", "7", "38;5;200", "48;2;1;2;3", "4:3", "22", "39", "49", "1;4;91", "58;5;3", "21",
    "48:5:300", "38;5;300", "38;2;1", "38:2:1:2:3:4", "4:9", "38;5;;1", "2;3;5;8;9",
]  # fmt: skip
_MADE_UP = re.compile("[\u200d\ufe0f\u20e3\u0085🏽]")
JOINING = [*"\u0301\u200d\ufe0f👩💻a世é👍🏽\u20e31\U000f0000\u0085"]

BAD = [
    bad.decode("utf-8", "surrogateescape")
    for bad in (b"\xff", b"\xe4\xb8", b"\xe4", b"\xc3", b"\xf0\x9f", b"\x80", b"\xc0\xaf", b"\xed\xa0\x80", b"\xf5\x80",
                b"\x7f", b"\xe4\xe4\xb8\x96", b"\xc3\x7f")
]  # fmt: skip
Maker = Callable[[random.Random], str]
MAKERS: dict[str, Maker] = {
    "text": lambda pick: "".join(pick.choices("abcdefgh ", k=pick.randint(1, 24))),
    "wide": lambda pick: "".join(pick.choices("世界ab😀é", k=pick.randint(1, 20))),
    "joining": lambda pick: "".join(pick.choices(JOINING, k=pick.randint(1, 6))),
    "c0": lambda pick: pick.choice(["\r", "\n", "\r\n", "\b", "\t", "\x0b", "\x07", "\x0e", "\x0f"]),
    "move": lambda pick: f"\x1b[{pick.choice(COUNTS)}{pick.choice('ABCDEFG`dZ')}",
    "goto": lambda pick: f"\x1b[{pick.choice(COUNTS)};{pick.choice(COUNTS)}{pick.choice('Hf')}",
    "erase": lambda pick: f"\x1b[{pick.choice(['', '0', '1', '2'])}{pick.choice('JK')}",
    "edit": lambda pick: f"\x1b[{pick.choice(COUNTS)}{pick.choice('@PXLMST')}",
    "region": lambda pick: f"\x1b[{pick.choice(COUNTS)};{pick.choice(COUNTS)}r",
    "mode": lambda pick: (
        f"\x1b[{pick.choice(['?6', '4', '?47', '?1047', '?1049', '?3', '?1', '?25'])}{pick.choice('hl')}"
    ),
    "sgr": lambda pick: f"\x1b[{pick.choice(LOOKS)}m",
    "escape": lambda pick: f"\x1b{pick.choice('78DEHMc=>')}",
    "charset": lambda pick: pick.choice(["\x1b(0", "\x1b(B", "\x1b)0", "\x1b)B", "\x1b#8"]),
    "repeat": lambda pick: f"\x1b[{pick.choice(COUNTS)}b",
    "tabs": lambda pick: pick.choice(["\x1b[g", "\x1b[3g", "\x1bH", "\t", "\t"]),
    "no wrap": lambda pick: f"\x1b[?7{pick.choice('lllh')}",
    "forget": lambda _pick: "\x1b[3J",
    "bad": lambda pick: pick.choice(BAD),
}
COMMON = ["text"] * 4 + ["c0"] * 3 + ["move", "goto", "erase", "edit", "region", "sgr", "escape", "repeat", "tabs"]
MIXTURES = {
    "plain": COMMON,
    "wide": COMMON + ["wide"] * 5,
    "modes": [*COMMON, "mode", "mode", "wide"],
    "joining": ["joining"] * 6 + ["text", "c0", "wide", "move"],
    "charsets": COMMON + ["charset"] * 4,
    "bad bytes": COMMON + ["bad"] * 15 + ["wide"] * 3,
    "all": [*COMMON, "wide", "joining", "mode", "charset", "forget"],
}
SIZES = [(12, 5), (7, 3), (20, 6)]
AFTER = ["text", "c0", "goto", "erase", "edit", "sgr"]
STREAMS = 60


def streams(mixture: Sequence[str], pick: random.Random, count: int) -> list[bytes]:
    return [
        "".join(MAKERS[pick.choice(mixture)](pick) for _ in range(pick.randint(1, 25))).encode(
            "utf-8", "surrogateescape"
        )
        for _ in range(count)
    ]


def spoken(oracle: Oracle, data: Sequence[bytes]) -> list[bytes]:
    """Leave tabs out where tmux keeps them: how wide one is that was moved, or had a stop of its own, is not told.

    Clusters nobody writes join in ways of their own where they widen what they join.
    """
    quirks = oracle.widths.quirks
    data = [stream.replace(b"\t", b" ") for stream in data] if quirks.fills_tabs else [*data]
    if not quirks.widens:
        return data
    texts = [stream.decode("utf-8", "surrogateescape") for stream in data]
    return [_MADE_UP.sub("e\u0301", text).encode("utf-8", "surrogateescape") for text in texts]


def rows_of(screen: TmuxScreen) -> list[Line]:
    history: Any = screen.history.top  # pyte calls its rows dicts
    return [*(view.line for view in history), *(screen.row(y) for y in range(screen.lines))]


def looks(rows: Sequence[Row]) -> list[Any]:
    return [[(run.start, run.stop, run.style) for run in row.runs] for row in rows]


def seeded(snapshot: Snapshot, widths: Widths | None = None) -> TmuxScreen:
    screen = TmuxScreen(snapshot.columns, snapshot.lines, widths=widths)
    screen.seed(snapshot)
    return screen


def halves_are_whole(rows: Sequence[Line]) -> bool:
    """Whether each wide character has both of its columns; tmux can halve them, but always prints them whole."""
    return all(by_column(seeded_row(row)) == by_column(row) for row in rows)


def is_whole(oracle: Oracle, stream: bytes) -> bool:
    screen = oracle.screen(17, 5)
    screen.feed(stream + CUT_OFF)
    return halves_are_whole(rows_of(screen))


def by_column(row: Line) -> list[str]:
    return [row.columns(x, x + 1) for x in range(len(row.cells))]


def seeded_row(row: Line) -> Line:
    rows = (row.text.encode(),)
    return seeded(Snapshot(64, 1, rows, wrapped=(False,), cursor=Cursor(0, 0))).row(0)


@pytest.mark.requirement("VT-01a")
def test_emoji_and_tabs_as_programs_write_them(oracle: Oracle) -> None:
    """Every version has its own way with these."""
    found = dict(zip(WRITTEN, oracle.differences([text.encode() for text in WRITTEN], 20, 4), strict=True))
    assert {text: words for text, words in found.items() if words} == {}


@pytest.mark.requirement("VT-01a", "VT-01b", "VT-01c")
@pytest.mark.parametrize("mixture", MIXTURES)
def test_same_as_a_running_tmux(oracle: Oracle, mixture: str) -> None:
    pick = random.Random(f"streamrelay {mixture}")
    columns, lines = pick.choice(SIZES)
    data = spoken(oracle, streams(MIXTURES[mixture], pick, STREAMS))
    for stream, answer in zip(data, oracle.ask(data, columns, lines), strict=True):
        screen = oracle.screen(columns, lines)
        screen.feed(stream + CUT_OFF)
        rows = rows_of(screen)
        assert [row.text for row in rows] == answer.rows, stream
        joined = "".join(row.text + "\n" * (not row.wrapped) for row in rows)
        assert joined.rstrip("\n") == answer.joined.rstrip("\n"), stream
        assert (screen.cursor.x, screen.cursor.y) == answer.cursor, stream
        assert screen.alternate == answer.values["alternate_on"], stream
        assert screen.modes == answer.snapshot.modes, stream
        if halves_are_whole(rows):
            shown = seeded(answer.snapshot, oracle.widths)
            assert looks(rows[-lines:]) == looks([shown.row(y) for y in range(lines)]), stream


def test_same_without_wrap_mode(oracle: Oracle) -> None:
    """There tmux skips cells that would not change: whether a blank at the end is in use hangs on its memory."""
    pick = random.Random("streamrelay no wrap")
    columns, lines = pick.choice(SIZES)
    data = spoken(oracle, streams([*COMMON, "wide", "wide", "no wrap", "no wrap"], pick, STREAMS))
    for stream, answer in zip(data, oracle.ask(data, columns, lines), strict=True):
        screen = oracle.screen(columns, lines)
        screen.feed(stream)
        assert screen.history_text() + screen.text() == [row.rstrip(" ") for row in answer.rows], stream
        assert (screen.cursor.x, screen.cursor.y) == answer.cursor, stream


def test_a_full_history_is_as_long_as_that_of_tmux(oracle: Oracle) -> None:
    data = [b"".join(b"line %d\r\n" % number for number in range(count)) for count in (2004, 2005, 2150, 2206, 4321)]
    for stream, answer in zip(data, oracle.ask(data, 20, 5), strict=True):
        screen = oracle.screen(20, 5, history=2000)  # as the oracle's tmux has it
        screen.feed(stream)
        assert screen.history_text() + screen.text() == answer.rows


@pytest.mark.parametrize("mixture", ["plain", "wide", "charsets", "joining"])
def test_a_seed_gives_the_screen_back(oracle: Oracle, mixture: str) -> None:
    """What follows a seed looks as it does on the pane that the seed was taken from."""
    pick = random.Random(f"seed {mixture}")
    columns, lines = pick.choice(SIZES)
    before = spoken(oracle, streams(MIXTURES[mixture], pick, STREAMS // 2))
    # tmux tells nothing of the current look, the saved cursor, charsets and tab stops: they begin anew.
    anew = b"\x0f\x1b(B\x1b)B\x1b[m\x1b[3g\x1b7"
    after = [anew + stream for stream in spoken(oracle, streams(AFTER, pick, len(before)))]
    first = oracle.ask(before, columns, lines)
    second = oracle.ask([a + b"\x18" + b for a, b in zip(before, after, strict=True)], columns, lines)
    compared = 0
    for stream, then, answer, final in zip(before, after, first, second, strict=True):
        reference = oracle.screen(columns, lines)
        reference.feed(stream)
        if not halves_are_whole(rows_of(reference)) or answer.values["alternate_on"]:
            continue
        compared += 1
        screen = seeded(answer.snapshot, oracle.widths)
        frame = screen.take()
        assert (len(frame.committed), frame.dirty, frame.events) == (0, 0, ()), stream
        assert frame.history_total == answer.values["history_size"], stream
        screen.feed(then)
        assert screen.history_text() + screen.text() == [row.rstrip(" ") for row in final.rows], (stream, then)
        assert (screen.cursor.x, screen.cursor.y) == final.cursor, (stream, then)
    assert compared > len(before) // 2


def test_known_cases_live(oracle: Oracle) -> None:
    """The recorded answers again, from the tmux that runs here."""
    cases = [json.loads(line) for line in MICRO.read_text().strip().split("\n")]
    # Stops of one's own are not told where tabs are kept; images are drawn by tmux alone.
    untold = [b"\x1bH", b"\x1b[3g", b"\x1b[1;79H\t"] if oracle.widths.quirks.fills_tabs else []
    untold += [b"\x1bP"] if oracle.draws_images else []
    sizes = {(case["cols"], case["rows"]) for case in cases}
    for size in sizes:
        data = [case["data"].encode("latin-1") for case in cases if (case["cols"], case["rows"]) == size]
        data = [part for part in data if not any(unlike in part for unlike in untold)]
        found = dict(zip(data, oracle.differences(data, *size), strict=True))
        assert {part: words for part, words in found.items() if words} == {}


@settings(max_examples=6, deadline=None, suppress_health_check=list(HealthCheck))
@given(streams=st.lists(st.lists(st.sampled_from(PARTS), max_size=30).map("".join), min_size=20, max_size=20))
def test_generated_mixtures_live(oracle: Oracle, streams: list[str]) -> None:
    """Of what tmux prints a screen is made: a row with half a wide character would be wider than the pane."""
    data = [part for part in spoken(oracle, [stream.encode() for stream in streams]) if is_whole(oracle, part)]
    found = dict(zip(data, oracle.differences(data, 17, 5), strict=True))
    assert {part: words for part, words in found.items() if words} == {}


def test_widths_are_those_of_the_running_tmux(oracle: Oracle) -> None:
    pick = random.Random("widths")
    characters = [chr(pick.randrange(0xA0, 0xD800)) for _ in range(100)]
    characters += [chr(pick.randrange(0x1F000, 0x20000)) for _ in range(100)]
    characters += [chr(pick.randrange(0xE000, 0x110000)) for _ in range(50)]
    answers = oracle.ask([f"e{character}x".encode() for character in characters], 10, 2)
    widths = oracle.widths
    wrong = {
        f"U+{ord(character):04X}": (answer.cursor[0] - 2, widths.width(character))
        for character, answer in zip(characters, answers, strict=True)
        if answer.cursor[0] - 2 != max(widths.width(character), 0)
    }
    assert not wrong, "U+…: (tmux, table)"
