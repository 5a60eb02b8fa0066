"""Lines that are only printed take a way of their own through the screen: it must show what the general one shows."""

import random
import re
from itertools import chain
from typing import Any

import pytest

from streamrelay.vt import TmuxScreen
from streamrelay.vt.fast_path import FastPath
from streamrelay.vt.widths import FLAGS, Quirks, Widths, unicode14

WORDS = [
    "plain", "a longer piece of text that goes on", "世界", "é", "e\u0301", "⚠\ufe0f", "1\ufe0f\u20e3", "世\ufe0f",
    "🇫🇮", "👩\u200d💻", "x" * 23, "   ",
    "\x1b[31m", "\x1b[0m", "\x1b[m", "\x1b[44m", "\x1b[1;38;5;200m", "\x1b[39m", "\x1b[49m", "\x1b[0;7m", "\x1b[4:3m",
    "\u0301", "\u200d", "\ufe0f", "🏽", "\x85", "\U000f0001", "\x1b[" + "1;" * 30 + "m",
]  # fmt: skip
OTHERS = [
    "\x1b[K", "\t", "\n", "\r", "\x1b[2J", "\x1b[A", "\x1b]0;t\x07", "\x1b[3b", "\b", "\x1b7", "\x1b8", "\x1b[2;3r",
    "\x1b[r", "\x1b[?1049h", "\x1b[?1049l", "\x1b[?7l", "\x1b[?7h", "\x1b[3J", "\x0e", "\x1b(0", "\x0f", "\x1b[4h",
    "\x1bM", "\x1bc", "\x1b[1S",
]  # fmt: skip
WIDENING = unicode14().replaced({}, Quirks(widens=True))
WIDTHS = {
    "3.3a": unicode14(),
    "widening": WIDENING,
    "wide flags": WIDENING.replaced(dict.fromkeys(FLAGS, 2)),
}
SIZES = [(12, 4, 1000), (40, 6, 50), (80, 10, 1000), (7, 3, 20), (200, 20, 10)]


def printed(pick: random.Random) -> bytes:
    words = pick.sample(WORDS, pick.randint(2, len(WORDS)))
    others = pick.choice([0, 0, 0.01, 0.1])
    lines = ["\n" * pick.choice([0, 20])]
    for _ in range(pick.randint(20, 200)):
        lines += pick.choices(words, k=pick.choice([0, 1, 2, 3, 5, 8]))
        if pick.random() < others:
            lines.append(pick.choice(OTHERS))
        lines.append("\r\n")
    return "".join(lines).encode()


def everything(screen: TmuxScreen) -> list[Any]:
    frame = screen.take()
    cells = [[row[x] for x in range(screen.columns)] for row in screen.buffer.values()]
    history: Any = screen.history.top
    return [
        frame.dirty, frame.scrolled, frame.history_total, frame.cursor, frame.ground, frame.events, screen.modes,
        [(row.text, row.wrapped, row.runs) for row in frame.committed], cells,
        [[row[x] for x in range(screen.columns)] for row in history[-20:]],
        [(row.line.text, row.line.wrapped, row.line.runs) for row in history],
        [(row.text, row.wrapped, row.runs) for row in map(screen.row, range(screen.lines))],
    ]  # fmt: skip


def fed(data: bytes, size: tuple[int, int, int], chunks: list[int], widths: Widths | None = None) -> TmuxScreen:
    screen = TmuxScreen(*size, widths=widths)
    start = turn = 0
    while start < len(data):
        chunk = chunks[turn % len(chunks)]
        screen.feed(data[start : start + chunk])
        start += chunk
        turn += 1
    return screen


@pytest.mark.sampled(8)
@pytest.mark.parametrize("widths", WIDTHS.values(), ids=WIDTHS.keys())
@pytest.mark.parametrize("seed", range(25))
def test_same_as_byte_by_byte(seed: int, widths: Widths, monkeypatch: pytest.MonkeyPatch) -> None:
    pick = random.Random(seed)
    for _ in range(2):
        data, size = printed(pick), pick.choice(SIZES)
        with monkeypatch.context() as patched:
            patched.setattr(FastPath, "possible", staticmethod(lambda _state: False))
            reference = everything(fed(data, size, [1], widths))
        for chunks in ([1 << 20], [37], [500], [pick.choice([1, 3, 100, 600, 2000]) for _ in range(7)]):
            assert everything(fed(data, size, chunks, widths)) == reference, (seed, size, chunks)


