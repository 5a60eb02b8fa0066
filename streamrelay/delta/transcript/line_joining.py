"""From painted rows to logical lines: joins what the program wrapped itself, and nothing else.

A row goes on in the next one if the first word of the next would not have fitted on it, and the next begins where a
continuation of it would: at the same indent as its text, with no mark of a list, a heading or a table of its own.
A row with columns (`top`, a log with its place at the right edge) is no wrapped text. A terminal's own wrap needs no
guess.

Scripts without blanks between words are broken anywhere. Hangul has wide glyphs too, but words.
"""

from collections.abc import Sequence

import regex

from streamrelay.delta.layout.glyphs import BULLETS, SIDE, is_border
from streamrelay.delta.layout.rows import PaintedRow, cells_of

_MARK = regex.compile(rf"(?:[-*+•◦‣▪●○·]|{BULLETS}|\d{{1,3}}[.)]?|[a-zA-Z][.)])\s+")
_STARTS = regex.compile(rf"(?:[-*+•◦‣▪●○]\s|{BULLETS}\s|\d{{1,3}}[.)]\s|#{{1,6}}\s|[│┃|┌├└╭╰─━═>]|```)")
_UNSPACED = regex.compile(r"[\u2e80-\ua4cf\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6--\p{Hangul}]", regex.V1)
_COMMA = regex.compile(r"[,.;:!?]")
_SPACED_COMMA = regex.compile(rf"{_UNSPACED.pattern}[,.;:!?] {_UNSPACED.pattern}", regex.V1)
_IN_ADDRESSES = frozenset("?&=-_%#")
"""Marks within an address with which none ends."""
_COLUMNS = regex.compile(r"\S {8,}\S|\S {3,}\S.*\S {3,}\S")
_PATH = regex.compile(r"[/?&=]")
_WORD = regex.compile(r"\w")
_SENTENCE_END = regex.compile(r"[.!?。！？]\W{0,3}\Z")
NARROWEST_MARGIN = 8
"""Columns that a program may leave free at the right of what it wraps."""

MAX_LEFTOVER, MAX_COMPARED = 12, 500
"""Leftover rows that are recognised, and the rows among which they are searched."""

ROUGHNESS = 2
"""Columns by which the widest rows of wrapped text differ at most."""


def logical_lines(rows: Sequence[PaintedRow], width: int) -> list[str]:
    """Return the logical lines of rows which a program painted `width` columns wide, indents kept."""
    lines: list[str] = []
    last: str | None = None
    hang = 0
    joined_by_terminal = fills = False
    parts: list[str] = []
    for row in rows:
        text = row.text
        if joined_by_terminal and last is not None:
            lines[-1] += text
            parts += "", text
        elif last is not None and fills and _continues(last, text, hang, width):
            parts += _glue(lines[-1], text.strip(), width), text.strip()
            lines[-1] += parts[-2] + parts[-1]
        elif last is not None and fills and _follows_long_word(parts, text, hang):
            parts += " ", text.strip()
            lines[-1] += parts[-2] + parts[-1]
        else:
            lines.append(text)
            hang = _text_column(text)
            parts = [text]
        last = text
        joined_by_terminal, fills = row.wrapped, row.fills
    return [line.rstrip() for line in lines]


def without_cut_off(rows: Sequence[PaintedRow], width: int) -> Sequence[PaintedRow]:
    """Return rows without the last line that holds words, unless it ends a sentence or a box: it was being written.

    A line that the program wrapped at `width` columns goes with all of its rows: its beginning is no line of its own.
    """
    last = next((y for y in range(len(rows) - 1, -1, -1) if _WORD.search(rows[y].text)), None)
    if last is None or _SENTENCE_END.search(rows[last].text):
        return rows
    if SIDE.match(rows[last].text) is not None and any(is_border(row.text) for row in rows[last + 1 :]):
        return rows
    first = last
    while first and len(logical_lines(rows[first - 1 : last + 1], width)) == 1:
        first -= 1
    return rows[:first]


