"""The inputs of the benchmarks are what they are said to be."""

from pathlib import Path

import pytest

from benchmarks import inputs
from benchmarks.polling import Driver, Heard, OneRun, judge
from benchmarks.polling_reader import inserted
from benchmarks.reading import Reading
from benchmarks.throughput import differing, lost_and_repeated


@pytest.mark.parametrize("name", inputs.NAMES)
def test_an_input_is_the_same_every_time_and_as_long_as_asked(name: str) -> None:
    source = inputs.make(name, 20_000)
    assert source == inputs.make(name, 20_000)
    assert 20_000 <= len(source.data) < 25_000
    assert inputs.make(name, 40_000).data.startswith(source.data)


@pytest.mark.parametrize("name", [name for name in inputs.NAMES if name != "tui"])
def test_the_lines_of_an_input_are_all_different(name: str) -> None:
    source = inputs.make(name, 20_000)
    assert source.lines is not None
    assert len(set(source.lines)) == len(source.lines) == source.data.count(b"\n")


def test_lost_and_repeated_lines_are_counted() -> None:
    assert lost_and_repeated(["a", "b", "c"], ["a", "c", "c", "c"]) == (1, 2)
    assert lost_and_repeated(["a", "b"], ["b", "a"]) == (0, 0)
    assert lost_and_repeated(["a", "b"], ["a", "b", "a", "a"], panes=2) == (1, 1)


def test_a_pane_whose_text_differs_in_a_byte_or_in_its_order_is_counted() -> None:
    whole = [(1.0, 0, ["a"]), (2.0, 1, ["a", "b"]), (3.0, 0, ["b"])]
    assert differing(["a", "b"], whole, panes=2) == 0
    assert differing(["a", "b"], [*whole[:2], (3.0, 0, ["b "])], panes=2) == 1
    assert differing(["a", "b"], [(1.0, 0, ["b", "a"]), (1.0, 1, [])], panes=2) == 2


def test_what_a_poller_got_wrong_is_counted() -> None:
    printed = [["ok", "ok", "one t=1.000000", "two t=2.000000"], ["here"]]
    seen = [(3.0, 0, ["ok", "one t=1.000000", "half a"]), (4.0, 0, ["one t=1.000000", ""]), (5.0, 1, ["here"])]
    heard = judge(printed, Reading(ended=5.0, cpu=0.5, seen=seen), 0.0)
    assert (heard.printed, heard.lost, heard.doubled, heard.garbled) == (5, 2, 1, 1)
    assert heard.latencies == (2000.0,)


def test_a_poller_is_compared_with_the_stream_run_by_run() -> None:
    stream = [OneRun((ms,), 10, 0, 0, 0, 0, cpu, 0.1) for ms, cpu in ((1.0, 0.2), (2.0, 0.4), (1.0, 0.5))]
    poller = [OneRun((ms, ms), 10, 3, 0, 1, 0, cpu, 0.1) for ms, cpu in ((100.0, 4.0), (500.0, 4.0), (300.0, 20.0))]
    heard = Heard.of("a way", poller, stream)
    assert (heard.printed, heard.lost, heard.garbled) == (30, 9, 3)
    assert (heard.later.spread(), heard.dearer.spread()) == ("250.0 (100.0-300.0)", "20.0 (10.0-40.0)")
    assert heard.latency is not None
    assert heard.latency.n == 6


def test_what_a_program_prints_is_known_line_by_line(tmp_path: Path) -> None:
    terminal = tmp_path / "terminal"
    terminal.touch()
    driver = Driver([terminal])
    driver.write(0, "\rhalf")
    driver.write(0, "\rwhole\r\n")
    driver.write(0, "a\r\nb\r\n")
    driver.close()
    assert driver.lines == [["whole", "a", "b"]]
    assert terminal.read_bytes() == b"\rhalf\rwhole\r\na\r\nb\r\n"


def test_new_rows_by_a_line_diff() -> None:
    assert inserted(["a", "b"], ["b", "c"]) == ["c"]
    assert inserted(["a"], ["a"]) == []
