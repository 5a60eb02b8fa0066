"""The screen alone against stock `pyte.HistoryScreen`, and the delta stream against the screen alone, in one run.

No tmux here, and no line ends to translate: the bytes are those a terminal gets (CR LF), cut as reads are. *Feed* is
rendering only: of printed lines nothing is made yet. *Feed and text* also takes every frame and the text of every row
that entered history. *Texts* is the delta stream, its texts taken batch by batch, as `watch` and whoever keeps them
does it; *events* is the same stream, an event made of every line and looked at. pyte is so much slower that it gets a
smaller part of the same input. All of it happens in one thread, so what is counted is processor time.
"""

import argparse
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TypeVar

import msgspec
import pyte

from benchmarks import inputs, measuring
from benchmarks.measuring import Report, Sample, Table, progress
from streamrelay.batch import Batch
from streamrelay.delta.inputs import Output
from streamrelay.delta.stream import DeltaStream
from streamrelay.events import Event, Text
from streamrelay.vt import TmuxScreen

_MEGA = 1e6
_HISTORY = 10_000

Part = TypeVar("Part")


class ScreenSpeed(msgspec.Struct, frozen=True):
    """One input; MB/s of bytes fed, how many times as fast the screen is as pyte's, and what the stream keeps of it.

    The ratios are those of paired runs.
    """

    input: str
    pyte: Sample
    feed: Sample
    feed_and_text: Sample
    texts: Sample
    events: Sample
    times_pyte: Sample
    texts_of_feed: Sample
    texts_of_feed_and_text: Sample
    events_of_feed: Sample


def as_fed(data: bytes) -> bytes:
    """Return what the terminal driver makes of a program's line feeds."""
    return data.replace(b"\n", b"\r\n")


def chunks(data: bytes, size: int) -> list[bytes]:
    """Cut bytes as reads would, in mid-character and mid-sequence too."""
    return [data[start : start + size] for start in range(0, len(data), size)]


def feed_pyte(pieces: Sequence[bytes]) -> pyte.HistoryScreen:
    """Render with stock pyte."""
    screen = pyte.HistoryScreen(inputs.COLUMNS, inputs.LINES, history=_HISTORY)
    stream = pyte.ByteStream(screen)
    for piece in pieces:
        stream.feed(piece)
    return screen


def feed(pieces: Sequence[bytes]) -> TmuxScreen:
    """Render with the project's own screen."""
    screen = TmuxScreen(inputs.COLUMNS, inputs.LINES, _HISTORY)
    for piece in pieces:
        screen.feed(piece)
    return screen


def feed_and_text(pieces: Sequence[bytes]) -> Iterator[list[str]]:
    """Render, and yield the texts of the rows that entered history."""
    screen = TmuxScreen(inputs.COLUMNS, inputs.LINES, _HISTORY)
    for piece in pieces:
        screen.feed(piece)
        yield [row.text for row in screen.take().committed]


def batches(pieces: Sequence[bytes]) -> Iterator[Batch]:
    """Yield what the delta stream says, each piece read a millisecond after the one before."""
    stream = DeltaStream(TmuxScreen(inputs.COLUMNS, inputs.LINES, _HISTORY))
    for number, piece in enumerate(pieces):
        yield stream.apply(Output(number / 1e3, "%0", piece))


def texts(pieces: Sequence[bytes]) -> Iterator[list[str]]:
    """Yield the texts that the delta stream says."""
    return (batch.texts() for batch in batches(pieces))


def events(pieces: Sequence[bytes]) -> Iterator[list[Event]]:
    """Yield the events that the delta stream says, each of them made."""
    return (list(batch) for batch in batches(pieces))


def all_of(parts: Iterable[Iterable[Part]]) -> list[Part]:
    """Keep what these yield."""
    return [one for part in parts for one in part]


def _let_go(parts: Iterator[object]) -> None:
    """Take everything and keep nothing, as a subscriber does; a screen that is only fed has nothing to keep either."""
    deque(parts, maxlen=0)


