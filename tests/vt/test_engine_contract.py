"""What every engine behind the seam keeps to, whoever made it (streamrelay.vt.engine): input, and frames of it."""

import itertools
import random

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from tests.vt.engines import COLUMNS, LINES, STREAM, Make, cut, everything, fed, value


@pytest.mark.requirement("VT-04a", "VT-04b")
class TestChunks:
    @pytest.mark.parametrize("size", [1, 2, 3, 7, 37])
    def test_any_size_gives_the_same(self, make: Make, size: int) -> None:
        assert everything(fed(make, cut(STREAM, size))) == everything(fed(make, [STREAM]))

    def test_every_split_point_gives_the_same(self, make: Make) -> None:
        whole = everything(fed(make, [STREAM]))
        for at in range(len(STREAM)):
            assert everything(fed(make, [STREAM[:at], STREAM[at:]])) == whole, at

    @pytest.mark.sampled(1)
    @settings(
        max_examples=60,
        derandomize=True,
        deadline=None,
        suppress_health_check=[HealthCheck.function_scoped_fixture],
    )
    @given(
        parts=st.lists(
            st.one_of(
                st.sampled_from(
                    [b"\x1b", b"\x1b[", b"\x1b]", b"\x1bP", b"\x1bk", b"\x1b\\", b"\a", b"\x18", b";", b"?", b"m", b"1",
                     b"q", b":", b" ", b"\xe4\xb8\xad", b"\xe4", b"\xb8", b"\xf0\x9f", b"\xc3", b"\r\n", b"\x7f", b"J"]
                ),
                st.binary(max_size=4),
            ),
            max_size=30,
        ),
        cuts=st.lists(st.integers(0, 120), max_size=6),
    )  # fmt: skip
    @example(parts=[b"\x18", b"m"], cuts=[])  # stock pyte loses the m where both come in one read
    @example(parts=[b"\x1b", b"\xc3\x80", b";"], cuts=[])  # avt ends the sequence at the character
    def test_random_cuts_of_random_bytes_give_the_same(self, make: Make, parts: list[bytes], cuts: list[int]) -> None:
        data = b"".join(parts)
        at = [0, *sorted(min(position, len(data)) for position in cuts), len(data)]
        chunks = [data[start:stop] for start, stop in itertools.pairwise(at)]
        assert everything(fed(make, chunks)) == everything(fed(make, [data])) == everything(fed(make, cut(data, 1)))


class TestHostileInput:
    @pytest.mark.requirement("VT-02")
    def test_nothing_raises_and_nothing_grows(self, make: Make) -> None:
        pick = random.Random("hostile")
        pieces = [
            *(
                b"\x1b[",
                b"\x1b]",
                b"\x1bP",
                b"\x1b_",
                b"\x1b",
                b"\x1b(",
                b"\xe4\xb8",
                b"\xf0\x9f\x91\xa9",
                b"\xe2\x80\x8d",
            ),
            *(b"\r\n", b"99999", b"1049", b";", b":", b"?", b"h", b"l", b"m", b"r", b"J", b"M", b"L", b"@", b"P", b"b"),
        ]
        engine = make(COLUMNS, LINES)
        for _ in range(3000):
            if pick.random() < 0.02:
                engine = make(pick.randint(1, 30), pick.randint(1, 8))
            engine.feed(b"".join(pick.choice(pieces) if pick.random() < 0.7 else pick.randbytes(3) for _ in range(20)))
            if pick.random() < 0.1:
                engine.resize(pick.randint(1, 8), pick.randint(1, 30))
            frame = engine.take()
            rows = [engine.row(y) for y in range(engine.lines)]
            assert 0 <= frame.cursor.y < engine.lines
            assert 0 <= frame.cursor.x <= engine.columns
            assert frame.dirty < 1 << engine.lines
            assert all(len(row.columns(0, engine.columns)) == len(row.text) for row in rows)
            assert all(run.stop <= engine.columns for row in (*rows, *frame.committed) for run in row.runs)

    @pytest.mark.parametrize("opening", [b"\x1b]0;", b"\x1b_", b"\x1bPq", b"\x1bX", b"\x1b["])
    def test_what_never_ends_is_not_kept_for_ever(self, make: Make, opening: bytes) -> None:
        engine = make(COLUMNS, LINES)
        engine.feed(opening)
        for _ in range(40):
            engine.feed(b"0123456789;" * 6000)
        assert not engine.take().ground
        engine.feed(b"m\x1b\\seen")
        assert engine.take().ground
        assert engine.row(0).text == "seen"


