"""Which bytes painted which row, and where rows go."""

from streamrelay.recordings.paint_log import PaintedLine, PaintLog


def painted(log: PaintLog, line: PaintedLine) -> list[bytes]:
    return [bytes(log.output[start:stop]) for start, stop in line.states[-1].spans]


def only(log: PaintLog, text: str) -> PaintedLine:
    [line] = [line for line in log.lines if line.text == text]
    return line


def test_a_line_names_the_bytes_that_printed_it() -> None:
    log = PaintLog(20, 3)
    log.feed(1.0, b"one\r\nt\x1b[1mw")
    log.feed(2.0, b"o\x1b[m\r\nthree\r\n")
    assert painted(log, only(log, "one")) == [b"one\r\n"]
    two = only(log, "two")
    assert [(state.t, state.text) for state in two.states] == [(1.0, "tw"), (2.0, "two")]
    assert painted(log, two) == [b"t\x1b[1mwo"]
    assert log.time_of(two.states[-1].spans[0][0]) == 1.0


def test_a_glyph_left_standing_was_painted_by_what_stood_there_before() -> None:
    log = PaintLog(20, 3)
    log.feed(1.0, b"Finding 001")
    log.feed(2.0, b"\x1b[1;11H2")
    assert painted(log, only(log, "Finding 002")) == [b"Finding 001\x1b[1;11H2"]
    log.feed(3.0, b"\x1b[2;1Hbelow\x1b[1;11H3")
    assert painted(log, only(log, "Finding 003")) == [b"Finding 001", b"\x1b[1;11H3"]


def test_rows_are_followed_into_history_and_through_a_region() -> None:
    log = PaintLog(20, 4)
    log.feed(1.0, b"one\r\ntwo\r\nthree\r\nfoot")
    log.feed(2.0, b"\x1b[1;3r\x1b[3;1H\n\x1b[3;1Hfour\x1b[r\x1b[4;1H\r\nend")
    assert [line.text for line in log.lines] == ["one", "two", "three", "foot", "four", "end"]
    assert all(len(line.states) == 1 and line.gone is None for line in log.lines)
    assert log.find("one", 0) == ([only(log, "one")], 1)
    assert log.find("foot", 1)[1] == 5


def test_rows_painted_again_elsewhere_are_the_same_rows() -> None:
    log = PaintLog(20, 3)
    log.feed(1.0, b"\x1b[?1049h\x1b[1;1Ha row\x1b[2;1Hanother")
    log.feed(2.0, b"\x1b[1;1H\x1b[Kanother\x1b[2;1H\x1b[Knew")
    assert [line.text for line in log.lines] == ["a row", "another", "new"]
    assert only(log, "a row").gone == 2.0
    assert [state.t for state in only(log, "another").states] == [1.0]


def test_a_row_wiped_and_painted_again_soon_is_the_same_row() -> None:
    log = PaintLog(20, 3)
    log.feed(1.0, b"a row")
    log.feed(1.1, b"\x1b[2J\x1b[3J\x1b[H")
    assert only(log, "a row").gone == 1.1
    log.feed(1.2, b"a row")
    assert only(log, "a row").gone is None
    log.feed(5.0, b"\r\x1b[K")
    log.feed(9.0, b"a row")
    assert [(line.text, line.gone) for line in log.lines] == [("a row", 5.0), ("a row", None)]


def test_a_screen_in_another_size_shows_the_same_rows() -> None:
    log = PaintLog(20, 3)
    log.feed(1.0, b"one\r\ntwo")
    log.resize(2.0, 30, 4)
    assert [(line.text, len(line.states), line.gone) for line in log.lines] == [("one", 1, None), ("two", 1, None)]


def test_a_line_of_several_rows_is_found_by_what_it_spells() -> None:
    log = PaintLog(10, 3)
    log.feed(1.0, b"x\r\nwords that go on and on\r\nend")
    lines, behind = log.find("words that go on and on", 0)
    assert [line.text for line in lines] == ["words that", " go on and", " on"]
    assert behind == 4
    assert log.find("nowhere", 0) == ([], 0)