def _speed(work: Callable[[Sequence[bytes]], object], pieces: Sequence[bytes]) -> float:
    began = time.process_time()
    work(pieces)
    return sum(map(len, pieces)) / _MEGA / (time.process_time() - began)


def _measure(name: str, arguments: argparse.Namespace) -> ScreenSpeed:
    source = inputs.make(name, int(arguments.megabytes * _MEGA))
    data = as_fed(source.data)
    pieces = chunks(data, arguments.chunk)
    few = chunks(data[: int(arguments.pyte_megabytes * _MEGA)], arguments.chunk)
    if source.lines is not None:
        expected = source.lines[: len(source.lines) - inputs.LINES + 1]
        assert [text.rstrip() for text in all_of(feed_and_text(pieces))] == list(expected), "a line was lost or changed"
        made = [event.text for event in all_of(events(pieces)) if isinstance(event, Text)]
        assert made == all_of(texts(pieces)) == list(source.lines), "a line was lost or changed"
    stock: list[float] = []
    ours: list[float] = []
    with_text: list[float] = []
    by_text: list[float] = []
    by_event: list[float] = []
    for number in range(1, arguments.repetitions + 1):
        progress(f"screen: {name}, run {number} of {arguments.repetitions}")
        stock.append(_speed(feed_pyte, few))
        ours.append(_speed(feed, pieces))
        with_text.append(_speed(lambda pieces: _let_go(feed_and_text(pieces)), pieces))
        by_text.append(_speed(lambda pieces: _let_go(texts(pieces)), pieces))
        by_event.append(_speed(lambda pieces: _let_go(events(pieces)), pieces))
    return ScreenSpeed(
        input=name,
        pyte=Sample.of(stock),
        feed=Sample.of(ours),
        feed_and_text=Sample.of(with_text),
        texts=Sample.of(by_text),
        events=Sample.of(by_event),
        times_pyte=_ratio(ours, stock),
        texts_of_feed=_ratio(by_text, ours),
        texts_of_feed_and_text=_ratio(by_text, with_text),
        events_of_feed=_ratio(by_event, ours),
    )


def _ratio(speeds: Sequence[float], of: Sequence[float]) -> Sample:
    return Sample.of(own / others for own, others in zip(speeds, of, strict=True))


def measure(arguments: argparse.Namespace) -> Report:
    """Run everything the options ask for."""
    speeds = [_measure(name, arguments) for name in arguments.inputs]
    table = Table(
        f"{inputs.COLUMNS}x{inputs.LINES}, MB/s of processor time, {arguments.repetitions} runs: median (low-high)",
        (
            *("input", "pyte.HistoryScreen", "feed", "times pyte", "feed and text"),
            *("delta, texts", "of feed", "of feed and text", "delta, events", "of feed"),
        ),
        [
            (
                row.input,
                row.pyte.spread(2),
                row.feed.spread(),
                row.times_pyte.spread(0),
                row.feed_and_text.spread(),
                row.texts.spread(),
                row.texts_of_feed.spread(2),
                row.texts_of_feed_and_text.spread(2),
                row.events.spread(),
                row.events_of_feed.spread(2),
            )
            for row in speeds
        ],
    )
    return Report("screen", measuring.machine(), speeds, (table,))


def options() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    parser = measuring.options(__doc__, repetitions=7)
    parser.add_argument("--megabytes", type=float, default=4.0, help="what is fed in one run (%(default)s)")
    parser.add_argument("--pyte-megabytes", type=float, default=0.1, help="what pyte is fed in one run (%(default)s)")
    parser.add_argument("--chunk", type=int, default=16384, help="bytes of one feed (%(default)s)")
    parser.add_argument("--inputs", nargs="+", choices=inputs.NAMES, default=inputs.NAMES, help="default: all")
    return parser


if __name__ == "__main__":
    raise SystemExit(measuring.run(options(), measure))
