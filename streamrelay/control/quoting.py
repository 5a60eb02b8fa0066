"""Text for tmux's command language (tmux 3.3a cmd-parse.y), and the lines a control client may write.

Inside double quotes tmux gives a meaning to `"`, `\\`, `$`, and to a `~` that follows the opening quote, which it takes
for a home directory (measured, tmux 3.3a); a byte may always be written `\\ooo`. So: printable ASCII other than those
four stands for itself, every other byte is written in octal, and what tmux reads is exactly what was meant, whatever
the text is. Quoting says nothing of formats: a command that expands `#{}` (display-message, if-shell) still does.

A control client's line has rules of its own. An empty line detaches the client. A newline or carriage return would
begin another line (a terminal turns the second into the first). A line that ends in a lone `;` or `\\`, or in the
middle of a quote (tmux closes it by itself), would take in what is joined to it.
"""

import re
from collections.abc import Sequence

from streamrelay import errors

_PLAIN = frozenset(range(0x20, 0x7F)) - frozenset(b'"\\$~')
_QUOTED = tuple(chr(byte) if byte in _PLAIN else f"\\{byte:03o}" for byte in range(256))

# A line of whole quotes: escapes, both kinds of quotes, and `#`, which begins a comment where a word could begin.
_WHOLE = re.compile(
    rb"""(?:[^'"\\#]++|\\.|'[^']*+'|"(?:[^"\\]++|\\.)*+"|(?<=[^\s;])#|#\{|#.*)*+""",
)


def quote(text: str | bytes) -> str:
    """Return `text` as one double-quoted word of tmux's command language.

    Raises errors.BadCommand where tmux cannot hold the text: a NUL byte, or a str that is no Unicode text.
    """
    data = text if isinstance(text, bytes) else _encode(text)
    if b"\0" in data:
        raise errors.BadCommand("tmux cannot hold a NUL byte", data={"offset": data.index(b"\0")})
    return f'"{"".join(map(_QUOTED.__getitem__, data))}"'


def command_line(*commands: Sequence[str | bytes]) -> str:
    """Return one line that runs `commands` in order, each a name and its arguments, every word quoted.

    tmux drops the rest of the line at the first command that fails. Raises errors.BadCommand where there is nothing
    to run.
    """
    if not commands or not all(commands):
        raise errors.BadCommand("no command to run: an empty line would detach the client")
    return " ; ".join(" ".join(map(quote, words)) for words in commands)


def check_line(line: str) -> bytes:
    """Return the bytes of a line that is safe to write to a control client, without its newline.

    Raises errors.BadCommand for a line that would detach the client, or run into the next one.
    """
    data = _encode(line)
    stripped = data.strip()
    if not stripped:
        raise errors.BadCommand("an empty line would detach the client")
    if any(byte in data for byte in b"\n\r\0"):
        raise errors.BadCommand("a command is one line: no newline, carriage return or NUL in it", data={"line": line})
    if stripped.endswith(b";") and not stripped.endswith(b"\\;"):
        raise errors.BadCommand("the line ends in `;` with no command after it", data={"line": line})
    if stripped.endswith(b"\\"):
        raise errors.BadCommand("the line ends in a backslash", data={"line": line})
    if not _quotes_are_closed(data):
        raise errors.BadCommand("a quote is never closed", data={"line": line})
    return data


def _quotes_are_closed(data: bytes) -> bool:
    # Counting is enough for nearly every line `command_line` makes, and quick for one of megabytes.
    if b"'" not in data and b'\\"' not in data and b"#" not in data:
        return data.count(b'"') % 2 == 0
    return _WHOLE.fullmatch(data) is not None


def _encode(text: str) -> bytes:
    # Bytes that came in as surrogate escapes (file names) go out as the bytes they were.
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError as error:
        raise errors.BadCommand(f"not Unicode text: {error.reason}", data={"offset": error.start}) from error
