"""Everything a program painted, kept through scrolling, paging, wiping and resizing."""

from collections.abc import Sequence
from textwrap import wrap

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamrelay.delta.transcript.document import MAX_OLD_ROWS, MAX_ROWS_ABOVE, Document
from streamrelay.vt import TmuxScreen


class Painted:
    """A document that follows a screen of 30 columns, frame by frame."""

    def __init__(self, lines: int = 8, *, alternate: bool = False) -> None:
        self.screen = TmuxScreen(30, lines)
        self.document = Document(self.screen)
        if alternate:
            self.screen.feed(b"\x1b[?1049h")
        self.document.restart(self.screen.take())

    def paints(self, text: str) -> bool:
        """Let the program paint and rest; return whether the snapshot is another one."""
        self.screen.feed(text.encode())
        frame = self.screen.take()
        self.document.take(frame)
        return self.document.look(frame.cursor.y)

    def shows(self, rows: list[str], *, cursor: int | None = None) -> None:
        """Paint the alternate screen row by row, with the cursor in the last row unless told."""
        painted = "".join(f"\x1b[{y + 1};1H{row}\x1b[K" for y, row in enumerate(rows))
        self.paints(painted + f"\x1b[{len(rows) if cursor is None else cursor + 1};1H")

    def rows(self) -> list[str]:
        rows = ["<skipped>" if row.skipped else row.text for row in self.document.rows()]
        while rows and not rows[-1]:
            rows.pop()
        return rows


def test_the_main_screen_s_history_and_screen_are_one_document() -> None:
    painted = Painted(4)
    for n in range(10):
        assert painted.paints(f"row {n}\r\n")
    assert painted.rows() == [f"row {n}" for n in range(10)]
    assert not painted.paints("\x1b[1;1H"), "a movement changes no row"
    assert painted.paints("new\x1b[K")
    assert painted.rows() == [*(f"row {n}" for n in range(7)), "new", "row 8", "row 9"]


@pytest.mark.requirement("DEL-01")
def test_a_scroll_region_whose_top_goes_into_the_history_is_no_window() -> None:
    """A program prints above its composer: the region scrolls into the history, and the screen as a whole does not."""
    painted = Painted(8)
    painted.paints("\x1b[8;1H> ")
    printed = ["> hello", *(f"line {n}" for n in range(12))]
    for row in printed:
        painted.paints(f"\x1b[1;6r\x1b[6;1H\r\n\x1b[K{row}\x1b[r\x1b[8;3H")
        message_in = lambda rows: next((y for y, row in enumerate(rows) if row == "> hello"), None)  # noqa: E731
        painted.document.look_through_window(7, 2, message_in)
    assert [row for row in painted.rows() if row] == [*printed, ">"]


def test_any_number_of_rows_in_one_frame() -> None:
    painted = Painted(4)
    painted.paints("".join(f"row {n}\r\n" for n in range(300)))
    assert painted.rows() == [f"row {n}" for n in range(300)]


def test_since_a_mark() -> None:
    painted = Painted(4)
    painted.paints("one\r\ntwo\r\n")
    mark = painted.document.mark()
    painted.paints("\x1b[2;1Htwo, changed\r\n" + "".join(f"row {n}\r\n" for n in range(6)))
    before, now = painted.document.since(mark)
    assert [row.text for row in before] == ["one", "two", "", ""]
    assert [row.text for row in now] == ["one", "two, changed", *(f"row {n}" for n in range(6)), ""]


def test_of_the_history_at_the_mark_only_the_end_is_compared() -> None:
    painted = Painted(4)
    painted.paints("".join(f"old {n}\r\n" for n in range(9)))
    mark = painted.document.mark()
    painted.paints("new\r\n")
    before, now = painted.document.since(mark)
    assert [row.text for row in before][-4:] == ["old 6", "old 7", "old 8", ""]
    assert [row.text for row in now][-5:] == ["old 6", "old 7", "old 8", "new", ""]
    assert before[:-4] == now[:-5], "what cannot have changed is only there to be compared with"
    painted.paints("".join(f"more {n}\r\n" for n in range(3 * MAX_OLD_ROWS)))
    mark = painted.document.mark()
    assert [len(rows) for rows in painted.document.since(mark)] == [MAX_OLD_ROWS + 4] * 2


