"""What a program with a transcript answered, read off its document when a turn is over.

    document now - old transcript (a common beginning) - chrome (the end) - echoes - activity - footers

Rows above the first echo do not answer its message and are left out, unless the message was sent during output that
answers no known message. If a second message was sent meanwhile, its echo divides the answers.
"""

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal, NamedTuple

import regex

from streamrelay.delta.layout.chrome import masked
from streamrelay.delta.layout.glyphs import BULLETS, CORNERS, LINES, SIDE, is_border, is_mark
from streamrelay.delta.layout.rows import PaintedRow, cells_of
from streamrelay.delta.profiles import GENERIC, Profile, matches
from streamrelay.delta.reasons import Rule
from streamrelay.delta.transcript.blocks import blocks_of, bullet_before, is_broken_off
from streamrelay.delta.transcript.echoes import Block, EchoSearch, may_be_folded, rest_of_box, spelling
from streamrelay.delta.transcript.known_text import first_new_row
from streamrelay.delta.transcript.line_joining import (
    logical_lines,
    right_edge,
    without_cut_off,
    without_leftovers,
)
from streamrelay.events import WitnessCompared, WitnessName

_COUNTED = regex.compile(r"(?i)\b\d+(?:[.,]\d+)?\s?(?:ms|s|secs?|seconds|m|min|minutes)\b|\btokens?\b")
_SUMMARY = regex.compile(r"\s*(?:[^\w\s\-*•●⏺#>|│┃`\"'(\[]\s.*|.*\s[·•|]\s.*|(?i:tokens?):\s.*)")
# In an unknown language, a duration is a number and a word of few letters; and a row with a number is a summary if it
# starts with a glyph that marks neither a list nor the answer.
_MEASURED = regex.compile(r"\d(?:[.,:]\d+)*\s?(?:\p{Han}|\p{L}{1,4}(?!\p{L}))")
_DIVIDED = regex.compile(rf".*\s(?:[·•]|{BULLETS})\s.*")
_LED = regex.compile(rf"\s*(?:(?![●⏺◦○▪■◆▸▹►‣⁃∙·⋅☐☑]){BULLETS}|[{LINES}])\s.*\d.*")
_TOKENS = regex.compile(r"(?i)\s*tokens?:\s.*\d.*")
_DRAWN = regex.compile(r"([^\w\s])\1{5}")
"""A run of one character, as in a bar or a rule."""
_TIP = regex.compile(rf"\s*[{CORNERS}]\s*(?:💡\s*)?Tips?: ")
MAX_FOOTER = 80


Kind = Literal["text", "activity", "injected", "typed", "gap", "unsaid", "verdict"]
_ECHOES: Final[frozenset[Kind]] = frozenset({"injected", "typed"})


@dataclass(frozen=True, slots=True)
class Message:
    """Something that was sent to the program: its text, and how its composer showed it.

    `message_id` is None for what a person typed.
    """

    message_id: str | None
    forms: tuple[str, ...]
    during_output: bool = False
    """Whether it was sent while the program said something that answers none of them: that stands above it."""
    abandoned: bool = False
    """Whether the wait for its answer was given up."""
    wordless: bool = False
    """Whether its composer was seen to show none of its words: what the transcript shows may be a placeholder."""
    unwatched: bool = False
    """Whether output was missed while it was sent, so that its composer may have shown anything."""


class Passage(NamedTuple):
    """Consecutive lines of one kind, the rows they were read off, and the rule."""

    kind: Kind
    lines: list[str]
    message_id: str | None = None
    lost: int | None = None
    """Rows that a gap stands for, where they could be counted."""
    rule: Rule = "answer"
    rows: Sequence[PaintedRow] = ()
    witnesses: tuple[WitnessName, ...] = ("screen",)
    verdict: WitnessCompared | None = None
    """How the agent's own record compares with the passages before."""


class Painted(NamedTuple):
    """What a program without a composer painted: its logical lines, and what is none of them."""

    lines: list[str]
    left_out: list[Passage]


