"""Members whose client misbehaves: the session goes on, or ends with a reason, and stores what was shown."""

import sqlite3
from collections.abc import AsyncIterator, Sequence

import pytest

from streamrelay.council.clients.contract import AIClient, ChatMessage
from streamrelay.council.events import SessionEnded
from streamrelay.council.members import Member
from streamrelay.council.session import MAX_ANSWER, CouncilSession
from streamrelay.council.store import CouncilStore
from streamrelay.errors import StorageError
from tests.council.test_session import Onlooker, scripted, stored


class Pieces(AIClient):
    """Says these pieces, then fails with the error if there is one."""

    def __init__(self, *pieces: str, error: Exception | None = None) -> None:
        self._pieces, self._error = pieces, error

    async def stream_response(self, messages: Sequence[ChatMessage], system_prompt: str) -> AsyncIterator[str]:
        for piece in self._pieces:
            yield piece
        if self._error is not None:
            raise self._error

    async def health_check(self) -> bool:
        return True


async def heard(store: CouncilStore, **clients: AIClient) -> tuple[list[str], Onlooker]:
    """Hold a session of one round; Ada and Bob answer with these clients."""

    def make(member: Member, model: str) -> AIClient:
        return clients[member.name]

    async with await CouncilSession.begin(store, scripted("Ada", "Bob"), make) as session:
        on = Onlooker(session)
        session.say("Hello")
        await on.until(lambda on: on.rests(1))
    return await stored(store, session.id), on


@pytest.mark.requirement("COU-07")
async def test_a_defect_of_a_client_fails_the_turn_and_not_the_session(
    store: CouncilStore, caplog: pytest.LogCaptureFixture
) -> None:
    defect = Pieces("So far", error=RuntimeError("sk-secret-key"))
    said, _ = await heard(store, Ada=defect, Bob=Pieces("Fine."))
    assert said[:3] == ["You: Hello", "Ada: So far", "Bob: Fine."]
    assert "RuntimeError" in caplog.text
    assert "sk-secret-key" not in caplog.text


@pytest.mark.requirement("COU-11")
async def test_half_a_surrogate_pair_is_joined_or_replaced(store: CouncilStore) -> None:
    said, on = await heard(store, Ada=Pieces("a \ud83e", "\udd14 b"), Bob=Pieces("half \ud83e"))
    assert said == ["You: Hello", "Ada: a 🤔 b", "Bob: half �"]
    assert on.ends == said[1:]


@pytest.mark.requirement("COU-11")
async def test_an_answer_without_end_is_cut_off_with_a_notice(store: CouncilStore) -> None:
    said, on = await heard(store, Ada=Pieces(*["x" * 30_000] * 20), Bob=Pieces("Fine."))
    assert said[1] == "Ada: " + "x" * MAX_ANSWER
    assert said[2] == "Bob: Fine."
    assert f"The answer of Ada has more than {MAX_ANSWER:,} characters: it is cut off." in on.notices


@pytest.mark.requirement("COU-11")
async def test_a_full_disk_in_mid_answer_ends_the_session_with_a_notice(
    store: CouncilStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    put = store.put

    async def full(session: str, entry: object, *more: object, **words: object) -> None:
        if getattr(entry, "author", "") == "Ada":
            raise StorageError("database or disk is full") from sqlite3.OperationalError()
        await put(session, entry, *more, **words)

    config = scripted("Ada", "Bob")
    async with await CouncilSession.begin(store, config, lambda member, model: Pieces("Fine.")) as session:
        on = Onlooker(session)
        monkeypatch.setattr(store, "put", full)
        session.say("Hello")
        await session.ended.wait()
        await on.until(lambda on: isinstance(on.seen[-1], SessionEnded))
    assert "The session ends: database or disk is full" in on.notices
    assert await stored(store, session.id) == ["You: Hello"]