@pytest.mark.requirement("VT-04a", "VT-04b")
class TestFrames:
    def test_rows_are_committed_once_in_order(self, make: Make) -> None:
        engine = make(COLUMNS, LINES)
        seen: list[str] = []
        for number in range(50):
            engine.feed(f"line {number}\r\n".encode())
            if number % 7 == 0:
                frame = engine.take()
                seen += [row.text for row in frame.committed]
                assert frame.history_total == len(seen)
        seen += [row.text for row in engine.take().committed]
        assert seen == [f"line {number}" for number in range(50 - LINES + 1)]

    def test_history_total_names_rows(self, make: Make) -> None:
        engine = make(COLUMNS, LINES)
        for number in range(12):
            engine.feed(f"{number}\r\n".encode())
            total = engine.take().history_total
            assert engine.row(min(number, LINES - 2)).text == str(total + min(number, LINES - 2))

    def test_a_frame_is_forgotten_when_taken(self, make: Make) -> None:
        engine = fed(make, [STREAM, b"\x1b[0m\r\n"])
        first = engine.take()
        assert first.committed
        assert first.events
        assert first.dirty
        second = engine.take()
        assert (len(second.committed), second.events, second.dirty, second.scrolled) == (0, (), 0, 0)
        assert (second.history_total, second.cursor) == (first.history_total, first.cursor)

    def test_only_lines_that_changed_are_dirty(self, make: Make) -> None:
        engine = make(COLUMNS, LINES)
        engine.feed(b"\x1b[2;1Hx\x1b[4;1Hy\x1b[1;1H")
        assert engine.take().dirty == 0b01010
        engine.feed(b"\x1b[4;1H\x1b[K")
        assert engine.take().dirty == 0b01000

    def test_a_scroll_is_not_everything_dirty(self, make: Make) -> None:
        engine = fed(make, [b"a\r\nb\r\nc\r\nd\r\ne"])
        engine.take()
        engine.feed(b"\nf")
        frame = engine.take()
        assert (frame.scrolled, frame.dirty) == (1, 0b10000)
        engine.feed(b"\x1b[1;1HX\x1b[2;1HY\x1b[5;1H\n\n")
        frame = engine.take()
        assert (frame.scrolled, frame.dirty) == (2, 0)

    @pytest.mark.sampled(2)
    def test_a_copy_kept_by_frames_alone_stays_right(self, make: Make) -> None:
        """Shift by `scrolled`, read again what is dirty: no other line may differ."""
        pick = random.Random("mirror")
        parts = [
            *(
                b"text",
                b"\r\n",
                b"\n",
                b"\x1b[2;4r",
                b"\x1b[r",
                b"\x1b[3;2H",
                b"\x1b[5;1H",
                b"\x1b[2J",
                b"\x1b[M",
                b"\x1b[L",
            ),
            *(
                b"\x1b[2S",
                b"\x1b[T",
                b"\x1b[44m",
                b"\x1b[m",
                b"\x1b[K",
                b"\x1b[J",
                b"\x1b[1J",
                b"\x1bM",
                b"\x1b#8",
                b"\x1bc",
            ),
            *(
                b"\x1b[?1049h",
                b"\x1b[?1049l",
                b"\x1b[2P",
                b"\x1b[@",
                b"\x1b[X",
                b"a line that is longer than the screen",
            ),
            *("世界".encode(), "e\u0301".encode()),
        ]
        for _ in range(150):
            engine = make(COLUMNS, LINES)
            copy = [value(engine.row(y)) for y in range(LINES)]
            blank = copy[0]
            for _ in range(12):
                for _ in range(pick.randint(1, 6)):
                    engine.feed(pick.choice(parts))
                frame = engine.take()
                copy = (copy[frame.scrolled :] + [blank] * min(frame.scrolled, LINES))[:LINES]
                for y in range(LINES):
                    if frame.dirty >> y & 1:
                        copy[y] = value(engine.row(y))
                assert copy == [value(engine.row(y)) for y in range(LINES)]

    def test_rows_are_values(self, make: Make) -> None:
        engine = fed(make, [b"\x1b[31mfirst\r\nsecond\r\n" * 4])
        rows = [*engine.take().committed, *(engine.row(y) for y in range(LINES))]
        before = [value(row) for row in rows]
        engine.feed(b"\x1b[H\x1b[32mother\x1b[2J\x1b#8\x1b[3J\x1b[?1049hx\x1b[?1049l" * 3)
        assert [value(row) for row in rows] == before

    def test_rows_say_text_columns_and_runs(self, make: Make) -> None:
        engine = fed(make, ["a世\x1b[1;31mbc\x1b[m  e\u0301".encode()])
        row = engine.row(0)
        assert row.text == "a世bc  e\u0301"
        assert row.columns(1, 4) == "世b"
        assert row.columns(2, 4) == "b"
        assert row.columns(7, 20) == "e\u0301"
        assert [(run.start, run.stop, run.style) for run in row.runs] == [(3, 5, "1;31")]

    @pytest.mark.parametrize("rests", [False, True])
    def test_blank_is_where_nothing_is_to_be_read(self, make: Make, rests: bool) -> None:
        engine = fed(make, ["\x1b[2;1H \x1b[44m  \x1b[m\x1b[3;3Hx\x1b[5;1H世\b\b\u3000".encode()])
        if rests:
            engine.rest()
        for start, stop in itertools.combinations_with_replacement(range(LINES + 1), 2):
            assert engine.is_blank(start, stop) is not (start <= 2 < stop)
        for number in range(30):
            engine.feed(b"\r\n" if number % 7 else b"\r\nline")
            texts = [row.text.strip() for row in engine.rows(0, LINES)]
            assert [engine.is_blank(y, y + 1) for y in range(LINES)] == [not text for text in texts]

    def test_the_alternate_screen_commits_nothing(self, make: Make) -> None:
        engine = fed(make, [b"main\r\n\x1b[?1049h" + b"x\r\n" * 50])
        frame = engine.take()
        assert (frame.alternate, len(frame.committed), frame.history_total) == (True, 0, 0)
        engine.feed(b"\x1b[?1049l")
        frame = engine.take()
        assert (frame.alternate, len(frame.committed)) == (False, 0)
        assert engine.row(0).text == "main"

    def test_history_cleared_keeps_what_nobody_saw_yet(self, make: Make) -> None:
        engine = fed(make, [b"one\r\n" * 8 + b"\x1b[3J" + b"two\r\n" * 3])
        frame = engine.take()
        assert frame.history_cleared
        assert frame.history_total == len(frame.committed) == 7
        engine.feed(b"\n")
        frame = engine.take()
        assert (frame.history_cleared, frame.history_total, len(frame.committed)) == (False, 8, 1)

    def test_ground_is_outside_of_sequences_and_characters(self, make: Make) -> None:
        engine = make(COLUMNS, LINES)
        for part, ground in [(b"a", True), (b"\x1b", False), (b"[3", False), (b"m", True), (b"\xe4\xb8", False),
                             (b"\xad", True), (b"\x1b]0;t", False), (b"\x07", True)]:  # fmt: skip
            engine.feed(part)
            assert engine.take().ground is ground, part

    def test_a_rest_changes_nothing(self, make: Make) -> None:
        stream = STREAM + b"\x1b[44mblue \xe4\xb8\x96e\xcc\x81\x1b[K" + b"wrapped " * 4
        rested, other = fed(make, [stream]), fed(make, [stream])
        rested.rest()
        for data in (b"", b"\x1b[H\x1b[Mmore", b"\r\n" * 9 + b"end"):
            rested.feed(data)
            other.feed(data)
            ours, theirs = rested.take(), other.take()
            assert ours.cursor == theirs.cursor
            assert [row.text for row in ours.committed] == [row.text for row in theirs.committed]
            rested.rest()
            rested.rest()
            for y in range(LINES):
                one, two = rested.row(y), other.row(y)
                assert (one.text, one.wrapped, one.runs) == (two.text, two.wrapped, two.runs)