class ShownMessage(NamedTuple):
    """A message that a document shows."""

    number: int
    """How many messages were sent before it."""
    row: int
    """The row in which it begins."""
    passage: int
    """How many passages stand above it."""


@dataclass(slots=True)
class Answer:
    """What the document says since the last turn, and how many messages are accounted for: the last one found and
    all that were sent before it.
    """

    passages: list[Passage] = field(default_factory=list)
    accounted: int = 0
    mark: str = ""
    """The mark in front of the last message that was found."""
    shown: list[ShownMessage] = field(default_factory=list)
    """The messages that were found, from top to bottom."""

    @property
    def has_words(self) -> bool:
        """Whether a message stands there, and words of the program below the last one."""
        last = next((at for at in reversed(range(len(self.passages))) if self.passages[at].kind in _ECHOES), None)
        return last is not None and any(map(_says_words, self.passages[last:]))

    def answered_before(self) -> list[ShownMessage]:
        """Return the messages that stand below an answer to another one, from bottom to top.

        The program may not have come to them: some programs show messages that wait below an answer that is not over.
        A message below a spinner is left out, because the program is at work on the answer above.
        """
        return [
            shown
            for above, shown in reversed(list(itertools.pairwise(self.shown)))
            if _is_answer(self.passages[above.passage : shown.passage])
        ]

    @property
    def last_lines(self) -> list[str]:
        """The lines of text that answer the last message."""
        last = self.shown[-1].passage if self.shown else 0
        return [line for passage in self.passages[last:] if passage.kind == "text" for line in passage.lines]

    def leave_out(self, rule: Rule, rows: Sequence[PaintedRow], message_id: str | None = None) -> None:
        """Say nothing of these rows."""
        if any(row.text for row in rows):
            self.passages.append(Passage("unsaid", [], message_id, rule=rule, rows=rows))


def _says_words(passage: Passage) -> bool:
    return passage.kind == "text" and any(passage.lines)


def _is_answer(section: Sequence[Passage]) -> bool:
    return any(map(_says_words, section)) and not any(passage.rule == "spinner" for passage in section)


