"""Rows that are there while the program answers and gone when it rests, and rows that sum up an answer.

Only what can do no harm is taken for chrome: it spun, or said how to interrupt, and nothing of it was said, injected
or typed by anybody. The engine leaves most of this out by itself; a pattern also knows it at the first glance.
"""

from collections import defaultdict
from collections.abc import Iterator

import regex

from streamrelay.delta.layout.chrome import composer_top
from streamrelay.delta.printing.echo import squeeze
from streamrelay.learning.findings import Finding, FoundValue, NoFinding
from streamrelay.learning.observation import Observation, ObservedScreen
from streamrelay.learning.row_patterns import alike, quoted, skeleton

_HINT = regex.compile(r"(?i)\b(?:esc|ctrl[+-]c|\^c)\b.{0,16}\b(?:interrupt|cancel|stop)\b")
_SPINNER = regex.compile(r"\s*(?P<glyph>[^\w\s]+)\s+(?P<label>\S.*)")
_DIGITS = regex.compile(r"\d+")
_COLUMN = regex.compile(r"\s{3,}\S.*$")
"""Text in a separate column at the right."""
_WORD = regex.compile(r"\p{L}{2,}")
_MAX_LABEL_WORDS = 3
"""Maximum words of a label that recurs; longer texts are tips, jokes, or descriptions of the work."""


def fading(seen: Observation) -> Iterator[Finding]:
    """Yield `screen.furniture` (busy rows) and `screen.footers`."""
    if not seen.works:
        yield NoFinding(
            "screen.furniture", "no message was answered in this recording, so no rows came and went with an answer"
        )
        yield NoFinding("screen.footers", "no message was answered in this recording")
        return
    yield from _busy_rows(seen)
    yield from _footers(seen)
    tool_calls = [reason for reason in seen.reasons if reason.rule in {"corner", "box", "bar", "outcome"}]
    told = (
        f"{_counted(len(tool_calls), 'block')} showed tool calls, known by their frames"
        if tool_calls
        else "no block showed a tool call"
    )
    yield NoFinding("screen.activity", told)


def _busy_rows(seen: Observation) -> Iterator[Finding]:
    stays = {_DIGITS.sub("0", row) for screen in seen.resting() for row in screen.rows}
    said = squeeze("\n".join(text.text for text in seen.said))
    builds: defaultdict[str, dict[str, float]] = defaultdict(dict)
    for screen in seen.working():
        for row in _transient(screen):
            shown = _COLUMN.sub("", row)
            if _DIGITS.sub("0", row) not in stays and squeeze(shown) and squeeze(shown) not in said:
                builds[skeleton(shown.split("(")[0].rstrip())].setdefault(shown, screen.t)
    found = False
    for rows in builds.values():
        spins = len({glyph["glyph"] for row in rows if (glyph := _SPINNER.fullmatch(row)) is not None}) > 1
        hints = [row for row in rows if _HINT.search(row)]
        if not spins and not hints:
            continue
        examples = list(rows)
        pattern = (
            _with_hint(examples) if len(hints) == len(examples) else alike([r.split("(")[0].rstrip() for r in rows])
        )
        if pattern is None:
            continue
        found = True
        times = sorted(rows.values())
        what = "spins" if spins else "says how to interrupt"
        why = f"{what}; only at work, in {_counted(len(rows), 'reading')} from {times[0]:.3f} to {times[-1]:.3f} s"
        yield FoundValue("screen.furniture", pattern, why, examples[0], times[0])
    if not found:
        yield NoFinding(
            "screen.furniture", "nothing in the transcript spun, or said how to interrupt, and went with the work"
        )


def _transient(screen: ObservedScreen) -> Iterator[str]:
    """Yield the rows of the transcript, without the composer and the rows below it."""
    top = composer_top(screen.rows, screen.cursor)
    yield from (row for row in screen.rows[:top] if row.strip())


def _with_hint(rows: list[str]) -> str | None:
    """Return a pattern of the text up to the first number and of the hint after it, with any time in between."""
    heads = [_DIGITS.split(row)[0] for row in rows]
    if any(len(_WORD.findall(_HINT.split(head)[0])) > _MAX_LABEL_WORDS for head in heads):
        # It says something else the next time: the part before its first word, and the hint, stay the same.
        heads = [head[: found.start()].rstrip() if (found := _WORD.search(head)) else head for head in heads]
    hints = {found[0] for row in rows if (found := _HINT.search(row)) is not None}
    if len(hints) != 1:
        return None
    hint = hints.pop()
    if all(hint in head for head in heads):
        return alike([head[: head.index(hint) + len(hint)] for head in heads])
    pattern = alike(heads) or (f"^{quoted(heads[0])}" if len(set(heads)) == 1 and heads[0].strip() else None)
    return None if pattern is None else f"{pattern}.*{regex.escape(hint, literal_spaces=True)}"


def _footers(seen: Observation) -> Iterator[Finding]:
    builds: defaultdict[str, dict[str, float]] = defaultdict(dict)
    for reason in seen.reasons:
        for row in reason.rows if reason.rule == "footer" else ():
            if regex.search(r"[\p{L}\p{N}]", row):
                builds[skeleton(row)].setdefault(row, reason.t)
    if not builds:
        yield NoFinding("screen.footers", "no answer ended in a row with a duration or a count of tokens")
    for rows in builds.values():
        pattern = alike(list(rows))
        row, t = next(iter(rows.items()))
        if pattern is not None:
            yield FoundValue(
                "screen.footers", pattern, f"summed up {_counted(len(rows), 'answer')}, first at {t:.3f} s", row, t
            )


def _counted(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"
