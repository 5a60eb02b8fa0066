"""Finds the composer, in which messages are typed, and its look when the program takes messages."""

from collections.abc import Iterator
from dataclasses import dataclass

import regex

from streamrelay.learning.findings import Finding, FoundValue, NoFinding
from streamrelay.learning.observation import Observation, ObservedMessage
from streamrelay.learning.row_patterns import quoted

_HEAD = 12
"""Characters of a message by which its row is known."""
_BOX = regex.compile(r"[\s─-▟]*")
_BORDER = regex.compile(r"\s+(?P<side>[│┃▎▏▕|])$")
"""The right side of a box: how far away depends on the width."""
_EXAMPLE = regex.compile(r'"[^"]+"')
_CENTRED = 8
"""Blanks from which on a composer is taken for one in the middle of the screen, whose column depends on its width."""


@dataclass(frozen=True, slots=True)
class _Draft:
    """A row with a draft: the text before the draft, and the row without it."""

    t: float
    row: str
    mark: str
    empty: str
    rest: float


def composing(seen: Observation) -> Iterator[Finding]:
    """Yield the composer and the ready sign."""
    if not seen.messages:
        yield NoFinding("delivery.composer", "nothing was sent to it in this recording, so no composer showed itself")
        return
    drafts = [draft for message in seen.messages for draft in _drafts(seen, message)]
    marks = list(dict.fromkeys(_pattern_of_mark(draft.mark) for draft in drafts if draft.mark.strip()))
    if not drafts:
        yield NoFinding("delivery.composer", "no message was seen between its paste and its Enter")
        return
    if len(marks) != 1:
        why = "nothing stands in front of what is typed" if not marks else "what stands in front of drafts differed"
        yield NoFinding("delivery.composer", f"{why}: no row can be told to be the composer's")
        return
    draft = drafts[0]
    placeholders = dict.fromkeys(_placeholder(draft) for draft in drafts)
    either = list(dict.fromkeys(_with_any_example(text) for text in placeholders if text))
    border = _BORDER.search(draft.row)
    typed, end = ("(?P<draft>.*)", "$") if border is None else ("(?P<draft>.*?)", rf"\s*{quoted(border['side'])}$")
    held = "|".join([*either, typed])
    pattern = f"^{marks[0]}(?:{held}){end}" if either else f"^{marks[0]}{held}{end}"
    shown = f", over {next(text for text in placeholders if text)!r}" if either else ""
    yield FoundValue("delivery.composer", pattern, f"a draft was there from {draft.t:.3f} s{shown}", draft.row, draft.t)
    yield from _ready(seen, drafts)


def _ready(seen: Observation, drafts: list[_Draft]) -> Iterator[Finding]:
    found = False
    for row, draft in {draft.empty: draft for draft in drafts}.items():
        if _BOX.fullmatch(row):
            continue
        found = True
        working = seen.working()
        busy = sum(row in screen.rows for screen in working)
        also = f"; at work, too, in {busy} of {len(working)} snapshots" if busy else ""
        why = f"on the screen at {draft.rest:.3f} s, before a message was taken{also}"
        border = _BORDER.search(row)
        text, end = (row, "") if border is None else (row[: border.start()], rf"\s*{quoted(border['side'])}")
        yield FoundValue("delivery.ready", f"^{_with_any_example(text)}{end}$", why, row, draft.rest)
    if not found:
        yield NoFinding("delivery.ready", "the empty composer has no text of its own that could be looked for")


def _drafts(seen: Observation, message: ObservedMessage) -> Iterator[_Draft]:
    """Find the first row of a message that was in the composer before its Enter."""
    before = seen.screen_before(message.pasted)
    head = message.text.split("\n")[0][:_HEAD].rstrip()
    until = message.submitted if message.submitted is not None else message.pasted + 1
    if before is None or len(head) < 4 or seen.at_work(message.pasted):
        return
    for screen in seen.screens:
        if not message.pasted <= screen.t <= until:
            continue
        for y, row in enumerate(screen.rows):
            at = row.find(head)
            if at < 0 or head in before.rows[min(y, len(before.rows) - 1)]:
                continue
            mark = row[:at]
            empty = [old for old in before.rows if old.startswith(mark.rstrip()) and mark.strip()]
            here = before.rows[y] if y < len(before.rows) else ""
            without_draft = here if here.startswith(mark.rstrip()) else empty[-1] if empty else here
            yield _Draft(screen.t, row, mark, without_draft, before.t)
            return


def _placeholder(draft: _Draft) -> str:
    return _BORDER.sub("", draft.empty[len(draft.mark) :]).strip() if draft.empty.startswith(draft.mark) else ""


def _pattern_of_mark(mark: str) -> str:
    """Allow missing blanks after a mark: a row ends without blanks, so an empty composer has none."""
    body = mark.lstrip(" ")
    blanks = len(mark) - len(body)
    indent = " *" if blanks >= _CENTRED else quoted(mark[:blanks])
    return indent + quoted(body.rstrip()) + (r"\s*" if body != body.rstrip() else "")


def _with_any_example(text: str) -> str:
    """What a placeholder quotes is an example, another one the next time."""
    return '"[^"]*"'.join(map(quoted, _EXAMPLE.split(text)))
