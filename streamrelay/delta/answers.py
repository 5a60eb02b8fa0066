"""What a program with a transcript answered, read off its document when a turn is over.

    document now - old transcript (a common beginning) - furniture (the end) - echoes - activity - footers

What stands above the first echo is not an answer to it and is left out. Where a second message was sent meanwhile, its
echo divides the answers. Each answer is a list of blocks, a block being what follows a bullet; the bullet and the
indent under it are decoration, everything else keeps its layout.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import Literal, NamedTuple

import regex

from streamrelay.delta.document import PaintedRow
from streamrelay.delta.furniture import is_border, masked
from streamrelay.delta.profiles import GENERIC, Profile, matches
from streamrelay.delta.transcript import find_echo, find_last_copy, find_tail_of_echo
from streamrelay.delta.unwrapping import logical_lines, right_edge

_BULLET = regex.compile(r"(?P<indent>\s*)(?P<glyph>[●⏺•✦◆▪■◉○✔✓✗✘⚠]|\*(?=\s|$))(?P<gap>\s?)(?P<text>.*)")
_OUTCOMES = frozenset("✔✓✗✘⚠")
"""Marks of what was done, not of what is said."""
_CORNER = regex.compile(r"\s*[⎿└╰]\s?")
_COUNTED = regex.compile(r"(?i)\b\d+(?:[.,]\d+)?\s?(?:ms|s|secs?|seconds|m|min|minutes)\b|\btokens?\b")
_SUMMARY = regex.compile(r"\s*(?:[^\w\s\-*•●⏺#>|│┃`\"'(\[]\s.*|.*\s[·•|]\s.*|(?i:tokens?):\s.*)")
_TIP = regex.compile(r"\s*[⎿└╰]\s*(?:💡\s*)?Tips?: ")
LONGEST_FOOTER = 80
SHORTEST_LEFTOVER = 40


Kind = Literal["text", "activity", "injected", "typed", "gap"]


@dataclass(frozen=True, slots=True)
class Message:
    """Something that was sent to the program: its text, and how its composer showed it.

    `message_id` is None for what a person typed.
    """

    message_id: str | None
    forms: tuple[str, ...]


class Passage(NamedTuple):
    """Consecutive lines of one kind."""

    kind: Kind
    lines: list[str]
    message_id: str | None = None


@dataclass(slots=True)
class Answer:
    """What the document says since the last turn, and how many messages are accounted for: the last one found and
    all that were sent before it.
    """

    passages: list[Passage] = field(default_factory=list)
    accounted: int = 0


def read_answer(
    before: Sequence[PaintedRow],
    now: Sequence[PaintedRow],
    messages: Sequence[Message],
    *,
    columns: int,
    is_spinner: Callable[[str], bool],
    profile: Profile = GENERIC,
) -> Answer:
    """Read the answer off the rows `now`, furniture at their end already left out; `before` is how they were."""
    look = _Look(columns, is_spinner, profile)
    start = _common_beginning(before, now)
    region = list(now[start:])
    answer = Answer()
    texts = [row.text for row in region]
    position = 0
    for number, message in enumerate(messages, 1):
        echo = find_echo(texts, message.forms, position)
        if echo is not None and sum(message.forms == other.forms for other in messages) == 1:
            echo = find_last_copy(texts, message.forms, echo)
        if echo is None and not answer.accounted:
            tops = [0, *(y + 1 for y, row in enumerate(region) if row.skipped)]
            echo = find_tail_of_echo(texts, message.forms[0], tops)
        if echo is None:
            continue
        if answer.accounted:
            _read(answer, region[position : echo.start], look)
        kind: Kind = "typed" if message.message_id is None else "injected"
        answer.passages.append(Passage(kind, message.forms[0].split("\n"), message.message_id))
        answer.accounted = number
        position = echo.stop
    _read(answer, region[position:], look)
    return answer


def painted_lines(lines: Sequence[str], columns: int) -> list[str]:
    """Return the logical lines of what a program without a composer painted: unwrapped, without a footer."""
    rows = _without_footers([PaintedRow(line) for line in lines])
    painted = logical_lines(rows, right_edge(rows, columns))
    return [line for line, below in zip_longest(painted, painted[1:], fillvalue="") if not _is_leftover(line, below)]


def _is_leftover(line: str, below: str) -> bool:
    """Tell whether a line is what remained of an earlier state of the one below it: an echo had moved the rows."""
    return len(line) >= SHORTEST_LEFTOVER and below.startswith(line)


def _common_beginning(before: Sequence[PaintedRow], now: Sequence[PaintedRow]) -> int:
    start = 0
    for old, new in zip(before, now, strict=False):
        if old.text != new.text and masked(old.text) != masked(new.text):
            break
        start += 1
    return start


class _Look(NamedTuple):
    """How a program paints, as far as it matters for reading it."""

    columns: int
    is_spinner: Callable[[str], bool]
    profile: Profile

    def says(self, row: PaintedRow) -> bool:
        """Tell whether a row belongs to what is said."""
        text = row.text
        furniture = self.is_spinner(text) or _TIP.match(text) is not None or matches(self.profile.furniture, text)
        return not (row.skipped or furniture)


def _read(answer: Answer, rows: list[PaintedRow], look: _Look) -> None:
    if any(row.skipped for row in rows):
        answer.passages.append(Passage("gap", []))
    rows = _without_footers([row for row in rows if look.says(row)], look.profile)
    width = right_edge(rows, look.columns)
    for kind, block in _blocks(rows, look.profile):
        answer.passages.append(Passage(kind, _dedented(logical_lines(block, width))))


def _without_footers(rows: list[PaintedRow], profile: Profile = GENERIC) -> list[PaintedRow]:
    stop = len(rows)
    while stop and not rows[stop - 1].text.strip():
        stop -= 1
    while stop and _is_footer(rows[stop - 1].text, rows[stop - 2].text if stop > 1 else "", profile):
        stop -= 1
        while stop and not rows[stop - 1].text.strip():
            stop -= 1
    start = 0
    while start < stop and not rows[start].text.strip():
        start += 1
    return rows[start:stop]


def _is_footer(text: str, above: str, profile: Profile) -> bool:
    """Tell whether a last row sums up a turn.

    Such a row is alone in its paragraph, short, has a duration or a count of tokens, and is no sentence: it begins with
    a glyph that marks no list, or has parts divided by dots.
    """
    if is_border(text) or matches(profile.footers, text):
        return True
    is_alone = not above.strip() and len(text) <= LONGEST_FOOTER
    return is_alone and _COUNTED.search(text) is not None and _SUMMARY.fullmatch(text) is not None


def _blocks(rows: list[PaintedRow], profile: Profile) -> list[tuple[Kind, list[PaintedRow]]]:
    """Divide rows at the bullets of the outermost level; a block with a corner under its head is activity."""
    outermost = _bullet_indent(rows)
    blocks: list[tuple[Kind, list[PaintedRow]]] = []
    current: list[PaintedRow] = []
    for row in rows:
        bullet = _BULLET.fullmatch(row.text)
        if bullet is not None and len(bullet["indent"]) == outermost and current:
            blocks.append(_classified(current, profile))
            current = []
        current.append(row)
    if current:
        blocks.append(_classified(current, profile))
    return blocks


def _bullet_indent(rows: list[PaintedRow]) -> int | None:
    """Return the indent of bullets that mark blocks.

    The first row has one, all rows without are indented under one, and blocks are paragraphs: bullets in rows that
    follow each other mark the items of a list.
    """
    first = _BULLET.fullmatch(rows[0].text) if rows else None
    if first is None:
        return None
    indent = len(first["indent"])
    was_bullet = False
    for row in rows:
        bullet = _BULLET.fullmatch(row.text)
        is_bullet = bullet is not None and len(bullet["indent"]) == indent
        if is_bullet and was_bullet:
            return None
        was_bullet = is_bullet
        under = len(row.text) - len(row.text.lstrip()) > indent
        if row.text.strip() and not under and not (bullet is not None and len(bullet["indent"]) == indent):
            return None
    return indent


def _classified(rows: list[PaintedRow], profile: Profile) -> tuple[Kind, list[PaintedRow]]:
    texts = [row.text for row in rows if row.text.strip()]
    shows_deed = len(rows) > 1 and _CORNER.match(rows[1].text) and _BULLET.match(rows[0].text)
    head = _BULLET.fullmatch(rows[0].text)
    shows_outcome = head is not None and head["glyph"] in _OUTCOMES
    if shows_deed or shows_outcome or matches(profile.activity, rows[0].text):
        return "activity", rows
    if texts and _BULLET.match(texts[0]):
        first = rows[0]
        bullet = _BULLET.fullmatch(first.text)
        # A terminal in which the glyph is one column wide shows no gap where the program took it for two.
        indent = (bullet["indent"] + " " + bullet["gap"]) if bullet is not None else ""
        if bullet is not None and all(not t.strip() or t.startswith(indent) for t in texts[1:]):
            text = indent + bullet["text"]
            return "text", [first._replace(text=text), *rows[1:]]
    return "text", rows


def _dedented(lines: list[str]) -> list[str]:
    indents = [len(line) - len(line.lstrip()) for line in lines if line.strip()]
    indent = min(indents, default=0)
    lines = [line[indent:] for line in lines]
    while lines and not lines[-1].strip():
        lines.pop()
    while lines and not lines[0].strip():
        lines.pop(0)
    return lines