@pytest.mark.requirement("DEL-08")
def test_a_wiped_history_is_compared_from_its_beginning() -> None:
    painted = Painted(4)
    painted.paints("".join(f"old {n}\r\n" for n in range(9)))
    mark = painted.document.mark()
    painted.paints("\x1b[3J")
    painted.paints("\x1b[H\x1b[Kfresh")
    before, now = painted.document.since(mark)
    assert [row.text for row in before] == [*(f"old {n}" for n in range(9)), ""]
    assert [row.text for row in now] == ["fresh", "old 7", "old 8", ""]


@pytest.mark.requirement("DEL-08")
def test_what_was_pushed_into_history_before_it_was_wiped_is_wiped() -> None:
    painted = Painted(4)
    painted.paints("one\r\ntwo\r\n")
    painted.paints("\x1b[2J\x1b[3J")  # A frame ends behind every wipe.
    painted.paints("\x1b[Hone\r\ntwo\r\n")
    assert painted.rows() == ["one", "two"]


def test_memory_is_bounded_and_what_is_lost_is_counted() -> None:
    painted = Painted(4)
    mark = painted.document.mark()
    for start in range(0, 2 * MAX_ROWS_ABOVE, 100):
        painted.paints("".join(f"row {n}\r\n" for n in range(start, start + 100)))
    kept = painted.document.rows()
    assert MAX_ROWS_ABOVE <= len(kept) <= MAX_ROWS_ABOVE * 1.1 + 4
    lost = painted.document.lost_since(mark)
    assert kept[0].text == f"row {lost}"
    assert painted.document.lost_since(painted.document.mark()) == 0


# The alternate screen


def viewport(transcript: list[str], top: int, height: int, header: list[str], composer: list[str]) -> list[str]:
    shown = transcript[top : top + height]
    return [*header, *shown, *[""] * (height - len(shown)), *composer]


UNLIKE = st.lists(st.text("abcdefghijklmnop", min_size=2, max_size=12), min_size=6, max_size=60, unique=True)


@pytest.mark.requirement("DEL-01")
@given(UNLIKE, st.data())
def test_a_transcript_that_scrolls_between_a_header_and_a_composer_is_stitched_exactly(
    transcript: list[str], data: st.DataObject
) -> None:
    header = data.draw(st.sampled_from([[], ["= head ="], ["= head =", "= line ="]]))
    composer = ["─" * 30, "> ", "─" * 30]
    height = data.draw(st.integers(5, 12))
    painted = Painted(len(header) + height + len(composer), alternate=True)
    cursor = len(header) + height + 1
    top = 0
    painted.shows(viewport(transcript, 0, height, header, composer), cursor=cursor)
    while top + height < len(transcript):
        top += data.draw(st.integers(1, min(height - 3, len(transcript) - height - top)))
        painted.shows(viewport(transcript, top, height, header, composer), cursor=cursor)
    rows = painted.rows()[: -len(composer)]
    while rows and not rows[-1]:
        rows.pop()
    # The header is said once at most: with the first rows that leave under it.
    assert [row for row in rows if row not in header] == transcript
    assert sum(row in header for row in rows) <= len(header)


@pytest.mark.requirement("DEL-01")
def test_a_row_painted_above_rows_that_moved_is_no_header() -> None:
    painted = Painted(6, alternate=True)
    painted.shows(["", "", "c", "", "", ""])
    painted.shows(["a", "c", "", "", "", ""])
    assert [row for row in painted.rows() if row] == ["a", "c"]


def test_only_what_was_shown_at_a_rest_is_a_snapshot() -> None:
    """Half a repaint is followed, but not compared: it scrolls nothing and turns no page."""
    painted = Painted(8, alternate=True)
    transcript = [f"row {n}" for n in "abcdefghij"]
    painted.shows([*transcript[:7], "> "])
    painted.screen.feed(b"\x1b[2J")
    painted.document.take(painted.screen.take())
    painted.shows([*transcript[2:9], "> "])
    assert painted.rows() == [*transcript[:9], ">"]


