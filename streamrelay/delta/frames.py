"""Where a stream of bytes may be cut so that every frame is one the program meant to show.

A frame that shows half a repaint makes wrong lines, so the screen is looked at only at these places:

* after the end of a synchronized update, after bracketed paste is switched, around a switch of the alternate screen;
* at the end of whatever was read, as long as the program is *linear*: it has not moved the cursor to another row
  except by printing. A row that a linear program left behind cannot change any more, wherever the read was cut;
* before the first movement to another row, because what stood above it is still the linear program's;
* after a rest: `SETTLE` seconds without output.

Moving within the row (CR, BS, CUF, CUB, CHA, EL ...) keeps a program linear: the row it works on is still open.
"""

from collections.abc import Iterator

import regex

SETTLE = 0.012
"""Seconds without output after which a repaint counts as finished (coarser cuts lost rows on recorded agents)."""

LONGEST_STRETCH = 1 << 18
"""Bytes after which a program that never rests is looked at all the same, so that memory stays bounded."""

LONGEST_SEQUENCE = 32
"""Bytes of an unfinished sequence carried over to the next read; longer ones are none of those below."""

_LANDMARK = regex.compile(
    rb"\x1b(?:(?P<vertical>[8Mc]|\[[0-9;]*[ABEFHfJLMSTdru])|\[\?(?P<mode>2026|2004|1049|1047|47)(?P<switch>[hl]))"
)
_UNFINISHED = regex.compile(rb"\x1b(?:\[[?]?[0-9;]*)?\Z")
_ALTERNATE = (b"1049", b"1047", b"47")


class FrameCutter:
    """Cuts reads into the pieces after which a frame may be taken."""

    def __init__(self) -> None:
        self.linear = True
        self._carried = b""
        self._since_frame = 0

    def pieces(self, data: bytes) -> Iterator[tuple[bytes, bool]]:
        """Yield `(piece, complete)`: feed the piece, and take a frame if `complete`. The pieces make up `data`."""
        carried = len(self._carried)
        scanned = self._carried + data if carried else data
        start = 0
        for landmark in _LANDMARK.finditer(scanned):
            before, after = max(0, landmark.start() - carried), landmark.end() - carried
            if landmark["vertical"] is not None:
                if self.linear:
                    yield data[start:before], True
                    start = before
                    self.linear = False
                continue
            mode, switched_on = landmark["mode"], landmark["switch"] == b"h"
            if mode in _ALTERNATE:
                yield data[start:before], True
                start = before
            elif mode == b"2026" and switched_on:
                continue
            yield data[start:after], True
            start = after
            self.linear = True
        unfinished = _UNFINISHED.search(scanned, max(0, len(scanned) - LONGEST_SEQUENCE))
        self._carried = unfinished[0] if unfinished else b""
        rest = data[start:]
        self._since_frame = 0 if self.linear else self._since_frame + len(rest)
        if self._since_frame > LONGEST_STRETCH:
            self.settle()
        yield rest, self.linear

    def settle(self) -> None:
        """The program rests: what the screen shows is meant."""
        self.linear = True
        self._since_frame = 0
