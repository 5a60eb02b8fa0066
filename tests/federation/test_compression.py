"""A long body travels compressed and comes back as it was; a damaged or lying one is refused, and costs little."""

import importlib
import random
import sys
import tracemalloc

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamrelay.errors import ExtraMissing
from streamrelay.federation.allowance import Allowance, Limits
from streamrelay.federation.compression import (
    MAX_SIZE,
    MAX_WINDOW_LOG,
    MIN_SIZE,
    Compressed,
    compressed,
    decompressed,
    kind_of,
    size_of,
)
from streamrelay.federation.envelope import (
    MAX_BATCH_SIZE,
    Envelope,
    batches,
    opened,
    read_body,
    rewritten,
    sealed,
    written,
)
from streamrelay.federation.keys import Refused
from streamrelay.federation.messages import Message
from streamrelay.federation.node import Node
from streamrelay.federation.zstandard import zstd
from streamrelay.installation import needs_extra
from streamrelay.service.machine import ServiceMachine
from tests.federation.conftest import ring

WORDS = "the words of a session, größer 端\n"
LONG = Message(message_id="m1", name="Bob", text=WORDS * 5_000)


def envelope(body: bytes, number: int = 1) -> Envelope:
    return Envelope(sender="alpha", to="beta", epoch=1, number=number, first=1, body=msgspec.Raw(body))


def holding(plain: bytes, *, size: int | None = None) -> Compressed:
    return Compressed(body_kind="message", size=len(plain) if size is None else size, data=zstd.compress(plain))


def test_a_long_body_comes_back_as_it_was() -> None:
    sent = written(LONG)
    assert len(sent) < len(LONG.text) // 20
    assert read_body(envelope(sent)) == LONG
    assert rewritten(sent) == sent


def test_what_is_short_or_would_hardly_be_shorter_stays_as_it_is() -> None:
    assert compressed("message", random.Random(1).randbytes(4 * MIN_SIZE)) is None
    assert compressed("message", b"x" * (MIN_SIZE - 1)) is None
    assert compressed("message", b"x" * (MAX_SIZE + 1)) is None


def test_a_short_body_has_its_own_length() -> None:
    # Two texts of one length must not differ in size by what else is in them.
    sizes = {len(written(Message(message_id="m1", name="Bob", text=text * 7_000))) for text in ("ab", "aa")}
    assert len(sizes) == 1


def test_its_kind_and_its_whole_size_are_known_without_decompressing() -> None:
    plain = msgspec.msgpack.encode(LONG)
    assert (kind_of(written(LONG)), size_of(written(LONG))) == ("message", len(plain))
    short = Message(message_id="m1", name="Bob", text="x")
    assert (kind_of(written(short)), size_of(written(short))) == ("message", len(written(short)))


@pytest.mark.parametrize("more", [{"size": 1, "body_kind": "ack"}, {"size": "x"}, {"size": None}, {"body_kind": 3}])
def test_another_body_with_such_fields_is_what_it_is(more: dict[str, object]) -> None:
    body = Message(message_id="m1", name="Bob", text="x")
    lying = msgspec.msgpack.encode({**msgspec.to_builtins(body), **more})
    assert (kind_of(lying), size_of(lying)) == ("message", len(lying))
    assert read_body(envelope(lying)) == body
    node = Node.restored({}, "beta", ("alpha",), ServiceMachine(), lambda _: True, epoch=1)
    assert node.admit(envelope(lying), body, 0.0) == "new"


def test_an_entry_holds_no_more_than_it_did_before_it_was_compressed() -> None:
    bodies = [written(Message(message_id=f"m{number}", name="Bob", text="x" * MAX_BATCH_SIZE)) for number in range(33)]
    envelopes = [envelope(body, number) for number, body in enumerate(bodies, 1)]
    assert [len(batch) for batch in batches(envelopes)] == [1] * 33
    fields = sealed(envelopes, ring("alpha"), at=0.0, salt=bytes(16))
    assert sum(map(len, fields.values())) < 1 << 14
    with pytest.raises(Refused) as caught:
        opened(fields, to="beta", keys=ring("beta"))
    assert caught.value.reason == "too_large"
    fields = sealed(envelopes[:31], ring("alpha"), at=0.0, salt=bytes(16))
    assert len(opened(fields, to="beta", keys=ring("beta"))[1].envelopes) == 31


