from streamrelay.delta.printing.lines import PROVING, REPAINT_REST, LineTracker
from streamrelay.vt import TmuxScreen
from streamrelay.vt.engine import Cursor, Snapshot


class Followed:
    """A screen with a tracker that looks after every feed."""

    def __init__(self, columns: int = 20, lines: int = 4) -> None:
        self.screen = TmuxScreen(columns, lines)
        self.lines = LineTracker(self.screen)
        self.lines.seed(self.screen.take())

    def feed(self, data: str, now: float = 0.0) -> list[str]:
        self.screen.feed(data.encode())
        return [line.rstrip(" ") for line in self.lines.take(self.screen.take(), now)]


def test_a_line_passes_with_its_line_feed_and_not_before() -> None:
    pane = Followed()
    assert pane.feed("one") == []
    assert pane.feed("\r") == []
    assert pane.feed("\ntwo\r\nthr") == ["one", "two"]
    assert pane.lines.open_text() == pane.lines.open_head() == "thr"


def test_a_line_rewritten_in_place_passes_in_its_last_state() -> None:
    pane = Followed()
    assert pane.feed(" 10%\r 50%") == []
    assert pane.feed("\r100%\r\n") == ["100%"]


def test_soft_wraps_are_joined_and_trailing_blanks_left_out() -> None:
    pane = Followed(columns=5)
    assert pane.feed("abcdefghijkl   \r\n\r\nx \xa0\r\n") == ["abcdefghijkl", "", "x \xa0"]


def test_a_line_longer_than_the_screen_comes_once_and_whole() -> None:
    pane = Followed(columns=5, lines=2)
    assert pane.feed("0123456789" * 5) == []
    assert pane.lines.open_text() == "0123456789" * 5
    assert pane.feed("end\r\nnext") == ["0123456789" * 5 + "end"]


def test_a_line_tells_how_much_of_it_has_left_the_screen() -> None:
    pane = Followed(columns=5, lines=2)
    assert not pane.lines.exceeds(0)
    pane.feed("0123456789" * 5)
    left = 50 - 5 * 2
    assert pane.lines.exceeds(left - 1)
    assert not pane.lines.exceeds(left)


def test_a_line_end_in_two_reads_replaces_nothing_of_a_wrapped_line() -> None:
    pane = Followed(columns=5, lines=4)
    assert pane.feed("0123456\r") == []
    assert pane.feed("\n") == ["0123456"]
    pane.feed("\x1b[Habcde")
    pane.feed("fg\r\n", 1.0)
    assert pane.lines.due is not None
    assert pane.lines.tick(pane.lines.due) == ["abcdefg"]


def test_a_line_rewritten_after_it_was_said_is_said_once_more_when_its_program_leaves_it_alone() -> None:
    pane = Followed(lines=8)
    assert pane.feed("one\r\ntwo\r\nthree\r\n") == ["one", "two", "three"]
    for state in range(100):
        assert pane.feed(f"\x1b[2A\r\x1b[K{state}\x1b[2B\r", state / 100) == []
    assert pane.feed("four\r\n", 1.0) == []
    assert pane.lines.habit == "repaints"
    assert pane.lines.due == REPAINT_REST
    assert pane.lines.tick(pane.lines.due) == ["99"]
    assert pane.lines.due == 0.99 + REPAINT_REST
    assert pane.lines.tick(pane.lines.due) == ["four"]
    assert pane.lines.habit == "plain"
    assert pane.feed("five\r\n", 3.0) == ["five"]


def test_a_line_above_all_that_is_repainted_is_said_while_the_repainting_goes_on() -> None:
    pane = Followed(lines=8)
    pane.feed("1%\r\n", 0.0)
    pane.feed("\x1b[Alog\r\n2%\r\n", 1.0)
    pane.feed("\x1b[A3%\r\n", 2.0)
    assert pane.lines.tick(1.0 + REPAINT_REST) == ["log"]
    assert pane.lines.habit == "repaints"


