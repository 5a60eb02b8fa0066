"""What programs tell their terminal besides text."""

import pytest

from streamrelay.vt import TmuxScreen
from streamrelay.vt.engine import TerminalEvent

CASES: dict[str, tuple[bytes, list[tuple[str, str] | str]]] = {
    "bell": (b"\a", ["bell"]),
    "title": (b"\x1b]0;name\x07\x1b]2;n\xc3\xa9w\x1b\\", [("title", "name"), ("title", "néw")]),
    "title of a window": (b"\x1bkname\x1b\\", [("title", "name")]),
    "title by APC": (b"\x1b_name\x1b\\", [("title", "name")]),
    "notification": (b"\x1b]9;done; really\x07", [("notification", "done; really")]),
    "clipboard": (b"\x1b]52;c;aGk=\x07", [("clipboard", "c;aGk=")]),
    "prompt": (b"\x1b]133;D;0\x1b\\", [("prompt_mark", "D;0")]),
    "agent": (b"\x1b]7501;busy\x1b\\", [("agent_state", "busy")]),
    "synchronized": (b"\x1b[?2026hx\x1b[?2026l", ["synchronized_begin", "synchronized_end"]),
    "bracketed paste": (b"\x1b[?2004h\x1b[?2004l", ["bracketed_paste_on", "bracketed_paste_off"]),
    "alternate": (b"\x1b[?1049hx\x1b[?1049l", ["alternate_on", "alternate_off"]),
    "alternate, twice": (b"\x1b[?47h\x1b[?1049h\x1b[?47l\x1b[?47l", ["alternate_on", "alternate_off"]),
    "history": (b"\x1b[3J", ["history_cleared"]),
    "reset": (b"\x1bc", ["reset"]),
    "several modes at once": (b"\x1b[?25;2004;2026h", ["bracketed_paste_on", "synchronized_begin"]),
    "unknown strings": (b"\x1b]777;notify;x\x07\x1b]8;;http://x\x07\x1bPq\x1b\\\x1b]x\x07\x1b]\x07", []),
}


@pytest.mark.requirement("VT-06")
@pytest.mark.parametrize("name", CASES)
def test_events(name: str) -> None:
    data, events = CASES[name]
    screen = TmuxScreen(20, 3)
    for byte in data:
        screen.feed(bytes([byte]))
    assert [(event.kind, event.payload) for event in screen.take().events] == [
        event if isinstance(event, tuple) else (event, "") for event in events
    ]
    assert screen.take().events == ()


def test_events_keep_their_order_among_each_other() -> None:
    screen = TmuxScreen(20, 3)
    screen.feed(b"\x1b]133;C\x07\a\x1b]0;t\x07text\x1b]133;D\x07")
    assert [event.kind for event in screen.take().events] == ["prompt_mark", "bell", "title", "prompt_mark"]


def test_a_title_that_is_no_utf8_is_ignored() -> None:
    screen = TmuxScreen(20, 3)
    screen.feed(b"\x1b]0;good\x07\x1b]0;b\xffd\x07\x1b]9;b\xffd\x07")
    assert screen.title == "good"
    assert [event.payload for event in screen.take().events] == ["good", "b\ufffdd"]


def test_controls_inside_a_string_are_left_out() -> None:
    screen = TmuxScreen(20, 3)
    screen.feed(b"\x1b]0;one\r\ntwo\x07after")
    assert screen.title == "onetwo"
    assert screen.text()[0] == "after"


def test_events_nobody_takes_are_bounded() -> None:
    screen = TmuxScreen(20, 3)
    for number in range(200):
        screen.feed(b"\x1b]52;c;" + b"x" * 100_000 + b"\x07\x1b]133;%d\x07" % number + b"\a" * 1000)
    events = screen.take().events
    assert events[-2:] == (TerminalEvent("prompt_mark", "199"), TerminalEvent("bell"))
    assert sum(len(event.payload) for event in events) <= 4 << 20