def without_leftovers(rows: Sequence[PaintedRow], width: int) -> tuple[Sequence[PaintedRow], Sequence[PaintedRow]]:
    """Return the rows without leftover rows of earlier paintings above them, and the leftover rows.

    A program that repaints a text first moves the cursor up by as many rows as it painted. If something else moved the
    cursor meanwhile (a person typing, a second thread), the first rows of the previous painting remain. Leftover rows
    equal the rows that follow, wrapped at the same words, and each ends in mid-sentence. The last condition tells them
    from equal rows of a log or a table.
    """
    whole, leftover = list(rows), []
    most = min(MAX_LEFTOVER, len(rows) // 2) if len(rows) <= MAX_COMPARED else 0
    if len({row.text for row in rows}) == len(rows):
        return rows, ()
    count = 1
    while count <= most:
        y = next((y for y in range(len(whole) - 2 * count) if _is_repeated(whole, y, count, width)), None)
        if y is None:
            count += 1
            continue
        leftover += whole[y : y + count]
        del whole[y : y + count]
        count = 1
    return whole, leftover


def _is_repeated(rows: Sequence[PaintedRow], y: int, count: int, width: int) -> bool:
    """Tell whether so many rows from row `y` on, each wrapped in mid-sentence, are followed by the same ones.

    Three equal rows were printed as such. Each row is compared with the row below its copy, because its own successor
    may be gone: the last leftover row is followed by the first row of the new painting.
    """
    if y >= count and rows[y - count].text == rows[y].text:
        return False
    return all(
        rows[z].text == rows[z + count].text
        and rows[z].fills
        and _is_wrapped(rows[z].text, rows[z + count + 1].text, width)
        and not _is_monotonous(rows[z].text)
        for z in range(y, y + count)
    ) and all(_continues_sentence(rows[z - 1].text, rows[z].text) for z in range(y + count + 1, y + 2 * count + 1))


def _is_wrapped(above: str, below: str, width: int) -> bool:
    """Tell whether the first word of a row would not have fitted on the one above."""
    words = below.split(maxsplit=1)
    return bool(above.strip() and words) and cells_of(above) + 1 + cells_of(words[0]) > width


def _continues_sentence(above: str, below: str) -> bool:
    """Tell whether a row goes on with the sentence of the one above, and does not begin as that one does."""
    first, last = above.split(maxsplit=1)[:1], below.split(maxsplit=1)[:1]
    initial = below.lstrip()[:1]
    return first != last and initial.isalpha() and not initial.isupper()


def _is_monotonous(text: str) -> bool:
    """Tell whether a text says the same again and again."""
    spelled = "".join(text.split())
    return spelled in (spelled + spelled)[1:-1]


def right_edge(rows: Sequence[PaintedRow], columns: int) -> int:
    """Return the width at which a program seems to wrap: its widest rows, or a little less than the screen.

    A single row that is wider than all others was wrapped by another measure: at the edge of the screen.
    """
    widest = sorted((cells_of(row.text) for row in rows), reverse=True)[:2] or [0]
    is_outlier = widest[0] == columns and widest[-1] < columns - ROUGHNESS
    return max(widest[-1] if is_outlier else widest[0], columns - NARROWEST_MARGIN)


def _continues(above: str, below: str, hang: int, width: int) -> bool:
    text = below.lstrip()
    if not text or not above.strip() or "\t" in above or _STARTS.match(text) or _COLUMNS.search(above):
        return False
    indent = len(below) - len(text)
    used = cells_of(above)
    # A program that breaks at the blank may leave that to the next row, where the row above is full.
    if indent != hang and not (indent == hang + 1 and used >= width):
        return False
    if _UNSPACED.match(text) or _UNSPACED.match(above[-1]):
        return used + cells_of(text[0]) > width - 1
    needed = used + 1 + cells_of(text.split(maxsplit=1)[0])
    # Some programs break in front of a word that would have filled the row to its last column (decision 48).
    return needed > width or (needed == width and text[0].islower() and not _SENTENCE_END.search(above))


def _follows_long_word(parts: Sequence[str], below: str, hang: int) -> bool:
    """Tell whether a row goes on behind a word that took rows of its own, and was the last word of the row above.

    `parts` are the rows of the line, and what stands between them. Some programs begin a new row behind such a word.
    """
    *_, before, word, glue, end = ("", *parts)[-4:] if len(parts) > 3 else ("", "", "?", "")
    is_alone = not glue and before == " " and len(word.split()) == len(end.split()) == 1
    return is_alone and len(below) - len(below.lstrip()) == hang and below.lstrip()[:1].islower()


def _glue(above: str, below: str, width: int) -> str:
    """Return the text between two parts of a line: none if a word was broken there or unspaced characters meet.

    A word is broken that no row could hold, an address or a path. An address is also broken behind its marks. After an
    ASCII comma in unspaced text comes a blank only if the line's other commas have one.
    """
    parts = above.rsplit(maxsplit=1)[-1], below.split(maxsplit=1)[0]
    if sum(map(cells_of, parts)) > width and len(parts[0]) > width // 2:
        return ""
    if "://" in parts[0] and (parts[0][-1] in _IN_ADDRESSES or (parts[0][-1] == "/" and _PATH.search(parts[1]))):
        return ""
    if _UNSPACED.match(above[-1]):
        return ""
    if not _UNSPACED.match(below[0]):
        return " "
    if _COMMA.match(above[-1]) and len(above) > 1 and _UNSPACED.match(above[-2]):
        return " " if _SPACED_COMMA.search(above) is not None else ""
    return " " if above[-1].isascii() else ""


def _text_column(text: str) -> int:
    """Return the column in which a line's text begins: behind its indent and the mark of a list item."""
    indent = len(text) - len(text.lstrip())
    mark = _MARK.match(text, indent)
    return mark.end() if mark is not None else indent
