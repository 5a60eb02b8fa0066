"""Properties of the stream as a whole: cuts change nothing, no line is lost or doubled, and time makes no echo."""

import re
from dataclasses import dataclass

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from streamrelay.events import Event, Live, Retracted, Text, encode
from streamrelay.testing.scripted_pane import ScriptedPane
from tests.sampling import examples

Step = bytes | float | str
SUBMIT = "\0submit"
"""A step that is a string is pasted; this one sends the Enter behind the oldest paste that has none."""

WORDS = st.text(alphabet="ab 日本é👩‍🚀\u0301", max_size=12) | st.text(alphabet="xyz ", min_size=15, max_size=60)
LINEAR = [
    "\r\n",
    "\n",
    "\r",
    "\b",
    "\t",
    "\x1b[31m",
    "\x1b[0m",
    "\x1b[38;5;196m",
    "\x1b[K",
    "\x1b[2C",
    "\x1b[3G",
    "\x1b]0;t\x07",
]
WILD = [
    "\x1b[?2004h", "\x1b[?2004l", "\x1b[?2026h", "\x1b[?2026l", "\x1b[?1049h", "\x1b[?1049l", "\x1b[?47h", "\x1b[?47l",
    "\x1b[A", "\x1b[2B", "\x1b[H", "\x1b[2;3H", "\x1b[2J", "\x1b[J", "\x1bM", "\x1b[L", "\x1b[M", "\x1b[S", "\x1b[2d",
    "\x1bc", "\x1b7", "\x1b8", "\x1bD", "\x1bE", "\x1b[3J", "\x1b[1;5r", "\x1b[?6h", "\x1b[?3h", "\x1b[?25;1049h",
    "\x1b[?2026;2004h",
]  # fmt: skip
RESTS = st.sampled_from([0.0, 0.005, 0.02, 0.4, 2.0])
PASTES = st.sampled_from(["ab", "xyz\nab", SUBMIT, SUBMIT])


def scripts(tokens: st.SearchStrategy[str]) -> st.SearchStrategy[list[Step]]:
    output = st.lists(tokens, min_size=1, max_size=8).map(lambda parts: "".join(parts).encode())
    return st.lists(output | RESTS | PASTES, min_size=1, max_size=10)


@dataclass
class Screen:
    columns: int
    lines: int


# On a screen of one row a line may be half history and half erased, and then it matters when one looked.
SCREENS = st.builds(Screen, st.integers(2, 30), st.integers(2, 8))


def play(script: list[Step], screen: Screen, *, read_size: int | None = None, slower: float = 1.0) -> list[Event]:
    pane = ScriptedPane(screen.columns, screen.lines)
    waiting: list[str] = []
    for step in script:
        if isinstance(step, bytes):
            pane.prints(step, read_size=read_size)
        elif isinstance(step, float):
            pane.rests(step * slower)
        elif step != SUBMIT:
            waiting.append(pane.pastes(step))
        elif waiting:
            pane.submits(waiting.pop(0))
    pane.ends()
    return pane.events


def assert_cuts_change_nothing(script: list[Step], screen: Screen, read_size: int) -> None:
    assert [*map(encode, play(script, screen, read_size=read_size))] == [*map(encode, play(script, screen))]


@pytest.mark.requirement("ENG-03b")
@given(scripts(WORDS | st.sampled_from(LINEAR)), SCREENS, st.integers(1, 5))
@example([b"xxxxxxxxxxxxxxx\ra\r\x08"], Screen(2, 2), 1)
@example(["日本".encode(), 0.0, b"\r 50%\r100%\r\n", "ab", b"ab", SUBMIT, b"ab\r\n"], Screen(5, 2), 1)
def test_any_chunking_of_linear_output_gives_the_same_events(script: list[Step], screen: Screen, size: int) -> None:
    assert_cuts_change_nothing(script, screen, size)


@pytest.mark.requirement("ENG-03b")
@settings(max_examples=examples(200))
@given(scripts(WORDS | st.sampled_from(LINEAR) | st.sampled_from(WILD)), SCREENS, st.integers(1, 5))
@example([b"a\r\nb\x1b[?1049hx\x1b[?1049l\r\n\x1b[?2004h$ ", 2.0, b"ls\r\n\x1b[?2004lout\r\n"], Screen(20, 4), 3)
@example([b"aaa\r\n\x1b[Hxxxxxxxxxxxxxxx"], Screen(2, 3), 1)
@example([b"x", 2.0, b"\r\n\x1b[1;5rab", 2.0, b"z\r\n"], Screen(2, 2), 1)
@example(["xxxxxxxxxxxxxxxxxxa日aaaa\x1b[Aa\u0301".encode()], Screen(5, 2), 1)
@example([b"\r\n", 2.0, b"\x1b[A", 0.02, b"aaa"], Screen(2, 2), 1)
@example([b"\x1b[2Ba\x1b[A", 2.0, b"\x1b[A"], Screen(2, 2), 1)
@example(["\x1b[Aa日\r\n\x1b[2da".encode()], Screen(2, 3), 1)
@example(["a日\rx\r日\r\n".encode()], Screen(2, 3), 1)
def test_any_chunking_of_any_output_gives_the_same_events(script: list[Step], screen: Screen, size: int) -> None:
    assert_cuts_change_nothing(script, screen, size)


