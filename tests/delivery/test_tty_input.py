import os
import tty
from collections.abc import Iterator
from pathlib import Path

import pytest

from streamrelay.delivery.tty_input import unread_input
from streamrelay.testing.waiting import wait_until


@pytest.fixture
def terminal() -> Iterator[tuple[int, int, str]]:
    """The two ends of a pseudo-terminal, and the name of its device."""
    controller, device = os.openpty()
    try:
        yield controller, device, os.ttyname(device)
    finally:
        os.close(controller)
        os.close(device)


def test_input_waits_until_it_is_read(terminal: tuple[int, int, str]) -> None:
    controller, device, name = terminal
    assert unread_input(name) == 0
    os.write(controller, b"hello\n")
    assert wait_until(lambda: unread_input(name)) == 6
    assert os.read(device, 100) == b"hello\n"
    assert unread_input(name) == 0


def test_looking_takes_nothing_away(terminal: tuple[int, int, str]) -> None:
    controller, device, name = terminal
    os.write(controller, b"one\ntwo\n")
    assert wait_until(lambda: unread_input(name) == 8)
    assert unread_input(name) == 8
    assert os.read(device, 100) == b"one\n"
    assert unread_input(name) == 4


def test_in_raw_mode_every_byte_counts(terminal: tuple[int, int, str]) -> None:
    controller, device, name = terminal
    tty.setraw(device)
    os.write(controller, b"abc")
    assert wait_until(lambda: unread_input(name)) == 3


def test_where_it_cannot_be_told_it_is_not_said(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_bytes(b"x")
    assert unread_input(str(tmp_path / "nothing")) is None
    assert unread_input("") is None
    assert unread_input("/dev/null") is None
