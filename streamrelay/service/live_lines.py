"""The lines of sessions' screens that are not final yet, for live views.

It keeps only the current state: a slow viewer skips states, but always sees the latest one. Nothing is journaled, and
the height of the screens limits the number of lines.
"""

import asyncio
from collections import Counter
from collections.abc import AsyncGenerator

from streamrelay.events import Event, Live, PaneClosed, PaneOpened, Retracted, Text


class LiveLines:
    """The lines of all observed panes. `take` gets every event of them."""

    def __init__(self) -> None:
        self._lines: dict[str, dict[int, str]] = {}
        self._changed: dict[str, asyncio.Event] = {}
        self._viewers = Counter[str]()
        self._closed = False

    def is_viewed(self, pane: str) -> bool:
        """Return whether anybody views the lines of a pane now."""
        return self._viewers[pane] > 0

    def take(self, event: Event) -> None:
        """Take an event of a pane."""
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
        """Forget a pane that is no longer observed."""
        if self._lines.pop(pane, None):
            self._wake(pane)

    def close(self) -> None:
        """End all viewers."""
        self._closed = True
        for changed in self._changed.values():
            changed.set()

    async def lines(self, pane: str) -> AsyncGenerator[list[str], None]:
        """Yield the lines of a pane from top to bottom, now and after every change."""
        self._viewers[pane] += 1
        try:
            while not self._closed:
                changed = self._changed.setdefault(pane, asyncio.Event())
                lines = self._lines.get(pane, {})
                yield [lines[number] for number in sorted(lines)]
                if not self._closed:
                    await changed.wait()
        finally:
            self._viewers[pane] -= 1
            if not self._viewers[pane]:
                del self._viewers[pane]

    def _wake(self, pane: str) -> None:
        if (changed := self._changed.pop(pane, None)) is not None:
            changed.set()
