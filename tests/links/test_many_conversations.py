"""Many conversations side by side, on one server and over one connection: who said what, and who got what of it.

Scripted agents write down what they say and what they get. Nothing may be lost, doubled or echoed on the way, and every
receipt has to be true: what was answered was got, byte for byte, and what was got was told of.
"""

import asyncio
import os
import random
import signal
import sys
from dataclasses import dataclass, field
from pathlib import Path

import msgspec
import pytest

import streamrelay
from streamrelay.agents import parse_profile
from streamrelay.events import Event, Receipt, RelayDelivered, RelayWithheld, Text
from streamrelay.links.link import LinkPolicy, NoticeTexts
from streamrelay.links.session import LinkSession
from streamrelay.panes.server import Server
from streamrelay.testing.agent import LogEntry, read_got
from streamrelay.testing.tmux import PrivateTmux
from streamrelay.testing.waiting import wait_until_async

PATIENCE = 60.0
SPRITE = """
title = "Sprite"
[recognise]
signs = ['^sprite$']
[delivery]
ready = ['^>$']
composer = '^> ?(?P<draft>.*)$'
mid_turn = "queue"
"""

ANSWERS = {
    "Ann": [
        "What would be number {number}? I think it is the one before, and one more.",
        "There are three reasons ({number}):\n\n- it is short\n- it is true\n- nobody said it yet",
        "日本語で {number} と言います。👩‍🚀 é עברית",
        "It's \"quoted\" $(touch x) `y` ; #{pane_id} \\ ~ {number} %0 && done",
        ("Answer {number}, which is longer than any row of this terminal is wide, so that whoever paints it has to "
        "wrap it, and whoever reads it has to put it together again, without a word too many and without one too few."),
    ],
    "Bob": [
        "Then {number} it is. Do you agree?",
        "You said: there are three reasons\n\nThat was {number}.",
        "A table of {number}\nand a second line\nand a third",
        "x{number}",
    ],
}  # fmt: skip

WAYS = [
    (),
    ("--digest", "0.06"),
    ("--paint-delay", "0.15"),
    ("--folds-from", "1"),
    ("--alternate", "--witness", "agent_state"),
    ("--witness", "furniture"),
    ("--draft", "half a wo"),
    ("--title", "nobody knows", "--digest", "0.06"),
]
"""What the agents' composers and screens are like, in turn."""


WHOLE = ["queued", "pasted", "submitted", "turn_started", "answered"]


@dataclass
class Party:
    """One scripted agent, and what it wrote down."""

    name: str
    log: Path
    pane: str
    ways: tuple[str, ...]
    pid: int

    @property
    def got(self) -> list[LogEntry]:
        return read_got(self.log)

    def of(self, kind: str) -> list[str]:
        return [got.text for got in self.got if got.kind == kind]

    def moves(self, number: signal.Signals) -> None:
        os.kill(self.pid, number)


