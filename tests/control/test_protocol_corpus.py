"""Recorded control streams through the protocol: everything is understood, and cuts change nothing."""

import gzip
import json
import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from streamrelay.control.escape import escape
from streamrelay.control.notifications import Stray, Unknown
from streamrelay.control.protocol import ControlEvent, ControlProtocol, PaneOutput, Reply

CORPUS = Path(__file__).parent.parent / "corpus" / "agents"
RECORDINGS = sorted(CORPUS.glob("*/*/stream.jsonl.gz"))
# One of each program: enough to meet every kind of stream, and quick.
SAMPLE = list({path.parent.parent.name: path for path in RECORDINGS}.values())


def lines_of(path: Path) -> list[bytes]:
    with gzip.open(path, "rt") as lines:
        entries = map(json.loads, lines)
        return [entry["line"].encode("latin-1") for entry in entries if entry["dir"] == "out"]


def panes(events: list[ControlEvent]) -> dict[str, bytes]:
    bytes_of: dict[str, bytes] = {}
    for event in events:
        if isinstance(event, PaneOutput):
            bytes_of[event.pane] = bytes_of.get(event.pane, b"") + event.data
    return bytes_of


def others(events: list[ControlEvent]) -> list[ControlEvent]:
    return [event for event in events if not isinstance(event, PaneOutput)]


def cuts(stream: bytes, seed: int) -> Iterator[bytes]:
    randomness = random.Random(seed)
    at = 0
    while at < len(stream):
        size = randomness.choice((1, 7, 300, 4095, 65536))
        yield stream[at : at + size]
        at += size


def test_there_are_recordings() -> None:
    assert len(SAMPLE) > 10


@pytest.mark.sampled(30)
@pytest.mark.requirement("ENG-02a")
@pytest.mark.parametrize("path", RECORDINGS, ids=lambda path: f"{path.parent.parent.name}-{path.parent.name}")
def test_a_recorded_stream_is_understood(path: Path) -> None:
    lines = lines_of(path)
    protocol = ControlProtocol()
    events = protocol.receive(b"".join(line + b"\n" for line in lines))
    assert not [event for event in events if isinstance(event, Unknown | Stray)]
    replies = [event for event in events if isinstance(event, Reply)]
    assert len(replies) == sum(line.startswith(b"%begin ") for line in lines)
    raw = [line.split(b" ", 2) for line in lines if line.startswith(b"%output %")]
    escaped = {pane: escape(data) for pane, data in panes(events).items()}
    assert escaped == {pane.decode(): b"".join(d for _, p, d in raw if p == pane) for pane in {p for _, p, _ in raw}}


@pytest.mark.requirement("ENG-03b")
@pytest.mark.parametrize("wrapped", [False, True], ids=["pipes", "cc"])
@pytest.mark.parametrize("path", SAMPLE, ids=lambda path: path.parent.parent.name)
def test_cuts_change_nothing(path: Path, wrapped: bool) -> None:
    stream = b"".join(line + b"\n" for line in lines_of(path))
    whole = ControlProtocol().receive(stream)
    if wrapped:
        stream = b"\x1bP1000p" + stream.replace(b"\n", b"\r\n")
    protocol = ControlProtocol()
    pieces = [event for piece in cuts(stream, seed=len(stream)) for event in protocol.receive(piece)]
    assert others(pieces) == others(whole)
    assert panes(pieces) == panes(whole)