def test_the_first_lines_of_an_unproven_program_wait_until_it_is_known_how_it_prints() -> None:
    pane = Followed()
    pane.lines.doubt()
    assert pane.feed("one\r\n", 1.0) == []
    assert pane.lines.due == 1.0 + PROVING
    assert pane.lines.tick(1.0 + PROVING) == ["one"]
    assert pane.feed("two\r\n", 2.0) == ["two"]


def test_an_unproven_program_that_fills_the_screen_is_plain() -> None:
    pane = Followed(lines=3)
    pane.lines.doubt()
    assert pane.feed("1\r\n2\r\n") == []
    assert pane.feed("3\r\n") == ["1", "2", "3"]
    assert pane.lines.habit == "plain"


def test_the_head_ends_at_the_cursor() -> None:
    pane = Followed()
    pane.feed("> hello\x1b[3G")
    assert pane.lines.open_head() == "> "
    assert pane.lines.open_text() == "> hello"


def test_above_the_open_line_there_is_no_head() -> None:
    pane = Followed()
    pane.feed("one\r\ntwo")
    pane.feed("\x1b[A")
    assert pane.lines.open_text() == ""


def test_the_alternate_screen_says_nothing_and_the_main_screen_goes_on() -> None:
    pane = Followed()
    pane.feed("before\r\nopen")
    assert pane.feed("\x1b[?1049h\x1b[Hfull\r\nscreen\r\n") == []
    assert pane.lines.open_text() == pane.lines.open_head() == ""
    assert pane.feed("\x1b[?1049l") == []
    assert pane.feed(" end\r\n") == ["open end"]


def test_what_stood_above_the_cursor_before_anybody_watched_is_not_new() -> None:
    screen = TmuxScreen(10, 4)
    lines = LineTracker(screen)
    screen.seed(Snapshot(10, 4, (b"old", b"0123456789", b"ab", b""), (False, True, False, False), Cursor(2, 2)))
    lines.seed(screen.take())
    assert lines.open_text() == "0123456789ab"
    screen.feed(b"c\r\nnew\r\n")
    assert lines.take(screen.take(), 0.0) == ["0123456789abc", "new"]


def test_watched_from_the_alternate_screen_the_line_is_known_when_it_is_left() -> None:
    screen = TmuxScreen(10, 3)
    lines = LineTracker(screen)
    screen.seed(Snapshot(10, 3, (b"vi", b"", b""), (False,) * 3, Cursor(0, 0), alternate=True))
    lines.seed(screen.take())
    screen.feed(b"x\r\ny\r\n")
    assert lines.take(screen.take(), 0.0) == []
    screen.feed(b"\x1b[?1049l")
    assert lines.take(screen.take(), 0.0) == []
    screen.feed(b"after\r\n")
    assert lines.take(screen.take(), 0.0)[-1].endswith("after")


def test_a_program_that_paints_is_looked_at_until_it_paints_no_more() -> None:
    pane = Followed(lines=8)

    def paints(data: str, now: float) -> None:
        pane.screen.feed(data.encode())
        assert pane.lines.take(pane.screen.take(), now, paints=True) == []

    pane.lines.doubt()
    assert pane.feed("one\r\n") == []
    paints("\x1b[?25lhalf", 0.1)
    assert pane.lines.habit == "paints"
    assert pane.lines.due == PROVING
    assert pane.lines.tick(PROVING) == []
    assert pane.lines.due == PROVING + REPAINT_REST
    assert pane.lines.tick(pane.lines.due) == []
    assert pane.lines.due is None
    paints("\rtwo\r\n", 5.0)
    assert pane.lines.due == 5.0 + REPAINT_REST
    paints("\x1b[A10%\r\n", 5.5)
    assert pane.lines.tick(5.0 + REPAINT_REST) == []
    assert pane.lines.tick(5.5 + 2 * REPAINT_REST) == ["one", "10%f"]