@pytest.mark.requirement("DEL-01")
def test_rows_scrolled_back_into_view_are_not_kept_twice() -> None:
    transcript = [f"row {n}" for n in "abcdefghijkl"]
    painted = Painted(6, alternate=True)
    for top in (0, 2, 4, 3, 1, 2, 5):
        painted.shows([*transcript[top : top + 5], "> "])
    assert painted.rows() == [*transcript[:10], ">"]


def test_a_snapshot_with_nothing_in_common_leaves_a_gap() -> None:
    painted = Painted(8, alternate=True)
    painted.shows([*(f"one {n}" for n in "abcdef"), "one g was", "> "])
    painted.shows([*(f"two {n}" for n in "abcdefg"), "> "])
    assert painted.rows() == [*(f"one {n}" for n in "abcdef"), "<skipped>", *(f"two {n}" for n in "abcdefg"), ">"]


@pytest.mark.requirement("DEL-01")
def test_a_row_that_reads_like_one_of_the_next_page_stays_in_its_own() -> None:
    painted = Painted(10, alternate=True)
    one = [*(f"one {n}" for n in "abcde"), "before it was checked.", "one f.", "", "Build 3s", "> "]
    two = ["before it was checked.", *(f"two {n}" for n in "abcdef"), "", "Build 3s", "> "]
    painted.shows(one)
    painted.shows(two)
    assert painted.rows() == [*one[:7], "<skipped>", *two[:-1], ">"]


@pytest.mark.requirement("DEL-01")
def test_a_page_that_ends_within_a_wrapped_line_keeps_no_part_of_it() -> None:
    painted = Painted(8, alternate=True)
    painted.shows([*(f"one {n}" for n in "abcd"), "", "A line that fills its row and", "goes on behind that", "> "])
    painted.shows([*(f"two {n}" for n in "abcdefg"), "> "])
    assert [row for row in painted.rows() if row][:5] == [*(f"one {n}" for n in "abcd"), "<skipped>"]


@pytest.mark.requirement("DEL-01")
def test_a_header_that_stands_through_a_jump_is_no_copy_of_the_message() -> None:
    """A second copy of a message would be taken for its last echo, and all above it for old."""
    painted = Painted(10, alternate=True)
    transcript = ["> ask", *(f"row {n}" for n in "abcdefghijklmnopqrstuvwxyz")]
    for top in (0, 1, 3, 16, 18):
        header = [""] if top == 0 else ["> ask"]
        painted.shows([*header, *transcript[top : top + 8], "> "])
    rows = painted.rows()
    assert rows.count("> ask") == 1
    assert rows[rows.index("<skipped>") + 1 :] == [*transcript[16:26], ">"]


def test_a_list_whose_indent_grows_with_its_numbers_was_not_painted_anew() -> None:
    painted = Painted(8, alternate=True)
    numbers = [f"{n}. item {n:c}" for n in range(90, 104)]
    painted.shows([*(f" {row}" for row in numbers[:7]), "> "])
    painted.shows([*(f"  {row}" for row in numbers[4:11]), "> "])
    assert [row.strip() for row in painted.rows()] == [*numbers[:11], ">"]


@pytest.mark.requirement("DEL-08")
@pytest.mark.parametrize("header", [[], ["> ask"]])
def test_rows_that_come_back_wrapped_anew_are_kept_once(header: list[str]) -> None:
    """Codex wraps its whole answer once more when it is over, wider: rows that had left come back within others."""
    painted = Painted(10, alternate=True)
    lines = [" ".join(f"{word}{n}" for n in range(6)) for word in ("apple", "birch", "cedar", "maple")]
    narrow, wide = ([row for line in lines for row in [*wrap(line, width), ""]] for width in (14, 28))
    transcript = ["> ask", *narrow, "• end"]
    for top in range(len(transcript) - 7 - len(header)):
        height = 9 - len(header) if top else 9
        painted.shows([*(header if top else []), *transcript[top : top + height], "> "])
    painted.shows([*header, *[*wide, "• end"][len(header) - 9 :], "> "])
    assert "".join(painted.rows()).replace(" ", "") == "".join(["> ask", *lines, "• end>"]).replace(" ", "")


