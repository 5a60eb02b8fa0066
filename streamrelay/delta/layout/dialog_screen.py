"""The rows of a screen as a dialog is read from them: borders, hints and remarks told from text by their look."""

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import NamedTuple

import regex

from streamrelay.delta.layout.glyphs import MAX_ROWS_KNOWN

MAX_ROWS = 14
"""Rows above the choices in which the question is looked for, and rows of remarks below them."""
MAX_TEXT = 400
"""Characters of a question that are handed on."""
_WIDEST_HINT = 160

STRONG_POINTERS = "❯›▶►▸▷➜➤»"
"""Glyphs that point; those that are bullets and quotes as well are not among them."""

_BORDERS = "".join(map(chr, range(0x2500, 0x25A0))) + "=_- \t"
_SIDE = regex.compile(r"^\s*[│┃║]|(?<=\s)[│┃║]\s*$")
_BOX_END = regex.compile(r"\s*[╰└╚┗╹][─━═▀]{3}")
_LONG_RULE = regex.compile(r"\s*[─━═╌┄┈▔▁▀▄]{20,}\s*")
_BLOCK_ELEMENT = regex.compile(r"[\u2580-\u259f]")
_LETTER = regex.compile(r"\p{L}")
_PROMPT = regex.compile(rf"^\s*[{STRONG_POINTERS}>$#%!](?=\s|$)")
_BULLET = regex.compile(r"^\s?[●•✦■✔✗✻❯›>⎿◆*]\s")
_SEARCH_FIELD = regex.compile(r"^\s*[⌕🔍🔎]")
_SCROLL_MARK = regex.compile(r"^\s*(?:[↑↓▲▼⋮…](?:\s+\d+\b.*)?|\(\d+/\d+\))$")
_SPINNER = regex.compile(r"^\s*[\u2801-\u28ff]\s")
_SECOND_COLUMN = regex.compile(r"(?<=\S)\s{4,}\S.*")

_ASKED = regex.compile(r"(?<=\S)[?؟](?=\s|$)|？")
# Prompt libraries (Inquirer and its kin) put the mark before the question.
_ASKING = regex.compile(r"^\s*\[?\?\]?\s+\S")

# What is printed on the keys is nearly the same everywhere; what they do is not, so no verb is asked for here.
_LABELS = r"enter|return|esc|escape|⏎|↵|⎋|entrée|échap|eingabe(?:taste)?|intro|invio"
DECIDING_KEY = regex.compile(rf"(?i)(?<!\w)(?:{_LABELS})(?!\w)")
ANY_KEY = regex.compile(
    rf"(?i)(?<!\w)(?:{_LABELS}|tab|space|(?:ctrl|shift|alt)\s?\+\s?\w+|\^\w)(?!\w)|[↑↓←→⇆⇅]\s*(?:/|\w)"
)


class _Row(NamedTuple):
    """A row without the sides of its box.

    It `says` something if it holds more than blanks and borders. It `remarks` something if it also is neither a scroll
    mark nor a spinner.
    """

    text: str
    boxed: bool
    says: bool
    remarks: bool


@lru_cache(maxsize=MAX_ROWS_KNOWN)
def _read(row: str) -> _Row:
    text = _SIDE.sub(lambda side: " " * len(side.group()), row).rstrip()
    says = text.strip(_BORDERS) != ""
    remarks = says and not _SCROLL_MARK.match(text) and not _SPINNER.match(text)
    return _Row(text, _SIDE.match(row) is not None, says, remarks)


