"""The behaviour of a scripted participant: its answers to typed text. Pure: bytes and lines in, lines out.

The script: a participant that hears `message 5 from Bob` says `message 6 from Ann`. Each participant says a number at
most once and never answers its own, so the traffic of any number of participants stays bounded, and the log shows text
that came back to its speaker.
"""

import codecs
import re
from collections.abc import Iterator
from typing import Literal

import msgspec

_HEADER = re.compile(r"(?P<name>\S.*) \((?P<number>[^()]+)\):")
_MESSAGE = re.compile(r"message (?P<number>\d{1,9}) from (?P<name>.+)")
_PASTE_START = b"\x1b[200~"
# A paste mark, another escape sequence, one control character, or text. An unfinished sequence stays for later.
_INPUT = re.compile(
    rb"(?P<mark>\x1b\[20[01]~)|(?P<escape>\x1b(?:\[[0-?]*[ -/]*[@-~]|O[@-~]|[^\[O]))"
    rb"|(?P<control>[\x00-\x1a\x1c-\x1f\x7f])|(?P<text>[^\x00-\x1f\x7f]+)"
)
_MAX_SEQUENCE = 32


class Header(msgspec.Struct, frozen=True):
    """The line a relay writes before what it delivers: `Bob (2):`."""

    name: str
    number: str


def parse_header(line: str) -> Header | None:
    """Read `Name (number):`; None for any other line."""
    match = _HEADER.fullmatch(line.rstrip())
    return Header(match["name"], match["number"]) if match else None


class ScriptedConversation:
    """One participant's part. `hear` and `start` return the lines to say, in order.

    `rounds` is how many messages it says before it falls silent, 0 for any number. Every `quote_every`-th answer
    repeats what it heard, once after `You said: ` and once verbatim, before its own message; 0 for never.
    """

    def __init__(self, name: str, *, rounds: int = 0, quote_every: int = 0) -> None:
        self.name = name
        self.rounds = rounds
        self.quote_every = quote_every
        self.said = 0
        self._last = 0

    @property
    def finished(self) -> bool:
        """Whether it has said all it was to say."""
        return bool(self.rounds) and self.said >= self.rounds

    def start(self) -> list[str]:
        """Open the conversation, if it has not begun."""
        return [self._say(1)] if self._last == 0 and not self.finished else []

    def hear(self, line: str) -> list[str]:
        """Take one line that was typed to the participant, without its newline."""
        line = line.strip()
        match = _MESSAGE.fullmatch(line)
        if match is None or match["name"] == self.name or self.finished:
            return []
        number = int(match["number"]) + 1
        if number <= self._last:
            return []
        mine = self._say(number)
        if self.quote_every and self.said % self.quote_every == 0:
            return [f"You said: {line}", line, mine]
        return [mine]

    def _say(self, number: int) -> str:
        self.said += 1
        self._last = number
        return f"message {number} from {self.name}"


class Typed(msgspec.Struct, frozen=True):
    """What a composer makes of its input: text (`\\n` between lines), Enter, a deletion, or the wish to leave."""

    kind: Literal["text", "enter", "erase", "leave"]
    text: str = ""


class RawComposer:
    """Bytes of a terminal in raw mode to what was typed, cut anywhere, with bracketed paste."""

    def __init__(self) -> None:
        self._rest = b""
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._pasting = False
        self._after_return = False

    def feed(self, data: bytes) -> list[Typed]:
        """Take the bytes of one read, of any length."""
        return [typed for typed in self._read(self._rest + data) if typed.kind != "text" or typed.text]

    def _read(self, data: bytes) -> Iterator[Typed]:
        position = 0
        while match := _INPUT.match(data, position):
            position = match.end()
            if match["text"]:
                self._after_return = False
                yield Typed("text", self._decoder.decode(match["text"]))
                continue
            # Nothing but text can complete a character that was cut.
            yield Typed("text", self._decoder.decode(b"", final=True))
            if match["mark"]:
                self._pasting = match["mark"] == _PASTE_START
            elif match["control"]:
                yield from self._control(match["control"])
        self._rest = data[position:]
        if len(self._rest) > _MAX_SEQUENCE:
            self._rest = b""

    def _control(self, control: bytes) -> Iterator[Typed]:
        second_half = control == b"\n" and self._after_return
        self._after_return = control == b"\r"
        if control in b"\r\n":
            if not self._pasting:
                yield Typed("enter")
            elif not second_half:
                yield Typed("text", "\n")
        elif control == b"\t":
            yield Typed("text", "\t")
        elif self._pasting:
            return
        elif control in b"\x08\x7f":
            yield Typed("erase")
        elif control in b"\x03\x04":
            yield Typed("leave")
