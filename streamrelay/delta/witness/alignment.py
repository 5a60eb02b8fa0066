"""Aligns an agent's own record of an answer with the lines that its screen showed. Pure.

    align(["Fine:", "• one"], source_lines(["Fine:\\n\\n- one"]))  ->  every source line is shown, no line is extra

A source line counts as *shown* where the screen's lines spell it, whole and in order. A source line that they do not
spell may stand among the rows that the reader left out (`aside`), among rows that were painted over, or where the
screen had a gap; otherwise it is *absent*, and a reader that trusts the screen leaves it out. A screen line that no
source line spells is *extra*.

The work is bounded: a source line is searched for in the next `WINDOW` characters only.
"""

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal

import regex

from streamrelay.delta.witness.source import SourceLine, lead, normal, verbatim

WINDOW: Final = 20_000
"""Characters of the screen in which a source line is searched for."""
SHORT, SHORT_WINDOW = 6, 60
"""A line of so few characters could be anywhere, so it is searched for close by."""
MAX_TRIES: Final = 50
"""Lines that begin alike and are compared with one source line."""
MIN_ASIDE: Final = 4
"""Characters of a line that is recognised among the rows that were left out."""
_LOOK_AHEAD: Final = 3
MIN_NUMBERED: Final = 2
"""Numbered rows that spell code of the source once their numbers are left out, before those are line numbers."""
_NUMBERED = regex.compile(r" *(?P<number>\d{1,5})(?: (?P<code>.*))?")
_TWICE = regex.compile(r"(?P<address>https?://[^\s()]{4,2000}) \((?P=address)\)")
MAX_ROUNDS: Final = 20
"""Times that dropping one line may make another one partial, before nothing is taken for shown."""

State = Literal["shown", "aside", "painted_over", "neutral", "absent"]
_BETWEEN: Final = "\u00b6"
"""Stands between two paragraphs that were painted over, so that no line reads from one into the other."""


@dataclass(slots=True)
class Alignment:
    """How each source line and each screen line fared."""

    states: list[State]
    """Of each source line. A `neutral` one holds nothing that could be compared."""
    places: list[int]
    """For each source line, the screen line at which it begins, or before which it would stand."""
    ends: list[int]
    """For each source line that is shown, the last screen line that it spells."""
    extra: frozenset[int]
    """The screen lines that hold something and that no source line spells."""
    shown_characters: int = 0
    screen_characters: int = 0
    source_characters: int = 0

    @property
    def is_whole(self) -> bool:
        """Whether the screen showed every source line, and nothing else."""
        return not self.extra and all(state in {"shown", "neutral"} for state in self.states)


@dataclass(slots=True)
class _Screen:
    """The lines of a screen as one text in normal form."""

    lines: Sequence[str]
    text: str = ""
    starts: list[int] = field(default_factory=list)
    _by_head: dict[str, list[int]] = field(default_factory=dict)
    """Where lines begin, by their first characters."""
    _whole: dict[str, list[int]] = field(default_factory=dict)
    _leads: dict[int, int] = field(default_factory=dict)
    """Where the text of a line begins behind a number or a glyph, and where the line begins."""

    def __post_init__(self) -> None:
        forms = [normal(line) for line in self.lines]
        position = 0
        for form in forms:
            self.starts.append(position)
            position += len(form)
        self.text = "".join(forms)
        for line, start, form in zip(self.lines, self.starts, forms, strict=True):
            if form:
                self._begin(start, form)
            if (before := lead(line)) and len(before) < len(form):
                self._leads[start + len(before)] = start
                self._begin(start + len(before), form[len(before) :])

    def _begin(self, start: int, form: str) -> None:
        self._by_head.setdefault(self.text[start : start + SHORT], []).append(start)
        self._whole.setdefault(form, []).append(start)

    def behind_lead(self, position: int) -> int:
        """Return where the text of a line begins that starts at a position: behind its number in a list, or a glyph."""
        line = self.line_at(position)
        if line == len(self.lines) or self.starts[line] != position:
            return position
        return position + len(lead(self.lines[line]))

    def with_lead(self, position: int) -> int:
        """Return where the line begins whose text begins at a position: at its number in a list, or a glyph."""
        return self._leads.get(position, position)

    def whole_lines(self, form: str) -> Sequence[int]:
        """Return where the lines begin that have just this form."""
        return self._whole.get(form, ())

    def starts_like(self, form: str, position: int) -> Iterator[int]:
        """Yield where the next lines begin, from a position on, that may spell `form`; not all of very many."""
        if len(form) < SHORT:
            near = self.starts[self.line_at(position) : self.line_at(position + SHORT_WINDOW) + 1]
            near = [place for start in near for place in (start, self.behind_lead(start))]
        else:
            alike = self._by_head.get(form[:SHORT], [])
            near = alike[bisect_left(alike, position) :][:MAX_TRIES]
        return (start for start in near if position <= start <= position + WINDOW)

    def line_at(self, position: int) -> int:
        """Return the line that the character at a position belongs to; the number of lines behind the last one."""
        if position >= len(self.text):
            return len(self.lines)
        return bisect_right(self.starts, position) - 1

    def end_of(self, line: int) -> int:
        """Return the position behind a line."""
        return self.starts[line + 1] if line + 1 < len(self.starts) else len(self.text)

    def has(self, line: SourceLine) -> bool:
        """Tell whether some whole lines, wherever they stand, spell a source line."""
        for form in line.forms:
            starts = self.whole_lines(form)
            if len(form) >= SHORT:
                starts = [*starts, *self._by_head.get(form[:SHORT], [])[-MAX_TRIES:]]
            for start in starts:
                stop = start + len(form)
                ends = self.end_of(self.line_at(stop - 1)) == stop
                if ends and self.text.startswith(form, start) and _reads(self, line, start, form):
                    return True
        return False


