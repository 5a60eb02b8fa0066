"""The blocks of an answer: text, tool calls, tables, numbered code.

Programs with a transcript mark each block with a bullet and indent what follows under it. Bullet and indent are
decoration; everything else keeps its layout. A tool call with its output is known by its frame: a corner under its
head, a box around it, a bar left of where the text begins, or an outcome (✔) in place of the bullet.
A notice that the answer was broken off has a mark of its own (■, ℹ), or stands under a corner. The rows above that
corner are the answer so far, unless they read like a tool call: `Bash(make)`.
A table becomes one line of cells for each row; the lines drawn between the cells are left out.
A link is shown as `text (address)`; where its text is the address, as it can be until the program has parsed the line,
that is said once.
"""

import itertools
from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple

import regex

from streamrelay.delta.layout.glyphs import BULLETS, CORNERS, HOOKS, LINES, SIDE, is_border
from streamrelay.delta.layout.rows import PaintedRow
from streamrelay.delta.profiles import Profile, matches
from streamrelay.delta.reasons import Rule
from streamrelay.delta.transcript.line_joining import logical_lines

BlockKind = Literal["text", "activity"]

_BULLET = regex.compile(
    rf"(?P<indent>\s*)(?P<glyph>[●⏺•✦◆▪■◉○✔✓✗✘⚠ℹ]|{BULLETS}(?=\s|$|\p{{L}})|\*(?=\s|$))(?P<gap>\s?)(?P<text>.*)"
)
_OUTCOMES = frozenset("✔✓✗✘⚠")
_OUTCOME_IN_COLUMNS = regex.compile(r"\s*[✓✔✗✘⚠]\s{2,}\S+(?: \S+)*\s{2,}\S")
_BROKEN_OFF = regex.compile(r"\W*(?i:(?:\w+ ){0,2}(?:interrupted|cancell?ed|aborted)\b)")
_ENDED_EARLY = regex.compile(rf"(?:^|[·•|]){_BROKEN_OFF.pattern}")
_NOTICES, _INFORMS = frozenset("■ℹ"), "ℹ"
_CALL = regex.compile(r"[\w.-]+(?: \w+)?\(")
_SENTENCE = regex.compile(r".*\w[.!?…]\W?")
_CORNER = regex.compile(rf"\s*[{CORNERS}]\s?")
_HOOK = regex.compile(rf"\s*[{HOOKS}]")
_BOX_TOP, _BOX_BOTTOM = regex.compile(rf"\s*[╭┌┏╔][{LINES}]{{4,}}"), regex.compile(rf"\s*[╰└┗╚][{LINES}]{{4,}}")
_TABLE_TOP = regex.compile(rf"\s*[╭┌┏╔├┠╠][{LINES}]{{4,}}")
_CROSSING = regex.compile(r"[┬┴┼╪╤╧╬┿╋┳┻]")
_COLUMN = regex.compile(r"[│┃║╎╏┆┇┊┋|]")
_RULES = regex.compile(rf"\s*[{LINES}]{{2,}}(?:\s+[{LINES}]{{2,}})+\s*")
_GAP = regex.compile(r"\s{2,}")
_NUMBERED = regex.compile(r"(?P<number>\s*(?P<value>\d+)) (?P<text>.*)")
_LINK = regex.compile(r"(?<!\S)(?P<text>\w+://\S+) \((?P<address>[^()]+)\)")
MIN_NUMBERED_ROWS, LAST_OF_ONE_DIGIT = 2, 9


class Block(NamedTuple):
    """Logical lines of one kind, the rule that tells the kind, and the rows they were read off."""

    kind: BlockKind
    lines: list[str]
    rule: Rule
    rows: Sequence[PaintedRow]


def blocks_of(rows: Sequence[PaintedRow], width: int, profile: Profile) -> Iterator[Block]:
    """Yield the blocks of painted rows; the program wraps its text at `width` columns."""
    for kind, framed in _frames(rows):
        if kind == "activity":
            yield _tool_call(framed, _rule_of_frame(framed))
            continue
        for part in _split_at_tool_calls(framed, profile):
            for block in _bulleted(part):
                yield _read(block, width, profile)