def test_what_stood_in_front_for_a_while_leaves_nothing() -> None:
    painted = Painted(8, alternate=True)
    page = [*(f"one {n}" for n in "abcdefg"), "> "]
    painted.shows(page)
    painted.shows([*(f"dialog {n}" for n in "abcdefg"), "> "])
    painted.shows(page)
    assert painted.rows() == [*page[:-1], ">"]


@pytest.mark.requirement("DEL-01")
def test_rows_that_left_while_one_below_was_being_written_come_back() -> None:
    """An address is painted twice until it is whole: the rows above it leave, and stand there again."""
    painted = Painted(8, alternate=True)
    painted.shows([*(f"one {n}" for n in "abcde"), "A heading", "It says htt", "> "])
    painted.shows(["https://example.org", "(https://", "example.org)", *(f"two {n}" for n in "abc"), "thr", "> "])
    painted.shows(["A heading", "It says", "https://example.org", *(f"two {n}" for n in "abc"), "three a", "> "])
    whole = ["A heading", "It says", "https://example.org", *(f"two {n}" for n in "abc"), "three a", ">"]
    assert painted.rows() == [*(f"one {n}" for n in "abcde"), *whole]


@pytest.mark.requirement("DEL-01")
def test_rows_that_come_back_from_above_rows_that_were_skipped_are_kept_once() -> None:
    """OpenCode turns a page within a line, and shows the whole of that line when it has parsed it."""
    painted = Painted(8, alternate=True)
    painted.shows([*(f"one {n}" for n in "abcd"), "A heading", "", "See https:", "> "])
    page = ["example.org/a/long/addr)", *(f"two {n}" for n in "abcdef")]
    painted.shows([*page, "> "])
    assert "<skipped>" in painted.rows()
    whole = ["A heading", "", "See https://example.org/a/long"]
    painted.shows([*whole, *page[1:5], "> "])
    assert painted.rows() == [*(f"one {n}" for n in "abcd"), *whole, *page[1:5], ">"]


@pytest.mark.parametrize("answers", [False, True])
def test_what_vanishes_between_turns_is_no_part_of_an_answer(answers: bool) -> None:
    painted = Painted(8, alternate=True)
    painted.document.answers = answers
    painted.shows([*(f"choice {n}" for n in "abcdefg"), "> "])
    painted.shows([*(f"row {n}" for n in "abcdefg"), "> "])
    assert ("<skipped>" in painted.rows()) is answers
    assert painted.rows()[-8:] == [*(f"row {n}" for n in "abcdefg"), ">"]


def test_a_panel_that_reads_like_the_message_opens_no_window() -> None:
    """A list of commands stands there while a message is typed, its first row behind the mark of messages."""

    def message_in(rows: Sequence[str]) -> int | None:
        return next((y for y, row in enumerate(rows) if row.startswith("> /compact")), None)

    def looks(painted: Painted, *rows: str, answers: bool) -> None:
        painted.paints("\x1b[H" + "".join(f"{row}\x1b[K\r\n" for row in rows) + "\x1b[J> ")
        painted.document.answers = answers
        painted.document.look_through_window(len(rows), 2, message_in)

    painted = Painted(8)
    looks(painted, "old", "", answers=False)
    looks(painted, "old", "", "> /compact  make it shorter", answers=False)
    looks(painted, "old", "", "* Compacting", answers=True)
    looks(painted, "old", "", "* Compacted", answers=True)
    assert painted.rows() == ["old", "", "* Compacted", ">"]


