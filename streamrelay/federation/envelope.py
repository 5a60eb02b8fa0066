"""An envelope: a body with its sender, its addressee and its place in the order, sealed for the addressee alone. Pure.

Some bodies are numbered: each pair of nodes has one order in each direction, which `streamrelay.federation.channel`
keeps. `streamrelay.federation.keys` encrypts and authenticates the whole envelope, so nobody between the two nodes can
read it, change it, or send it on to another node.
"""

from collections.abc import Mapping

import msgspec

from streamrelay.delivery.message import check_message_id
from streamrelay.errors import UsageError
from streamrelay.federation.keys import KeyRing, Refused
from streamrelay.federation.messages import AnyBody, Body, Deliver, Message


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
    at: float = 0.0
    """When it was sealed, by the sender's clock (Unix time)."""


def written(body: Body) -> bytes:
    """Return a body as it is kept and sent."""
    return msgspec.json.encode(body)


class _Kind(msgspec.Struct):
    kind: str


def kind_of(written_body: bytes) -> str:
    """Return what kind a body of this node is, as its tag says."""
    return msgspec.json.decode(written_body, type=_Kind).kind


def read_body(envelope: Envelope) -> AnyBody:
    """Return the body; raises Refused for one that this version does not know, or that no session could be given."""
    try:
        body: AnyBody = msgspec.json.decode(envelope.body, type=AnyBody)
    except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError) as error:
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


def sealed(envelope: Envelope, keys: KeyRing, *, salt: bytes) -> dict[bytes, bytes]:
    """Return an envelope as the fields of a stream's entry; `salt` are 16 random bytes, never used twice."""
    return keys.seal(envelope.sender, envelope.to, msgspec.json.encode(envelope), salt)


def opened(fields: Mapping[bytes, bytes], *, to: str, keys: KeyRing) -> tuple[bytes, Envelope]:
    """Return the salt and the envelope of a stream's entry; raises Refused for any other entry, whatever its bytes."""
    sender, salt, text = keys.unseal(fields, to)
    try:
        envelope = msgspec.json.decode(text, type=Envelope)
    except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError) as error:
        raise Refused("unreadable", f"it cannot be read: {error}", sender) from error
    if (envelope.sender, envelope.to) != (sender, to):
        raise Refused("forged", "it names another sender or addressee inside", sender)
    return salt, envelope
