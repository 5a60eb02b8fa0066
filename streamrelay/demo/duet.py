"""Two agents on a link: programs that paint as coding agents do, a budget that runs out, and the receipts.

They are scripted (`streamrelay.testing.agent`): a composer in which an Enter that comes too soon is a new line, a
spinner, a title that says when they work. What they got they wrote down themselves, so every receipt can be checked.
"""

import asyncio
import sys
from collections.abc import Callable
from pathlib import Path

import msgspec

from streamrelay.counts import deliveries
from streamrelay.events import Event, LinkClosed, LinkCreated, LinkSpent, Receipt, RelayDelivered, Text
from streamrelay.links.link import LinkPolicy
from streamrelay.links.session import LinkSession
from streamrelay.panes.server import Server
from streamrelay.testing.agent import read_got
from streamrelay.testing.tmux import PrivateTmux
from streamrelay.testing.waiting import wait_until_async

Show = Callable[[str, str], None]
"""Shows one line: who said it, and what."""

FIRST, SECOND = "Cleo", "Dan"
BUDGET = 4
OPENING = "Ask Dan what is left to do."
ANSWERS = {
    FIRST: [
        "Dan, the parser is done. What is left to do?",
        "Then I take the long lines:\n\n- those that a program wraps\n- those that a terminal wraps",
        "No one hears this any more: the budget is spent.",
    ],
    SECOND: [
        "Two things, as far as I can see: long lines, and wide characters like 日本語. Which of them do you take?",
        "And I take the wide characters. You said: those that a terminal wraps. Tell me when you are through.",
        "Then I go on by myself.",
    ],
}
RECEIPTS = ("queued", "pasted", "submitted", "turn_started", "answered")
"""What every delivery has to have had; `painted` comes between where the composer is seen to show the text."""
_START_LIMIT = 10.0
_TYPING = 0.3


class Duet:
    """The two agents, their link, and its events."""

    def __init__(self, tmux: PrivateTmux, folder: Path, show: Show) -> None:
        self._tmux = tmux
        self._show = show
        self._logs = {name: folder / f"{name}.log" for name in (FIRST, SECOND)}
        self._panes = {name: self._start(name, folder) for name in self._logs}
        self._names = {pane: name for name, pane in self._panes.items()}
        self._said: dict[str, list[str]] = {FIRST: [], SECOND: []}
        self._delivered: list[RelayDelivered] = []
        self._states: dict[str, list[str]] = {}
        self._linked = asyncio.Event()
        self._spent = False
        self._closed: LinkClosed | None = None
        self._error = ""

    @property
    def deliveries(self) -> int:
        """How many deliveries were answered, each with its receipts."""
        return sum(self._is_proved(event.message_id) for event in self._delivered)

    async def run(self, server: Server) -> None:
        """Let them converse until the budget is spent and both have the notice."""
        await wait_until_async(lambda: all(self._got(name, "ready") for name in self._logs), _START_LIMIT)
        sides = [(name, await server.find(pane)) for name, pane in self._panes.items()]
        link = LinkSession(server, *sides, policy=LinkPolicy(budget=BUDGET), attended=False)
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self._open())
            await link.run(self._hear)
        self._error = "" if link.error is None else link.error.message

    async def _open(self) -> None:
        """Do what a person does who begins it: an Enter right behind the text would be a new line."""
        await self._linked.wait()
        self._tmux.run("send-keys", "-l", "-t", self._panes[FIRST], OPENING)
        await asyncio.sleep(_TYPING)
        self._tmux.run("send-keys", "-t", self._panes[FIRST], "Enter")

    def judge(self) -> list[str]:
        """Return the failures: differences between the reports and what the agents really got."""
        failures = [f"the link ended: {self._error}"] if self._error else []
        if not self._spent or self._closed is None or len(self._delivered) != BUDGET:
            failures.append(f"of {BUDGET} deliveries of the link {len(self._delivered)} were made before it ended")
        for speaker, listener in ((FIRST, SECOND), (SECOND, FIRST)):
            said = [f"[From {speaker}] {text}" for text in self._got(speaker, "said")]
            *heard, notice = [text for text in self._got(listener, "message") if text != OPENING] or [""]
            if heard != said[: len(heard)] or len(heard) != BUDGET // 2:
                failures.append(f"{speaker} said {said}, {listener} got {heard}")
            if "is spent" not in notice:
                failures.append(f"{listener} was not told that the budget is spent")
        failures += [
            f"the receipts of {event.message_id} are {self._states.get(event.message_id)}"
            for event in self._delivered
            if not self._is_proved(event.message_id)
        ]
        return failures

    def _start(self, name: str, folder: Path) -> str:
        answers = folder / f"{name}.json"
        answers.write_bytes(msgspec.json.encode(ANSWERS[name]))
        options = ["--log", str(self._logs[name]), "--answers", str(answers), "--digest", "0.06", "--works", "0.4"]
        return self._tmux.new_session(name, [sys.executable, "-m", "streamrelay.testing.agent", *options])

    def _got(self, name: str, kind: str) -> list[str]:
        return [got.text for got in read_got(self._logs[name]) if got.kind == kind]

    def _is_proved(self, message_id: str) -> bool:
        states = [state for state in self._states.get(message_id, ()) if state != "painted"]
        return tuple(states) == RECEIPTS

    def _hear(self, event: Event) -> None:
        match event:
            case LinkCreated():
                self._show("link", f"{FIRST} and {SECOND} are linked, for {deliveries(event.budget)}")
                self._linked.set()
            case Text(origin="program") if event.text:
                self._show(self._names[event.pane], event.text)
            case RelayDelivered():
                self._delivered.append(event)
            case LinkSpent():
                self._spent = True
                self._show("link", f"the budget is spent after {deliveries(event.deliveries)}, and both get a notice")
            case LinkClosed():
                self._closed = event
            case Receipt():
                self._note(event)
            case _:
                pass

    def _note(self, receipt: Receipt) -> None:
        states = self._states.setdefault(receipt.message_id, [])
        if receipt.state == "queued" and receipt.reason:
            return
        states.append(receipt.state)
        if receipt.state == "answered" and self._number(receipt.message_id):
            number, listener = self._number(receipt.message_id), self._names[receipt.pane]
            self._show("link", f"delivery {number} of {BUDGET}, to {listener}: {' > '.join(states)}")

    def _number(self, message_id: str) -> int:
        """Return which delivery a message was; 0 for one of streamrelay's own."""
        ids = [event.message_id for event in self._delivered]
        return ids.index(message_id) + 1 if message_id in ids else 0
