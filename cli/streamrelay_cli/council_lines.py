"""A session of the council as plain lines: for pipes, scripts, screen readers and terminals without an app."""

import asyncio
import os
import sys
from collections.abc import AsyncIterator

import msgspec

from streamrelay.council.console import Seat
from streamrelay.council.context import Entry
from streamrelay.council.events import (
    AnswerBegan,
    AnswerEnded,
    AnswerGrew,
    CouncilEvent,
    Joined,
    MessageShown,
    Noticed,
    Revealed,
)
from streamrelay.errors import UsageError
from streamrelay.threads import in_thread
from streamrelay_cli.output import CommandOutput

UNANSWERED = 1
"""The exit code where messages were sent and no member answered."""
_MAX_READ = 65_536


class CouncilLines:
    """Reads lines from standard input, and prints a session as `NAME │ text`, each line once it is whole."""

    def __init__(self, output: CommandOutput, seat: Seat) -> None:
        self._output, self._seat = output, seat
        self._speakers: dict[str, str] = {}
        self._unprinted: dict[str, str] = {}
        self._answers = self._messages = 0

    async def show(self, joined: Joined, events: AsyncIterator[CouncilEvent]) -> int:
        """Take part until `/bye`, or until standard input ends and all members have answered."""
        for entry in joined.entries:
            self._show(MessageShown(entry))
        for entry in joined.queued:
            self._show(MessageShown(entry, queued=True))
        self._answers = self._messages = 0
        following = asyncio.create_task(self._follow(events))
        typing = asyncio.create_task(self._type())
        try:
            await asyncio.wait({following, typing}, return_when=asyncio.FIRST_COMPLETED)
            if not following.done() and await self._seat.leave():
                await following
        finally:
            for task in (following, typing):
                task.cancel()
            await asyncio.gather(following, typing, return_exceptions=True)
        for task in (following, typing):
            if not task.cancelled():
                task.result()
        return UNANSWERED if self._messages and not self._answers else 0

    async def _follow(self, events: AsyncIterator[CouncilEvent]) -> None:
        async for event in events:
            self._show(event)

    async def _type(self) -> None:
        async for line in _lines(sys.stdin.fileno()):
            if not line.strip():
                continue
            try:
                text = await self._seat.enter(line)
            except UsageError as error:
                self._output.error(error.message, error.hint)
            else:
                for shown in text.splitlines():
                    self._output.note(shown)
        await self._seat.wait_until_idle()

    def _show(self, event: CouncilEvent) -> None:
        if self._output.as_json:
            self._output.json(msgspec.to_builtins(event))
        match event:
            case MessageShown(entry, queued):
                self._messages += entry.kind == "person"
                self._entry(entry, queued=queued)
            case AnswerBegan(answer, member, hidden=hidden):
                self._speakers[answer] = member
                self._output.note(f"Generating... {member} 🤔{' (shown when all have answered)' if hidden else ''}")
            case AnswerGrew(answer, piece):
                *lines, rest = (self._unprinted.get(answer, "") + piece).split("\n")
                self._unprinted[answer] = rest
                for line in lines:
                    self._line(self._speakers[answer], line)
            case AnswerEnded(answer, entry):
                self._answers += entry is not None and not entry.partial
                if rest := self._unprinted.pop(answer, ""):
                    self._line(self._speakers[answer], rest)
                if entry is not None and entry.partial:
                    self._output.note(f"{entry.author} was broken off")
            case Revealed(entries):
                self._answers += len(entries)
                for entry in entries:
                    self._entry(entry)
            case Noticed(text):
                self._output.note(text)
            case _:
                pass

    def _entry(self, entry: Entry, *, queued: bool = False) -> None:
        for line in entry.text.split("\n"):
            self._line(f"(Queued) {entry.author}" if queued else entry.author, line)

    def _line(self, author: str, text: str) -> None:
        if not self._output.as_json:
            self._output.labelled(author, text)


async def _lines(descriptor: int) -> AsyncIterator[str]:
    """Yield the lines that come in, without stopping the event loop; a last one may lack its end."""
    unread = b""
    while data := await in_thread(lambda: os.read(descriptor, _MAX_READ), name="standard input"):
        *lines, unread = (unread + data).split(b"\n")
        for line in lines:
            yield line.decode("utf-8", "replace")
    if unread:
        yield unread.decode("utf-8", "replace")
