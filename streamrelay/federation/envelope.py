"""What travels: a body with who sends it to whom, and its place in the order; signed where there is a key. Pure.

Some bodies are numbered: each pair of nodes has one order in each direction, which `streamrelay.federation.channel`
keeps. The signature is an HMAC-SHA256 of the very bytes, addressee and number included, so none can be altered, sent on
to somebody else or sent again to any effect. It hides nothing: TLS does (docs/federation.md).
"""

import hashlib
import hmac

import msgspec

from streamrelay.delivery.message import check_message_id
from streamrelay.errors import UsageError
from streamrelay.federation.messages import AnyBody, Body, Deliver, Message

VERSION = 1
MAX_ENVELOPE_SIZE = 16 << 20
"""Bytes of an envelope; a turn has a million characters at most (streamrelay.relay.output_units)."""
_ENVELOPE, _SIGNATURE = b"envelope", b"signature"


class Unreadable(Exception):  # never leaves the room
    """An entry that is not for us to use; says why."""


class Envelope(msgspec.Struct, frozen=True, kw_only=True):
    """One message from node to node."""

    sender: str
    to: str
    epoch: int
    """The series that `number` counts in: a node that has lost its state begins a new, later one."""
    number: int = 0
    """0 for what has no place in the order: it may get lost, and come twice."""
    first: int = 0
    """The lowest number that the sender knows of nobody to have; what was before it is safe."""
    body: msgspec.Raw
    v: int = VERSION


def written(body: Body) -> bytes:
    """Return a body as it is kept and sent."""
    return msgspec.json.encode(body)


def read_body(envelope: Envelope) -> AnyBody:
    """Return what is in it; raises Unreadable for what this version does not know, or nobody could be given."""
    try:
        body: AnyBody = msgspec.json.decode(envelope.body, type=AnyBody)
    except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError) as error:
        raise Unreadable(f"its body cannot be read: {error}") from error
    if isinstance(body, Message | Deliver):
        # What is taken up is kept before it is typed: what no writer takes would be found again at every start.
        try:
            for message_id in (body.message_id, f"{body.message_id}@{envelope.sender}"):
                check_message_id(message_id)
        except UsageError as error:
            raise Unreadable(error.message) from error
        if not (body.name if isinstance(body, Message) else body.pane):
            raise Unreadable("it is for nobody")
    return body


def sealed(envelope: Envelope, key: str = "") -> dict[bytes, bytes]:
    """Return an envelope as the fields of a stream's entry."""
    data = msgspec.json.encode(envelope)
    fields = {_ENVELOPE: data}
    return fields | {_SIGNATURE: _signature(data, key)} if key else fields


def opened(fields: dict[bytes, bytes], *, to: str, key: str = "") -> Envelope:
    """Return the envelope of a stream's entry; raises Unreadable for any other, whatever its bytes."""
    data = fields.get(_ENVELOPE)
    if data is None:
        raise Unreadable("it is no envelope")
    if len(data) > MAX_ENVELOPE_SIZE:
        raise Unreadable(f"it is longer than {MAX_ENVELOPE_SIZE:,} bytes")
    if key and not hmac.compare_digest(fields.get(_SIGNATURE, b""), _signature(data, key)):
        raise Unreadable("it is not signed with our key")
    try:
        envelope = msgspec.json.decode(data, type=Envelope)
    except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError) as error:
        raise Unreadable(f"it cannot be read: {error}") from error
    if envelope.v != VERSION:
        raise Unreadable(f"it is of version {envelope.v}")
    if envelope.to != to:
        raise Unreadable("it is for another node")
    return envelope


def _signature(data: bytes, key: str) -> bytes:
    return hmac.new(key.encode(), data, hashlib.sha256).hexdigest().encode()
