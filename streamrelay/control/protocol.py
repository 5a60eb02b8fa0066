"""Control mode, sans-I/O: bytes of the stream in, events out (tmux 3.2 to 3.8, control.c, cmd-queue.c, client.c).

The rules, and why they are what they are:

* The stream is lines of bytes. It is not UTF-8: `%output` cuts characters, escape sequences and lines of text wherever
  its 2,730 bytes end.
* One queue on the server orders output, replies and notifications, so their order here is the order in which things
  happened. It is kept: consecutive outputs of one read are grouped by pane, which reorders panes among themselves
  only, and nothing is ever moved across a reply or a notification. A snapshot can therefore be spliced into the
  output exactly.
* A reply is a block: `%begin T N F`, lines, `%end T N F` or `%error T N F`. Inside a block *every* line is data until
  the very same three numbers come back: what a pane shows may be called `%end` or `%output`, and a capture repeats it.
  A notification that tmux writes in mid-block (`%continue` by `refresh-client -A`, `%message`) is therefore a line of
  that reply. A program that guesses time and number of the block that captures it can still end it early; a
  caller that must not be fooled asks for a nonce after it, as `requests` does.
* F is 1 for commands read from this client, 0 for the attach itself and for hooks.
* With `-CC` the stream is wrapped: `ESC P1000p`, lines that end in CR LF, `%exit`, `ESC \\`. The prefix announces it,
  and only then is a carriage return taken off a line, and only one: another one is data. Without the prefix a
  carriage return is data always.
* After `%exit` nothing counts. A line that the end of the stream cut off is dropped, as is an unfinished reply: half
  a line is not what tmux said.
* With many busy panes a line carries 40 bytes, so what is done for each line is what costs. Reads are taken whole:
  split once, grouped by pane, each pane's bytes joined and unescaped once. What stands before the bytes of a pane
  (`%extended-output %3 0`) repeats itself, so a line is cut there, and where its bytes go is looked up by it.

`receive` never raises, whatever the bytes are, and any cutting of the same stream gives the same events (outputs that
are grouped differently, but whose bytes are equal).
"""

import re
from collections.abc import Callable
from dataclasses import dataclass

import msgspec

from streamrelay.control.escape import is_well_formed, unescape_joined
from streamrelay.control.notifications import Exit, Notification, parse


class PaneOutput(msgspec.Struct, frozen=True):
    """Bytes a pane printed, unescaped, cut anywhere. `pane` is an id as tmux spells it: "%3".

    A struct of C, because it is the one event made thousands of times a second.
    """

    pane: str
    data: bytes


@dataclass(frozen=True, slots=True)
class Reply:
    """What one command printed: `time` (Unix seconds, the server's), `number` (counts all commands of the server)."""

    time: int
    number: int
    flags: int
    ok: bool
    lines: tuple[bytes, ...]

    @property
    def asked(self) -> bool:
        """Whether the command was read from this client, rather than run by a hook or by the attach."""
        return bool(self.flags & 1)

    @property
    def text(self) -> str:
        """The lines as text, for people; bytes that are not UTF-8 become U+FFFD."""
        return b"\n".join(self.lines).decode("utf-8", "replace")


ControlEvent = PaneOutput | Reply | Notification

# Twenty digits hold any 64-bit number; without a limit int() itself would refuse very long ones by raising.
_BEGIN = re.compile(rb"%begin ((\d{1,20}) (\d{1,20}) (\d{1,20}))")
_OPENING = re.compile(rb"\x1bP1000p|^%begin ", re.MULTILINE)


@dataclass(slots=True)
class _Block:
    time: int
    number: int
    flags: int
    end: bytes
    error: bytes
    lines: list[bytes]


class ControlProtocol:
    """The parser of one control client's stream."""

    def __init__(self) -> None:
        self._partial: list[bytes] = []
        self._wrapped: bool | None = None
        self._block: _Block | None = None
        self._exited = False

    def receive(self, data: bytes) -> list[ControlEvent]:
        """Return the events that `data` completes."""
        if self._exited:
            return []
        end = data.rfind(b"\n") + 1
        if not end:
            if data:
                self._partial.append(data)
            return []
        text = b"".join((*self._partial, data[:end]))
        self._partial = [data[end:]] if end < len(data) else []
        events: list[ControlEvent] = []
        if self._wrapped is None:
            text = self._open(text, events)
        if self._wrapped:
            text = text.replace(b"\r\n", b"\n")
        self._lines(text, events)
        return events

    def receive_eof(self) -> list[ControlEvent]:
        """Return what the end of the stream says: Exit(None) where no `%exit` came before it."""
        self._partial = []
        self._block = None
        if self._exited:
            return []
        self._exited = True
        return [Exit(None)]

    def _open(self, text: bytes, events: list[ControlEvent]) -> bytes:
        """Find out whether the stream is wrapped; what stands before its beginning (ssh, errors) is passed on."""
        opening = _OPENING.search(text)
        if opening is None:
            return text
        self._wrapped = opening[0].startswith(b"\x1b")
        if not self._wrapped:
            return text
        if before := text[: opening.start()]:
            self._lines(before if before.endswith(b"\n") else before + b"\n", events)
        return text[opening.end() :]

    def _lines(self, text: bytes, events: list[ControlEvent]) -> None:
        """Append the events of whole lines."""
        outputs: dict[bytes, list[bytes]] = {}
        put_by_head: dict[bytes, Callable[[bytes], None]] = {}
        well_formed = is_well_formed(text)
        lines = text.split(b"\n")
        lines.pop()
        for line in lines:
            head, colon, data = line.partition(b" : ")
            put = put_by_head.get(head)
            if put is not None and colon:
                put(data)
                continue
            if self._block is not None:
                self._inside(self._block, line, events)
                continue
            if colon and line[:18] == b"%extended-output %":
                put = put_by_head[head] = outputs.setdefault(head.split(b" ", 2)[1], []).append
                put(data)
                continue
            if line[:9] == b"%output %":
                fields = line.split(b" ", 2)
                if len(fields) == 3:
                    outputs.setdefault(fields[1], []).append(fields[2])
                    continue
            if outputs:
                _emit(outputs, events, well_formed=well_formed)
                put_by_head.clear()
            self._outside(line, events)
            if self._exited:
                return
        if outputs:
            _emit(outputs, events, well_formed=well_formed)

    def _inside(self, block: _Block, line: bytes, events: list[ControlEvent]) -> None:
        """Take a line of a block: data, unless it is the very line that ends it."""
        ok = line == block.end
        if ok or line == block.error:
            self._block = None
            events.append(Reply(block.time, block.number, block.flags, ok, tuple(block.lines)))
        else:
            block.lines.append(line)

    def _outside(self, line: bytes, events: list[ControlEvent]) -> None:
        """Take a line outside a block that is no output."""
        begin = _BEGIN.fullmatch(line)
        if begin is not None:
            time, number, flags = int(begin[2]), int(begin[3]), int(begin[4])
            self._block = _Block(time, number, flags, b"%end " + begin[1], b"%error " + begin[1], [])
            return
        event = parse(line)
        events.append(event)
        self._exited = isinstance(event, Exit)


def _emit(outputs: dict[bytes, list[bytes]], events: list[ControlEvent], *, well_formed: bool) -> None:
    events.extend(
        PaneOutput(pane.decode("ascii", "replace"), unescape_joined(pieces, well_formed=well_formed))
        for pane, pieces in outputs.items()
    )
    outputs.clear()
