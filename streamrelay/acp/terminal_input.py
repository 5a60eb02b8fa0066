"""Parse the bytes of a terminal in raw mode into text, keys and pastes. Pure; the bytes may be cut anywhere."""

import codecs
import re
from collections.abc import Iterator
from typing import Literal, NamedTuple

_PASTE_START = b"\x1b[200~"
# A paste mark, another escape sequence, one control character, or text. An unfinished sequence stays for later.
_PART = re.compile(
    rb"(?P<mark>\x1b\[20[01]~)|(?P<escape>\x1b(?:\[[0-?]*[ -/]*[@-~]|O[@-~]))"
    rb"|(?P<control>[\x00-\x1a\x1c-\x1f\x7f])|(?P<text>[^\x00-\x1f\x7f]+)"
)
_UNFINISHED = re.compile(rb"\x1b(?:\[[0-?]*[ -/]*|O)?")


class TerminalKey(NamedTuple):
    """One thing that was typed: text (`\\n` between pasted lines), or a key."""

    kind: Literal["text", "enter", "erase", "escape", "interrupt", "end"]
    text: str = ""


class TerminalInput:
    """The input of one terminal, with bracketed paste."""

    def __init__(self) -> None:
        self._rest = b""
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._is_pasting = False
        self._after_return = False

    def feed(self, data: bytes) -> list[TerminalKey]:
        """Return what the bytes of one read complete."""
        return [typed for typed in self._parts(self._rest + data) if typed.kind != "text" or typed.text]

    def flush(self) -> list[TerminalKey]:
        """Return the escape that nothing has followed for a while: it is a key, not the begin of a sequence."""
        escape, self._rest = self._rest == b"\x1b", b"" if self._rest == b"\x1b" else self._rest
        return [TerminalKey("escape")] if escape else []

    def _parts(self, data: bytes) -> Iterator[TerminalKey]:
        position = 0
        while position < len(data):
            if (part := _PART.match(data, position)) is None:
                # An escape: the rest of its sequence may come with the next read, or never.
                rest = data[position:]
                if _UNFINISHED.fullmatch(rest):
                    self._rest = rest
                    return
                position += 1
                if not self._is_pasting:
                    yield TerminalKey("escape")
                continue
            position = part.end()
            if part["text"]:
                self._after_return = False
                yield TerminalKey("text", self._decoder.decode(part["text"]))
            elif part["mark"]:
                self._is_pasting = part["mark"] == _PASTE_START
            elif part["control"]:
                yield from self._control(part["control"])
        self._rest = b""

    def _control(self, control: bytes) -> Iterator[TerminalKey]:
        is_second_half = control == b"\n" and self._after_return
        self._after_return = control == b"\r"
        if control == b"\t":
            yield TerminalKey("text", "\t")
        elif control in b"\r\n":
            if not self._is_pasting:
                yield TerminalKey("enter")
            elif not is_second_half:
                yield TerminalKey("text", "\n")
        elif self._is_pasting:
            return
        elif control in b"\x08\x7f":
            yield TerminalKey("erase")
        elif control == b"\x03":
            yield TerminalKey("interrupt")
        elif control == b"\x04":
            yield TerminalKey("end")
