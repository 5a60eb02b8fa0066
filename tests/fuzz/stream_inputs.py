"""A pane's inputs as bytes, so that mutated recordings become mutated lives of a stream.

A record is a separator, a letter for the kind of input, and its text. What makes no sense becomes output of the
program, so any bytes are a life.
"""

import random
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from streamrelay.agents import load_profiles
from streamrelay.delta.inputs import (
    Ended,
    HookReported,
    Input,
    Looked,
    Missed,
    Output,
    Pasted,
    Ran,
    Reseeded,
    Resized,
    Submitted,
    Waited,
    WitnessOpened,
    WitnessPassage,
    WitnessReported,
)
from streamrelay.delta.profiles import Profile
from streamrelay.delta.stream import DeltaStream
from streamrelay.recordings import open_recording
from streamrelay.vt import TmuxScreen
from streamrelay.vt.engine import Cursor, Snapshot

SEPARATOR = b"\x1e"
"""No recorded program prints it."""
PANE = "%0"
COLUMNS, LINES = 40, 12
MAX_SIDE = 200
MAX_OUTPUT = 200
"""Bytes of one output in a sample: a life of a few long ones would hold little else."""
MAX_WAITS = 50
"""Deadlines that may follow one another without an input: a stream that always wants another one does not come to
rest."""


def encoded(entry: Input) -> bytes:
    """Return a record; inputs that no recording of bytes holds are left out."""
    match entry:
        case Output():
            return b"o" + entry.data[:MAX_OUTPUT]
        case Pasted():
            return b"p" + entry.text.encode()
        case Submitted():
            return b"s"
        case Resized():
            return b"r" + bytes([entry.columns % 256, entry.lines % 256])
        case Ran():
            return b"c" + entry.command.encode()
        case _:
            return b"w"


def samples(folder: Path, chance: random.Random, size: int) -> list[bytes]:
    """Return the inputs of each recording below a folder, from a place that chance gives, in records."""
    found = []
    for meta in sorted(folder.glob("*/*/meta.json")):
        records = [encoded(entry) for entry in open_recording(meta.parent).entries()]
        first = chance.randrange(len(records))
        found.append(SEPARATOR.join(records[first : first + 200])[:size])
    return found


def decoded(data: bytes) -> Iterator[Input]:
    """Yield inputs, a fifth of a second after one another."""
    now, message = 0.0, 0
    for record in data.split(SEPARATOR):
        now += 0.2
        kind, text = record[:1], record[1:].decode("utf-8", "replace")
        match kind:
            case b"p":
                message += 1
                yield Pasted(now, PANE, f"m{message}", text)
            case b"s":
                yield Submitted(now, PANE, f"m{message}")
            case b"r" if len(record) > 2:
                yield Resized(now, PANE, 1 + record[1] % MAX_SIDE, 1 + record[2] % MAX_SIDE)
            case b"c":
                yield Ran(now, PANE, text)
            case b"w":
                now += len(record)
                yield Waited(now, PANE)
            case b"m":
                yield Missed(now, PANE, text, len(text))
            case b"l":
                yield Looked(now, PANE)
            case b"h":
                yield HookReported(now, PANE, "claude", text)
            case b"O":
                yield WitnessOpened(now, PANE, "claude", "transcript", 0.5)
            case b"W":
                passages = tuple(
                    WitnessPassage("agent" if place % 2 else "person", part)
                    for place, part in enumerate(text.split("|"))
                )
                yield WitnessReported(now, PANE, "claude", (*passages, WitnessPassage("end")))
            case b"S":
                yield Reseeded(now, PANE, _snapshot(record[1:]), respawned=len(record) % 2 == 0)
            case _:
                yield Output(now, PANE, record)
    yield Ended(now + 1, PANE, "pane_gone", 0)


def _snapshot(text: bytes) -> Snapshot:
    """Return a screen as tmux captures it, with these rows and the cursor below them."""
    rows = (text.split(b"\n") + [b""] * LINES)[:LINES]
    return Snapshot(COLUMNS, LINES, tuple(rows), (False,) * LINES, Cursor(0, min(text.count(b"\n"), LINES - 1)))


EXTRA = tuple(
    SEPARATOR + record
    for record in (
        b"l", b"O", b"hdone", b"WHello|Hi there.", b"m", b"Ssome screen\n> ", b"wwwwwwwwww", b"r\x50\x10", b"r\x10\x50",
        b"phello", b"s", b"cbash", b"cclaude",
    )
)  # fmt: skip
"""Inputs that recorded sessions seldom hold."""


@cache
def _profiles() -> tuple[Profile, ...]:
    return tuple(one.reading for one in load_profiles())


def live(data: bytes) -> None:
    """Apply every input and whatever falls due; raises RuntimeError if the stream does not come to rest."""
    stream = DeltaStream(TmuxScreen(COLUMNS, LINES, 100), pane=PANE, newborn=True, profiles=_profiles())
    stream.opened(0.0)
    for told in decoded(data):
        _wait(stream, told.t)
        list(stream.apply(told))


def _wait(stream: DeltaStream, until: float) -> None:
    for _ in range(MAX_WAITS):
        due = stream.deadline()
        if due is None or due > until:
            return
        list(stream.apply(Waited(max(due, stream.now), PANE)))
    raise RuntimeError(f"{MAX_WAITS} deadlines before {until}, and another one at {stream.deadline()}")