@pytest.mark.requirement("DEL-08")
def test_wiping_the_history_means_nothing_to_the_alternate_screen() -> None:
    painted = Painted(6, alternate=True)
    transcript = [f"row {n}" for n in "abcdefgh"]
    painted.shows([*transcript[:5], "> "])
    painted.shows([*transcript[3:], "> "])
    painted.paints("\x1b[3J")
    assert painted.rows() == [*transcript, ">"]


@pytest.mark.requirement("DEL-06")
def test_another_screen_is_another_document() -> None:
    painted = Painted(4)
    painted.paints("shell\r\n")
    mark = painted.document.mark()
    painted.paints("\x1b[?1049h\x1b[Heditor")
    assert painted.rows() == ["editor"]
    painted.paints("\x1b[?1049l")
    assert painted.rows() == ["shell"]
    before, now = painted.document.since(mark)
    assert [row.text for row in before] == [row.text for row in now]


PICTURES = st.lists(
    st.tuples(st.lists(st.sampled_from(["", "a", "b", "c", "d", "e", "─" * 12, "│ x"]), max_size=6), st.integers(0, 5)),
    max_size=12,
)


@given(PICTURES)
def test_no_sequence_of_snapshots_raises(snapshots: list[tuple[list[str], int]]) -> None:
    painted = Painted(6, alternate=True)
    for rows, cursor in snapshots:
        painted.shows([*rows, *[""] * (6 - len(rows))], cursor=cursor)
        assert len(painted.document.rows()) >= 6, "all rows of the screen, at least"


def test_snapshots_that_are_passed_over_lose_no_row() -> None:
    painted = Painted(8, alternate=True)
    painted.shows(["a", "b", "c", "d", "", "", "", "> "])

    def passes(rows: list[str]) -> bool:
        painted.screen.feed("".join(f"\x1b[{y + 1};1H{row}\x1b[K" for y, row in enumerate(rows)).encode())
        frame = painted.screen.take()
        painted.document.take(frame)
        return painted.document.pass_over(frame.cursor.y)

    assert passes(["a", "b", "c", "d", "e", "", "", "> "]), "a row was added"
    assert passes(["a", "b", "c", "d", "e", "f", "g", "> "])
    assert passes(["a", "b", "c", "d", "E", "f", "g", "> "]), "a row was redrawn in its place"
    assert not passes(["b", "c", "d", "E", "f", "g", "h", "> "]), "rows moved"
    assert painted.document.look(7)
    assert painted.rows() == ["a", "b", "c", "d", "E", "f", "g", "h", ">"]
    assert passes(["b", "c", "d", "E", "f", "g", "H", "> "])
    assert not passes(["1", "2", "3", "4", "5", "6", "7", "> "]), "another snapshot"


@pytest.mark.requirement("DEL-08")
def test_rows_that_a_resize_left_above_the_next_snapshot_are_no_text() -> None:
    painted = Painted()
    mark = painted.document.mark()
    painted.paints("- the heron and the swan\r\n- the adze and the awl\r\n- the rope and the lad\r\n\r\nThinking...")
    painted.screen.resize(8, 16)
    painted.document.restart(painted.screen.take(), keep=3)
    # The program does not go up as far as it painted: wrapped by the terminal its rows are more.
    painted.paints("\r\n- the rope and\r\n  the ladder\r\n- the lamp")
    _, now = painted.document.since(mark)
    assert [row.text for row in now if row.text] == [
        "- the heron and the swan", "- the adze and the awl", "- the rope and", "  the ladder", "- the lamp",
    ]  # fmt: skip


@pytest.mark.requirement("DEL-01")
def test_a_screen_that_is_read_again_and_has_not_changed_is_not_painted_anew() -> None:
    """What follows resembles what stands there: a comparison would take it for the same rows."""
    painted = Painted(6)
    mark = painted.document.mark()
    rows = [f"> Bob asks for number {n}" for n in range(12)]
    painted.paints("\r\n".join(rows[:5]))
    painted.document.restart(painted.screen.take(), keep=5)
    painted.paints("".join(f"\r\n{row}" for row in rows[5:]))
    _, now = painted.document.since(mark)
    assert [row.text for row in now] == rows
