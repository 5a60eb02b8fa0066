"""Made-up streams against a running tmux: screen, history, blanks, soft wraps, styles, cursor; and back by a seed."""

import json
import random
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from streamrelay.vt import TmuxScreen
from streamrelay.vt.engine import Cursor, Row, Snapshot
from streamrelay.vt.rows import Line
from streamrelay.vt.widths import unicode14

MICRO = Path(__file__).parent.parent / "corpus" / "vt" / "micro.jsonl"
PARTS = [
    "text", "more of it, and longer than a row is", "\r\n", "\n", "\r", "\b", "\t", "世界", "e\u0301", "é", "\x1b[m",
    "\x1b[1;31m", "\x1b[44m", "\x1b[4:3m", "\x1b[38;5;200m", "\x1b[H", "\x1b[3;5H", "\x1b[A", "\x1b[2B", "\x1b[3C",
    "\x1b[4D", "\x1b[K", "\x1b[1K", "\x1b[J", "\x1b[2J", "\x1b[2P", "\x1b[3@", "\x1b[2X", "\x1b[L", "\x1b[M", "\x1b[S",
    "\x1b[T", "\x1b[2;4r", "\x1b[r", "\x1b7", "\x1b8", "\x1bM", "\x1bD", "\x1b[?1049h", "\x1b[?1049l", "\x1b[?6h",
    "\x1b[?25l", "\x1b[5b", "\x1b]0;title\x07", "\x1bPq\x1b\\", "\x1b[99m",
]  # fmt: skip

COUNTS = ["", "0", "1", "2", "3", "5", "9", "99"]
LOOKS = [
    "", "0", "1", "31", "44", "7", "38;5;200", "48;2;1;2;3", "4:3", "22", "39", "49", "1;4;91", "58;5;3", "21",
    "48:5:300", "38;5;300", "38;2;1", "38:2:1:2:3:4", "4:9", "38;5;;1", "2;3;5;8;9",
]  # fmt: skip
JOINING = [*"\u0301\u200d\ufe0f👩💻a世é👍🏽\u20e31\U000f0000\u0085"]

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
}
COMMON = ["text"] * 4 + ["c0"] * 3 + ["move", "goto", "erase", "edit", "region", "sgr", "escape", "repeat", "tabs"]
MIXTURES = {
    "plain": COMMON,
    "wide": COMMON + ["wide"] * 5,
    "modes": [*COMMON, "mode", "mode", "wide"],
    "joining": ["joining"] * 6 + ["text", "c0", "wide", "move"],
    "charsets": COMMON + ["charset"] * 4,
    "all": [*COMMON, "wide", "joining", "mode", "charset", "forget"],
}
SIZES = [(12, 5), (7, 3), (20, 6)]
STREAMS = 60


def streams(mixture: Sequence[str], pick: random.Random, count: int) -> list[bytes]:
    return [
        "".join(MAKERS[pick.choice(mixture)](pick) for _ in range(pick.randint(1, 25))).encode() for _ in range(count)
    ]


def rows_of(screen: TmuxScreen) -> list[Line]:
    history: Any = screen.history.top  # pyte calls its rows dicts
    return [*(view.line for view in history), *(screen.row(y) for y in range(screen.lines))]


def looks(rows: Sequence[Row]) -> list[Any]:
    return [[(run.start, run.stop, run.style) for run in row.runs] for row in rows]


def seeded(snapshot: Snapshot) -> TmuxScreen:
    screen = TmuxScreen(snapshot.columns, snapshot.lines)
    screen.seed(snapshot)
    return screen


def halves_are_whole(rows: Sequence[Line]) -> bool:
    """Whether each wide character has both of its columns; tmux can halve them, but always prints them whole."""
    return all(by_column(seeded_row(row)) == by_column(row) for row in rows)


def by_column(row: Line) -> list[str]:
    return [row.columns(x, x + 1) for x in range(len(row.cells))]


def seeded_row(row: Line) -> Line:
    rows = (row.text.encode(),)
    return seeded(Snapshot(64, 1, rows, wrapped=(False,), cursor=Cursor(0, 0))).row(0)


@pytest.mark.requirement("VT-01a", "VT-01b", "VT-01c")
@pytest.mark.parametrize("mixture", MIXTURES)
def test_same_as_a_running_tmux(oracle: Any, mixture: str) -> None:
    pick = random.Random(f"streamrelay {mixture}")
    columns, lines = pick.choice(SIZES)
    data = streams(MIXTURES[mixture], pick, STREAMS)
    for stream, answer in zip(data, oracle.ask(data, columns, lines), strict=True):
        screen = TmuxScreen(columns, lines)
        screen.feed(stream)
        rows = rows_of(screen)
        assert [row.text for row in rows] == answer.rows, stream
        joined = "".join(row.text + "\n" * (not row.wrapped) for row in rows)
        assert joined.rstrip("\n") == answer.joined.rstrip("\n"), stream
        assert (screen.cursor.x, screen.cursor.y) == answer.cursor, stream
        assert screen.alternate == answer.values["alternate_on"], stream
        assert screen.modes == answer.snapshot.modes, stream
        if halves_are_whole(rows):
            assert looks(rows[-lines:]) == looks([seeded(answer.snapshot).row(y) for y in range(lines)]), stream


