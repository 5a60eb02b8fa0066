"""Whole sessions: the vendors' SDKs on loopback, a store, a clock of the test's own; read from the store afterwards."""

import asyncio
import logging
from collections import deque
from collections.abc import Callable
from pathlib import Path

import pytest

from streamrelay.council import coordinator
from streamrelay.council.clients.contract import AIClient
from streamrelay.council.clients.making import make_client
from streamrelay.council.clients.scripted import ScriptedClient
from streamrelay.council.config import CouncilConfig, parse_config
from streamrelay.council.context import Pinned
from streamrelay.council.events import (
    AnswerEnded,
    AnswerGrew,
    CouncilEvent,
    MessageShown,
    Noticed,
    Revealed,
    SessionEnded,
)
from streamrelay.council.export import export
from streamrelay.council.members import Member
from streamrelay.council.session import CouncilSession
from streamrelay.council.store import CouncilStore
from tests.council.vendors import Vendors

PATIENCE = 30.0

THREE = """
[[member]]
name = "Claude"
vendor = "anthropic"
model = "claude-x"
fallback = "claude-mini"
base_url = "{url}"
price = [3, 15]

[[member]]
name = "Gemini"
vendor = "google"
model = "gemini-x"
base_url = "{url}"

[[member]]
name = "Grok"
vendor = "xai"
model = "grok-x"
fallback = "grok-mini"
base_url = "{url}/v1"
"""


@pytest.fixture(autouse=True)
def keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("ANTHROPIC_API_KEY", "GEMINI_API_KEY", "XAI_API_KEY"):
        monkeypatch.setenv(name, "sk-secret-key")


def scripted(*names: str, **more: object) -> CouncilConfig:
    members = "".join(
        f'[[member]]\nname = "{name}"\nvendor = "scripted"\nscript = ["{name} says."]\n' for name in names
    )
    tops = "".join(f"{key} = {str(value).lower()}\n" for key, value in more.items())
    return parse_config(tops + members, "council.toml")


def quick(member: Member, model: str) -> AIClient:
    return ScriptedClient(member.script, pause=0.0) if member.vendor == "scripted" else make_client(member, model)


class Onlooker:
    """What a session showed so far."""

    def __init__(self, session: CouncilSession) -> None:
        self.session = session
        self.seen: list[CouncilEvent] = []
        self._task = asyncio.create_task(self._look())
        self._news = asyncio.Event()

    async def _look(self) -> None:
        async with self.session.watch() as events:
            async for event in events:
                self.seen.append(event)
                self._news.set()

    async def until(self, enough: Callable[["Onlooker"], object]) -> None:
        try:
            async with asyncio.timeout(PATIENCE):
                while not enough(self):
                    self._news.clear()
                    await self._news.wait()
        except TimeoutError:
            raise AssertionError(f"never seen; last: {[type(each).__name__ for each in self.seen]}") from None

    @property
    def notices(self) -> str:
        return "\n".join(event.text for event in self.seen if isinstance(event, Noticed))

    @property
    def ends(self) -> list[str]:
        ended = [event for event in self.seen if isinstance(event, AnswerEnded)]
        return [f"{end.entry.author}: {end.entry.text}" for end in ended if end.entry is not None]

    def rests(self, rounds: int) -> bool:
        machine = self.session.status
        return machine.state == "paused_for_user" and self.session._machine.rounds == rounds


async def stored(store: CouncilStore, session: str) -> list[str]:
    return [f"{entry.author}: {entry.text}" for entry, _ in await store.entries(session) if entry.kind != "notice"]


@pytest.mark.requirement("COU-01a", "COU-02a", "COU-02b", "COU-05", "COU-11")
async def test_two_rounds_of_three_vendors_with_a_message_in_mid_answer(vendors: Vendors, store: CouncilStore) -> None:
    config = parse_config(THREE.format(url=vendors.url), "council.toml")
    vendors.answers["claude-x"] = deque(["A first long answer of mine."])
    vendors.pause = 0.1
    async with await CouncilSession.begin(store, config, quick, pinned=[Pinned("plan.md", "the plan")]) as session:
        on = Onlooker(session)
        await asyncio.sleep(0)
        session.say("What shall we build?")
        await on.until(lambda on: any(isinstance(each, AnswerGrew) for each in on.seen))
        session.say("Keep it small.")
        await on.until(lambda on: on.rests(1))
        session.say("And now?")
        await on.until(lambda on: on.rests(2))
        spent = {each.member: each for each in await session.spent()}
    assert await stored(store, session.id) == [
        "You: What shall we build?",
        "Claude: A first long answer of mine.",
        "You: Keep it small.",
        "Gemini: I am gemini-x.",
        "Grok: I am grok-x.",
        "You: And now?",
        "Claude: A first long answer of mine.",
        "Gemini: I am gemini-x.",
        "Grok: I am grok-x.",
    ]
    bodies = [str(body) for _, body in vendors.seen]
    assert "Keep it small." not in bodies[0]
    assert "[Claude]: A first long answer of mine." in bodies[1]
    assert "Keep it small." in bodies[1]
    assert all("the plan" in body for body in bodies)
    queued = [each for each in on.seen if isinstance(each, MessageShown) and each.queued]
    assert [each.entry.text for each in queued] == ["Keep it small."]
    assert (spent["Claude"].read, spent["Claude"].written) == (2000, 1000)
    assert spent["Claude"].cost == pytest.approx(0.021)
    assert spent["Grok"].cost is None


