"""What a board wants shown and said, done in tmux: pane options, and messages in the status lines of people's clients.

No caller waits for it: a newer status replaces one that was not shown yet, and messages beyond a few are dropped.
Whatever tmux refuses (the pane is gone, the client has left) is ignored. At the end everything that
is shown is taken back; what a process that was killed had shown stays, and `streamrelay uninstall` takes it away.
"""

import asyncio
import contextlib
from collections import deque
from collections.abc import Iterable, Sequence
from types import TracebackType
from typing import Protocol, Self

from streamrelay.errors import StreamrelayError
from streamrelay.events import Event
from streamrelay.notifying.board import Notify, ShowStatus, StatusEffect
from streamrelay.panes.server import Server

OPTION = "@streamrelay"
MESSAGE_OPTIONS = (("-C", "-d", "8000"), ("-d", "3000"))
"""How `display-message` shows a message, the better way first.

While a message is shown, tmux does not draw what the panes print (3.3a status.c, `TTY_FREEZE`). Newer versions draw it
with `-C`; older ones refuse that option, and show the message for a shorter time.
"""
MAX_MESSAGES = 16
LAST_TIMEOUT = 5.0
"""Seconds that taking everything back may need."""

_PANES = ("list-panes", "-a", "-F", "#{pane_id} #{session_id}")
_CLIENTS = ("list-clients", "-F", "#{client_control_mode} #{session_id} #{client_name}")


class Board(Protocol):
    """Decides what is shown in tmux."""

    def opening(self) -> Sequence[StatusEffect]:
        """Return the first status texts."""

    def take(self, event: Event) -> Sequence[StatusEffect]:
        """Take an event."""

    def closing(self) -> Sequence[StatusEffect]:
        """Return what takes everything back that is shown."""


class Notifier:
    """Shows a board in tmux for as long as it is entered; an async context manager."""

    def __init__(self, server: Server, board: Board) -> None:
        self._server = server
        self._board = board
        self._shows: dict[str, str] = {}
        self._messages: deque[Notify] = deque(maxlen=MAX_MESSAGES)
        self._due = asyncio.Event()
        self._is_closing = False
        self._task: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        self._want(self._board.opening())
        self._task = asyncio.ensure_future(self._work())
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        # A command that is on its way is not cut off: tmux could run it after the one that takes it back.
        self._is_closing = True
        self._want(self._board.closing())
        self._due.set()
        if self._task is not None:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(LAST_TIMEOUT):
                    await self._task

    def take(self, event: Event) -> None:
        """Take an event of the conversation; returns at once."""
        self._want(self._board.take(event))

    def _want(self, effects: Iterable[StatusEffect]) -> None:
        for effect in effects:
            match effect:
                case ShowStatus():
                    self._shows[effect.pane] = effect.text
                case Notify():
                    self._messages.append(effect)
            self._due.set()

    async def _work(self) -> None:
        while not self._is_closing or self._shows or self._messages:
            if self._shows:
                pane = next(iter(self._shows))
                await self._show(pane, self._shows.pop(pane))
            elif self._messages:
                await self._tell(self._messages.popleft())
            else:
                self._due.clear()
                await self._due.wait()

    async def _show(self, pane: str, text: str) -> None:
        words = ("set-option", "-p", "-t", pane)
        with contextlib.suppress(StreamrelayError):
            await self._server.query((*words, OPTION, shown(text)) if text else (*words, "-u", OPTION))

    async def _tell(self, message: Notify) -> None:
        with contextlib.suppress(StreamrelayError):
            sessions = {session for pane, session in _pairs(await self._server.query(_PANES)) if pane in message.panes}
            for line in await self._server.query(_CLIENTS):
                control, session, client = line.split(" ", 2)
                if control == "0" and session in sessions:
                    await self._display(client, said(f"streamrelay: {message.text}"))

    async def _display(self, client: str, text: str) -> None:
        for options in MESSAGE_OPTIONS:
            with contextlib.suppress(StreamrelayError):
                await self._server.query(("display-message", "-c", client, *options, "--", text))
                return


def _pairs(lines: Iterable[str]) -> Iterable[tuple[str, str]]:
    for line in lines:
        pane, _, session = line.partition(" ")
        yield pane, session


def shown(text: str) -> str:
    """Return a text as the value of an option that a status line shows: no style in it."""
    return text.replace("#", "##")


def said(text: str) -> str:
    """Return a text as a message that is expanded like a format and the time of day: as it stands."""
    return shown(text).replace("%", "%%")
