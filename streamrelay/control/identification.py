"""The messages with which a tmux client identifies itself, in an order that cannot kill the server. Pure.

A client tells the server who it is in many messages (tmux 3.3a client.c, client_send_identify). The first one carries
its flags; the last one, MSG_IDENTIFY_DONE, makes the server allocate what a control client needs. In between the server
takes the client for a control client that has no `control_state` yet, and two things make it dereference that NULL
pointer, which ends the server and every session in it (3.2 to 3.7; gone in 3.8):

* a notification for all control clients, such as `%sessions-changed` (control.c, control_write);
* the loss of this client (control.c, control_stop).

The messages never arrive in one piece. Two of them carry a file descriptor, and a read of the server ends behind a
descriptor, so it takes three reads and runs other clients' commands after each. A large environment, one message a
variable, takes still more.

The order of the messages means nothing to the server, though. So `Identification` holds them back until the last one is
there, and then hands them on in this order:

    terminal, working directory, environment ...     no message of these makes it a control client
    standard input; standard output                  each in a write of its own, with its descriptor
    flags, long flags, done                          in one write of about 60 bytes
    the command

The third write begins behind a descriptor, so one read of the server takes all of it, and one loop without anything in
between handles it: there is no moment at which the server holds a control client without `control_state`.

    identification = Identification()
    identification.receive(first_read)                     # []
    identification.receive(last_read, [descriptor])        # [Write(...), ...]
"""

import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

_HEADER: Final = struct.Struct("=IHHII")
"""Type, length with the header, flags, peer id, process id (tmux 3.3a compat/imsg.h, struct imsg_hdr)."""
_PROTOCOL: Final = 8
_FLAGS, _DONE, _LONGFLAGS = 100, 106, 111
"""Message types (tmux 3.3a tmux-protocol.h)."""
MAX_FRAME: Final = 16384
MAX_IDENTIFICATION: Final = 4 << 20
"""Bytes; more than an environment can hold on Linux (2 MiB by default)."""


@dataclass(frozen=True, slots=True)
class Write:
    """Bytes for one write to the server, and the file descriptors that travel with them."""

    data: bytes
    descriptors: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class _Frame:
    kind: int
    carries_descriptor: bool
    data: bytes


class Identification:
    """Collects what a client writes until it has identified itself, and reorders that once.

    What is not the protocol of tmux 3.2 to 3.8 is handed on unchanged: the server has to say what it thinks of it.
    """

    def __init__(self) -> None:
        self._received: list[Write] = []
        self._size = 0
        self.is_complete = False

    @property
    def held(self) -> tuple[int, ...]:
        """The descriptors that were received and not handed on."""
        return tuple(descriptor for write in self._received for descriptor in write.descriptors)

    def receive(self, data: bytes, descriptors: Sequence[int] = ()) -> list[Write]:
        """Take one read from the client; return what is to be written to the server now, in order."""
        self._received.append(Write(data, tuple(descriptors)))
        self._size += len(data)
        if self.is_complete:
            return self._hand_on()
        try:
            frames, rest = _split(b"".join(write.data for write in self._received))
        except ValueError:
            return self._hand_on()
        if not frames or frames[-1].kind != _DONE:
            return self._hand_on() if self._size > MAX_IDENTIFICATION else []
        ordered = list(_ordered(frames, self.held))
        if rest:
            ordered.append(Write(rest))
        self._hand_on()
        return ordered

    def _hand_on(self) -> list[Write]:
        received, self._received = self._received, []
        self.is_complete = True
        return received


def _split(data: bytes) -> tuple[list[_Frame], bytes]:
    """Return the messages up to the one that completes an identification, and the bytes behind the last message.

    Raises ValueError for bytes that are not this protocol.
    """
    frames: list[_Frame] = []
    at = 0
    while at + _HEADER.size <= len(data):
        kind, length, flags, peer, _process = _HEADER.unpack_from(data, at)
        if not _HEADER.size <= length <= MAX_FRAME or peer & 0xFF != _PROTOCOL:
            raise ValueError(f"not a message of tmux: {data[at : at + _HEADER.size].hex()}")
        if at + length > len(data):
            break
        frames.append(_Frame(kind, bool(flags), data[at : at + length]))
        at += length
        if kind == _DONE:
            break
    return frames, data[at:]


def _ordered(frames: Sequence[_Frame], descriptors: Sequence[int]) -> Iterator[Write]:
    """Yield the writes of a complete identification; descriptors belong to the messages that carry one, in order."""
    last = {_FLAGS, _LONGFLAGS, _DONE}
    plain = [frame.data for frame in frames if frame.kind not in last and not frame.carries_descriptor]
    if plain:
        yield Write(b"".join(plain))
    waiting = list(descriptors)
    for frame in frames:
        if frame.kind not in last and frame.carries_descriptor:
            yield Write(frame.data, (waiting.pop(0),) if waiting else ())
    yield Write(b"".join(frame.data for frame in frames if frame.kind in last), tuple(waiting))