def _read(rows: list[PaintedRow], width: int, profile: Profile) -> Block:
    head = _BULLET.fullmatch(rows[0].text)
    if head is not None and len(rows) > 1 and _CORNER.match(rows[1].text) is not None:
        return _tool_call(rows, "corner")
    if head is not None and (head["glyph"] in _OUTCOMES or _is_notice(head["glyph"], rows)):
        return _tool_call(rows, "outcome")
    if matches(profile.activity, rows[0].text):
        return _tool_call(rows, "activity_of_profile")
    plain = _without_line_numbers(list(_cells(_without_bullet(rows))))
    lines = [_LINK.sub(_text_of_link, line) for line in logical_lines(plain, width)]
    return Block("text", _trimmed(_dedented(lines)), "answer", rows)


def _text_of_link(link: regex.Match[str]) -> str:
    """Return the text of a link, and its address too where that is another one; it may be wrapped anywhere."""
    return link["text"] if link["text"] == "".join(link["address"].split()) else link[0]


def bullet_before(text: str) -> str:
    """Return the indent of a row and the bullet behind it, with a blank; the indent alone where it has no bullet."""
    bullet = _BULLET.fullmatch(text)
    return " " * _indent(text) if bullet is None else f"{bullet['indent']}{bullet['glyph']} "


def is_broken_off(rows: Sequence[PaintedRow]) -> bool:
    """Tell whether rows around an answer say that it was broken off."""
    return any(_ENDED_EARLY.search(row.text) is not None for row in rows)


def _is_notice(glyph: str, rows: Sequence[PaintedRow]) -> bool:
    """Tell whether a block stands behind a mark that is no answer's: it informs, or says that an answer broke off."""
    if glyph == _INFORMS:
        return True
    is_alone = not any(row.text.strip() for row in rows[1:])
    return glyph in _NOTICES and is_alone and _BROKEN_OFF.match(rows[0].text.lstrip()[1:]) is not None


def _rule_of_frame(rows: Sequence[PaintedRow]) -> Rule:
    if _BOX_TOP.match(rows[0].text):
        return "box"
    return "bar" if SIDE.match(rows[0].text) else "corner"


def _tool_call(rows: list[PaintedRow], rule: Rule) -> Block:
    return Block("activity", _trimmed([row.text for row in rows]), rule, rows)


def _split_at_tool_calls(rows: list[PaintedRow], profile: Profile) -> Iterator[list[PaintedRow]]:
    """Split rows at the paragraphs that show a tool call: outcomes in columns, or `activity` rows without a bullet.

    Paragraphs that are indented deeper than an outcome are the output of that tool call.
    """
    part: list[PaintedRow] = []
    under: int | None = None
    for is_blank, paragraph in itertools.groupby(rows, lambda row: not row.text.strip()):
        more = list(paragraph)
        if under is not None and (is_blank or all(_indent(row.text) > under for row in more)):
            part += more
            continue
        if under is not None:
            yield part
            part, under = [], None
        if is_blank:
            part += more
        elif _OUTCOME_IN_COLUMNS.match(more[0].text):
            yield part
            part, under = more, _indent(more[0].text)
        elif _BULLET.fullmatch(more[0].text) is None and matches(profile.activity, more[0].text):
            yield part
            yield more
            part = []
        else:
            part += more
    yield part


# Frames


def _frames(rows: Sequence[PaintedRow]) -> Iterator[tuple[BlockKind, list[PaintedRow]]]:
    """Divide rows at the boxes and bars around them; a box with columns is a table, and said."""
    text_column = min((_indent(row.text) for row in rows if row.text.strip() and not SIDE.match(row.text)), default=0)
    said: list[PaintedRow] = []
    y = 0
    while y < len(rows):
        stop = _framed_until(rows, y, text_column)
        if stop == y:
            said.append(rows[y])
            y += 1
            continue
        if said:
            yield "text", said
            said = []
        yield "activity", list(rows[y:stop])
        y = stop
    if said:
        yield "text", said


