"""The readers that take foreign bytes, each with samples to mutate; one table for the command and the tests.

A target takes any bytes. It may raise `StreamrelayError` and nothing else. `streamrelay.testing.fuzz` fuzzes the
terminal with streams made for terminals; the target `terminal` here feeds the same streams.
"""

import random
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from streamrelay.agents.jsonc import JsonError
from streamrelay.agents.jsonc import parse as parse_jsonc
from streamrelay.agents.profile import parse_profile
from streamrelay.agents.transcripts import read_passages
from streamrelay.config.layers import read_toml
from streamrelay.control.protocol import ControlProtocol
from streamrelay.errors import StreamrelayError
from streamrelay.recordings import open_recording, replay
from streamrelay.testing.agent import PROFILE
from streamrelay.testing.fuzz import stream
from streamrelay.vt import TmuxScreen
from tests.fuzz import stream_inputs

MAX_INPUT = 4096
LIVE = Path(__file__).parents[1] / "corpus" / "live"


class Target(NamedTuple):
    """A reader, and samples of what it reads."""

    read: Callable[[bytes], object]
    samples: Sequence[bytes]
    refusals: tuple[type[Exception], ...] = (StreamrelayError,)
    """What it may raise; a reader that only its own package calls may have an error of its own."""


def read_control_stream(data: bytes) -> None:
    """Feed a control-mode stream in two pieces, and its end."""
    protocol = ControlProtocol()
    half = len(data) // 2
    protocol.receive(data[:half])
    protocol.receive(data[half:])
    protocol.receive_eof()


def read_recording(data: bytes, suffix: str) -> None:
    """Open and replay a recording."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"x{suffix}"
        path.write_bytes(data)
        for _ in replay(open_recording(path)):
            pass


def feed_terminal(data: bytes) -> None:
    """Feed a small terminal."""
    screen = TmuxScreen(30, 8, 100)
    screen.feed(data)
    screen.take()


def text_of(data: bytes) -> str:
    """Return bytes as text, as a file reader that replaces invalid bytes does."""
    return data.decode("utf-8", "replace")


CAST = (
    b'{"version": 2, "width": 30, "height": 8}\n[0.1, "o", "hello\\r\\n"]\n'
    b'[0.2, "r", "40x10"]\n[0.3, "o", "\\u001b[2J"]\n'
)
CONTROL = (
    b"%begin 1 2 1\nreply\n%end 1 2 1\n%output %0 a\\033[1mb\\015\\012\n%layout-change @1 abcd,80x24,0,0,0 x *\n%exit\n"
)
RECORDED = (
    b'{"t": 1, "dir": "out", "line": "%output %0 x\\\\015\\\\012"}\n'
    b'{"t": 2, "dir": "entry", "entry": {"entry": "resized", "t": 2, "pane": "%0", "columns": 30, "lines": 8}}\n'
)
PASSAGES = (
    b'{"type": "assistant", "message": {"role": "assistant", "content": [{"type": "text", "text": "hi"}]}}',
    b'{"type": "response_item", "payload": {"type": "message", "role": "assistant", "content": [{"text": "hi"}]}}',
)
SETTINGS = b'[federation]\nnode = "alpha"\npeers = ["beta"]\nredis_url = "unix:///tmp/x"\n[daemon]\n'

JSONC = b'{"a": [1, /* c */ "b"], // d\n "e": {"f": null,},}'

TARGETS: Mapping[str, Target] = MappingProxyType({
    "protocol": Target(read_control_stream, (CONTROL, b"\x1bP1000p" + CONTROL.replace(b"\n", b"\r\n"))),
    "terminal": Target(feed_terminal, tuple(stream(random.Random(seed)) for seed in range(8))),
    "stream": Target(
        stream_inputs.live, (*stream_inputs.samples(LIVE, random.Random(1), MAX_INPUT), *stream_inputs.EXTRA)
    ),
    "asciicast": Target(lambda data: read_recording(data, ".cast"), (CAST,)),
    "recording": Target(lambda data: read_recording(data, ".jsonl"), (RECORDED,)),
    "configuration": Target(lambda data: read_toml(text_of(data), file="x", kind="user"), (SETTINGS,)),
    "profile": Target(lambda data: parse_profile("x", text_of(data), source="x.toml"), (PROFILE.encode(),)),
    "transcript": Target(read_passages, PASSAGES),
    "jsonc": Target(lambda data: parse_jsonc(text_of(data)), (JSONC,), (JsonError,)),
})  # fmt: skip

_NOISE = (
    b"\x00", b"\xff", b"\n", b"\r", b"\x1b", b'"', b"{", b"}", b"[", b"]", b"\\", b"%", b"-1", b"1e999", b"9" * 40,
    b"NaN", b"null", b"[" * 500, b"\\ud800", b"\xed\xa0\x80", "世".encode(), b"=", b"'''", b"%begin 1 2 1\n",
)  # fmt: skip


def mutated(samples: Sequence[bytes], chance: random.Random) -> bytes:
    """Return a sample with pieces deleted, repeated, replaced by noise, or crossed with another sample."""
    data = bytearray(chance.choice(samples))
    for _ in range(chance.randint(1, 6)):
        at = chance.randint(0, len(data))
        until = min(len(data), at + chance.randint(0, 12))
        match chance.randrange(5):
            case 0:
                del data[at:until]
            case 1:
                data[at:at] = data[at:until] * chance.randint(1, 20)
            case 2:
                data[at:until] = chance.choice(_NOISE)
            case 3:
                data[at:until] = chance.randbytes(until - at)
            case _:
                other = chance.choice(samples)
                data[at:at] = other[chance.randint(0, len(other)) :]
    return bytes(data[:MAX_INPUT])


def fuzz(target: Target, inputs: int, chance: random.Random) -> int:
    """Read so many mutated inputs; return their bytes. An error that is not ours passes, with the input as a note."""
    total = 0
    for _ in range(inputs):
        data = mutated(target.samples, chance)
        total += len(data)
        try:
            target.read(data)
        except target.refusals:
            pass
        except Exception as error:
            error.add_note(f"input: {data!r}")
            raise
    return total
