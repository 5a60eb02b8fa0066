"""Bytes of a recording as text that can be read, and shown on any terminal."""

from types import MappingProxyType
from typing import Final

MAX_EXCERPT = 240
"""Characters of escaped bytes that are shown."""

_ESCAPES: Final = MappingProxyType({"\x1b": "\\e", "\r": "\\r", "\n": "\\n", "\t": "\\t", "\\": "\\\\"})


def escaped(data: bytes | memoryview, longest: int = MAX_EXCERPT) -> str:
    """Return bytes as text: controls and invalid UTF-8 are escaped, and the middle of a long text is left out."""
    if len(data) > 8 * longest:
        data = bytes(data[: 4 * longest]) + bytes(data[-4 * longest :])
    return shortened("".join(map(_escaped, bytes(data).decode(errors="surrogateescape"))), longest)


def shortened(text: str, longest: int) -> str:
    """Return a text without its middle if it is too long; at least the mark of the omission remains."""
    if len(text) <= longest:
        return text
    kept = max(longest - 3, 0)
    head = kept * 2 // 3
    return f"{text[:head]} … {text[len(text) - (kept - head) :]}"


def _escaped(character: str) -> str:
    if character in _ESCAPES:
        return _ESCAPES[character]
    if character.isprintable():
        return character
    code = ord(character)
    if 0xDC80 <= code <= 0xDCFF:
        code -= 0xDC00
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{{{code:x}}}"
