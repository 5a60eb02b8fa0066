"""Long bodies are compressed: a node, the broker and the line carry and sync less. Pure.

Zstandard (RFC 8878) shrinks the text of agents and people to about 0.4 of its size; a body that it does not help stays
as it is. A compressed body says what kind of body it is and how long, so it is counted without being decompressed.
"""

from typing import Annotated, Final

import msgspec

from streamrelay.federation.messages import Body

MIN_SIZE = 16 << 10
"""Bytes from which a body is compressed. A short one keeps its length: who sees many of them, and has a part of each
written, would learn from their sizes what else they hold.
"""
MAX_SIZE = 8 << 20
"""Bytes of a body that is decompressed, at most."""
LEVEL = 1
"""The fastest that looks for more than the cheapest repetitions (docs/decisions/0050)."""
MAX_WINDOW_LOG = 23
"""Log2 of the bytes that may be held for decompressing: those of the longest body."""


class Compressed(Body, frozen=True, kw_only=True, tag="compressed"):
    """Another body, as Zstandard compresses what is written of it."""

    body_kind: str
    """The kind of that body."""
    size: Annotated[int, msgspec.Meta(ge=0, le=MAX_SIZE)]
    """Its bytes, when it is decompressed."""
    data: bytes


class _Tagged(msgspec.Struct):
    kind: str
    body_kind: str = ""
    size: int = 0

    @property
    def is_compressed(self) -> bool:
        return self.kind == "compressed"


_READ_TAGGED: Final = msgspec.msgpack.Decoder(_Tagged)


def compressed(kind: str, written_body: bytes) -> Compressed | None:
    """Return a body of that kind in compressed form; None where it is short, or would not be an eighth shorter."""
    if len(written_body) < MIN_SIZE or len(written_body) > MAX_SIZE:
        return None
    from streamrelay.federation.zstandard import zstd

    data = zstd.compress(written_body, level=LEVEL)
    is_shorter = len(data) <= len(written_body) * 7 // 8
    return Compressed(body_kind=kind, size=len(written_body), data=data) if is_shorter else None


def decompressed(body: Compressed) -> bytes:
    """Return what is written of the body; raises ValueError where the data is damaged, or not as long as it says."""
    from streamrelay.federation.zstandard import zstd

    reading = zstd.ZstdDecompressor(options={zstd.DecompressionParameter.window_log_max: MAX_WINDOW_LOG})
    try:
        # No more than it says is ever decompressed, however much the data holds.
        data = reading.decompress(body.data, max_length=body.size + 1)
    except zstd.ZstdError as error:
        raise ValueError(f"it cannot be decompressed: {error}") from error
    if len(data) != body.size or not reading.eof or reading.unused_data:
        raise ValueError(f"what is compressed in it is not {body.size:,} bytes long")
    return data


def kind_of(written_body: bytes) -> str:
    """Return what kind a body of this node is, as its tag says; of a compressed one, that of the body in it."""
    tagged = _READ_TAGGED.decode(written_body)
    return tagged.body_kind if tagged.is_compressed else tagged.kind


def size_of(written_body: bytes | msgspec.Raw) -> int:
    """Return how many bytes a readable body has when it is not compressed."""
    tagged = _READ_TAGGED.decode(written_body)
    return tagged.size if tagged.is_compressed else memoryview(written_body).nbytes
