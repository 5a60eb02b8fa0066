"""What the code points in a row's two strings stand for.

A row is two strings, one code point per cell: what is written there, and in which style. Most cells are their own
character; one with combining marks, or whose character lies in the private range, holds a code point of `CLUSTERS`
that stands for the whole text. A style is always such a number, 0 being the default style.

Numbers are never taken back, so rows that were handed out stay readable. Once a table is crowded the terminal goes
on with a new one (`Line.moved`), and the old one lives as long as rows in history need it: memory stays bounded.
"""

import re
from typing import Final

from streamrelay.vt.styles import DEFAULT, Style, shared
from streamrelay.vt.widths import CLUSTERS, STUB

_CROWDED = 0x8000
CLUSTER: Final = re.compile(f"[{chr(CLUSTERS.start)}-{chr(CLUSTERS.stop - 1)}]")


class Symbols:
    """The styles and clusters of a stretch of a terminal's life."""

    __slots__ = ("_cluster_codes", "_clusters", "_style_codes", "erasers", "styles")

    def __init__(self) -> None:
        self.styles: list[Style] = [DEFAULT]
        self.erasers: list[int] = [0]
        """For each style, the number of what a cell looks like that is erased while it is current."""
        self._style_codes: dict[Style, int] = {DEFAULT: 0}
        self._clusters: list[str] = []
        self._cluster_codes: dict[str, str] = {}

    @property
    def crowded(self) -> bool:
        """Whether it is time to go on with a new table; there is room for one slice of input more."""
        return len(self.styles) > _CROWDED or len(self._clusters) > _CROWDED

    def style(self, style: Style) -> int:
        """Return the number of `style`."""
        code = self._style_codes.get(style)
        if code is None:
            code = len(self.styles)
            style = shared(style)
            self.styles.append(style)
            self._style_codes[style] = code
            self.erasers.append(code)  # of a background alone, which is its own
            self.erasers[code] = self.style(style.erased())
        return code

    def cell(self, text: str) -> str:
        """Return the one code point that stands for `text`, the contents of one cell."""
        if len(text) == 1 and ord(text) not in CLUSTERS:
            return text
        code = self._cluster_codes.get(text)
        if code is None:
            if len(self._clusters) == len(CLUSTERS):  # only a screen of more than 131,000 different clusters
                return text[0] if ord(text[0]) not in CLUSTERS else "\ufffd"
            code = chr(CLUSTERS[len(self._clusters)])
            self._clusters.append(text)
            self._cluster_codes[text] = code
        return code

    def text(self, cells: str) -> str:
        """Return the characters of `cells`."""
        if cells.isascii():
            return cells
        cells = cells.replace(STUB, "")
        if not self._clusters:
            return cells
        return CLUSTER.sub(lambda match: self._clusters[ord(match[0]) - CLUSTERS.start], cells)
