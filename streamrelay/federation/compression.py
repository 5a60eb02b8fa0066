"""Long bodies are compressed: a node, the broker and the line carry and sync less. Pure.

Zstandard (RFC 8878) shrinks the text of agents and people to about 0.4 of its size; a body that would hardly become
shorter stays as it is. A compressed body says what kind of body it is and how long, so that it is counted as it is.
"""

from typing import Annotated, Final

import msgspec

from streamrelay.federation.messages import Body

MIN_SIZE = 16 << 10
"""Bytes from which a body is compressed. A short one keeps its length: an attacker who sees the sizes of many, and
writes a part of each, would learn from them what else they hold.
"""
MAX_SIZE = 8 << 20
"""Bytes of a body that is decompressed, at most."""
LEVEL = 1
"""The fastest that looks for more than the cheapest repetitions (docs/decisions/0055)."""
MAX_WINDOW_LOG = 23
"""Log2 of the bytes that may be held for decompressing: those of the longest body."""


class Compressed(Body, frozen=True, kw_only=True, tag="compressed"):
    """Another body, as Zstandard compresses what is written of it."""

    body_kind: str
    """The kind of that body."""
    size: Annotated[int, msgspec.Meta(ge=0, le=MAX_SIZE)]
    """Its bytes, when it is decompressed."""
    data: bytes


class _Kind(msgspec.Struct):
    kind: str


class _Head(msgspec.Struct):
    """What a compressed body says of the one in it."""

    body_kind: str
    size: Annotated[int, msgspec.Meta(ge=0, le=MAX_SIZE)]


_READ_KIND: Final = msgspec.msgpack.Decoder(_Kind)
_READ_HEAD: Final = msgspec.msgpack.Decoder(_Head)


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
    head = _head(written_body)
    return _READ_KIND.decode(written_body).kind if head is None else head.body_kind


def size_of(written_body: bytes | msgspec.Raw) -> int:
    """Return how many bytes a body has when it is not compressed; of what cannot be read, how many there are."""
    try:
        head = _head(written_body)
    except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError):
        head = None
    return memoryview(written_body).nbytes if head is None else head.size


def _head(written_body: bytes | msgspec.Raw) -> _Head | None:
    # Other kinds may have fields of these names.
    is_compressed = _READ_KIND.decode(written_body).kind == "compressed"
    return _READ_HEAD.decode(written_body) if is_compressed else None