def read_answer(
    before: Sequence[PaintedRow],
    now: Sequence[PaintedRow],
    messages: Sequence[Message],
    *,
    columns: int,
    is_spinner: Callable[[str], bool],
    profile: Profile = GENERIC,
    mark: str = "",
    start: int | None = None,
    wiped: Sequence[PaintedRow] = (),
    greets: bool = False,
    joined: bool = False,
    cut_off: bool = False,
) -> Answer:
    """Read the answer off the rows `now`, without the chrome at their end; `before` is how they were.

    Earlier than those the transcript had rows that were `wiped`: it may show them again.

    `mark` is what this program puts in front of messages, as far as that is known. The answer stands below row `start`,
    if that is known better than by what is still as it was. A program that `greets` has not shown a message so far; one
    that was `joined` while it answered shows none that is new, if none is given. An answer that was `cut_off` in the
    middle has no whole line at its end.
    """
    # A program that repaints its transcript can leave copies of messages between the answers to several of them.
    known = frozenset(spelling(message.forms[0]) for message in messages) if len(messages) > 1 else frozenset[str]()
    look = _Look(columns, is_spinner, profile, greets, joined, cut_off, known)
    if start is None:
        start = _common_beginning(before, now)
    region = list(now[start:])
    # A program that clears its screen into history leaves all of it there, the composer too: below that it may paint
    # any part of the transcript again. Otherwise a row that is still in its place was not painted again.
    was_cleared = not any(map(_held, before[start:]))
    repaintable = before if was_cleared else before[start:]
    old = _Old([*wiped, *repaintable], before[start] if start < len(before) else None)
    answer = Answer()
    answer.leave_out("old_transcript", now[:start])
    if not messages:
        _read_unasked(answer, region, old, look, mark)
        return answer
    texts = [row.text for row in region]
    search = EchoSearch(texts)
    position = 0
    for number, message in enumerate(messages, 1):
        rule: Rule = "echo_whole"
        # What stands behind another mark, or a label, in an answer above the message is a quote.
        shown_behind = answer.mark or (mark if message.during_output else "")
        others = _besides(message, messages)
        echo = search.find(message.forms, position, others=others)
        if echo is not None:
            echo = search.find_behind(message.forms, shown_behind, echo, others=others)
        labelled = search.find_labelled(message.forms, position, answer.mark or mark, others=others)
        if labelled is not None and shown_behind.strip() and labelled.mark != shown_behind:
            labelled = None
        if labelled is not None and (echo is None or labelled.start < echo.start):
            echo, rule = labelled, "echo_labelled"
        elif echo is not None and sum(message.forms[0] == other.forms[0] for other in messages) == 1:
            # What was sent several times stands there several times, however its composer showed it each time.
            echo = search.find_last_copy(message.forms, echo, others=others)
        if echo is None and not answer.accounted:
            tops = [0, *(y + 1 for y, row in enumerate(region) if row.skipped)]
            echo, rule = search.find_tail(message.forms[0], tops), "echo_tail"
        if echo is None:
            like = search.find_like(message.forms[0], mark, position)
            if like is not None and not _is_behind_later(like, messages[number:], search, position):
                echo, rule = like, "echo_alike"
        # Above it may stand what scrolled away of the composer.
        cut_short = search.find_cut_short(
            message.forms[0], answer.mark or mark, position if echo is None else echo.stop
        )
        if cut_short is not None:
            echo, rule = cut_short, "echo_cut_short"
        if echo is None:
            later = messages[number:]
            # Where one of ours follows that is spelled nowhere, the first message may be that one.
            is_first = message.message_id is None and not any(
                other.message_id is not None and search.find(other.forms, position) is None for other in later
            )
            typed = message_behind(search, texts, mark, profile, position) if is_first else None
            echo, rule = _unspelled_echo(message, later, search, mark, position, typed=typed)
        if echo is None:
            continue
        if answer.accounted:
            _read(answer, region[position : echo.start], look._replace(cut_off=False))
        elif message.during_output:
            _read_unasked(answer, region[: echo.start], old, look._replace(cut_off=False), mark)
        else:
            answer.leave_out("above_echo", region[: echo.start], message.message_id)
        if echo.form:
            rule = "echo_as_composed"
        kind: Kind = "typed" if message.message_id is None else "injected"
        rows = region[echo.start : echo.stop]
        lines = message.forms[0].split("\n")
        if message.message_id is None and rule in ("echo_alike", "behind_mark"):
            shown = _lines_behind(echo.mark, rows, columns)
            is_alike = rule == "echo_alike" and not spelling("".join(shown)).startswith(spelling(message.forms[0]))
            lines = lines if is_alike else shown
        answer.shown.append(ShownMessage(number - 1, start + echo.start, len(answer.passages)))
        answer.passages.append(Passage(kind, lines, message.message_id, rule=rule, rows=rows))
        answer.accounted = number
        answer.mark = echo.mark
        position = echo.stop
    stop = len(region) - _standing_panel(before[start:], region[position:])
    _read(answer, region[position:stop], look)
    answer.leave_out("status_rows", region[stop:])
    return answer


def _besides(message: Message, messages: Sequence[Message]) -> list[str]:
    """Return the texts of the other messages."""
    return [other.forms[0] for other in messages if other is not message]


def _is_behind_later(echo: Block, later: Sequence[Message], search: EchoSearch, start: int) -> bool:
    """Tell whether a block that only resembles a message is, or stands below, the echo of one that was sent later."""
    shown = (search.find(other.forms, start) for other in later)
    return any(other is not None and other.start <= echo.start for other in shown)


