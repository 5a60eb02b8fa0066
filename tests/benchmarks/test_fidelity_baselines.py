"""The ways that the stream is compared with do what they claim, as well as they can."""

from collections.abc import Iterator, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.fidelity.polling import new_rows, polled, without_echo
from benchmarks.fidelity.stripping import plain, stripped
from streamrelay.events import Event, Text, TurnEnded
from streamrelay.recordings import Input, Output, Pasted, Resized

PANE = "%0"
MESSAGE = "say something nice"


class Session:
    """A recording made by hand."""

    def __init__(self, *entries: Input, columns: int = 20, lines: int = 4) -> None:
        self.columns, self.lines = columns, lines
        self._entries = entries

    def entries(self) -> Iterator[Input]:
        yield from self._entries


def out(t: float, data: str) -> Output:
    return Output(t, PANE, data.encode())


def paste(t: float, text: str = MESSAGE) -> Pasted:
    return Pasted(t, PANE, f"message at {t}", text)


def texts(events: Iterator[Event]) -> list[tuple[float, str]]:
    return [(event.t, event.text) for event in events if isinstance(event, Text) and event.origin == "program"]


def ends(events: Iterator[Event]) -> list[float]:
    return [event.t for event in events if isinstance(event, TurnEnded) and not event.certain]


class TestPolling:
    SESSION = Session(
        out(0.1, "banner\r\n> "),
        paste(0.5),
        out(0.6, f"{MESSAGE}\r\n"),
        out(1.4, "first\r\n"),
        out(2.5, "second\r\n> "),
    )

    def test_what_is_new_is_said_once_it_has_settled(self) -> None:
        """Looks at 3 and 4 seconds are alike. The banner and a prompt were there before; the echo is cut."""
        assert texts(polled(self.SESSION)) == [(4.0, "first"), (4.0, "second")]
        assert ends(polled(self.SESSION)) == [4.0]

    def test_at_once_every_look_is_believed(self) -> None:
        assert texts(polled(self.SESSION, settled=1)) == [(2.0, "first"), (3.0, "second"), (3.0, ">")]
        assert ends(polled(self.SESSION, settled=1)) == [2.0, 3.0]

    def test_more_looks_and_closer_ones(self) -> None:
        assert ends(polled(self.SESSION, interval=0.5, settled=3)) == [3.5]

    def test_without_an_injection_nothing_is_said(self) -> None:
        assert [*polled(Session(out(0.1, "banner\r\n"), out(5.0, "more")))] == []

    def test_what_comes_after_a_pause_is_said_too(self) -> None:
        session = Session(paste(0.5), out(0.6, "one\r\n"), out(9.5, "two\r\n"))
        assert texts(polled(session)) == [(2.0, "one"), (11.0, "two")]

    def test_a_quote_of_the_message_is_kept(self) -> None:
        session = Session(paste(0.5), out(0.6, f"{MESSAGE}\r\n{MESSAGE}, I say\r\n"), columns=40)
        assert texts(polled(session)) == [(2.0, f"{MESSAGE}, I say")]

    def test_wrapped_rows_are_one_line_and_history_is_seen(self) -> None:
        line = "a line of more than twenty columns"
        lines = [f"{line}, {number}" for number in range(30)]
        session = Session(paste(0.5), out(0.6, "\r\n".join(lines)))
        assert [text for _, text in texts(polled(session))] == lines

    def test_what_the_alternate_screen_scrolled_away_was_never_seen(self) -> None:
        lines = [f"line {number}" for number in range(9)]
        session = Session(paste(0.5), out(0.6, "\x1b[?1049h\x1b[H" + "\r\n".join(lines)))
        assert [text for _, text in texts(polled(session))] == lines[-4:]

    def test_a_history_that_was_wiped_is_gone(self) -> None:
        lines = [f"line {number}" for number in range(9)]
        session = Session(paste(0.5), out(0.6, "\r\n".join(lines) + "\x1b[3J"))
        assert [text for _, text in texts(polled(session))] == lines[-4:]

    def test_a_resize_is_followed(self) -> None:
        session = Session(paste(0.5), Resized(0.6, PANE, 40, 4), out(0.7, "\x1b[1;25Hright\r\n"))
        assert texts(polled(session)) == [(2.0, " " * 24 + "right")]

    def test_other_panes_are_not_looked_at(self) -> None:
        assert [*polled(Session(paste(0.5), Output(0.6, "%7", b"elsewhere\r\n")))] == []