def _framed_until(rows: Sequence[PaintedRow], y: int, text_column: int) -> int:
    """Return the row behind the frame that begins at row `y`; `y` itself where none does."""
    text = rows[y].text
    if _BOX_TOP.match(text) and not _CROSSING.search(text):
        for bottom in range(y + 1, len(rows)):
            if _BOX_BOTTOM.match(rows[bottom].text):
                is_call = _CROSSING.search(rows[bottom].text) is None and not _is_drawn(rows, y, bottom)
                return bottom + 1 if is_call else y
            if not SIDE.match(rows[bottom].text):
                return y
        # Its bottom is not painted yet.
        return len(rows)
    if _hangs(rows, y):
        return next((stop for stop in range(y, len(rows)) if not rows[stop].text.strip()), len(rows))
    while y < len(rows) and SIDE.match(rows[y].text) and _indent(rows[y].text) < text_column:
        y += 1
    return y


def _is_drawn(rows: Sequence[PaintedRow], top: int, bottom: int) -> bool:
    """Tell whether a box is a drawing in an answer: it stands in a paragraph under a bullet, between rows of text."""
    column = _indent(rows[top].text)
    beside = [row.text for row in (*rows[max(0, top - 1) : top], *rows[bottom + 1 : bottom + 2])]
    are_text = all(text.strip() and not is_border(text) and SIDE.match(text) is None for text in beside)
    return column > 0 and len(beside) == 2 and are_text and all(_text_column(text) == column for text in beside)


def _text_column(text: str) -> int:
    """Return the column in which the text of a row begins, behind its bullet if it has one."""
    bullet = _BULLET.fullmatch(text)
    return _indent(text) if bullet is None else bullet.start("text")


def _hangs(rows: Sequence[PaintedRow], y: int) -> bool:
    """Tell whether a hook, or its head without a bullet, stands in row `y`.

    A hook under a bullet is left to that, unless the bullet marks a sentence: an agent said that before its tool call.
    """
    text, above = rows[y].text, rows[y - 1].text if y else ""
    if _HOOK.match(text) is None:
        is_head = bool(text.strip()) and not above.strip() and _BULLET.fullmatch(text) is None
        return is_head and y + 1 < len(rows) and _HOOK.match(rows[y + 1].text) is not None
    if not above.strip():
        return True
    bullet = _BULLET.fullmatch(above)
    if bullet is not None and _CALL.match(bullet["text"]) is not None:
        return False
    is_said = bullet is not None and _SENTENCE.fullmatch(bullet["text"]) is not None
    return is_said or _BROKEN_OFF.match(text.lstrip()[1:]) is not None


# Bullets


def _bulleted(rows: list[PaintedRow]) -> Iterator[list[PaintedRow]]:
    """Divide rows at the bullets of the outermost level."""
    outermost = _bullet_indent(rows)
    block: list[PaintedRow] = []
    for row in rows:
        bullet = _BULLET.fullmatch(row.text)
        if block and bullet is not None and len(bullet["indent"]) == outermost:
            yield block
            block = []
        if block or row.text.strip():
            block.append(row)
    if block:
        yield block


def _bullet_indent(rows: list[PaintedRow]) -> int | None:
    """Return the indent of bullets that mark blocks.

    The first row has one, all rows without are indented under one, and blocks are paragraphs: bullets in rows that
    follow each other mark the items of a list.
    """
    texts = [row.text for row in rows]
    first = next((text for text in texts if text.strip()), "")
    head = _BULLET.fullmatch(first)
    if head is None:
        return None
    indent = len(head["indent"])
    was_bullet = False
    for text in texts:
        bullet = _BULLET.fullmatch(text)
        is_bullet = bullet is not None and len(bullet["indent"]) == indent
        if (is_bullet and was_bullet) or (text.strip() and not is_bullet and _indent(text) <= indent):
            return None
        was_bullet = is_bullet
    return indent


def _without_bullet(rows: list[PaintedRow]) -> list[PaintedRow]:
    """Replace a block's bullet by the indent of what follows under it, where something does so."""
    bullet = _BULLET.fullmatch(rows[0].text)
    if bullet is None:
        return rows
    # A terminal in which the glyph is one column wide shows no gap where the program took it for two.
    indent = bullet["indent"] + " " + bullet["gap"]
    if any(row.text.strip() and not row.text.startswith(indent) for row in rows[1:]):
        return rows
    return [rows[0]._replace(text=indent + bullet["text"]), *rows[1:]]


# Tables and code