def _unspelled_echo(
    message: Message, later: Sequence[Message], search: EchoSearch, mark: str, start: int, *, typed: Block | None
) -> tuple[Block | None, Rule]:
    """Return what stands behind the mark of messages if it is this one, though it spells something else.

    Of what a person typed the last keys may not have been seen, or only a placeholder for what was pasted: then it is
    `typed`, the first message there. Any placeholder is one row on top, and may be that of a message sent `later`,
    where this one was given up and that one was not. Of a message that was sent unwatched it is looked for below the
    answer to an earlier one, at `start`, too, and known by its brackets (tests/faults, seed 38).
    """
    rule: Rule = "echo_folded"
    if message.message_id is None:
        echo, rule = search.find_grown(message.forms[0], mark, start) or typed, "behind_mark"
    elif (
        not message.wordless
        or message.during_output
        or (message.abandoned and not all(other.abandoned for other in later))
    ):
        echo = None
    else:
        echo = search.on_top(mark, start)
        echo = echo if echo is not None and echo.stop == echo.start + 1 else None
        if echo is None and message.unwatched and start and may_be_folded(message.forms[0]):
            folded = search.find_placeholder(mark, start)
            echo = None if folded is None or _is_behind_later(folded, later, search, start) else folded
    if echo is None:
        return None, rule
    for other in later:
        others = _besides(other, later)
        shown = search.find(other.forms, echo.start, others=others)
        shown = shown or search.find_like(other.forms[0], mark, echo.start)
        if shown is None and other.message_id is None:
            shown = search.find_grown(other.forms[0], mark, echo.start)
        # Two placeholders can read alike: where one more follows, this is not that of the other message.
        again = search.find(other.forms, echo.stop, others=others)
        if shown is not None and shown.start < echo.stop and again is None:
            return None, rule
    return echo, rule


def message_behind(
    search: EchoSearch, rows: Sequence[str], mark: str, profile: Profile, start: int = 0
) -> Block | None:
    """Return the first message behind the mark of messages in the `rows` of a search, from row `start` on.

    A composer that was cleared or scrolled away stands there, too: what reads as an empty one is no message.
    """
    block = search.behind(mark, start)
    while block is not None and matches(profile.ready, rows[block.start]):
        block = search.behind(mark, block.start + 1)
    return block


def rows_since(before: Sequence[PaintedRow], now: Sequence[PaintedRow]) -> Sequence[PaintedRow]:
    """Return the rows of a document below those that are still what they were."""
    return now[_common_beginning(before, now) :]


def _standing_panel(gone: Sequence[PaintedRow], rows: Sequence[PaintedRow]) -> int:
    """Return how many rows below an answer are a panel: they left the end of the old transcript, and stand there again.

    Text stays where it was said. Above the panel stand the answer and a blank row.
    """
    left = [row.text for row in itertools.takewhile(lambda row: not is_border(row.text), gone) if row.text.strip()]
    held = [y for y, row in enumerate(rows) if row.text.strip()]
    for count in range(min(len(left), len(held) - 1), 0, -1):
        top = held[-count]
        if [rows[y].text for y in held[-count:]] == left[:count] and not rows[top - 1].text.strip():
            return len(rows) - top
    return 0


def _held(row: PaintedRow) -> bool:
    return bool(row.text.strip())


def _lines_behind(mark: str, rows: Sequence[PaintedRow], columns: int) -> list[str]:
    """Return the logical lines of a message shown in such rows."""
    shown = [row._replace(text=row.text[len(mark) :]) for row in rows]
    return logical_lines(shown, right_edge([row for row in shown if row.fills], columns - cells_of(mark)))


def ended_lines(passed: Sequence[str], columns: int) -> int:
    """Return how many of such rows stand in front of the last line whose end is not seen yet."""
    unended = itertools.takewhile(lambda line: line.strip() and _fills(line, columns), reversed(passed))
    return len(passed) - sum(1 for _ in unended)


def painted_lines(passed: Sequence[str], columns: int, *, goes_on: bool = False) -> Painted:
    """Return the logical lines of what a program without a composer painted, blanks at their ends kept so far.

    Only rows that were filled with blanks up to the edge were wrapped by the program (`rich` fills what it repaints);
    every other line was ended where it ends. What sums up tokens, and a rule before the next prompt, is a footer,
    unless the text `goes_on`.
    """
    rows = [PaintedRow(line.rstrip(" "), fills=_fills(line, columns)) for line in passed]
    start, stop = 0, len(rows)
    if not goes_on:
        start, stop = _body(rows, lambda text, _: is_border(text) or _TOKENS.fullmatch(text) is not None)
    answer = Answer()
    answer.leave_out("footer", rows[stop:])
    width = right_edge(rows[start:stop], columns)
    whole, leftover = without_leftovers(rows[start:stop], width)
    answer.leave_out("leftover", leftover)
    return Painted(logical_lines(whole, width), answer.passages)