@dataclass
class Conversation:
    """Two agents, and what was told of them."""

    number: int
    tmux: PrivateTmux
    folder: Path
    turns: int
    parties: list[Party] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)

    @property
    def _asks(self) -> bool:
        return self.number % 4 == 3

    async def take_place(self, server: Server) -> None:
        for name in ("Ann", "Bob"):
            self.parties.append(await self._start(name))
        ann, bob = self.parties
        infos = [(party.name, await server.find(party.pane)) for party in self.parties]
        link = LinkSession(
            server,
            *infos,
            policy=LinkPolicy(budget=self.turns),
            texts=NoticeTexts(spent="That was it."),
            attended=False,
        )
        asking = asyncio.ensure_future(self._cause_questions())
        running = asyncio.ensure_future(link.run(self.events.append))
        try:
            await wait_until_async(lambda: self.events or running.done(), PATIENCE)
            for party in self.parties:
                if "--draft" in party.ways:
                    party.moves(signal.SIGUSR1)
            # Not before the draft is gone, or both were one.
            await asyncio.sleep(0.2)
            self.tmux.run("send-keys", "-l", "-t", ann.pane, "begin")
            await asyncio.sleep(0.1)
            self.tmux.run("send-keys", "-t", ann.pane, "Enter")
            await asyncio.wait_for(running, PATIENCE)
            await wait_until_async(lambda: all("That was it." in party.of("message") for party in (ann, bob)), PATIENCE)
        finally:
            for task in (asking, running):
                task.cancel()
            await asyncio.gather(asking, running, return_exceptions=True)
            self.tmux.run("kill-session", "-t", f"Ann{self.number}")
            self.tmux.run("kill-session", "-t", f"Bob{self.number}")

    async def _start(self, name: str) -> Party:
        log = self.folder / f"{name}{self.number}"
        answers = self.folder / f"{name}.json"
        ways = WAYS[(self.number * 2 + (name == "Bob")) % len(WAYS)]
        words = [sys.executable, "-m", "streamrelay.testing.agent", "--log", str(log), "--answers", str(answers)]
        words += ["--works", "0.4", "--asks", "any", "--asks-during-work"] if self._asks else ["--works", "0.1"]
        pane = self.tmux.new_session(f"{name}{self.number}", [*words, *ways], columns=90, lines=30)
        pid = int(self.tmux.run("display-message", "-p", "-t", pane, "#{pane_pid}"))
        party = Party(name, log, pane, ways, pid)
        await wait_until_async(lambda: party.of("ready") or party.got, PATIENCE)
        return party

    async def _cause_questions(self) -> None:
        """Let an agent ask a question during its work now and then, until a person answers it."""
        chance = random.Random(self.number)
        while self._asks:
            party = chance.choice(self.parties)
            heard = len(party.of("message")) + chance.randint(1, 3)
            while len(party.of("message")) < heard:
                await asyncio.sleep(0.02)
            await asyncio.sleep(chance.uniform(0.0, 0.2))
            party.moves(signal.SIGUSR1)
            await asyncio.sleep(chance.uniform(0.1, 0.8))
            party.moves(signal.SIGUSR2)

    def judge(self) -> None:
        ann, bob = self.parties
        assert ann.of("message")[0] == "begin"
        delivered = [event for event in self.events if isinstance(event, RelayDelivered)]
        assert len(delivered) == self.turns
        for speaker, listener, begins in ((ann, bob, 0), (bob, ann, 1)):
            said = [f"[From {speaker.name}] {text}" for text in speaker.of("said")]
            got = listener.of("message")[begins:]
            assert got[-1] == "That was it."
            # What was said after the budget was spent goes nowhere.
            assert got[:-1] == said[: len(got) - 1]
            assert [event.text for event in delivered if event.speaker.startswith(speaker.name)] == got[:-1]
        told = [event.text for event in self.events if isinstance(event, Text) and event.origin == "program"]
        assert "begin" not in told
        assert not [event for event in self.events if isinstance(event, RelayWithheld)]
        assert [party.of("key") for party in self.parties] == [[], []]
        self._judge_receipts(delivered)

    def _judge_receipts(self, delivered: list[RelayDelivered]) -> None:
        receipts = [event for event in self.events if isinstance(event, Receipt)]
        for number, event in enumerate(delivered, 1):
            own = [receipt for receipt in receipts if receipt.message_id == event.message_id]
            waits = [receipt for receipt in own if receipt.state == "queued" and receipt.reason]
            states = [receipt.state for receipt in own if receipt not in waits and receipt.state != "painted"]
            # The link may be closed before the last answer is over.
            assert states == (WHOLE if number < self.turns else WHOLE[: max(3, len(states))]), own


async def converse(tmux: PrivateTmux, folder: Path, *, count: int, turns: int, side_by_side: int) -> None:
    tmux.new_session("keeper", ["sleep", "1000"])
    for name, answers in ANSWERS.items():
        (folder / f"{name}.json").write_bytes(msgspec.json.encode(answers))
    sprite = parse_profile("sprite", SPRITE, source="sprite.toml")
    seats = asyncio.Semaphore(side_by_side)
    async with streamrelay.connect(tmux=tmux.binary, socket_path=tmux.socket_path, profiles=[sprite]) as server:

        async def one(conversation: Conversation) -> None:
            async with seats:
                await conversation.take_place(server)
            conversation.judge()

        async with asyncio.TaskGroup() as tasks:
            for number in range(count):
                tasks.create_task(one(Conversation(number, tmux, folder, turns)))


@pytest.mark.requirement("LNK-02", "DLV-01a", "DLV-08")
async def test_a_few_conversations_lose_nothing_and_double_nothing(private_tmux: PrivateTmux, tmp_path: Path) -> None:
    await converse(private_tmux, tmp_path, count=4, turns=6, side_by_side=4)


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.requirement("LNK-02", "DLV-01a", "DLV-08", "REL-02b")
async def test_a_hundred_conversations_of_twenty_turns(private_tmux: PrivateTmux, tmp_path: Path) -> None:
    await converse(private_tmux, tmp_path, count=100, turns=20, side_by_side=20)
