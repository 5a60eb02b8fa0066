import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamrelay.delta.frames import MAX_STRETCH, MAX_UPDATE, SETTLE, FrameCutter


def cut(*reads: bytes) -> list[tuple[bytes, bool]]:
    cutter = FrameCutter()
    return [(piece, complete) for read in reads for piece, complete in cutter.pieces(read) if piece or complete]


def looks(*reads: bytes) -> list[bytes]:
    """What has been fed at each place where a frame is taken."""
    fed, seen = b"", []
    for piece, complete in cut(*reads):
        fed += piece
        if complete and (not seen or seen[-1] != fed):
            seen.append(fed)
    return seen


@pytest.mark.parametrize(
    "inside", [b"\r", b"\b", b"\x1b[5C", b"\x1b[5D", b"\x1b[3G", b"\x1b[K", b"\x1b[31m", b"\x1b[2X"]
)
def test_moving_within_the_row_keeps_a_program_linear(inside: bytes) -> None:
    assert looks(b"ab" + inside + b"c", b"d") == [b"ab" + inside + b"c", b"ab" + inside + b"cd"]


@pytest.mark.parametrize("end", [b"", b"\x1b", b"\x1b[", b"\x1b[2", b"\x1b[2;"])
def test_what_was_printed_may_end_in_the_beginning_of_a_movement(end: bytes) -> None:
    cutter = FrameCutter()
    assert cutter.prints(b"a line\r\n")
    cutter.printed(b"a line\r\n" * 9 + end)
    rest = b"\x1b[2;3H"[len(end) :]
    assert [piece for piece, complete in cutter.pieces(rest + b"x") if complete] == [b""]
    assert not cutter.prints(b"a line\r\n")


def test_colours_cut_in_two_are_printed_too() -> None:
    cutter = FrameCutter()
    for part in (b"a \x1b", b"[3", b"1", b"mline"):
        assert cutter.prints(part)
        cutter.printed(part)
    assert [*cutter.pieces(b"\x1b[31mAll\r\n")] == [(b"\x1b[31mAll\r\n", True)]


VERTICAL = [
    b"\x1b[A", b"\x1b[12B", b"\x1b[E", b"\x1b[F", b"\x1b[H", b"\x1b[2;3H", b"\x1b[2;3f", b"\x1b[J", b"\x1b[2J",
    b"\x1b[L", b"\x1b[M", b"\x1b[S", b"\x1b[T", b"\x1b[5d", b"\x1b[1;5r", b"\x1b[u", b"\x1b8", b"\x1bM", b"\x1bc",
    b"\x1b[?6h", b"\x1b[?3l",
]  # fmt: skip


@pytest.mark.parametrize("vertical", VERTICAL)
def test_the_first_movement_to_another_row_is_looked_at_before_and_then_no_more(vertical: bytes) -> None:
    assert looks(b"above" + vertical + b"x" + vertical + b"y", b"z") == [b"above"]


@pytest.mark.parametrize("switch", [b"\x1b[?2026l", b"\x1b[?2004h", b"\x1b[?2004l", b"\x1b[?1;2004h", b"\x1b[?02004l"])
def test_a_switch_ends_a_frame_and_makes_linear_again(switch: bytes) -> None:
    assert looks(b"a\x1b[Ab" + switch + b"c", b"d") == [
        b"a", b"a\x1b[Ab" + switch, b"a\x1b[Ab" + switch + b"c", b"a\x1b[Ab" + switch + b"cd",
    ]  # fmt: skip


@pytest.mark.parametrize("mode", [b"1049", b"1047", b"47", b"25;1049"])
def test_a_switch_of_the_screen_is_looked_at_before_and_after(mode: bytes) -> None:
    on, off = b"\x1b[?" + mode + b"h", b"\x1b[?" + mode + b"l"
    assert looks(b"main" + on + b"\x1b[Hother" + off) == [
        b"main", b"main" + on, b"main" + on + b"\x1b[Hother", b"main" + on + b"\x1b[Hother" + off,
    ]  # fmt: skip


def test_the_beginning_of_a_synchronized_update_is_no_frame() -> None:
    assert looks(b"\x1b[Aa\x1b[?2026hb") == [b""]


def test_a_rest_makes_linear_again() -> None:
    cutter = FrameCutter()
    assert cutter.linear
    assert [*cutter.pieces(b"\x1b[Ha")] == [(b"", True), (b"\x1b[Ha", False)]
    assert not cutter.linear
    cutter.settle()
    assert [*cutter.pieces(b"b")] == [(b"b", True)]


def test_a_program_that_never_rests_is_looked_at_all_the_same() -> None:
    cutter = FrameCutter()
    assert [*cutter.pieces(b"\x1b[H" + b"x" * MAX_STRETCH)][-1][1] is True
    assert [*cutter.pieces(b"y")] == [(b"y", True)]