def without_drawing(lines: Sequence[str], source: Sequence[SourceLine]) -> list[str]:
    """Return screen lines without what a renderer adds to words: line numbers of code, an address in brackets again.

    Some of the numbered rows may be blank, because a page was skipped.
    """
    plain = [_TWICE.sub(r"\g<address>", line) if "(http" in line else line for line in lines]
    code = {verbatim(line.text) for line in source if line.is_code and line.forms}
    run: list[tuple[int, str]] = []
    last = -1
    for row, line in enumerate([*plain, "the end"] if code else ()):
        found = _NUMBERED.fullmatch(line)
        number = -1 if found is None else int(found["number"])
        if found is None and not line.strip():
            continue
        if number <= last:
            if sum(bool(text.strip()) and verbatim(text) in code for _, text in run) >= MIN_NUMBERED:
                for place, text in run:
                    plain[place] = text
            run = []
        if found is not None:
            run.append((row, found["code"] or ""))
        last = number
    return plain


class PaintedOverText:
    """The paragraphs that a program painted and then painted over, as a text that is made when it is asked for."""

    def __init__(self, paragraphs: Sequence[Sequence[str]] = ()) -> None:
        self._paragraphs = paragraphs
        self._screen: _Screen | None = None

    def has(self, line: SourceLine) -> bool:
        """Tell whether whole rows of one paragraph spell a source line."""
        if self._screen is None:
            rows = [row for paragraph in self._paragraphs for row in (*paragraph, _BETWEEN)]
            self._screen = _Screen(rows)
        return self._screen.has(line)


def align(
    screen_lines: Sequence[str],
    source: Sequence[SourceLine],
    aside: Sequence[str] = (),
    painted_over: PaintedOverText | None = None,
) -> Alignment:
    """Align source lines with screen lines.

    `aside` are the rows that the reader left out, in any order; `painted_over` is what stood on the screen before.
    """
    screen = _Screen(screen_lines)
    left_out = normal("".join(aside))
    spans = _find_all(screen, source)
    _drop_partial(screen, source, spans)
    covered = [0] * len(screen_lines)
    for span in spans:
        for row in _lines_of(screen, span):
            covered[row] += _overlap(screen, row, span)
    extra = frozenset(
        row for row in range(len(screen_lines)) if screen.end_of(row) > screen.starts[row] and not covered[row]
    )
    out_of_place = PaintedOverText([[screen_lines[row]] for row in sorted(extra)])
    states: list[State] = []
    places: list[int] = []
    ends: list[int] = []
    place = shown = 0
    for line, span in zip(source, spans, strict=True):
        first, last = place, place
        if span is not None:
            state: State = "shown"
            first, last = screen.line_at(span[0]), screen.line_at(span[1] - 1)
            place = last + 1
            shown += span[1] - span[0]
        elif not line.forms:
            state = "neutral"
        elif any(len(form) >= MIN_ASIDE and form in left_out for form in line.forms):
            state = "aside"
        elif painted_over is not None and (painted_over.has(line) or out_of_place.has(line)):
            state = "painted_over"
        else:
            state = "absent"
        states.append(state)
        places.append(first)
        ends.append(last)
    return Alignment(
        states, places, ends, extra,
        shown_characters=shown,
        screen_characters=len(screen.text),
        source_characters=sum(len(line.forms[0]) for line in source if line.forms),
    )  # fmt: skip


