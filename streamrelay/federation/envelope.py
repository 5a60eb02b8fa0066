"""An envelope: a body with its sender, its addressee and its place in the order, sealed for the addressee alone. Pure.

Some bodies are numbered: each pair of nodes has one order in each direction, which `streamrelay.federation.channel`
keeps. One entry of a stream holds a batch of envelopes from one sender to one addressee, sealed together. Redis stores
and syncs entries, so a batch costs about as much as a single envelope. `streamrelay.federation.keys` encrypts and
authenticates the whole batch: only the addressee can read it, and no node can change it or send it on to another one.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Annotated, Final

import msgspec

from streamrelay.delivery.message import check_message_id
from streamrelay.errors import UsageError
from streamrelay.federation.compression import Compressed, compressed, decompressed, size_of
from streamrelay.federation.keys import MAX_SEALED_SIZE, KeyRing, Refused
from streamrelay.federation.messages import AnyBody, Body, Deliver, Message

MAX_BATCH = 64
"""Envelopes in one entry."""
MAX_BATCH_SIZE = 1 << 18
"""Bytes of bodies in one entry, before compression; a larger body has an entry of its own."""


class Envelope(msgspec.Struct, frozen=True, kw_only=True):
    """One message from node to node."""

    sender: str
    to: str
    epoch: int
    """The series that `number` counts in: a node that has lost its state begins a new, later one."""
    number: int = 0
    """0 for what has no place in the order: it may get lost, and come twice."""
    first: int = 0
    """The lowest number that is not acknowledged yet; all before it are safe."""
    life: int = 0
    """Which life of the sender's process sends it; a later one has a higher number."""
    lives: tuple[tuple[int, int], ...] = ()
    """That life and earlier ones that the receiver may not know, each with the number given last when it began: higher
    ones that were taken before that life belonged to lost commits.
    """
    body: msgspec.Raw


class EnvelopeBatch(msgspec.Struct, frozen=True, kw_only=True):
    """The envelopes of one entry, in order."""

    at: float
    """When the sender sealed it, by its clock (Unix time)."""
    envelopes: Annotated[tuple[Envelope, ...], msgspec.Meta(min_length=1, max_length=MAX_BATCH)]


def batches(envelopes: Iterable[Envelope]) -> Iterator[list[Envelope]]:
    """Divide envelopes, in order, into lists that fit into one entry each."""
    batch: list[Envelope] = []
    size = 0
    for envelope in envelopes:
        more = size_of(envelope.body)
        if batch and (len(batch) == MAX_BATCH or size + more > MAX_BATCH_SIZE):
            yield batch
            batch, size = [], 0
        batch.append(envelope)
        size += more
    if batch:
        yield batch


def written(body: Body) -> bytes:
    """Return a body as it is kept and sent: MessagePack, compressed where it is long."""
    plain = msgspec.msgpack.encode(body)
    shorter = compressed(str(type(body).__struct_config__.tag), plain)
    return plain if shorter is None else msgspec.msgpack.encode(shorter)


def rewritten(kept: bytes) -> bytes:
    """Return a body as it is written now; earlier versions kept JSON, which begins as no MessagePack of a body does."""
    return msgspec.msgpack.encode(msgspec.json.decode(kept)) if kept.startswith(b"{") else kept


_READ_BODY: Final = msgspec.msgpack.Decoder[AnyBody](AnyBody)
_READ_SENT: Final = msgspec.msgpack.Decoder[AnyBody | Compressed](AnyBody | Compressed)
_READ_BATCH: Final = msgspec.msgpack.Decoder(EnvelopeBatch)


def read_body(envelope: Envelope) -> AnyBody:
    """Return the body; raises Refused for one that this version does not know, or that no session could be given."""
    try:
        sent = _READ_SENT.decode(envelope.body)
        body: AnyBody = _READ_BODY.decode(decompressed(sent)) if isinstance(sent, Compressed) else sent
    except (msgspec.MsgspecError, RecursionError, ValueError) as error:
        raise Refused("unreadable", f"its body cannot be read: {error}", envelope.sender) from error
    if isinstance(body, Message | Deliver):
        # A message is stored before it is typed: one that no writer takes would be found again at every start.
        try:
            for message_id in (body.message_id, f"{body.message_id}@{envelope.sender}"):
                check_message_id(message_id)
        except UsageError as error:
            raise Refused("unreadable", error.message, envelope.sender) from error
        if not (body.name if isinstance(body, Message) else body.panes and all(body.panes)):
            raise Refused("unreadable", "it names no session", envelope.sender)
    return body


def sealed(envelopes: Sequence[Envelope], keys: KeyRing, *, at: float, salt: bytes) -> dict[bytes, bytes]:
    """Return envelopes of one sender for one addressee as the fields of a stream's entry.

    `at` is the sender's Unix time; `salt` are 16 random bytes, never used twice.
    """
    text = msgspec.msgpack.encode(EnvelopeBatch(at=at, envelopes=tuple(envelopes)))
    return keys.seal(envelopes[0].sender, envelopes[0].to, text, salt)


def opened(fields: Mapping[bytes, bytes], *, to: str, keys: KeyRing) -> tuple[bytes, EnvelopeBatch]:
    """Return the salt and the envelopes of a stream's entry; raises Refused for any other entry, whatever its bytes."""
    sender, salt, text = keys.unseal(fields, to)
    try:
        batch = _READ_BATCH.decode(text)
    except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError) as error:
        raise Refused("unreadable", f"it cannot be read: {error}", sender) from error
    if any((envelope.sender, envelope.to) != (sender, to) for envelope in batch.envelopes):
        raise Refused("forged", "it names another sender or addressee inside", sender)
    if sum(size_of(envelope.body) for envelope in batch.envelopes) > MAX_SEALED_SIZE:
        raise Refused("too_large", f"its bodies are longer than {MAX_SEALED_SIZE:,} bytes when decompressed", sender)
    return salt, batch