@pytest.mark.requirement("COU-02a", "COU-07")
async def test_a_cut_stream_is_skipped_and_tried_again_after_the_round(vendors: Vendors, store: CouncilStore) -> None:
    config = parse_config(THREE.format(url=vendors.url), "council.toml")
    vendors.faults["claude-x"] = deque(["cut"])
    async with await CouncilSession.begin(store, config, quick) as session:
        on = Onlooker(session)
        await asyncio.sleep(0)
        session.say("Hello")
        await on.until(lambda on: on.rests(1))
    assert "Claude could not answer (ai_cut_off): it is asked again after the round." in on.notices
    assert (await stored(store, session.id))[-1] == "Claude: I am claude-x."
    assert vendors.requests["anthropic:claude-x"] == 2


@pytest.mark.requirement("COU-07")
async def test_a_fallback_is_asked_for_and_nudged_and_lapses_on_the_clock(
    vendors: Vendors, store: CouncilStore
) -> None:
    config = parse_config(THREE.format(url=vendors.url), "council.toml")
    vendors.faults["grok-x"] = deque(["401"] * 5)
    clock = [0.0]
    async with await CouncilSession.begin(store, config, quick, now=lambda: clock[0]) as session:
        on = Onlooker(session)
        await asyncio.sleep(0)
        session.say("Hello")
        await on.until(lambda on: on.rests(1))
        assert session.status.question == "⚠️ Grok unavailable. Fallback to grok-mini? (/yes | /no)"
        clock[0] = 30.0
        session.submit(coordinator.Pass())
        await on.until(lambda on: "💭 Still deciding?" in on.notices)
        clock[0] = 60.0
        session.submit(coordinator.Pass())
        await on.until(lambda on: "Grok is skipped" in on.notices)
        assert session.status.disabled == ("Grok",)
        session.say("Without Grok")
        await on.until(lambda on: on.rests(2))
        vendors.faults.clear()
        session.submit(coordinator.Retry("Grok"))
        await on.until(lambda on: "✨ Grok rejoined the Council!" in on.notices)
    assert vendors.requests["openai:grok-mini"] == 0
    said = await stored(store, session.id)
    assert said[-1] == "Grok: I am grok-x."
    assert len(said) == 7


@pytest.mark.requirement("COU-10")
async def test_a_blind_round_is_shown_together_and_seen_by_nobody_before(vendors: Vendors, store: CouncilStore) -> None:
    config = parse_config("blind_first = true\n" + THREE.format(url=vendors.url), "council.toml")
    async with await CouncilSession.begin(store, config, quick) as session:
        on = Onlooker(session)
        await asyncio.sleep(0)
        session.say("Your first thoughts?")
        await on.until(lambda on: on.rests(1))
        session.say("And now that you know the others'?")
        await on.until(lambda on: on.rests(2))
    bodies = [str(body) for _, body in vendors.seen]
    assert all("I am" not in body for body in bodies[:3])
    assert "[Gemini]: I am gemini-x." in bodies[3]
    (revealed,) = [each for each in on.seen if isinstance(each, Revealed)]
    assert [entry.author for entry in revealed.entries] == ["Claude", "Gemini", "Grok"]
    first = on.seen.index(revealed)
    assert not any(isinstance(each, AnswerGrew) for each in on.seen[:first])


@pytest.mark.requirement("COU-10")
async def test_dissent_is_a_table_and_a_chair_sums_up(store: CouncilStore) -> None:
    config = scripted("Ada", "Bob")
    scripts = {
        "Ada": ["We need a database.", "none", "Agreed: a file."],
        "Bob": ["A file is enough.", "1. a database | Ada | too heavy"],
    }

    def scripts_of(member: Member, model: str) -> AIClient:
        return ScriptedClient(scripts[member.name], pause=0.0)

    async with await CouncilSession.begin(store, config, scripts_of) as session:
        on = Onlooker(session)
        await asyncio.sleep(0)
        session.say("Where do we keep it?")
        session.submit(coordinator.StartRound("dissent"))
        session.submit(coordinator.StartRound("chair", "Ada"))
        await on.until(lambda on: on.rests(3))
    tables = [each.entry.text for each in on.seen if isinstance(each, MessageShown) and each.entry.author == "Dissent"]
    assert tables == [
        "| Claim | Made by | Disputed by | Why |\n|---|---|---|---|\n| a database | Ada | Bob | too heavy |"
    ]
    assert on.ends[-1] == "Ada: Agreed: a file."