@pytest.mark.parametrize("widths", WIDTHS.values(), ids=WIDTHS.keys())
@pytest.mark.parametrize("before", range(14))
def test_what_widens_at_the_margin_is_where_the_general_way_puts_it(
    before: int, widths: Widths, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = b"\n" * 10 + f"{'x' * before}⚠\ufe0f !\r\n".encode() * 60
    flowed = everything(fed(data, (12, 4, 1000), [10, len(data)], widths))
    monkeypatch.setattr(FastPath, "possible", staticmethod(lambda _state: False))
    assert flowed == everything(fed(data, (12, 4, 1000), [1], widths))


ONLY_PRINTED = re.compile(r"(?:[^\x00-\x1f\x7f]|\r\n|\x1b\[[0-9;:]*m)*\r?(?:\x1b(?:\[[0-9;:]*)?)?")


@pytest.mark.sampled(8)
@pytest.mark.parametrize("seed", range(25))
def test_lines_fed_apart_from_the_rest_make_the_same_screen(seed: int) -> None:
    pick = random.Random(f"apart {seed}")
    data, size = printed(pick) * 3, pick.choice(SIZES)
    chunks = [pick.choice([1, 40, 600, 2000, 1 << 16]) for _ in range(7)]
    screen = TmuxScreen(*size)
    start = turn = 0
    stretch = b""
    while start < len(data):
        read = data[start : start + chunks[turn % len(chunks)]]
        count = screen.feed_lines(read)
        screen.feed(read[count:])
        start += len(read)
        turn += 1
        # Everything that lines consist of, in reads of any size, and nothing that moves a cursor.
        stretch = (stretch if count else b"") + read[:count]
        assert ONLY_PRINTED.fullmatch(stretch.decode(errors="ignore").removeprefix("\n")) or count == 0, stretch
        stretch = stretch if count == len(read) else b""
    assert everything(screen) == everything(fed(data, size, chunks))


def test_a_flood_of_lines_is_fed_apart_whole_however_it_is_cut() -> None:
    screen = flowing(LOG)
    data = LOG + "世界 und mehr davon\r\n".encode() * 50
    for size in (700, 701, 1500, len(data)):
        for start in range(0, len(data), size):
            read = data[start : start + size]
            assert screen.feed_lines(read) == len(read)


@pytest.mark.parametrize("widths", WIDTHS.values(), ids=WIDTHS.keys())
def test_symbols_that_agents_print_do_not_leave_the_fast_way(widths: Widths) -> None:
    screen = TmuxScreen(40, 5, widths=widths)
    screen.feed(b"\n" * 10 + LOG)
    data = "\x1b[33m⚠\ufe0f  careful\x1b[0m with ❤\ufe0f and 1\ufe0f\u20e3 👩\u200d💻\r\n".encode() * 50
    assert screen.feed_lines(data) == len(data)


@pytest.mark.parametrize(
    ("read", "count"),
    [
        (b"a\r\nb\r\n\x1b[Kc\r\n", 6),
        (b"a\r\n\x1b[K\r\n", 3),
        (b"\x1b[K", 0),
        (b"a\r\n\x7f", 0),
        (b"a\r\n\xff", 0),
        (b"\xe4\xb8", 0),
        (b"a\r\n\x1b[31", 7),
        ("a\r\n世".encode()[:-1], 5),
    ],
)
def test_only_what_is_known_to_be_lines_is_fed_apart(read: bytes, count: int) -> None:
    assert flowing(LOG).feed_lines(read) == count


def flowing(data: bytes, *, take: bool = False) -> TmuxScreen:
    screen = TmuxScreen(40, 5)
    screen.feed(b"\n" * 10)
    if take:
        screen.take()
    screen.feed(data)
    assert screen._terminal._flow is not None
    return screen


LOG = b"".join(b"\x1b[32mline\x1b[0m %d of a log that is just printed\r\n" % number for number in range(100))


def test_rows_are_handed_out_without_being_drawn() -> None:
    screen = flowing(LOG + b"an open li", take=True)
    frame = screen.take()
    assert [row.text for row in [*frame.committed][-2:]] == [
        f"line {n} of a log that is just printed" for n in (94, 95)
    ]
    assert len(frame.committed) == frame.scrolled == 100
    assert frame.dirty == 0b11111
    assert (frame.cursor.x, frame.cursor.y) == (10, 4)
    assert screen.row(3).text == "line 99 of a log that is just printed"
    assert [(run.start, run.stop, run.style) for run in screen.row(3).runs] == [(0, 4, "32")]
    assert screen._terminal._flow is not None
    assert len(screen.take().committed) == 0
    assert screen.row(4).text == "an open li"


def test_an_open_line_goes_on() -> None:
    screen = flowing(LOG + b"open\x1b[1")
    assert not screen.take().ground
    for part in (b";3", b"1m line", b" and", b" its end\r", b"\nnext"):
        screen.feed(part)
        assert screen._terminal._flow is not None
    assert screen.take().dirty == 0b11000
    assert (screen.row(3).text, screen.row(3).runs[0].style) == ("open line and its end", "1;31")
    assert screen.text()[4] == "next"


def test_everything_else_draws_the_screen_first() -> None:
    screen = flowing(LOG + b"open")
    screen.feed(b"\x1b[2;3HX\x1b[K")
    assert screen.text() == [
        *("line 96 of a log that is just printed", "liX"),
        *(f"line {number} of a log that is just printed" for number in (98, 99)),
        "open",
    ]
    assert screen.buffer[1][0].fg == "green"


def test_long_lines_wrap_as_they_do_when_drawn() -> None:
    data = (f"{'wide 世界 ' * 9}\r\n" + "x" * 95 + "\r\n").encode() * 20
    assert everything(flowing(data)) == everything(fed(b"\n" * 10 + data, (40, 5, 10_000), [1]))


@pytest.mark.sampled(8)
@pytest.mark.parametrize("seed", range(25))
def test_the_open_line_reads_as_it_does_when_drawn(seed: int) -> None:
    pick = random.Random(f"open {seed}")
    words = [word for word in WORDS if word not in {"\u0301", "\u200d", "\ufe0f", "🏽", "\x85", "\U000f0001"}]
    screen, compared = flowing(LOG), 0
    for _ in range(40):
        line = "".join(pick.choices(words, k=pick.randint(0, 3))) + pick.choice(["", "\r"])
        screen.feed(line.encode())
        if screen._terminal._flow is not None:
            row = screen.row(4)
            handed_out = (row.text, row.wrapped, row.runs, row.columns(2, 9))
            assert screen._terminal._flow is not None
            drawn = screen._terminal.state.grid.lines[4]
            assert handed_out == (drawn.text, drawn.wrapped, drawn.runs, drawn.columns(2, 9))
            compared += 1
        screen.feed(b"\x1b[0m\r\n" + LOG)
    assert compared > 0


@pytest.mark.parametrize("seed", range(10))
def test_the_lines_that_passed_are_told_where_they_were_only_printed(seed: int) -> None:
    pick = random.Random(f"passed {seed}")
    screen = TmuxScreen(40, 5, 1000)
    told = 0
    for _ in range(60):
        before = screen.take()
        lines = [
            [*pick.choices(["some ", "words ", "of 世界 ", "\x1b[31m", "\x1b[0m", "longer "], k=5), "\r\n"]
            for _ in range(50)
        ]
        lines[25] += pick.choices(["", "\x1b[A", "\t"], weights=(60, 1, 1))
        screen.feed("".join(chain(*lines)).encode()[: pick.choice([-1, 700, 2000])])
        after = screen.take()
        if after.passed is None:
            continue
        first = before.history_total + before.cursor.y
        passed = range(first, after.history_total + after.cursor.y)
        rows = [*after.committed, *map(screen.row, range(5))]
        oldest = after.history_total - len(after.committed)
        assert after.passed == [rows[number - oldest].text.rstrip(" ") for number in passed]
        told += 1
    assert told > 0


def test_lines_that_nobody_takes_are_not_kept_without_bound() -> None:
    screen = TmuxScreen(40, 5, 50)
    screen.feed(b"\n" * 10 + LOG)
    for _ in range(2):
        screen.take()
        screen.feed(b"short\r\n" * 30)
        screen.feed(LOG)
    assert len(screen.take().passed or ()) == 130
    for _ in range(20):
        screen.feed(LOG)
    assert screen.take().passed is None