@given(st.lists(st.binary(max_size=60) | RESTS | PASTES, max_size=10), SCREENS)
def test_random_bytes_never_raise(script: list[Step], screen: Screen) -> None:
    assert play(script, screen)[-1].__struct_config__.tag == "pane_closed"


PARTS = [
    b"\x1b", b"[", b"?", b"2004", b"1049", b"6", b";", b"h", b"l", b"A", b"H", b"J", b"]", b"\x07", b"a", b"\r", b"\n",
    b"\x18", b"\xe6", b"\x97", b"\xa5", b"\x00", b"M", b"P", b"\\",
]  # fmt: skip
SEQUENCES = st.lists(st.sampled_from(PARTS), max_size=25).map(b"".join)


@settings(max_examples=examples(200))
@given(st.lists(SEQUENCES | RESTS | PASTES, max_size=8), SCREENS, st.integers(1, 3))
def test_broken_sequences_never_raise_and_may_be_cut(script: list[Step], screen: Screen, size: int) -> None:
    """Controls and bytes beyond ASCII in a sequence excepted: a terminal obeys or skips them, and nobody sends them."""
    printed = b"".join(step for step in script if isinstance(step, bytes))
    assume(not re.search(rb"\x1b(\[[?0-9;]*)?[\x00-\x1a\x1c-\x1f\x7f-\xff]", printed))
    assert_cuts_change_nothing(script, screen, size)


# Characters that take one or two cells; what takes none is not kept on its own by any terminal.
PRINTED = st.text(
    st.characters(min_codepoint=0x20, max_codepoint=0x7E) | st.sampled_from("éßλЖ─█　日本語한글🚀\xa0"), max_size=80
)


@pytest.mark.requirement("DEL-01")
@given(st.lists(PRINTED, max_size=12), st.integers(2, 40), st.integers(1, 10), st.sampled_from([None, 1, 7]))
@example(["a" * 300, "", "日" * 99, "last"], 7, 2, 3)
def test_each_line_comes_once_in_order_and_unchanged(
    lines: list[str], columns: int, rows: int, read_size: int | None
) -> None:
    pane = ScriptedPane(columns, rows)
    pane.prints("".join(line + "\r\n" for line in lines), read_size=read_size)
    assert pane.said() == [line.rstrip(" ") for line in lines]
    pane.ends()
    assert pane.said() == [line.rstrip(" ") for line in lines]


@pytest.mark.requirement("DEL-01")
@pytest.mark.parametrize("screen", [Screen(80, 24), Screen(10, 3), Screen(120, 1)])
def test_a_line_of_a_hundred_thousand_characters(screen: Screen) -> None:
    line = "".join(chr(0x61 + n % 26) for n in range(100_000))
    pane = ScriptedPane(screen.columns, screen.lines)
    pane.prints(f"{line}\r\nafter\r\n", read_size=4096)
    assert pane.said() == [line, "after"]


@pytest.mark.requirement("DEL-03b")
@given(st.lists(st.integers(0, 100), min_size=1, max_size=30), st.integers(1, 9), RESTS)
def test_of_a_progress_bar_the_last_state_comes(states: list[int], read_size: int, rest: float) -> None:
    pane = ScriptedPane()
    for state in states:
        pane.prints(f"\r{state:3d}% {'#' * (state // 5)}\x1b[K", read_size=read_size)
        pane.rests(rest)
    pane.prints("\r\ndone\r\n")
    pane.ends()
    assert pane.said() == [f"{states[-1]:3d}% {'#' * (states[-1] // 5)}".rstrip(), "done"]


@pytest.mark.requirement("DEL-07b")
@settings(max_examples=examples(200))
@given(scripts(WORDS | st.sampled_from(LINEAR) | st.sampled_from(WILD)), SCREENS)
def test_only_live_text_is_ever_taken_back(script: list[Step], screen: Screen) -> None:
    shown: set[int] = set()
    for event in play(script, screen):
        if isinstance(event, Live):
            shown.add(event.line)
        elif isinstance(event, Text) and event.origin == "program":
            shown.discard(event.line)
        elif isinstance(event, Retracted):
            assert event.line in shown
            shown.discard(event.line)


ECHOES = st.sampled_from([b"ab", b"ab\r\n", b"> ab\r\n", b"xyz\r\nab\r\n", b"> xyz\r\n  ab\r\n", b"other\r\n", b"$ "])


def texts(events: list[Event]) -> list[tuple[str, str, str | None, int]]:
    return [(event.text, event.origin, event.message_id, event.line) for event in events if isinstance(event, Text)]


@pytest.mark.requirement("DEL-02a")
@settings(max_examples=examples(200))
@given(st.lists(ECHOES | PASTES | st.just(3.0), max_size=12), st.sampled_from([2.0, 60.0, 1e4]))
@example(["ab", SUBMIT, 3.0, b"> ab\r\n", 3.0, b"> ab\r\n"], 60.0)
def test_time_never_makes_an_echo(script: list[Step], slower: float) -> None:
    """A rest is long enough to end everything that silence ends; how much longer it is means nothing."""
    screen = Screen(40, 8)
    assert texts(play(script, screen, slower=slower)) == texts(play(script, screen))