@pytest.mark.requirement("COU-11")
async def test_a_limit_on_the_cost_asks_before_anybody_speaks_again(vendors: Vendors, store: CouncilStore) -> None:
    config = parse_config("cost_limit = 0.005\n" + THREE.format(url=vendors.url), "council.toml")
    async with await CouncilSession.begin(store, config, quick) as session:
        on = Onlooker(session)
        await asyncio.sleep(0)
        session.say("Hello")
        await on.until(lambda on: session.status.question)
        await on.until(lambda on: session.status.speaker is None)
        assert "cost $0.01" in session.status.question
        assert vendors.requests.total() < 3
        session.submit(coordinator.Yes())
        await on.until(lambda on: len(on.ends) == 3)
    assert vendors.requests.total() == 3


@pytest.mark.requirement("COU-11")
async def test_bye_amid_an_answer_leaves_a_session_that_resumes_with_all_that_was_shown(store: CouncilStore) -> None:
    config = scripted("Ada", "Bob")

    def slow(member: Member, model: str) -> AIClient:
        return ScriptedClient(["one two three four five six seven eight"], pause=0.05)

    async with await CouncilSession.begin(store, config, slow) as session:
        on = Onlooker(session)
        await asyncio.sleep(0)
        session.say("Count")
        await on.until(lambda on: sum(isinstance(each, AnswerGrew) for each in on.seen) > 2)
        session.say("Stop")
        session.submit(coordinator.Bye())
        await on.until(lambda on: isinstance(on.seen[-1], SessionEnded))
    shown = "".join(each.piece for each in on.seen if isinstance(each, AnswerGrew))
    entries = await store.entries(session.id)
    partial = next(entry for entry, _ in entries if entry.author == "Ada")
    assert partial.partial
    assert partial.text.startswith(shown.strip())
    assert [f"{entry.author}" for entry, queued in entries if not queued] == ["You", "Ada", "You"]
    async with await CouncilSession.resume(store, session.id, quick) as resumed:
        assert [entry.text for entry in resumed.entries] == [entry.text for entry, _ in entries]
        on = Onlooker(resumed)
        await asyncio.sleep(0)
        resumed.say("Go on")
        await on.until(lambda on: on.rests(2))
    assert [info.id for info in await store.sessions()] == [session.id]
    assert (await store.sessions())[0].title == "Count"


@pytest.mark.requirement("COU-04")
async def test_markers_rotate_over_sessions_of_one_store(tmp_path: Path) -> None:
    drafters = []
    for _ in range(6):
        async with CouncilStore(tmp_path / "c.db") as store:
            session = await CouncilSession.begin(store, scripted("A", "B", "C"), quick)
            drafters.append(session.status.markers.drafter)
    assert drafters == ["A", "B", "C", "A", "B", "C"]


async def test_an_unhealthy_member_is_told_at_the_start(vendors: Vendors, store: CouncilStore) -> None:
    vendors.gone.append("gemini-x")
    config = parse_config(THREE.format(url=vendors.url), "council.toml")
    async with await CouncilSession.begin(store, config, quick) as session:
        on = Onlooker(session)
        await on.until(lambda on: "Gemini does not answer" in on.notices)
        assert session.status.unhealthy == ("Gemini",)


@pytest.mark.requirement("COU-02b", "COU-11")
async def test_no_key_is_stored_exported_shown_or_logged_and_no_content_is_logged(
    vendors: Vendors, store: CouncilStore, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    vendors.answers["claude-x"] = deque(["A private answer."])
    vendors.faults["gemini-x"] = deque(["401", "401"])
    vendors.faults["grok-x"] = deque(["cut"])
    config = parse_config(THREE.format(url=vendors.url), "council.toml")
    async with await CouncilSession.begin(store, config, quick) as session:
        on = Onlooker(session)
        await asyncio.sleep(0)
        session.say("A private question")
        await on.until(lambda on: on.rests(1))
        exported = [await export(store, session.id, as_json=as_json) for as_json in (False, True)]
    assert len(vendors.keys) == 5
    assert all("sk-secret" in headers for headers in vendors.keys)
    assert all("A private answer." in text for text in exported)
    assert "sk-secret" not in f"{on.seen} {exported}"
    for file in tmp_path.iterdir():
        assert b"sk-secret" not in file.read_bytes()
    assert "Gemini could not answer: ai_key_refused" in caplog.text
    assert "sk-secret" not in caplog.text
    assert "private" not in caplog.text
    assert "I am gr" not in caplog.text
