"""A batch is a sequence of events whether or not printed lines have become events yet."""

from typing import Any

import pytest

from streamrelay.batch import Batch, Lines, size_of
from streamrelay.events import Event, Gap, PaneClosed, Text, decode, encode


def lines(*texts: str, line: int = 1, **more: Any) -> Lines:
    return Lines(texts=[*texts], line=line, t=1.5, session="s", pane="%1", turn=2, **more)


def events(*texts: str, line: int = 1, seq: int = 0) -> list[Event]:
    return [
        Text(text, "program", None, line + place, seq=seq and seq + place, t=1.5, session="s", pane="%1", turn=2)
        for place, text in enumerate(texts)
    ]


def test_it_is_the_events_that_it_stands_for() -> None:
    gap = Gap(reason="paused")
    batch = Batch([lines("a", "b"), gap, lines("c", line=3)])
    assert (len(batch), bool(batch)) == (4, True)
    assert batch == [*events("a", "b"), gap, *events("c", line=3)]
    assert batch[0] == events("a")[0]
    assert batch[-2] is gap
    assert batch[1:3] == [*events("b", line=2), gap]
    assert [decode(encode(event)) for event in batch] == list(batch)
    assert gap in batch
    assert batch != events("a", "b")
    assert batch != "ab"


def test_an_empty_one_is_false_and_has_no_last_part() -> None:
    assert not Batch()
    assert (len(Batch()), Batch().last, Batch().texts(), list(Batch())) == (0, None, [], [])


def test_an_event_is_made_once() -> None:
    batch = Batch([lines("a", "b")])
    batch[0].seq = 7
    assert [event.seq for event in batch] == [7, 0]
    assert batch.parts[0] is batch[0]


def test_what_is_told_of_a_part_is_told_of_its_events() -> None:
    batch = Batch([lines("a", "b"), Gap(reason="x")])
    seq = 10
    for part in batch.parts:
        part.seq, part.at, part.host = seq, 4.0, "here"
        seq += size_of(part)
    assert [(event.seq, event.at, event.host) for event in batch] == [(n, 4.0, "here") for n in (10, 11, 12)]


def test_texts_are_what_the_program_said_and_need_no_events() -> None:
    typed = Text(text="ls", origin="typed")
    batch = Batch([typed, lines("a", "b"), Text(text="c", origin="program"), Gap(reason="x")])
    assert batch.texts() == ["a", "b", "c"]
    assert isinstance(batch.parts[1], Lines)
    assert len(list(batch)) == 5
    assert batch.texts() == ["a", "b", "c"]


def test_the_last_part_is_had_without_making_events() -> None:
    closed = PaneClosed(reason="pane_gone")
    batch = Batch([lines("a"), closed])
    assert batch.last is closed
    assert isinstance(batch.parts[0], Lines)


@pytest.mark.parametrize("looked_at", [False, True])
def test_a_copy_has_events_of_its_own(looked_at: bool) -> None:
    batch = Batch([lines("a", "b"), Gap(reason="x")])
    if looked_at:
        list(batch)
    other = batch.copy()
    for part in other.parts:
        part.host = "there"
    assert {event.host for event in other} == {"there"}
    assert all(event.host is not other[0].host for event in batch)
    assert [event.t for event in other] == [event.t for event in batch]


def test_two_are_one_after_the_other() -> None:
    first, second = Batch([lines("a")]), Batch([lines("b", line=2)])
    assert first + second == events("a", "b")


@pytest.mark.parametrize("seq", [0, 5])
@pytest.mark.parametrize("size", [0, 1, 3])
def test_lines_split_into_the_same_lines(size: int, seq: int) -> None:
    whole = lines("a", "b", "c", line=4, seq=seq)
    first, rest = whole.split(size)
    assert (len(first), len(rest)) == (size, 3 - size)
    assert [*first.events(), *rest.events()] == whole.events() == events("a", "b", "c", line=4, seq=seq)