@pytest.mark.parametrize(
    ("before", "now", "new"),
    [
        ([], ["a"], ["a"]),
        (["a", "b"], ["a", "b", "c"], ["c"]),
        (["a", "status 1"], ["a", "b", "status 2"], ["b", "status 2"]),
        (["a", "> "], ["a", "b", "> "], ["b"]),
        (["a", "b"], ["a"], []),
    ],
)
def test_a_line_diff_tells_what_is_new(before: list[str], now: list[str], new: list[str]) -> None:
    assert new_rows(before, now) == new


@pytest.mark.parametrize(
    ("rows", "rest"),
    [
        (["say something nice", "yes"], ["yes"]),
        (["> say something nice", "yes"], ["yes"]),
        (["yes", "$ say something nice", "no"], ["yes", "no"]),
        (["│ say some │", "│ thing    │", "│ nice.    │", "yes"], ["yes"]),
        (["ask: say something nice and more", "yes"], ["ask: ", " and more", "yes"]),
        (["say something nice", "say something nice"], ["say something nice"]),
        (["say something", "ask: nice"], None),
        ([], None),
    ],
)
def test_an_echo_is_cut_where_it_first_stands(rows: list[str], rest: Sequence[str] | None) -> None:
    assert without_echo(rows, MESSAGE) == rest


def test_a_message_without_a_letter_has_no_echo_to_find() -> None:
    assert without_echo(["!!!", "a"], "!!!") is None


class TestStripping:
    @pytest.mark.parametrize(
        ("line", "text"),
        [
            (b"plain", "plain"),
            (b"\x1b[1;31mred\x1b[0m, \x1b[38:5:9mred\x1b[m\r", "red, red"),
            (b"\x1b]0;title\x07a\x1b]8;;http://x\x1b\\b\x1b]8;;\x1b\\", "ab"),
            (b"\x1bP1;2qsixel\x1b\\a\x1bktitle\x1b\\b", "ab"),
            (b"\x1b(B\x1b=\x1b7a\x1b8\x07\x0f", "a"),
            (b"10%\r50%\r100%\r", "100%"),
            ("schön 漢字".encode(), "schön 漢字"),
            (b"\xff\xfea", "\ufffd\ufffda"),
            (b"a\x1b[12", "a"),
        ],
    )
    def test_a_line_without_its_escapes(self, line: bytes, text: str) -> None:
        assert plain(line) == text

    def test_lines_end_at_line_feeds_wherever_the_output_is_cut(self) -> None:
        whole = "one\r\n\x1b[32mtwo\x1b[0m\r\n\r\nthree"
        assert texts(stripped(Session(out(1.0, whole)))) == [(1.0, "one"), (1.0, "two"), (1.0, "three")]
        pieces = Session(*(out(float(t), character) for t, character in enumerate(whole)))
        assert [text for _, text in texts(stripped(pieces))] == ["one", "two", "three"]

    def test_a_line_that_was_injected_is_dropped_once(self) -> None:
        session = Session(paste(0.5, "one\ntwo"), out(0.6, "one\r\ntwo\r\n> one\r\none\r\n"))
        assert [text for _, text in texts(stripped(session))] == ["> one", "one"]

    def test_what_was_printed_before_it_was_injected_is_no_echo(self) -> None:
        assert texts(stripped(Session(out(0.1, "one\r\n"), paste(0.5, "one")))) == [(0.1, "one")]

    def test_no_turn_ever_ends(self) -> None:
        assert ends(stripped(Session(paste(0.5), out(0.6, "one\r\n")))) == []


@given(st.lists(st.binary(max_size=40), max_size=10))
def test_whatever_is_printed_raises_nowhere(pieces: list[bytes]) -> None:
    outputs = [Output(0.6 + number, PANE, data) for number, data in enumerate(pieces)]
    session = Session(paste(0.5), *outputs)
    assert all(isinstance(event, Text | TurnEnded) for way in (polled, stripped) for event in way(session))
