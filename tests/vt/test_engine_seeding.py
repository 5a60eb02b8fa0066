"""What every engine behind the seam keeps to (streamrelay.vt.engine) when it gets another size or a whole screen."""

from streamrelay.vt.engine import Cursor, Frame, Modes, Snapshot
from tests.vt.engines import COLUMNS, LINES, STREAM, Make, fed, value


class TestSizeAndSeed:
    def test_a_resize_is_a_new_epoch(self, make: Make) -> None:
        engine = fed(make, [b"abc\r\ndef"])
        before = engine.take()
        engine.resize(3, 10)
        assert (engine.columns, engine.lines) == (10, 3)
        after: Frame = engine.take()
        assert after.epoch > before.epoch
        assert [engine.row(y).text for y in range(3)] == ["abc", "def", ""]
        engine.feed(b"123456789")
        assert engine.row(1).text == "def1234567"

    def test_lines_that_no_longer_fit_commit(self, make: Make) -> None:
        engine = fed(make, [b"1\r\n2\r\n3\r\n4\r\n5"])
        engine.resize(2, COLUMNS)
        frame = engine.take()
        assert [row.text for row in frame.committed] == ["1", "2", "3"]
        assert (frame.cursor, engine.row(1).text) == (Cursor(1, 1), "5")

    def test_a_seed_is_the_whole_truth(self, make: Make) -> None:
        engine = fed(make, [STREAM])
        epoch = engine.take().epoch
        engine.seed(
            Snapshot(
                columns=12,
                lines=3,
                rows=(b"one \x1b[1;31mred", b"\x1b[0m\xe4\xb8\x96 \x0elqk\x0f  ", b""),
                wrapped=(True, False, False),
                cursor=Cursor(12, 1),
                history=(b"old", b"\x1b[4molder"),
                history_total=40,
                scroll_region=(0, 1),
                modes=Modes(origin=True, bracketed_paste=True),
                pending=b"\x1b[3",
            )
        )
        frame = engine.take()
        assert frame.epoch > epoch
        assert (len(frame.committed), frame.dirty, frame.scrolled, frame.events) == (0, 0, 0, ())
        assert (frame.history_total, frame.cursor, frame.ground) == (40, Cursor(12, 1), False)
        assert [value(engine.row(y))[:2] for y in range(3)] == [("one red", True), ("世 lqk  ", False), ("", False)]
        assert [(run.start, run.stop, run.style) for run in engine.row(0).runs] == [(4, 7, "1;31")]
        engine.feed(b"2mgreen")
        frame = engine.take()
        assert [row.text for row in frame.committed] == ["one red"]
        assert frame.history_total == 41
        assert engine.row(1).text == "green"
        assert engine.row(1).runs[0].style == "32"

    def test_a_seed_of_the_alternate_screen(self, make: Make) -> None:
        engine = make(COLUMNS, LINES)
        engine.seed(Snapshot(10, 2, (b"full", b"screen"), (False, False), Cursor(0, 0), alternate=True))
        assert engine.take().alternate
        engine.feed(b"\n\n\n")
        assert len(engine.take().committed) == 0
        engine.feed(b"\x1b[?1049l")
        frame = engine.take()
        assert not frame.alternate
        assert frame.dirty == 0b11

    def test_a_seed_that_makes_no_sense_does_not_raise(self, make: Make) -> None:
        engine = make(COLUMNS, LINES)
        rows = (b"much too long for this screen", b"\xff\xe4\x1b[", b"\x1b[2J\n\x1b[?1049h", b"x")
        engine.seed(Snapshot(5, 2, rows, (True,), Cursor(99, -3), history=(b"\x1b]0;",), scroll_region=(7, 1)))
        engine.feed(STREAM)
        assert engine.lines == 2
        assert engine.row(0).text
