"""A daemon that ends while a member of its council answers: the resumed session has asked once, and has it all."""

import asyncio
import os
import signal
import sys
from pathlib import Path

import pytest

from streamrelay.council.config import parse_config
from streamrelay.daemon.client import DaemonClient
from streamrelay.service.api import OpenCouncil
from streamrelay.testing.agent import read_got
from streamrelay.testing.tmux import PrivateTmux
from streamrelay.testing.waiting import wait_until_async
from tests.daemon.exchange import PATIENCE, Exchange, Life

WORKS = 1.5
"""Seconds that a member takes for an answer: long enough to be killed in."""


class Table(Exchange):
    """Two agents that are the members of a council."""

    async def __aenter__(self) -> "Table":
        self.folder.mkdir()
        await self._nursery.__aenter__()
        for name in ("Kit", "Lou"):
            words = [sys.executable, "-m", "streamrelay.testing.agent", "--log", str(self.folder / name)]
            words += ["--works", str(WORKS), "--answer", f"{name} says {{number}}"]
            self.tmux.new_session(name, words, columns=100, lines=40)
        for name in ("Kit", "Lou"):
            await wait_until_async(lambda: read_got(self.folder / name), PATIENCE, name)  # noqa: B023
        return self

    async def start_daemon(self, client: DaemonClient) -> Life:
        life = await self._nursery.bear()
        await self._until_open(life, client)
        return life

    def has(self, name: str, kind: str) -> bool:
        return any(got.kind == kind for got in read_got(self.folder / name))


@pytest.mark.requirement("COU-11", "DLV-07a")
@pytest.mark.parametrize("answers_meanwhile", [True, False], ids=["answered meanwhile", "answered later"])
@pytest.mark.parametrize("ends_by", [signal.SIGKILL, signal.SIGTERM], ids=["killed", "stopped"])
async def test_a_turn_that_the_end_of_a_daemon_cuts_is_resumed_without_asking_twice(
    private_tmux: PrivateTmux, daemon_folders: Path, answers_meanwhile: bool, ends_by: signal.Signals
) -> None:
    members = "".join(f'[[member]]\nname = "{name}"\nvendor = "pane"\nmodel = "{name}"\n' for name in ("Kit", "Lou"))
    async with Table(private_tmux, daemon_folders / "table", deliveries=0, rounds=0) as table:
        async with DaemonClient(table.address.socket, timeout=PATIENCE) as client:
            life = await table.start_daemon(client)
            config = parse_config(members, "council.toml")
            council = (await client.open_council(OpenCouncil(config=config))).council
            await client.enter_council(council, "Good morning")
            await wait_until_async(lambda: table.has("Kit", "message"), PATIENCE, "Kit to be asked")
            await client.enter_council(council, "And you?")
            os.kill(life.pid, ends_by)
            await life.ended
            if answers_meanwhile:
                await wait_until_async(lambda: table.has("Kit", "said"), PATIENCE, "Kit to answer")
                await asyncio.sleep(WORKS / 5)  # the answer is on the screen a moment after the log has it
            await table.start_daemon(client)
            resumed = await client.open_council(OpenCouncil(resume=council))
            assert (resumed.state, resumed.speaker) == ("ai_generating", "Kit")
            assert await client.rest_council(council, PATIENCE)
            entries = (await client.council_transcript(council)).entries
        said = [(entry.author, entry.text, entry.partial) for entry in entries]
        assert said == [
            ("You", "Good morning", False),
            ("Kit", "Kit says 1", False),
            ("You", "And you?", False),
            ("Lou", "Lou says 1", False),
        ]
        assert [text.count("[You]: Good morning") for text in table.heard("Kit")] == [1]
        (asked,) = table.heard("Lou")
        assert asked.endswith("[You]: Good morning\n\n[Kit]: Kit says 1\n\n[You]: And you?")