_Span = tuple[int, int] | None


def _find_all(screen: _Screen, source: Sequence[SourceLine]) -> list[_Span]:
    """Return where the screen spells each source line, in order: never behind the next line that stands out."""
    anchors = _anchors(screen, source)
    limits: list[int] = []
    limit = len(screen.text)
    for number in reversed(range(len(source))):
        limits.append(limit)
        limit = anchors.get(number, (limit, limit))[0]
    limits.reverse()
    spans: list[_Span] = []
    position = 0
    for number, (line, limit) in enumerate(zip(source, limits, strict=True)):
        span = anchors.get(number) or _find(screen, line, position, limit)
        if span is not None and span[0] > position and _comes_first(screen, source, number, position):
            span = anchors.get(number)
        if span is not None:
            position = span[1]
        spans.append(span)
    return spans


def _anchors(screen: _Screen, source: Sequence[SourceLine]) -> dict[int, tuple[int, int]]:
    """Return where source lines stand that both sides have once, as many of them as keep their order."""
    wanted = Counter(line.forms[0] for line in source if line.forms)
    candidates: list[tuple[int, int]] = []
    for number, line in enumerate(source):
        if line.forms and len(line.forms[0]) >= SHORT and wanted[line.forms[0]] == 1:
            places = {start for form in line.forms for start in screen.whole_lines(form)}
            if len(places) == 1:
                candidates.append((number, places.pop()))
    ends: list[int] = []
    tails: list[int] = []
    before: list[int] = []
    for index, (_, start) in enumerate(candidates):
        length = bisect_left(ends, start)
        before.append(tails[length - 1] if length else -1)
        ends[length : length + 1] = [start]
        tails[length : length + 1] = [index]
    anchors: dict[int, tuple[int, int]] = {}
    index = tails[-1] if tails else -1
    while index >= 0:
        number, start = candidates[index]
        form = next(form for form in source[number].forms if start in screen.whole_lines(form))
        if _reads(screen, source[number], start, form):
            anchors[number] = (screen.with_lead(start), start + len(form))
        index = before[index]
    return anchors


def _comes_first(screen: _Screen, source: Sequence[SourceLine], number: int, position: int) -> bool:
    """Tell whether one of the next source lines stands at a position, so that this one is missing there."""
    following = [line for line in source[number + 1 : number + 12] if line.forms][:_LOOK_AHEAD]
    forms = (form for line in following for form in line.forms)
    return any(len(form) >= SHORT and screen.text.startswith(form, position) for form in forms)


def _find(screen: _Screen, line: SourceLine, position: int, limit: int) -> _Span:
    """Return the next place at which the screen spells a source line, before a limit."""
    for form in line.forms:
        for start in (position, screen.behind_lead(position)):
            if screen.text.startswith(form, start, limit) and _reads(screen, line, start, form):
                return screen.with_lead(start), start + len(form)
    best: _Span = None
    for form in line.forms:
        for start in screen.starts_like(form, position):
            if screen.text.startswith(form, start, limit) and _reads(screen, line, start, form):
                span = screen.with_lead(start), start + len(form)
                best = min(best or span, span)
                break
    return best


def _reads(screen: _Screen, line: SourceLine, position: int, form: str) -> bool:
    """Tell whether code reads on the screen exactly as in the source; of anything else the normal form decides."""
    if not line.is_code:
        return True
    first, last = screen.line_at(position), screen.line_at(position + len(form) - 1)
    return verbatim(line.text) in verbatim("".join(screen.lines[first : last + 1]))


def _lines_of(screen: _Screen, span: _Span) -> range:
    if span is None:
        return range(0)
    return range(screen.line_at(span[0]), screen.line_at(span[1] - 1) + 1)


def _overlap(screen: _Screen, line: int, span: _Span) -> int:
    """Return how many characters of a line a span spells."""
    return 0 if span is None else min(screen.end_of(line), span[1]) - max(screen.starts[line], span[0])


def _drop_partial(screen: _Screen, source: Sequence[SourceLine], spans: list[_Span]) -> None:
    """Drop the source lines that spell a screen line only in part: "4" is no witness of "42"."""
    for _ in range(MAX_ROUNDS):
        covered: dict[int, int] = {}
        for span in spans:
            for line in _lines_of(screen, span):
                covered[line] = covered.get(line, 0) + _overlap(screen, line, span)
        partial = {line for line, count in covered.items() if count < screen.end_of(line) - screen.starts[line]}
        if not partial:
            return
        for number, span in enumerate(spans):
            if any(line in partial for line in _lines_of(screen, span)):
                spans[number] = None
    spans[:] = [None] * len(spans)
