"""The octal escapes of `%output` (tmux 3.3a control.c, control_append_data).

tmux writes every byte below 0x20 and the backslash itself as `\\ooo`, and every other byte, 0x7f to 0xff included,
as it is. Because the backslash is always escaped, text can be unescaped in any order and joined first: a well-formed
escape never straddles two `%output` lines.

Anything else that follows a backslash did not come from tmux and is left as it stands. It is looked for first, in a
whole read at once, since the one call of C that unescapes quickly would read `\\n` or `\\x41` in Python's way, and
raise on `\\x`.
"""

import codecs
import re
from collections.abc import Sequence

_OCTAL = rb"[0-3][0-7]{2}"
_ESCAPE = re.compile(rb"\\(" + _OCTAL + rb")")
_NOT_TMUX = re.compile(rb"\\(?!" + _OCTAL + rb")")
_ESCAPED = re.compile(rb"[\x00-\x1f\\]")


def unescape(data: bytes) -> bytes:
    """Return the bytes a pane printed; never raises, and leaves alone what tmux would not have written."""
    if b"\\" not in data:
        return data
    if _NOT_TMUX.search(data):
        return _ESCAPE.sub(lambda match: bytes((int(match[1], 8),)), data)
    return codecs.escape_decode(data)[0]


def is_well_formed(data: bytes) -> bool:
    """Return whether every backslash begins an escape that tmux would have written."""
    return _NOT_TMUX.search(data) is None


def unescape_joined(pieces: Sequence[bytes], *, well_formed: bool) -> bytes:
    """Return the unescaped pieces as one, the same as unescaping each alone, for the price of one.

    `well_formed` says that each of them is (`is_well_formed`).
    """
    if not well_formed:
        return b"".join(map(unescape, pieces))
    joined = b"".join(pieces)
    return codecs.escape_decode(joined)[0] if b"\\" in joined else joined


def escape(data: bytes) -> bytes:
    """Return `data` as tmux writes it after `%output %P `."""
    return _ESCAPED.sub(lambda match: b"\\%03o" % match[0][0], data)
