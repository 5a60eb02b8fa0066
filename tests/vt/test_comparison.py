"""What the self-check and the oracle go by: a screen against a snapshot of tmux's."""

from dataclasses import replace
from typing import Any

import pytest

from streamrelay.panes.calibration import calibrate, find_differing_widths, measure_widths
from streamrelay.testing.tmux import PrivateTmux
from streamrelay.vt import TmuxScreen
from streamrelay.vt.comparison import divergences
from streamrelay.vt.engine import Cursor, Modes
from streamrelay.vt.widths import unicode14

DATA = "one \x1b[31mred\x1b[m\r\n世界 wide\r\nand a row that is wrapped at the margin".encode()


def test_a_screen_equals_itself_and_every_difference_is_told(oracle: Any) -> None:
    snapshot = oracle.ask([DATA], 20, 5)[0].snapshot
    screen = TmuxScreen(20, 5)
    screen.feed(DATA)
    assert divergences(screen, snapshot) == ()
    rows = list(snapshot.rows)
    different = {
        "size": replace(snapshot, columns=21),
        "text": replace(snapshot, rows=(b"two", *rows[1:])),
        "style": replace(snapshot, rows=(rows[0].replace(b"[31m", b"[32m"), *rows[1:])),
        "wrap": replace(snapshot, wrapped=(False,) * 5),
        "cursor": replace(snapshot, cursor=Cursor(0, 0)),
        "alternate": replace(snapshot, alternate=True),
        "modes": replace(snapshot, modes=Modes(insert=True)),
    }
    for aspect, other in different.items():
        assert [found.aspect for found in divergences(screen, other)] == [aspect]


def test_looking_takes_nothing_from_those_who_follow_the_screen(oracle: Any) -> None:
    screen = TmuxScreen(20, 5)
    screen.feed(DATA * 9)
    divergences(screen, oracle.ask([DATA], 20, 5)[0].snapshot)
    assert len(screen.take().committed) > 9


@pytest.mark.requirement("VT-05")
def test_the_table_of_widths_is_calibrated_to_the_running_tmux(private_tmux: PrivateTmux) -> None:
    wanted = {"a": 1, "世": 2, "é": 1, "\u0301": 0, "🦜": 2, "\u200b": 0}
    assert measure_widths(private_tmux, wanted) == wanted
    right = calibrate(private_tmux)
    wrong = right.replaced({"é": 2, "世": 1, "🦜": 0})
    assert find_differing_widths(private_tmux, wrong) == {"é": 1, "世": 2, "🦜": 2}
    assert calibrate(private_tmux, wrong).width("世") == 2
    screen = TmuxScreen(10, 1, widths=calibrate(private_tmux, unicode14().replaced({"é": 2})))
    screen.feed("éx".encode())
    assert screen.cursor.x == 2
