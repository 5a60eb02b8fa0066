"""A council that is killed, or left, at any moment: it resumes with every message that was shown, none twice."""

import asyncio
import json
import os
import random
import subprocess
import sys
import time
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest

from streamrelay.council import coordinator
from streamrelay.council.clients.contract import AIClient, ChatMessage
from streamrelay.council.clients.scripted import ScriptedClient
from streamrelay.council.config import parse_config
from streamrelay.council.members import Member
from streamrelay.council.session import CouncilSession
from streamrelay.council.store import CouncilStore
from streamrelay.errors import AIUnavailable

COMMAND = Path(sys.executable).with_name("streamrelay")
WORDS = " ".join(f"word{number}" for number in range(15))
COUNCIL = "".join(
    f'[[member]]\nname = "{name}"\nvendor = "scripted"\nscript = ["{WORDS}"]\n' for name in ("Ada", "Bob")
)
MAX_RUN = 2.0
"""Seconds; about what the six answers take."""


def shown_until_killed(folder: Path, seconds: float) -> list[dict[str, Any]]:
    """Run a council, type three messages, kill it so long after its first event; return what it showed."""
    (folder / "c.toml").write_text(COUNCIL)
    environment = os.environ | {"XDG_STATE_HOME": str(folder), "XDG_CONFIG_HOME": str(folder)}
    with subprocess.Popen(
        [COMMAND, "council", "--config", folder / "c.toml", "--json", "-q", "--no-daemon"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=environment,
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(b"one\ntwo\n/blind three\n")
        process.stdin.flush()
        shown = [process.stdout.readline()]
        time.sleep(seconds)  # the moment is the random one that the test asks for
        process.kill()
        shown += process.stdout.readlines()
    return [json.loads(line) for line in shown if line.endswith(b"\n")]


def said_by(events: list[dict[str, Any]]) -> dict[str, str]:
    """Return the messages that these events show, by their ids."""
    said: dict[str, str] = {}
    for each in events:
        match each["happening"]:
            case "messageshown":
                said[each["entry"]["id"]] = each["entry"]["text"]
            case "answergrew":
                said[each["id"]] = said.get(each["id"], "") + each["piece"]
            case "revealed":
                said |= {entry["id"]: entry["text"] for entry in each["entries"]}
    return said


def quick(member: Member, _: str) -> AIClient:
    return ScriptedClient(member.script, pause=0.0)


async def check_resumed(store: CouncilStore, said: dict[str, str], typed: list[str]) -> None:
    """Resume the only session of a store: it shows what was `said`, and goes on."""
    (info,) = await store.sessions()
    async with await CouncilSession.resume(store, info.id, quick) as session:
        joined = session.joined
        kept = {entry.id: entry.text for entry in (*joined.entries, *joined.queued)} | {
            entry.id: entry.text for entry, queued in await store.entries(info.id) if queued
        }
        for message, text in said.items():
            assert kept[message].startswith(text.strip())
        await session.wait_until_idle()
        session.say("Go on")
        await session.wait_until_idle()
    entries = await store.entries(info.id)
    assert set(said) <= {entry.id for entry, _ in entries}
    assert max(Counter(entry.id for entry, _ in entries).values()) == 1
    assert not any(queued for _, queued in entries)
    persons = [entry.text for entry, _ in entries if entry.kind == "person"]
    assert persons == [text for text in typed if text in persons] + ["Go on"]
    assert [entry.author for entry, _ in entries][-2:] == ["Ada", "Bob"]


@pytest.mark.requirement("COU-11")
@pytest.mark.sampled(3)
@pytest.mark.parametrize("seed", range(50))
async def test_a_killed_council_resumes_with_all_that_was_shown(tmp_path: Path, seed: int) -> None:
    said = said_by(shown_until_killed(tmp_path, random.Random(seed).uniform(0.0, MAX_RUN)))
    async with CouncilStore(tmp_path / "streamrelay" / "council.db") as store:
        await check_resumed(store, said, ["one", "two", "three"])


class Failing(ScriptedClient):
    """Is unavailable the first three times, so that the person is asked."""

    failures = 3

    async def stream_response(self, messages: Sequence[ChatMessage], system_prompt: str) -> AsyncIterator[str]:
        if self.failures:
            self.failures -= 1
            raise AIUnavailable("not now")
        async for piece in super().stream_response(messages, system_prompt):
            yield piece


@pytest.mark.requirement("COU-11")
@pytest.mark.sampled(6)
@pytest.mark.parametrize("moment", range(1, 51))
async def test_bye_at_any_moment_leaves_a_session_that_resumes(store: CouncilStore, moment: int) -> None:
    config = parse_config(COUNCIL, "council.toml")

    def clients(member: Member, _: str) -> AIClient:
        return (Failing if member.name == "Bob" else ScriptedClient)(member.script, pause=0.002)

    shown: list[dict[str, Any]] = []
    async with await CouncilSession.begin(store, config, clients) as session, session.watch() as events:
        for text in ("one", "two"):
            session.say(text)
        session.say("three", blind=True)
        session.submit(coordinator.StartRound("dissent"))
        async with asyncio.timeout(20):
            async for event in events:
                shown.append(msgspec.to_builtins(event))
                if len(shown) == moment or (session.is_idle and session.status.question):
                    session.say("four")
                    session.submit(coordinator.Bye())
    assert shown[-1]["happening"] == "sessionended"
    assert not session.status.question
    await check_resumed(store, said_by(shown), ["one", "two", "three", "four"])
