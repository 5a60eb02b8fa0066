"""The order in which a client's identification reaches the server, on plain bytes."""

import itertools
import os
import struct
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamrelay.control.identification import MAX_IDENTIFICATION, Identification, Write

FLAGS, TERM, STDIN, ENVIRON, DONE, STDOUT, LONGFLAGS, COMMAND = 100, 101, 104, 105, 106, 110, 111, 200


def message(kind: int, data: bytes = b"", *, descriptor: bool = False, protocol: int = 8) -> bytes:
    return struct.pack("=IHHII", kind, 16 + len(data), int(descriptor), protocol, 77) + data


PLAIN = message(TERM, b"xterm\0")
ENVIRONMENT = [message(ENVIRON, b"NAME_%d=%s\0" % (number, b"v" * 120)) for number in range(300)]
INPUT, OUTPUT = message(STDIN, descriptor=True), message(STDOUT, descriptor=True)
CONTROL = message(FLAGS, struct.pack("=i", 0x2000)) + message(LONGFLAGS, struct.pack("=Q", 0x2000))
END, ATTACH = message(DONE), message(COMMAND, b"\1\0\0\0attach\0")
# As tmux sends it: three writes, since a write ends behind a descriptor.
SENT = [(CONTROL + PLAIN + INPUT, [5]), (OUTPUT, [6]), (b"".join(ENVIRONMENT) + END, []), (ATTACH, [])]


def written(reads: Sequence[tuple[bytes, Sequence[int]]]) -> list[Write]:
    identification = Identification()
    return [write for data, descriptors in reads for write in identification.receive(data, descriptors)]


def test_the_flags_come_last_and_in_one_write_with_the_end() -> None:
    assert written(SENT) == [
        Write(PLAIN + b"".join(ENVIRONMENT)),
        Write(INPUT, (5,)),
        Write(OUTPUT, (6,)),
        Write(CONTROL + END),
        Write(ATTACH),
    ]


def test_nothing_is_handed_on_before_the_end() -> None:
    identification = Identification()
    for data, descriptors in SENT[:2]:
        assert identification.receive(data, descriptors) == []
    assert not identification.is_complete
    assert identification.held == (5, 6)
    identification.receive(*SENT[2])
    assert identification.is_complete
    assert identification.held == ()


@given(st.lists(st.integers(1, 36_000), max_size=6))
def test_any_cutting_of_the_same_bytes_gives_the_same_writes(cuts: list[int]) -> None:
    stream = b"".join(data for data, _ in SENT[:3])
    at = sorted({0, len(stream), *(cut for cut in cuts if cut < len(stream))})
    reads = [(stream[one:other], [5, 6] if one == 0 else []) for one, other in itertools.pairwise(at)]
    assert written(reads) == written(SENT[:3])


def test_what_comes_with_or_after_the_end_is_handed_on_in_order() -> None:
    *first, last = written([(b"".join(data for data, _ in SENT[:3]) + ATTACH[:9], [5, 6]), (ATTACH[9:], [])])
    assert first[-1] == Write(ATTACH[:9])
    assert last == Write(ATTACH[9:])


@pytest.mark.parametrize(
    "data",
    [
        message(FLAGS, protocol=9),
        struct.pack("=IHHII", FLAGS, 3, 0, 8, 77),
        struct.pack("=IHHII", FLAGS, 20_000, 0, 8, 77),
        b"GET / HTTP/1.1\r\n\r\n",
    ],
    ids=["another protocol", "shorter than its header", "longer than tmux allows", "something else"],
)
def test_what_is_not_this_protocol_is_handed_on_unchanged(data: bytes) -> None:
    assert written([(PLAIN + data, [5]), (b"more", [])]) == [Write(PLAIN + data, (5,)), Write(b"more")]


def test_an_identification_without_end_is_not_kept_without_bound() -> None:
    piece = (message(ENVIRON, os.urandom(8000)), [])
    reads = [piece] * (MAX_IDENTIFICATION // len(piece[0]) + 2)
    assert sum(len(write.data) for write in written(reads)) == len(piece[0]) * len(reads)