def _fills(line: str, columns: int) -> bool:
    """Tell whether a line, with the blanks at its end, takes a whole row of prose; bars and rules are drawn to fit."""
    return cells_of(line) >= columns - 1 and _DRAWN.search(line) is None


def _continued(before: PaintedRow, now: PaintedRow) -> PaintedRow:
    """Return the addition to a row that the stream has published, at its old indent and behind its bullet.

    Without a bullet it would not be told from the tool calls below.
    """
    if not before.text.strip() or not now.text.startswith(before.text):
        return now
    return now._replace(text=bullet_before(before.text) + now.text[len(before.text) :].lstrip())


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
    greets: bool
    joined: bool
    cut_off: bool
    known: frozenset[str]
    """The spellings of the messages that are answered, if there are several; else empty."""

    def leaves_out(self, row: PaintedRow) -> Rule | None:
        """Return why a row does not belong to what is said; None if it does."""
        if row.skipped:
            return "unpainted"
        if self.is_spinner(row.text):
            return "spinner"
        if _TIP.match(row.text) is not None:
            return "tip"
        return "furniture_of_profile" if matches(self.profile.chrome, row.text) else None


class _Old(NamedTuple):
    """The known transcript: its rows, and the row at the place where it goes on now."""

    rows: Sequence[PaintedRow]
    continued: PaintedRow | None


def _read_unasked(answer: Answer, rows: list[PaintedRow], old: _Old, look: _Look, mark: str) -> None:
    """Read rows that answer no message of ours.

    What stands there again of the old transcript is old, and so is what stands above a message that was there before.
    Below that a person's message may stand, behind the mark of messages; what stands above it answers nothing. Nor does
    what a program shows before it has taken any message.
    """
    if look.greets:
        answer.leave_out("greeting", rows)
        return
    first = first_new_row(old.rows, rows, mark)
    answer.leave_out("reprint", rows[:first])
    fresh = rows[first:]
    if not first and fresh and old.continued is not None:
        fresh[0] = _continued(old.continued, fresh[0])
    search = EchoSearch([row.text for row in fresh])
    shown = search.messages(mark)
    if len(shown) > 1 or look.joined:
        messages = set[str]().union(*shown)
        if not look.joined:
            messages &= set[str]().union(*EchoSearch([row.text for row in old.rows]).messages(mark))
        again = search.copies(messages, mark)
        last = again[-1].stop if again else 0
        answer.leave_out("reprint", fresh[:last])
        fresh = fresh[last:]
        search = EchoSearch([row.text for row in fresh])
    whole = message_behind(search, [row.text for row in fresh], mark, look.profile)
    if whole is not None:
        # Where nothing stands below, its first paragraph was typed, and the others may be the answer.
        typed = whole if any(map(_held, fresh[whole.stop :])) else search.on_top(mark, whole.start) or whole
        answer.leave_out("above_echo", fresh[: typed.start])
        held = fresh[typed.start : typed.stop]
        lines = _lines_behind(mark, held, look.columns)
        answer.passages.append(Passage("typed", lines, rule="behind_mark", rows=held))
        fresh = fresh[typed.stop :]
    _read(answer, fresh, look)