def test_same_without_wrap_mode(oracle: Any) -> None:
    """There tmux skips cells that would not change: whether a blank at the end is in use hangs on its memory."""
    pick = random.Random("streamrelay no wrap")
    columns, lines = pick.choice(SIZES)
    data = streams([*COMMON, "wide", "wide", "no wrap", "no wrap"], pick, STREAMS)
    for stream, answer in zip(data, oracle.ask(data, columns, lines), strict=True):
        screen = TmuxScreen(columns, lines)
        screen.feed(stream)
        assert screen.history_text() + screen.text() == [row.rstrip(" ") for row in answer.rows], stream
        assert (screen.cursor.x, screen.cursor.y) == answer.cursor, stream


def test_a_full_history_is_as_long_as_that_of_tmux(oracle: Any) -> None:
    data = [b"".join(b"line %d\r\n" % number for number in range(count)) for count in (2004, 2005, 2150, 2206, 4321)]
    for stream, answer in zip(data, oracle.ask(data, 20, 5), strict=True):
        screen = TmuxScreen(20, 5, history=2000)  # as the oracle's tmux has it
        screen.feed(stream)
        assert screen.history_text() + screen.text() == answer.rows


@pytest.mark.parametrize("mixture", ["plain", "wide", "charsets", "joining"])
def test_a_seed_gives_the_screen_back(oracle: Any, mixture: str) -> None:
    """What follows a seed looks as it does on the pane that the seed was taken from."""
    pick = random.Random(f"seed {mixture}")
    columns, lines = pick.choice(SIZES)
    before = streams(MIXTURES[mixture], pick, STREAMS // 2)
    # tmux tells nothing of the current look, the saved cursor, charsets and tab stops: they begin anew.
    anew = b"\x0f\x1b(B\x1b)B\x1b[m\x1b[3g\x1b7"
    after = [anew + stream for stream in streams(["text", "c0", "goto", "erase", "edit", "sgr"], pick, len(before))]
    first = oracle.ask(before, columns, lines)
    second = oracle.ask([a + b"\x18" + b for a, b in zip(before, after, strict=True)], columns, lines)
    compared = 0
    for stream, then, answer, final in zip(before, after, first, second, strict=True):
        reference = TmuxScreen(columns, lines)
        reference.feed(stream)
        if not halves_are_whole(rows_of(reference)) or answer.values["alternate_on"]:
            continue
        compared += 1
        screen = seeded(answer.snapshot)
        frame = screen.take()
        assert (len(frame.committed), frame.dirty, frame.events) == (0, 0, ()), stream
        assert frame.history_total == answer.values["history_size"], stream
        screen.feed(then)
        assert screen.history_text() + screen.text() == [row.rstrip(" ") for row in final.rows], (stream, then)
        assert (screen.cursor.x, screen.cursor.y) == final.cursor, (stream, then)
    assert compared > len(before) // 2


def test_known_cases_live(oracle: Any) -> None:
    """The recorded answers again, from the tmux that runs here."""
    cases = [json.loads(line) for line in MICRO.read_text().strip().split("\n")]
    sizes = {(case["cols"], case["rows"]) for case in cases}
    for size in sizes:
        data = [case["data"].encode("latin-1") for case in cases if (case["cols"], case["rows"]) == size]
        found = dict(zip(data, oracle.differences(data, *size), strict=True))
        assert {part: words for part, words in found.items() if words} == {}


@settings(max_examples=6, deadline=None, suppress_health_check=list(HealthCheck))
@given(streams=st.lists(st.lists(st.sampled_from(PARTS), max_size=30).map("".join), min_size=20, max_size=20))
def test_generated_mixtures_live(oracle: Any, streams: list[str]) -> None:
    data = [stream.encode() for stream in streams]
    found = dict(zip(data, oracle.differences(data, 17, 5), strict=True))
    assert {part: words for part, words in found.items() if words} == {}


def test_widths_are_those_of_the_running_tmux(oracle: Any) -> None:
    pick = random.Random("widths")
    characters = [chr(pick.randrange(0xA0, 0xD800)) for _ in range(100)]
    characters += [chr(pick.randrange(0x1F000, 0x20000)) for _ in range(100)]
    characters += [chr(pick.randrange(0xE000, 0x110000)) for _ in range(50)]
    answers = oracle.ask([f"e{character}x".encode() for character in characters], 10, 2)
    widths = unicode14()
    wrong = {
        f"U+{ord(character):04X}": (answer.cursor[0] - 2, widths.width(character))
        for character, answer in zip(characters, answers, strict=True)
        if answer.cursor[0] - 2 != max(widths.width(character), 0)
    }
    assert not wrong, "U+…: (tmux, table)"
