"""A snapshot is what tmux holds, in every version: blanks in use, soft wraps, tabs, modes."""

from typing import Any

import pytest

import streamrelay
from streamrelay.panes.snapshot import laid_out
from streamrelay.testing.tmux import PrivateTmux
from streamrelay.testing.waiting import wait_until

pytestmark = pytest.mark.smoke

PRINTED = r"ab  \r\nnine cell世 goes on\r\n\033[41mred  \033[m\r\nten column\033[2D\033[K\r\nx\ty"
SHOW = r"""printf '%b\033]2;shown\033\' "$1"; exec sleep 600"""


def test_rows_are_laid_along_the_joined_text() -> None:
    assert laid_out([b"ab  ", b"", b"c"], [b"ab  ", b"", b"c"]) == [(False, 0)] * 3
    assert laid_out([b"abc", b"def", b"g  "], [b"abcdefg"]) == [(True, 0), (True, 0), (False, 2)]
    wide = "世".encode()
    assert laid_out([b"ab ", wide + b" ", b"x"], [b"ab" + wide, b"x"]) == [(True, 1), (False, 1), (False, 0)]
    assert laid_out([b"  ", b" a"], [b" ", b" a"]) == [(False, 1), (False, 0)]
    assert laid_out([b"a"], [b"a", b"more"]) == [(False, 0)]
    assert laid_out([b"a", b"b"], [b"a"]) == [(False, 0), (False, 0)]


@pytest.mark.requirement("ENG-07a")
async def test_a_seed_is_the_screen_tmux_holds(private_tmux: PrivateTmux) -> None:
    pane = private_tmux.new_session("work", ["sh", "-c", SHOW, "sh", PRINTED], columns=10, lines=8)
    wait_until(
        lambda: private_tmux.run("display-message", "-p", "-t", pane, "#{pane_title}") == "shown", message="the title"
    )
    async with (
        streamrelay.connect(tmux=private_tmux.binary, socket_path=private_tmux.socket_path) as server,
        server.watch(pane),
    ):
        screen: Any = server.pipeline(pane)._screen
        rows = [screen.row(y) for y in range(6)]
        assert [row.text for row in rows] == ["ab  ", "nine cell", "世 goes on", "red  ", "ten colu  ", "x       y"]
        assert [row.wrapped for row in rows] == [False, True, False, False, False, False]
