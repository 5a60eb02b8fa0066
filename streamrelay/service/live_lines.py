"""What the screens of sessions show that is not final yet, for people who look on.

It is kept as it stands, not as it came about: whoever looks slowly sees fewer of its states, and always the last one.
Nothing of it is journaled. How many lines there are is bounded by how many a screen has.
"""

import asyncio
from collections.abc import AsyncGenerator

from streamrelay.events import Event, Live, PaneClosed, PaneOpened, Retracted, Text


class LiveLines:
    """The lines of all panes that are heard. `take` is told every event of theirs."""

    def __init__(self) -> None:
        self._lines: dict[str, dict[int, str]] = {}
        self._changed: dict[str, asyncio.Event] = {}
        self._closed = False

    def take(self, event: Event) -> None:
        """Take what a pane says."""
        match event:
            case Live():
                self._lines.setdefault(event.pane, {})[event.line] = event.text
            case Retracted() | Text():
                if self._lines.get(event.pane, {}).pop(event.line, None) is None:
                    return
            case PaneOpened() | PaneClosed():
                self.forget(event.pane)
                return
            case _:
                return
        self._wake(event.pane)

    def forget(self, pane: str) -> None:
        """Know nothing of a pane that is not heard any more."""
        if self._lines.pop(pane, None):
            self._wake(pane)

    def close(self) -> None:
        """Let everybody go who looks on."""
        self._closed = True
        for changed in self._changed.values():
            changed.set()

    async def lines(self, pane: str) -> AsyncGenerator[list[str], None]:
        """Give the lines of a pane from top to bottom, now and whenever they have changed since they were taken."""
        while not self._closed:
            changed = self._changed.setdefault(pane, asyncio.Event())
            lines = self._lines.get(pane, {})
            yield [lines[number] for number in sorted(lines)]
            if not self._closed:
                await changed.wait()

    def _wake(self, pane: str) -> None:
        if (changed := self._changed.pop(pane, None)) is not None:
            changed.set()
