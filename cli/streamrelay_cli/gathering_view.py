"""The live view of a gathering in a terminal: the circle, the holder of the piece, the beat as a bar, the last output.

If standard output is not a terminal, the view prints only the contributions, as they come.
"""

import asyncio
import contextlib
import sys
import time
from collections import deque
from collections.abc import AsyncGenerator, Awaitable
from typing import cast

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.panel import Panel
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from streamrelay.delivery.sanitise import sanitised
from streamrelay.errors import StreamrelayError
from streamrelay.events import AnyEvent, Contribution, GatheringClosed, GatheringPhase, Piece
from streamrelay.panes.tasks import until_first
from streamrelay.service.api import Gathering
from streamrelay.service.interface import Service
from streamrelay_cli.keys import pressed_keys
from streamrelay_cli.output import CommandOutput

REPAINT = 0.2
SHOWN = 12
_ENTER, _ERASE, _ESCAPE = "\n\r", "\x7f\b", "\x1b"


class GatheringView:
    """Shows one gathering until it ends or the user leaves the view."""

    def __init__(self, output: CommandOutput, service: Service, gathering: Gathering) -> None:
        self._output = output
        self._service = service
        self._now = gathering
        self._said: deque[tuple[str, str]] = deque(maxlen=SHOWN)
        self._live: Live | None = None
        self._enough = asyncio.Event()
        self._typing: str | None = None
        """The text that the user is typing; None outside of typing."""
        self._trouble = ""
        self._asking: set[asyncio.Task[None]] = set()

    async def show(self, after: int) -> None:
        """Show the gathering, with the events after a place in the journal."""
        if not sys.stdout.isatty():
            await self._follow(after)
            return
        console = Console(file=sys.stdout, highlight=False, markup=False)
        with pressed_keys(self._press), Live(console=console, auto_refresh=False, transient=False) as self._live:
            await until_first(self._follow(after), self._repaint(), self._enough.wait())
            self._paint()

    async def _follow(self, after: int) -> None:
        if self._now.state == "closed":
            return
        events = cast(AsyncGenerator[AnyEvent], self._service.events(after))
        async with contextlib.aclosing(events):
            async for event in events:
                if getattr(event, "gathering", "") != self._now.gathering:
                    continue
                self._take(event)
                self._now = await self._service.gathering(self._now.gathering)
                if isinstance(event, GatheringClosed):
                    return

    def _take(self, event: AnyEvent) -> None:
        match event:
            case Contribution(speaker=speaker, text=text):
                self._say(speaker, text)
            case GatheringPhase(phase=phase, round=number, rounds=rounds):
                self._say("", f"--- Phase: {phase.upper()} (round {number}/{rounds}) ---")
            case Piece(state="given"):
                self._trouble = ""
            case Piece(state="passed", how="time", speaker=speaker) if speaker in self._seats():
                self._trouble = "Your time is up."
            case _:
                pass

    def _seats(self) -> list[str]:
        """Return the labels of the people who speak from this view or from the page."""
        return [f"{one.name} ({one.number})" for one in self._now.participants if one.is_human and not one.pane]

    def _say(self, who: str, text: str) -> None:
        self._said.append((who, text))
        if self._live is None:
            self._output.lines([*([f"{who}:", ""] if who else []), *text.split("\n"), ""])

    # What the terminal shows

    async def _repaint(self) -> None:
        while True:
            self._paint()
            await asyncio.sleep(REPAINT)

    def _paint(self) -> None:
        if self._live is not None:
            self._live.update(self.rendered(time.time()), refresh=True)

    def rendered(self, at: float) -> Group:
        """Return the view for a moment (Unix time)."""
        now = self._now
        title = f"{now.rhythm} gathering, {now.phase} {now.round}/{now.rounds}, {now.state}"
        said = Table.grid(padding=(0, 1))
        for who, text in self._said:
            said.add_row(Text(sanitised(who), style="bold"), Text(sanitised(text)))
        parts: list[RenderableType] = [Panel(self._circle(at), title=Text(sanitised(title)), title_align="left"), said]
        if now.harvest:
            parts.append(Panel(Text(sanitised(now.harvest)), title="harvest", title_align="left"))
        if self._typing is not None:
            parts.append(Text(f"{self._person_name()}> {sanitised(self._typing)}▏"))
        parts.append(Text(self._trouble or self._keys(), style="dim"))
        return Group(*parts)

    def _circle(self, at: float) -> Table:
        now = self._now
        circle = Table.grid(padding=(0, 2))
        for member in now.participants:
            holds = member.number == now.speaker
            mark = "●" if holds else "×" if member.gone else "○" if member.role == "speaker" else "✎"
            who = Text(f"{mark} {sanitised(member.name)} ({member.number})", style="bold" if holds else "")
            what = "a person" if member.is_human else sanitised(member.agent)
            circle.add_row(who, what, self._beat(at) if holds else Text(sanitised(member.gone)))
        return circle

    def _beat(self, at: float) -> Table:
        now = self._now
        left = 0.0 if now.next_beat_at is None else max(0.0, now.next_beat_at - at)
        gone = max(0.0, now.beat_interval_seconds - left)
        beat = Table.grid(padding=(0, 1))
        bar = ProgressBar(total=now.beat_interval_seconds, completed=min(gone, now.beat_interval_seconds), width=24)
        beat.add_row(f"beat {now.beat}/{now.beats_per_turn}", bar, f"{left:.0f} s")
        return beat

    # The keys

    def _keys(self) -> str:
        speaks = "s speaks, " if self._person() is not None else ""
        return f"keys: {speaks}n passes the piece, p {'goes on' if self._now.state == 'paused' else 'pauses'}, q leaves"

    def _person(self) -> int | None:
        """Return the number of the person who holds the piece and speaks from this view."""
        now = self._now
        return next(
            (one.number for one in now.participants if one.is_human and not one.pane and one.number == now.speaker),
            None,
        )

    def _person_name(self) -> str:
        return next((sanitised(one.name) for one in self._now.participants if one.number == self._now.speaker), "")

    def _press(self, key: str) -> None:
        gathering = self._now.gathering
        if self._typing is not None:
            self._type(key)
        elif key == "q":
            self._enough.set()
        elif key == "s" and self._person() is not None:
            self._typing, self._trouble = "", ""
        elif key == "n":
            self._ask(self._service.pass_piece(gathering))
        elif key == "p":
            self._ask(self._service.pause_gathering(gathering, self._now.state != "paused"))

    def _type(self, key: str) -> None:
        typing, person = self._typing or "", self._person()
        if key in _ENTER:
            self._typing = None
            if typing.strip() and person is not None:
                self._ask(self._service.say_in_gathering(self._now.gathering, person, typing))
        elif key == _ESCAPE:
            self._typing = None
        elif key in _ERASE:
            self._typing = typing[:-1]
        elif key.isprintable():
            self._typing = typing + key

    def _ask(self, asking: Awaitable[Gathering]) -> None:
        async def ask() -> None:
            try:
                self._now = await asking
                self._trouble = ""
            except StreamrelayError as error:
                self._trouble = error.message

        task = asyncio.ensure_future(ask())
        self._asking.add(task)
        task.add_done_callback(self._asking.discard)
