"""The usual way to listen to a pane: look at it once a second, and say what was not there before.

What a relay built on `capture-pane` does, done as well as it can be:

* A look is what `capture-pane -p -J -S -` prints: all of history and the screen, wrapped rows joined.
* The baseline is taken right before the first injection. Earlier text on the screen is not reported.
* A look that differs from the baseline is not believed until the screen has stayed the same for some looks; then its
  rows that are new, by a line diff against the baseline, are said, the turn counts as ended, and the look becomes the
  baseline. So what is half painted is mostly not said, and what comes after a pause is.
* The echo is found by its text: the first new rows that spell an injected message, letters and digits only, so that
  prompts, boxes and wrapped rows don't hide it. It is cut once, so that a quote of it is kept.

Pure: the looks are at the recording's own times, on the screen as it was then.
"""

import difflib
from collections.abc import Iterator, Sequence

from streamrelay.events import Event, Text, TurnEnded
from streamrelay.recordings import Output, Pasted, Recording, Resized
from streamrelay.vt import TmuxScreen

INTERVAL = 1.0
"""Seconds between two looks."""
SETTLED = 2
"""Looks in a row that must be alike before they are believed; 1 believes every look."""
PANE = "%0"
"""The pane that recordings inject into."""


def polled(recording: Recording, *, interval: float = INTERVAL, settled: int = SETTLED) -> Iterator[Event]:
    """Yield what a poller says of a recording; it looks on after the end until it has said what is left."""
    pane = _Pane(recording.columns, recording.lines, settled)
    due = interval
    for entry in recording.entries():
        while due < entry.t:
            yield from pane.look(due)
            due += interval
        if entry.pane != PANE:
            continue
        match entry:
            case Output():
                pane.feed(entry.data)
            case Pasted():
                pane.inject(entry.text)
            case Resized():
                pane.resize(entry.columns, entry.lines)
    while pane.unsaid:
        yield from pane.look(due)
        due += interval


def new_rows(before: Sequence[str], now: Sequence[str]) -> list[str]:
    """Return the rows that a line diff calls added or changed."""
    steps = difflib.SequenceMatcher(None, before, now, autojunk=False).get_opcodes()
    return [row for step, _, _, start, stop in steps if step in {"insert", "replace"} for row in now[start:stop]]


def without_echo(rows: Sequence[str], message: str) -> list[str] | None:
    """Cut the first place where the rows spell a message, its letters and digits; None where they don't."""
    spelt = "".join(filter(str.isalnum, message))
    places = [(y, x) for y, row in enumerate(rows) for x, character in enumerate(row) if character.isalnum()]
    start = "".join(rows[y][x] for y, x in places).find(spelt)
    if start < 0 or not spelt:
        return None
    (top, left), (bottom, right) = places[start], places[start + len(spelt) - 1]
    ends = (rows[top][:left], rows[bottom][right + 1 :])
    # What is left of its first and last row without a letter is a prompt, a border or a full stop.
    kept = [end for end in ends if any(map(str.isalnum, end))]
    return [*rows[:top], *kept, *rows[bottom + 1 :]]


class _Pane:
    def __init__(self, columns: int, lines: int, settled: int) -> None:
        self._screen = TmuxScreen(columns, lines)
        self._settled = settled
        self._committed: list[tuple[str, bool]] = []
        self._baseline: list[str] | None = None
        self._last: list[str] = []
        self._alike = 0
        self._echoes: list[str] = []
        self._said = 0

    @property
    def unsaid(self) -> bool:
        """Whether something is there that differs from the baseline."""
        return self._baseline is not None and self._capture() != self._baseline

    def feed(self, data: bytes) -> None:
        self._screen.feed(data)
        self._committed += ((row.text, row.wrapped) for row in self._screen.take().committed)

    def resize(self, columns: int, lines: int) -> None:
        self._screen.resize(lines, columns)

    def inject(self, text: str) -> None:
        if self._baseline is None:
            self._baseline = self._last = self._capture()
        self._echoes.append(text)

    def look(self, now: float) -> Iterator[Event]:
        if self._baseline is None:
            return
        seen = self._capture()
        self._alike = self._alike + 1 if seen == self._last else 1
        self._last = seen
        if seen == self._baseline or self._alike < self._settled:
            return
        rows = new_rows(self._baseline, seen)
        self._baseline = seen
        for echo in [*self._echoes]:
            cut = without_echo(rows, echo)
            if cut is not None:
                rows = cut
                self._echoes.remove(echo)
        texts = [row for row in rows if row.strip()]
        for text in texts:
            self._said += 1
            yield Text(t=now, pane=PANE, text=text, origin="program", line=self._said)
        if texts:
            yield TurnEnded(t=now, pane=PANE, reason="quiet", certain=False)

    def _capture(self) -> list[str]:
        """Return the logical lines of history and screen, without those that are blank at the end."""
        depth = len(self._screen.history_text())  # what a program wiped from history is committed, and gone
        committed = self._committed[-depth:] if depth else []
        shown = [self._screen.row(y) for y in range(self._screen.lines)]
        lines, goes_on = [""], False
        for text, wrapped in [*committed, *((row.text, row.wrapped) for row in shown)]:
            if goes_on:
                lines[-1] += text
            else:
                lines.append(text)
            goes_on = wrapped
        captured = [line.rstrip() for line in lines[1:]]
        while captured and not captured[-1]:
            captured.pop()
        return captured