def test_a_missing_package_is_an_error_with_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "backports.zstd", None)
    monkeypatch.setitem(sys.modules, "compression", None)
    monkeypatch.delitem(sys.modules, "streamrelay.federation.zstandard")
    with pytest.raises(ExtraMissing), needs_extra("redis", "a link between machines"):
        importlib.import_module("streamrelay.federation.zstandard")


def test_the_allowance_of_a_peer_counts_the_whole_size() -> None:
    node = Node.restored({}, "beta", ("alpha",), ServiceMachine(), lambda _: True, epoch=1)
    node.allowances["alpha"] = Allowance(Limits(size=len(LONG.text)))
    assert node.admit(envelope(written(LONG)), LONG, 0.0) == "new"
    assert node.admit(envelope(written(LONG), number=2), LONG, 0.0) == "slowed"


PLAIN = msgspec.msgpack.encode(LONG)
DATA = zstd.compress(PLAIN)


@pytest.mark.parametrize(
    "body",
    [
        holding(PLAIN, size=len(PLAIN) - 1),
        holding(PLAIN, size=len(PLAIN) + 1),
        Compressed(body_kind="message", size=len(PLAIN), data=DATA[:-1]),
        Compressed(body_kind="message", size=len(PLAIN), data=DATA + b"x"),
        Compressed(body_kind="message", size=len(PLAIN), data=DATA + DATA),
        Compressed(body_kind="message", size=len(PLAIN), data=b"no Zstandard"),
        Compressed(body_kind="message", size=0, data=b""),
        Compressed(body_kind="message", size=-1, data=DATA),
        Compressed(body_kind="message", size=1 << 62, data=DATA),
        Compressed(body_kind="message", size=MAX_SIZE + 1, data=zstd.compress(b"x" * (MAX_SIZE + 1))),
        holding(msgspec.msgpack.encode(holding(PLAIN))),
        holding(b"\xc1"),
        holding(msgspec.msgpack.encode(Message(message_id="x y", name="Bob", text="x"))),
    ],
)
def test_a_damaged_or_lying_one_is_refused(body: Compressed) -> None:
    sent = msgspec.msgpack.encode(body)
    with pytest.raises(Refused) as caught:
        read_body(envelope(sent))
    assert caught.value.reason == "unreadable"
    assert 0 <= size_of(sent) <= MAX_SIZE


def test_a_bomb_costs_no_more_than_it_says() -> None:
    bomb = Compressed(body_kind="message", size=1_000, data=zstd.compress(bytes(1 << 28)))
    tracemalloc.start()
    with pytest.raises(ValueError, match="1,000 bytes"):
        decompressed(bomb)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 1 << 20
    wide = {zstd.CompressionParameter.window_log: MAX_WINDOW_LOG + 1}
    with pytest.raises(ValueError, match="cannot be decompressed"):
        decompressed(Compressed(body_kind="message", size=1_000, data=_streamed(bytes(1 << 25), wide)))


def _streamed(data: bytes, options: dict[int, int]) -> bytes:
    # Compressed without knowing its length, as a stream is, data has the window that it names.
    compressor = zstd.ZstdCompressor(options=options)
    return compressor.compress(data) + compressor.flush()


@given(st.binary(max_size=200), st.integers(-5, 300))
def test_no_bytes_raise_anything_else(data: bytes, size: int) -> None:
    with pytest.raises(Refused):
        read_body(envelope(msgspec.msgpack.encode(Compressed(body_kind="x", size=size, data=data))))