class DialogScreen:
    """The rows of a screen at rest, without the sides of boxes; columns stay where they were."""

    def __init__(self, rows: Sequence[str], cursor: tuple[int, int], *, cursor_visible: bool) -> None:
        read = list(map(_read, rows))
        self.rows = [row.text for row in read]
        self._read = read
        self.cursor = cursor
        self.cursor_visible = cursor_visible
        self.last = next((y for y in range(len(rows) - 1, -1, -1) if self.says(y)), -1)
        """The last row that says anything; -1 on an empty screen."""

    def says(self, y: int) -> bool:
        """Whether a row holds more than blanks and borders."""
        return self._read[y].says

    def is_boxed(self, y: int) -> bool:
        """Whether a row begins with the side of a box."""
        return self._read[y].boxed

    def is_border(self, y: int) -> bool:
        """Whether a row is drawn, and only of borders."""
        return 0 <= y < len(self.rows) and self.rows[y] != "" and not self.says(y)

    def remarks(self, begin: int, end: int) -> list[str]:
        """Return the rows that say something, scroll marks and spinners left out."""
        return [row.text for row in self._read[begin:end] if row.remarks]

    def box_end(self, begin: int) -> int | None:
        """Return the row that closes a box which is open at a row."""
        return next((y for y in range(begin, len(self.rows)) if _BOX_END.match(self.rows[y])), None)

    def question_above(self, y: int) -> str | None:
        """Return what is asked above a row: right above it, else as early as the dialog reaches up."""
        found: int | None = None
        blanks = 0
        for above in range(y - 1, max(-1, y - 1 - MAX_ROWS), -1):
            row = self.rows[above]
            blanks = 0 if row else blanks + 1
            if blanks > 2 or self.is_border(above) or is_bullet(row):
                break
            if _ASKED.search(row) or _ASKING.match(row):
                found = above
                if not any(map(self.says, range(above + 1, y))):
                    break
        return None if found is None else self._paragraph(found, y)

    def paragraph_above(self, y: int) -> str:
        """Return the nearest paragraph above a row, search fields left out."""
        for above in range(y - 1, max(-1, y - 1 - MAX_ROWS), -1):
            row = self.rows[above]
            if self.says(above) and not _SEARCH_FIELD.match(row) and not _SCROLL_MARK.match(row):
                return self._paragraph(above, y)
        return ""

    def context_above(self, y: int) -> list[str]:
        """Return the rows above a row that belong to the same dialog, in their order, without blanks and spinners."""
        found: list[str] = []
        for above in range(y - 1, max(-1, y - 1 - MAX_ROWS), -1):
            row = self.rows[above]
            if is_bullet(row) or _LONG_RULE.fullmatch(row):
                break
            if self.says(above) and not _SPINNER.match(row):
                found.append(row)
        return found[::-1]

    def head_above(self, y: int) -> str:
        """Return the first row of the text above a row, up to a rule, an ASCII picture or a bullet."""
        head = ""
        for above in range(y - 1, -1, -1):
            row = self.rows[above]
            if is_bullet(row) or _LONG_RULE.fullmatch(row) or _is_picture(row):
                break
            if self.says(above) and not _SEARCH_FIELD.match(row):
                head = row
        return one_line([head])

    def _paragraph(self, inside: int, end: int) -> str:
        """Return the paragraph around a row and above another, up to its question mark where it has one."""
        first = stop = inside
        while first > 0 and self.says(first - 1) and not is_bullet(self.rows[first - 1]) and inside - first < MAX_ROWS:
            first -= 1
        while stop < end and self.says(stop):
            stop += 1
        text = one_line(_SECOND_COLUMN.sub("", row) for row in self.rows[first:stop] if not _SCROLL_MARK.match(row))
        marks = [mark.end() for mark in _ASKED.finditer(text)]
        return (text[: marks[-1]] if marks else text).removeprefix("? ")


def is_typed_at(rows: Sequence[str], cursor: tuple[int, int]) -> bool:
    """Whether the cursor stands behind a prompt: in a composer, in a person's draft."""
    x, y = cursor
    if not 0 <= y < len(rows):
        return False
    prompt = _PROMPT.match(_read(rows[y]).text)
    return prompt is not None and x >= prompt.end()


def is_bullet(row: str) -> bool:
    """Whether a row begins as an entry of a transcript does."""
    return _BULLET.match(row) is not None


def is_hint(row: str, keys: "regex.Pattern[str]") -> bool:
    """Whether a row names keys: one that is not a paragraph."""
    return len(row.strip()) <= _WIDEST_HINT and keys.search(row) is not None


def one_line(lines: Iterable[str]) -> str:
    """Join rows by single spaces."""
    return " ".join(" ".join(lines).split())[:MAX_TEXT]


def _is_picture(row: str) -> bool:
    return _BLOCK_ELEMENT.search(row) is not None and _LETTER.search(row) is None