def test_what_was_painted_for_long_is_not_looked_at_where_the_cursor_is_shown_again() -> None:
    """The same read tidies up, before it or behind it."""
    cutter = FrameCutter()
    for _ in range(20):
        assert not any(
            complete for piece, complete in [*cutter.pieces(b"\x1b[?25l" + b"x" * (MAX_STRETCH // 10))] if piece
        )
    assert not any(complete for _, complete in cutter.pieces(b"\x1b[2K\x1b[A\x1b[2K\r\n\x1b[?25h\r\n"))
    assert cutter.painting


@pytest.mark.parametrize("landmark", [b"\x1b[12;40H", b"\x1b[?1049h", b"\x1b[?2004l", b"\x1b[?2026l", b"\x1bM"])
def test_a_landmark_may_be_cut_anywhere(landmark: bytes) -> None:
    def seen(*reads: bytes) -> list[bytes]:
        return [re.sub(rb"\x1b(\[[?0-9;]*)?\Z", b"", fed) for fed in looks(*reads)]

    whole = seen(b"a\x1b[Ab" + landmark + b"c")
    for at in range(1, len(landmark)):
        found = seen(b"a\x1b[Ab" + landmark[:at], landmark[at:] + b"c")
        assert [fed for fed in whole if fed not in found] == []


@given(st.lists(st.binary(max_size=40) | st.sampled_from([*VERTICAL, b"\x1b[?2004h", b"\x1b[?1049h", b"\x1b[?20"])))
def test_the_pieces_make_up_what_was_read(reads: list[bytes]) -> None:
    cutter = FrameCutter()
    for read in reads:
        assert b"".join(piece for piece, _ in cutter.pieces(read)) == read


def test_numbers_of_any_length_are_taken() -> None:
    assert looks(b"\x1b[?" + b"9" * 10_000 + b";2004hx")


_UPDATE = b"\x1b[?2026hrow\r\n\x1b[?2026l"
_AGAIN = [
    b"\r\x1b[1Arow", b"\x1b[2K\x1b[1A", b"\x1b[?2026h\x1b[2K\x1b[1A", b"\x1b[38:5:9m\x1b[3G\x1b[K\x1b[2;3H",
    b"\x1b[?25l\x1b[H", b"\x1b[?2026h\x1b[?25l\x1b[H",
]  # fmt: skip


@pytest.mark.parametrize("again", _AGAIN)
def test_a_repaint_right_behind_a_whole_snapshot_is_not_looked_at_before(again: bytes) -> None:
    assert looks(_UPDATE + again + b"x") == [_UPDATE]
    whole = looks(_UPDATE, again + b"x", b"y")
    assert whole == [_UPDATE]
    for cut_at in range(len(again)):
        assert looks(_UPDATE, again[:cut_at], again[cut_at:] + b"x", b"y")[:1] == whole


@pytest.mark.parametrize("printed", [b"50 %", b"\n", b"\x1b[5b", b"\x1bD", b"\t", b"\xc3\xa9", b"\x1b[0q"])
@pytest.mark.parametrize("again", _AGAIN)
def test_what_was_printed_behind_a_whole_snapshot_is_looked_at_before_a_repaint(printed: bytes, again: bytes) -> None:
    for reads in ([_UPDATE + printed + again], [_UPDATE, printed, again], [_UPDATE + printed, again]):
        assert any(seen.startswith(_UPDATE + printed) for seen in looks(*reads))


@pytest.mark.parametrize("again", _AGAIN)
def test_a_rest_is_a_whole_snapshot(again: bytes) -> None:
    cutter = FrameCutter()
    assert list(cutter.pieces(b"abc")) == [(b"abc", True)]
    cutter.settle()
    assert not any(complete for _, complete in cutter.pieces(again + b"x"))


@pytest.mark.parametrize("again", _AGAIN)
def test_what_was_read_without_a_rest_is_no_whole_snapshot(again: bytes) -> None:
    cutter = FrameCutter()
    assert list(cutter.pieces(b"abc")) == [(b"abc", True)]
    assert next(complete for _, complete in cutter.pieces(again + b"x"))


UPDATE, DONE = b"\x1b[?2026h", b"\x1b[?2026l"


def rests_at(cutter: FrameCutter, read: bytes, now: float) -> float:
    list(cutter.pieces(read))
    return cutter.rests_at(now)


def test_a_synchronized_update_is_waited_for_from_its_beginning() -> None:
    cutter = FrameCutter()
    assert rests_at(cutter, UPDATE + b"half", 1.0) == 1.0 + MAX_UPDATE
    assert rests_at(cutter, b" a snapshot", 1.1) == 1.0 + MAX_UPDATE
    assert rests_at(cutter, UPDATE + b", and more", 2.0) == 2.0 + SETTLE
    assert rests_at(cutter, DONE, 2.1) == 2.1 + SETTLE
    assert rests_at(cutter, UPDATE, 3.0) == 3.0 + MAX_UPDATE


def test_a_synchronized_update_is_not_waited_for_after_a_rest() -> None:
    cutter = FrameCutter()
    assert rests_at(cutter, UPDATE + b"half", 1.0) == 1.0 + MAX_UPDATE
    cutter.settle()
    assert rests_at(cutter, b" a snapshot", 2.0) == 2.0 + SETTLE


def test_a_program_ends_snapshots_once_it_has_ended_one_on_this_screen() -> None:
    cutter = FrameCutter()
    told = []
    for read in (b"\x1b[?2026h\x1b[2;2Hone", b"\x1b[?2026l", b"two", b"\x1b[?1049h"):
        assert [*cutter.pieces(read)]
        told.append(cutter.ends_snapshots)
    assert told == [False, True, True, False]
