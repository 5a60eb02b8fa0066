"""Bytes to a screen in one call, and memory that stays bounded."""

from streamrelay.vt import Rendering, TmuxScreen, render
from streamrelay.vt.engine import Cursor
from streamrelay.vt.widths import unicode14


def test_render() -> None:
    assert render(b"1\r\n2\r\n\x1b[31m3 \x1b]0;name\x07", columns=10, lines=2) == Rendering(
        screen=["2", "3"], history=["1"], cursor=Cursor(2, 1), alternate=False, title="name"
    )


def test_history_is_bounded_as_in_tmux() -> None:
    screen = TmuxScreen(10, 2, history=50)
    for number in range(500):
        screen.feed(b"%d\r\n" % number)
        assert len(screen.history_text()) <= 50
    history = screen.history_text()
    assert history == [str(number) for number in range(499 - len(history), 499)]
    assert len(history) > 40
    frame = screen.take()
    assert frame.history_total == 499
    assert [row.text for row in frame.committed] == [str(number) for number in range(449, 499)]


def test_no_history_at_all() -> None:
    screen = TmuxScreen(10, 2, history=0)
    screen.feed(b"1\r\n2\r\n3\x1b[2Jx")
    assert (screen.history_text(), screen.text()) == ([], ["", " x"])


def test_more_styles_and_clusters_than_a_table_holds() -> None:
    screen = TmuxScreen(30, 3)
    for start in range(0, 80_000, 1000):
        screen.feed(
            b"".join(
                b"\x1b[38;2;%d;%d;%dm%c" % (n >> 16, n >> 8 & 255, n & 255, 97 + n % 26)
                for n in range(start, start + 1000)
            )
        )
        screen.feed("".join(f"{chr(0x3400 + start // 100 + n)}{chr(0x300 + n)}" for n in range(10)).encode())
    assert screen.row(screen.cursor.y).runs[0].style.startswith("38;2;")
    history = screen.history.top
    assert history[0][0].fg == "000000"
    assert [cell for cell in (screen.buffer[screen.cursor.y][x].data for x in range(30)) if len(cell) == 2]


def test_a_calibrated_table_of_widths() -> None:
    screen = TmuxScreen(10, 2, widths=unicode14().replaced({"①": 2, "é": -1}))
    screen.feed("①éx".encode())
    assert (screen.text()[0], screen.cursor.x) == ("①x", 3)
    screen = TmuxScreen(10, 2)
    screen.feed("①éx".encode())
    assert screen.cursor.x == 3
    assert screen.text()[0] == "①éx"