def _cells(rows: Sequence[PaintedRow]) -> Iterator[PaintedRow]:
    """Yield rows with drawn tables replaced by rows of cells, divided by tabs."""
    y = 0
    while y < len(rows):
        stop = _table_until(rows, y)
        if stop == y:
            yield rows[y]
            y += 1
            continue
        indent = " " * min(_indent(row.text) for row in rows[y:stop] if row.text.strip())
        for cells in _table(rows[y:stop]):
            yield PaintedRow(indent + "\t".join(cells))
        y = stop


def _table_until(rows: Sequence[PaintedRow], y: int) -> int:
    """Return the row behind the table that begins at row `y`; `y` itself where none does."""
    text = rows[y].text
    below = rows[y + 1].text if y + 1 < len(rows) else ""
    if _is_table_rule(text) or (_COLUMN.match(text.lstrip()[:1]) and _is_table_rule(below)):
        stop = y + 1
        while (stop < len(rows) and _COLUMN.match(rows[stop].text.lstrip()[:1] or " ") is not None) or (
            stop < len(rows) and is_border(rows[stop].text)
        ):
            stop += 1
        return stop
    if y + 1 < len(rows) and text.strip() and _RULES.fullmatch(rows[y + 1].text):
        stop = y + 2
        while stop < len(rows) and rows[stop].text.strip():
            stop += 1
        return stop
    return y


def _is_table_rule(text: str) -> bool:
    return _TABLE_TOP.match(text) is not None and _CROSSING.search(text) is not None


def _table(rows: Sequence[PaintedRow]) -> Iterator[list[str]]:
    """Yield the cells of each row; cells that were wrapped are whole again where rules divide all rows."""
    texts = [row.text for row in rows]
    rules = [y for y, text in enumerate(texts) if is_border(text) or _RULES.fullmatch(text)]
    lines = [y for y in range(len(texts)) if y not in rules]
    is_ruled = len([y for y in rules if 0 < y < len(texts) - 1]) >= 2
    cells: list[str] = []
    for y in lines:
        row = _columns(texts[y])
        if cells and is_ruled and y - 1 not in rules and len(row) == len(cells):
            cells = [f"{above} {below}".strip() for above, below in zip(cells, row, strict=True)]
            continue
        if cells:
            yield cells
        cells = row
    if cells:
        yield cells


def _columns(text: str) -> list[str]:
    if _COLUMN.match(text.lstrip()[:1] or " "):
        return [cell.strip() for cell in _COLUMN.split(text.strip())[1:-1]]
    return _GAP.split(text.strip())


def _without_line_numbers(rows: list[PaintedRow]) -> list[PaintedRow]:
    """Leave out the numbers that were put in front of lines of code.

    They count from 1 and end in one column. What stands behind them is indented here and there, or there are numbers of
    different length: those of a list begin in one column and are followed by text at one indent. Numbers two blanks
    from the text are the text's own.
    """
    plain: list[PaintedRow] = []
    y = 0
    while y < len(rows):
        stop, column = _numbered_until(rows, y)
        plain += [row._replace(text=" " * _indent(row.text) + row.text[column + 1 :]) for row in rows[y:stop]]
        if stop == y:
            plain.append(rows[y])
            stop += 1
        y = stop
    return plain


def _numbered_until(rows: Sequence[PaintedRow], y: int) -> tuple[int, int]:
    stop, column = y, 0
    indents: list[int] = []
    while stop < len(rows):
        numbered = _NUMBERED.fullmatch(rows[stop].text + " ")
        if numbered is None or int(numbered["value"][:9]) != stop - y + 1:
            break
        if stop > y and numbered.end("number") != column:
            break
        column = numbered.end("number")
        if numbered["text"].strip():
            indents.append(_indent(numbered["text"]))
        stop += 1
    is_code = any(indents) or stop - y > LAST_OF_ONE_DIGIT
    is_own = min(indents, default=0) == 1
    return (stop, column) if is_code and not is_own and stop - y >= MIN_NUMBERED_ROWS else (y, 0)


# Lines


def _indent(text: str) -> int:
    return len(text) - len(text.lstrip())


def _dedented(lines: list[str]) -> list[str]:
    indent = min((_indent(line) for line in lines if line.strip()), default=0)
    return [line[indent:] for line in lines]


def _trimmed(lines: list[str]) -> list[str]:
    """Leave out empty lines at both ends."""
    held = [y for y, line in enumerate(lines) if line.strip()]
    return lines[held[0] : held[-1] + 1] if held else []
