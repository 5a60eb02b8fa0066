"""Glyphs by what they are, not by which: every program draws with its own.

Lines are drawn with box drawing characters and block elements, or with one other glyph again and again. A mark, a
bullet, a bar or a border stands in front of a text and is none: neither letter nor digit. Which one of them a glyph is
shows where it stands, and what stands under it.
"""

from collections.abc import Sequence
from functools import lru_cache
from itertools import takewhile

import regex

_SIDES = "│┃║╎╏┆┇┊┋▏▎▍▌▋▊▉█▐▕░▒▓|¦‖"
_BORDER = regex.compile(r"[^\p{L}\p{N}]{8,}+")
_DRAWN = "".join(glyph for glyph in map(chr, range(0x2500, 0x25A0)) if glyph not in _SIDES)
_LINE = regex.compile(rf"[{_DRAWN}]{{6,}}|(?P<drawn>[^\x00-\x7f\s\p{{L}}\p{{N}}]|-)(?P=drawn){{19,}}")
SIDE = regex.compile(rf"\s*[{_SIDES}]")
"""The side of a box, or a bar beside a text."""
SIDES = regex.compile(rf"\s*[{_SIDES}]\s*[{_SIDES}]")
"""Both sides of a box, and nothing between."""

AROUND = f" {_SIDES}❯>›»•●⏺✦◆▣○⎿└├╭╰─#$%-↳+"
"""What is left out around a draft while the composer was not seen empty."""

LINES = "─━═╌╍┄┅┈┉"
"""What boxes, and the rules of tables, are drawn with from left to right."""
HOOKS = "⎿↳⤷"
CORNERS = f"{HOOKS}└╰┗╚"
"""What leads from a head down to what belongs to it."""
BULLETS = r"(?:(?!\p{Emoji_Presentation})(?=[\p{So}\p{Sm}])[\u2300-\u23ff\u25a0-\u27bf\u2b00-\u2bff]|[∙⋅·‣⁃※¶])"
"""Matches what a program may put in front of each block of an answer; emoji, arrows and formulas belong to the text."""

_MARKS = regex.compile(r"^[^\p{L}\p{N}]+")

MAX_ROWS_KNOWN = 8192
"""Rows whose look is remembered, of all panes: from one frame to the next most rows of a screen stay as they are."""


@lru_cache(maxsize=MAX_ROWS_KNOWN)
def is_border(text: str) -> bool:
    """Tell whether a row is nothing but a border or a rule."""
    # Most rows hold a letter, and the first one settles it.
    return _BORDER.fullmatch(text) is not None and _LINE.search(text) is not None


def is_mark(glyph: str) -> bool:
    """Tell whether a glyph may stand in front of a text without being part of it."""
    return not glyph.isalnum() and not glyph.isspace()


def is_side(glyph: str, opposite: str) -> bool:
    """Tell whether a glyph behind a text may be the side of a box whose other side is `opposite`."""
    return glyph in _SIDES or (glyph == opposite and is_mark(glyph))


def without_marks(text: str) -> str:
    """Return a text without the marks in front of it."""
    return _MARKS.sub("", text, count=1)


def marks_around(rows: Sequence[str]) -> str:
    """Return the glyphs that stand by themselves at both ends of the first row of an empty composer."""
    words = rows[0].split() if rows else []
    before = takewhile(lambda word: all(map(is_mark, word)), words)
    behind = takewhile(lambda word: all(map(is_mark, word)), reversed(words))
    return "".join({*"".join((*before, *behind))})
