"""A session whose process is killed in a round goes on with that round: who had spoken, who spoke, who was to speak."""

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Sequence
from contextlib import closing
from pathlib import Path

import pytest

from streamrelay.council import coordinator
from streamrelay.council.clients.contract import AIClient, ChatMessage
from streamrelay.council.clients.scripted import ScriptedClient
from streamrelay.council.config import parse_config
from streamrelay.council.events import AnswerGrew, CouncilEvent, Revealed
from streamrelay.council.members import Member
from streamrelay.council.session import ClientFactory, CouncilSession
from streamrelay.council.store import CouncilStore
from streamrelay.testing.waiting import wait_until_async

PATIENCE = 20.0
NAMES = ("Ada", "Bob", "Cy")
COUNCIL = "".join(
    f'[[member]]\nname = "{name}"\nvendor = "scripted"\nscript = ["| claim of {name} | Ada | why |"]\n'
    for name in NAMES
)


class Stuck(ScriptedClient):
    """Says the first words of its answer, then nothing."""

    async def stream_response(self, messages: Sequence[ChatMessage], system_prompt: str) -> AsyncIterator[str]:
        async for piece in super().stream_response(messages, system_prompt):
            yield piece
            if "claim" in piece:
                await asyncio.Event().wait()


class Silent(ScriptedClient):
    """Says nothing."""

    async def stream_response(self, messages: Sequence[ChatMessage], system_prompt: str) -> AsyncIterator[str]:
        await asyncio.Event().wait()
        async for piece in super().stream_response(messages, system_prompt):
            yield piece


class ReadsOn(ScriptedClient):
    """Knows its answers by the names of their turns, as an agent in a pane does."""

    resumes_answers = True


def quick(member: Member, _: str) -> AIClient:
    return ScriptedClient(member.script, pause=0.0)


def reading_on(member: Member, _: str) -> AIClient:
    return ReadsOn(member.script, pause=0.0)


async def killed_while_bob_speaks(folder: Path, kind: str, bob: type[ScriptedClient]) -> Path:
    """Begin a round of a kind, and return a copy of the database that was made while Bob spoke, as a kill leaves it."""

    def clients(member: Member, _: str) -> AIClient:
        return (bob if member.name == "Bob" else ScriptedClient)(member.script, pause=0.0)

    async with (
        CouncilStore(folder / "council.db") as store,
        await CouncilSession.begin(store, parse_config(COUNCIL, "council.toml"), clients) as session,
    ):
        if kind == "dissent":
            session.submit(coordinator.StartRound("dissent"))
        else:
            await session.until_stored(session.say("Which one?", blind=kind == "blind"))

        async def is_bob_on() -> bool:
            stored = {entry.author: entry.text for entry, _ in await store.entries(session.id)}
            return session.status.speaker == "Bob" and (bob is Silent or stored.get("Bob") == "| claim ")

        await wait_until_async(is_bob_on, PATIENCE, "Bob to speak")
        await session.until_stored(session.say("And why?"))
        copy = folder / "killed.db"
        with closing(sqlite3.connect(store.path)) as source, closing(sqlite3.connect(copy)) as target:
            source.backup(target)
        return copy


async def resumed(database: Path, clients: ClientFactory = quick) -> tuple[list[str], list[CouncilEvent]]:
    """Resume the session of a database until nobody speaks; return its transcript and what was shown."""
    seen: list[CouncilEvent] = []

    async def look(session: CouncilSession) -> None:
        async with session.watch() as events:
            async for event in events:
                seen.append(event)

    async with CouncilStore(database) as store:
        (info,) = await store.sessions()
        async with await CouncilSession.resume(store, info.id, clients) as session:
            seen += session.catch_up
            looking = asyncio.create_task(look(session))
            await session.wait_until_idle()
        await looking
        entries = [entry for entry, _ in await store.entries(info.id)]
    assert len({entry.id for entry in entries}) == len(entries)
    return [f"{entry.author}{' (cut)' if entry.partial else ''}: {entry.text}" for entry in entries], seen


def claim(name: str) -> str:
    return f"{name}: | claim of {name} | Ada | why |"


@pytest.mark.requirement("COU-11")
async def test_the_members_behind_the_one_that_was_cut_speak(tmp_path: Path) -> None:
    said, _ = await resumed(await killed_while_bob_speaks(tmp_path, "open", Stuck))
    assert said == ["You: Which one?", claim("Ada"), "Bob (cut): | claim ", "You: And why?", claim("Cy")]


@pytest.mark.requirement("COU-11")
async def test_a_model_of_whose_answer_nothing_came_is_asked_again(tmp_path: Path) -> None:
    said, _ = await resumed(await killed_while_bob_speaks(tmp_path, "open", Silent))
    assert said == ["You: Which one?", claim("Ada"), claim("Bob"), "You: And why?", claim("Cy")]


@pytest.mark.requirement("COU-11")
async def test_an_agent_that_kept_its_answer_is_read_to_its_end(tmp_path: Path) -> None:
    said, seen = await resumed(await killed_while_bob_speaks(tmp_path, "open", Stuck), reading_on)
    assert said == ["You: Which one?", claim("Ada"), claim("Bob"), "You: And why?", claim("Cy")]
    # What the killed process had shown is shown once, before what is new.
    grown = [event.piece for event in seen if isinstance(event, AnswerGrew)]
    assert "".join(grown) == claim("Bob").removeprefix("Bob: ") + claim("Cy").removeprefix("Cy: ")


@pytest.mark.requirement("COU-10", "COU-11")
async def test_a_blind_round_stays_blind_until_all_have_spoken(tmp_path: Path) -> None:
    said, seen = await resumed(await killed_while_bob_speaks(tmp_path, "blind", Silent))
    assert sorted(said[1:]) == sorted([claim("Ada"), claim("Bob"), "You: And why?", claim("Cy")])
    (revealed,) = [event for event in seen if isinstance(event, Revealed)]
    assert [entry.author for entry in revealed.entries] == list(NAMES)
    assert not [event for event in seen if isinstance(event, AnswerGrew)]


@pytest.mark.requirement("COU-10", "COU-11")
async def test_a_table_of_dissent_has_the_claims_from_before(tmp_path: Path) -> None:
    said, _ = await resumed(await killed_while_bob_speaks(tmp_path, "dissent", Silent))
    (table,) = [text for text in said if text.startswith("Dissent:")]
    assert all(f"claim of {name}" in table for name in NAMES)
