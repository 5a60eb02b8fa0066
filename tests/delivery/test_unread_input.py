"""What was typed last and not read: thrown away while it waits, and never what comes after it was read."""

import os
import tty
from collections.abc import Iterator

import pytest

from streamrelay.delivery.tty_input import unread_input
from streamrelay.delivery.unread_input import ARRIVAL_DELAY, UnreadInput
from streamrelay.testing.waiting import wait_until

LATER = 2 * ARRIVAL_DELAY


@pytest.fixture
def terminal() -> Iterator[tuple[int, int, str]]:
    """The two ends of a pseudo-terminal in raw mode, and the name of its device."""
    controller, device = os.openpty()
    tty.setraw(device)
    try:
        yield controller, device, os.ttyname(device)
    finally:
        os.close(controller)
        os.close(device)


def arrives(controller: int, name: str, data: bytes) -> None:
    before = unread_input(name) or 0
    os.write(controller, data)
    assert wait_until(lambda: unread_input(name) == before + len(data))


def test_what_waits_is_thrown_away_once(terminal: tuple[int, int, str]) -> None:
    controller, device, name = terminal
    unread = UnreadInput(name)
    unread.typed(0.0)
    arrives(controller, name, b"rm -rf x\n")
    assert unread.may_be_unread(LATER)
    assert unread.take_back()
    assert unread_input(name) == 0
    assert not unread.take_back()
    arrives(controller, name, b"by hand")
    assert not unread.may_be_unread(LATER)
    assert not unread.take_back()
    assert os.read(device, 100) == b"by hand"


def test_what_comes_after_it_was_read_is_somebody_elses(terminal: tuple[int, int, str]) -> None:
    controller, device, name = terminal
    unread = UnreadInput(name)
    unread.typed(0.0)
    arrives(controller, name, b"text")
    assert os.read(device, 100) == b"text"
    assert not unread.may_be_unread(LATER)
    arrives(controller, name, b"by hand")
    assert not unread.take_back()
    assert unread_input(name) == len(b"by hand")


def test_what_tmux_is_about_to_write_is_waited_for(terminal: tuple[int, int, str]) -> None:
    controller, _, name = terminal
    unread = UnreadInput(name)
    unread.typed(0.0)
    assert unread.may_be_unread(ARRIVAL_DELAY / 2)
    assert not unread.take_back()
    arrives(controller, name, b"text")
    assert unread.take_back()
    unread.typed(0.0, arrives_in=0.0)
    assert not unread.may_be_unread(0.0)


@pytest.mark.parametrize("name", ["", "/dev/null", "/nonexistent"])
def test_where_nothing_can_be_told_nothing_is_waited_for(name: str) -> None:
    unread = UnreadInput(name)
    unread.typed(0.0)
    assert not unread.take_back()
    assert not unread.may_be_unread(LATER)
