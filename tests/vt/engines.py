"""The engines behind the seam, what is known to be wrong with those that are not ours, and a stream to feed them."""

from collections.abc import Callable, Sequence

from streamrelay.testing.stock_pyte import StockPyte
from streamrelay.vt import TmuxScreen
from streamrelay.vt.engine import Engine, Row
from streamrelay.vt.native import AvtScreen
from streamrelay.vt.terminal import Terminal

Make = Callable[[int, int], Engine]
ENGINES: dict[str, Make] = {"TmuxScreen": TmuxScreen, "Terminal": Terminal, "pyte": StockPyte, "avt": AvtScreen}
NO_EVENTS = "it tells no events"
NO_SCROLLS = "a scroll is told as changed lines"
NO_CLEARING = "clearing history is not told"
KNOWN_FAILURES: dict[str, dict[str, str]] = {
    "pyte": {
        "test_any_size_gives_the_same": "a character that joins is kept or lost as the input is cut",
        "test_every_split_point_gives_the_same": "a character that joins is kept or lost as the input is cut",
        "test_random_cuts_of_random_bytes_give_the_same": "what follows an odd sequence is lost up to the next cut",
        "test_nothing_raises_and_nothing_grows": "private forms and surplus parameters raise TypeError",
        r"test_what_never_ends_is_not_kept_for_ever[pyte-\x1bPq]": "DCS is printed",
        r"test_what_never_ends_is_not_kept_for_ever[pyte-\x1bX]": "SOS is printed",
        r"test_what_never_ends_is_not_kept_for_ever[pyte-\x1b[]": "a sequence of too many parameters is printed",
        "test_a_frame_is_forgotten_when_taken": NO_EVENTS,
        "test_a_scroll_is_not_everything_dirty": NO_SCROLLS,
        "test_rows_say_text_columns_and_runs": "a wide character's second column has no style",
        "test_the_alternate_screen_commits_nothing": "there is no alternate screen",
        "test_history_cleared_keeps_what_nobody_saw_yet": NO_CLEARING,
        "test_a_resize_is_a_new_epoch": "a resize to fewer lines takes them from the top",
        "test_lines_that_no_longer_fit_commit": "a resize throws lines away",
        "test_a_seed_is_the_whole_truth": "no soft wraps, no written blanks, no pending wrap",
        "test_a_seed_of_the_alternate_screen": "there is no alternate screen",
    },
    "avt": {
        "test_random_cuts_of_random_bytes_give_the_same": "an odd sequence is shown or not as the input is cut",
        "test_a_frame_is_forgotten_when_taken": NO_EVENTS,
        "test_a_scroll_is_not_everything_dirty": NO_SCROLLS,
        "test_history_cleared_keeps_what_nobody_saw_yet": NO_CLEARING,
        "test_a_seed_is_the_whole_truth": "no soft wraps, no written blanks, no pending wrap",
        "test_a_seed_of_the_alternate_screen": "what is scrolled away on the alternate screen is blank on the main one",
    },
}
"""What engines other than ours get wrong, one by one; a test that begins to pass fails the suite."""
COLUMNS, LINES = 20, 5
STREAM = (
    "plain\r\nwrapped over the right margin and on\r\n\x1b[1;31mred\x1b[0m \x1b[44mblue\x1b[K\x1b[m\r\n"
    "wide 世界 joined e\u0301 👩\u200d💻 ⚠\ufe0f\r\n\x1b]0;a title\x07\x1b]133;A\x1b\\$ \x1b(0lqk\x1b(B\r\n"
    "\x1b[2;4r\x1b[4;1Hin\nregion\n\x1b[r\x1b[5;1H\x1b[?2004h\x1b[?1049h\x1b[Halternate\x1b[?1049l\x1bPq\x1bnot\x1b\\"
    "\x1b[1\r;3Hodd\x1bk name\x1b\\\x1b_apc\x1b\\a\x1b[3b\x1b]52;c;aGk=\x1b[31m\x1b[2J\x1b[Hend\a\x1b[7"
).encode() + b"\xe4\xb8x\xff\xf0\x9f\x98"


def value(row: Row) -> tuple[object, ...]:
    return row.text, row.wrapped, row.runs


def everything(engine: Engine) -> tuple[object, ...]:
    frame = engine.take()
    for stretch in (frame.committed, engine.rows(0, engine.lines)):
        texts = [row.text.rstrip(" ") for row in stretch]
        assert stretch.texts() == (None if any(row.wrapped for row in stretch) else texts)
    rows = [value(row) for row in (*frame.committed, *engine.rows(0, engine.lines))]
    return (
        rows,
        frame.history_total,
        frame.cursor,
        frame.alternate,
        frame.events,
        frame.ground,
        frame.scrolled,
        frame.dirty,
    )


def fed(make: Make, chunks: Sequence[bytes]) -> Engine:
    engine = make(COLUMNS, LINES)
    for chunk in chunks:
        engine.feed(chunk)
    return engine


def cut(data: bytes, size: int) -> list[bytes]:
    return [data[start : start + size] for start in range(0, len(data), size)]
