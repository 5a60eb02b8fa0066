"""Where a program began the main screen anew, as a frame reports it."""

import pytest

from streamrelay.vt import TmuxScreen
from streamrelay.vt.engine import Restart

CASES: dict[str, tuple[bytes, list[Restart]]] = {
    "printed lines": (b"1\r\n2\r\n3\r\n4\r\n", []),
    "the cursor stays on the first row": (b"\x1b[H\x1b[A\x1b[1d\r", []),
    "home": (b"1\r\n2\x1b[H", [Restart(0)]),
    "up to the top, past it and no further": (b"1\r\n2\r\n\x1b[A\x1b[A\n\n\x1b[9A", [Restart(0)]),
    "home after rows have left": (b"1\r\n2\r\n3\r\n4\x1b[H1\r\n2\r\n3\r\n4\r\n5\x1b[H", [Restart(1), Restart(3)]),
    "restored": (b"\x1b7\r\n2\x1b8", [Restart(0)]),
    "a region": (b"\n\x1b[1;2r", [Restart(0)]),
    "cleared, then home": (b"1\r\n2\x1b[2J\x1b[H", [Restart(2, erased=2, cleared=True)]),
    "home, then cleared": (b"1\r\n2\x1b[H\x1b[J", [Restart(0), Restart(2, erased=2, cleared=True)]),
    "cleared twice": (b"1\x1b[2J\x1b[2J", [Restart(1, erased=1, cleared=True)]),
    "reset": (b"1\r\n\x1bc", [Restart(1, erased=1, cleared=True)]),
    "blank and cleared": (b"\x1b[2J", [Restart(0, cleared=True)]),
    "the alternate screen": (b"\x1b[?1049h1\r\n2\x1b[H\x1b[2J\x1b[?1049l", []),
}


@pytest.mark.requirement("VT-06")
@pytest.mark.parametrize("name", CASES)
def test_restarts(name: str) -> None:
    data, restarts = CASES[name]
    screen = TmuxScreen(10, 3)
    screen.feed(data)
    assert list(screen.take().restarts) == restarts
    assert screen.take().restarts == ()