def _read(answer: Answer, rows: list[PaintedRow], look: _Look) -> None:
    if any(row.skipped for row in rows):
        answer.passages.append(Passage("gap", [], rule="unpainted"))
    said: list[PaintedRow] = []
    for row in rows:
        rule = look.leaves_out(row)
        if rule is None:
            said.append(row)
        else:
            answer.leave_out(rule, [row])
        if row.skipped and said:
            said[-1] = said[-1]._replace(fills=False)
    rest = rest_of_box([row.text for row in said], answer.mark)
    answer.leave_out("echo_again", said[:rest])
    del said[:rest]
    for copy in reversed(EchoSearch([row.text for row in said]).copies(look.known, answer.mark)):
        answer.leave_out("echo_again", said[copy.start : copy.stop])
        del said[copy.start : copy.stop]
    first = next((row.text for row in said if row.text.strip()), "")
    start, stop = _body(said, lambda text, above: _is_footer(text, above, first, look))
    body, panel = _without_summaries(said[start:stop], first, look)
    footers = [*panel, *said[stop:]]
    width = right_edge([row for row in body if row.fills], look.columns)
    whole = without_cut_off(body, width) if look.cut_off else body
    notices, text = list(footers), list[PaintedRow]()
    for kind, lines, because, read in blocks_of(whole, width, look.profile):
        answer.passages.append(Passage(kind, lines, rule=because, rows=read))
        if kind == "text":
            text += read
        else:
            notices += read
    if len(whole) < len(body) or (is_broken_off(notices) and len(without_cut_off(text, width)) < len(text)):
        answer.passages.append(Passage("gap", [], rule="cut_off", rows=body[len(whole) :]))
    answer.leave_out("footer", footers)


def _body(rows: Sequence[PaintedRow], is_footer: Callable[[str, str], bool]) -> tuple[int, int]:
    """Return where the text begins and ends: without blank rows around it, and without what sums up the turn."""
    stop = len(rows)
    while stop and not rows[stop - 1].text.strip():
        stop -= 1
    while stop and is_footer(rows[stop - 1].text, rows[stop - 2].text if stop > 1 else ""):
        stop -= 1
        while stop and not rows[stop - 1].text.strip():
            stop -= 1
    start = 0
    while start < stop and not rows[start].text.strip():
        start += 1
    return start, stop


def _without_summaries(rows: list[PaintedRow], first: str, look: _Look) -> tuple[list[PaintedRow], list[PaintedRow]]:
    """Return the rows of an answer without those that sum it up, and these.

    Such a row stands at the column of the mark that the blocks of the answer have, left of all text of the answer. What
    stands below the last one is a panel, unless the program goes on with a block behind that mark.
    """
    mark, indent = first.lstrip()[:1], _indent(first)
    if not is_mark(mark or " "):
        return rows, []
    body, summaries = list[PaintedRow](), list[PaintedRow]()
    goes_on = 0
    for y, row in enumerate(rows):
        is_outdented = row.text.strip() and _indent(row.text) == indent
        is_block = is_outdented and row.text[indent:].startswith(mark)
        is_alone = not any(below.text.strip() for below in rows[y + 1 : y + 2])
        if y and is_outdented and not is_block and is_alone and _is_footer(row.text, rows[y - 1].text, first, look):
            summaries.append(row)
            goes_on = len(body)
            continue
        goes_on = 0 if is_block else goes_on
        body.append(row)
    if goes_on:
        summaries += body[goes_on:]
        del body[goes_on:]
    return body, summaries


def _indent(text: str) -> int:
    return len(text) - len(text.lstrip())


def _is_footer(text: str, above: str, first: str, look: _Look) -> bool:
    """Tell whether a last row sums up a turn, or is a notice at the right.

    Such a row is alone in its paragraph, short, has a duration or a count of tokens, and is no sentence: it begins with
    a glyph that marks no list, or has parts divided by dots. What begins with the same glyph as the `first` row of the
    answer is another part of it.
    """
    if is_border(text):
        return not (SIDE.match(above) is not None and text.lstrip()[0] in CORNERS)
    if matches(look.profile.footers, text):
        return True
    if not above.strip() and len(text) - len(text.lstrip()) > look.columns // 2:
        return True
    glyph = text.lstrip()[:1]
    is_part = text != first and is_mark(glyph) and first.lstrip().startswith(glyph)
    if above.strip() or len(text) > MAX_FOOTER or is_part:
        return False
    if _COUNTED.search(text) is not None and _SUMMARY.fullmatch(text) is not None:
        return True
    if text != first and _LED.fullmatch(text) is not None:
        return True
    return _MEASURED.search(text) is not None and _DIVIDED.fullmatch(text) is not None
