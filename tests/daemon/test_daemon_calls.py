"""Every call of the service crosses the socket, there and back, and so does every error."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import httpx
import msgspec
import pytest

from streamrelay import errors
from streamrelay.council.config import CouncilConfig
from streamrelay.council.context import Pinned
from streamrelay.council.events import AnswerGrew, SessionEnded
from streamrelay.council.members import Member
from streamrelay.daemon.client import DaemonClient
from streamrelay.daemon.problems import error_of, problem_of, status_of
from streamrelay.errors import DaemonLost, DaemonMissing, StreamrelayError, UsageError
from streamrelay.links.link import LinkPolicy
from streamrelay.service import api
from streamrelay.testing.waiting import wait_until_async
from tests.daemon.conftest import PATIENCE, MemoryService, Served, failure

SEND = api.SendMessage(to="Änn \x1b[201~", text="\0\x1b😀", caller="%7", direct=True, policy=LinkPolicy(budget=3))
START = api.StartSession(agent="claude", arguments=("-p", "a b"), environment={"A": "b=c"}, columns=90)
HOOK = api.HookReport(agent="claude", pane="%1", payload={"a": [1, None, "ü"]}, environment={"HOME": "/x"})
SEARCH = api.SearchHistory(words="a & b", agent="cat", since=2.5, until=1e9, transcripts=False, any_word=True)
PULSE = api.TakePulse(scope=["a b"], parts=["system", "history"], among=("%1",))
RELAY = api.CreateRelay(participants=[api.RelayParticipant(session="%1", name="Ann")], budget=9)
CIRCLE = api.StartGathering(
    rhythm="weekly",
    structure="2-2-2",
    participants=[
        api.Invited(name="Sägé", number=1, agent="claude", arguments=("-p",)),
        api.Invited(name="B", number=2),
    ],
    beat_interval_seconds=0.5,
    listening="digest",
)

OPENING = api.OpenCouncil(
    config=CouncilConfig(member=(Member(name="Ada", vendor="openai", model="gpt-x", price=(1.0, 2.0)),)),
    pinned=[Pinned("plan.md", "ü")],
    keys={"OPENAI_API_KEY": "k"},
)
ASKING = api.AskCouncil(question="ü?", wait_seconds=1.5, caller="%1")

Call = Callable[[Any], Awaitable[object]]
CALLS: dict[str, tuple[Call, object]] = {
    "status": (lambda s: s.status(), "status"),
    "peers": (lambda s: s.peers(), "peers"),
    "sessions": (lambda s: s.sessions(), "sessions"),
    "start_session": (lambda s: s.start_session(START), START),
    "end_session": (lambda s: s.end_session("a/b %c?d#e&f=ü"), "a/b %c?d#e&f=ü"),
    "hear_hook": (lambda s: s.hear_hook(HOOK), HOOK),
    "send_message": (lambda s: s.send_message(SEND), SEND),
    "get_delivery": (lambda s: s.get_delivery("x/y z%"), "x/y z%"),
    "list_deliveries": (lambda s: s.list_deliveries("%1", "all"), ("list_deliveries", "%1", "all")),
    "cancel_delivery": (lambda s: s.cancel_delivery("x/y z%", "%2"), ("cancel_delivery", "x/y z%", "%2")),
    "dialogs": (lambda s: s.dialogs("%1"), ("dialogs", "%1")),
    "answer_dialog": (lambda s: s.answer_dialog("a/b", "d-1", 1), ("answer_dialog", "a/b", "d-1", 1)),
    "interrupt": (lambda s: s.interrupt("a/b", "ü\n?"), ("interrupt", "a/b", "ü\n?")),
    "links": (lambda s: s.links("%1"), ("links", "%1")),
    "create_link": (
        lambda s: s.create_link("%1", "%2", LinkPolicy(budget=1), ("Änn", "Bob"), allow_shell=True),
        ("%1", "%2", LinkPolicy(budget=1), ("Änn", "Bob"), True),
    ),
    "extend_link": (lambda s: s.extend_link("link-1", 4), ("link-1", 4)),
    "close_link": (lambda s: s.close_link("link-1", "%1", "bye"), ("link-1", "%1", "bye")),
    "relays": (lambda s: s.relays(), "relays"),
    "create_relay": (lambda s: s.create_relay(RELAY), RELAY),
    "stop_relay": (lambda s: s.stop_relay("relay-1"), "relay-1"),
    "start_gathering": (lambda s: s.start_gathering(CIRCLE), CIRCLE),
    "gatherings": (lambda s: s.gatherings(), "gatherings"),
    "gathering": (lambda s: s.gathering("g-1"), "g-1"),
    "pass_piece": (lambda s: s.pass_piece("g-1", 2, "s-1"), ("g-1", 2, "s-1")),
    "say_in_gathering": (lambda s: s.say_in_gathering("g-1", 2, "ü\n?"), ("g-1", 2, "ü\n?")),
    "pause_gathering": (lambda s: s.pause_gathering("g-1", False), ("g-1", False)),
    "close_gathering": (lambda s: s.close_gathering("g-1", True), ("g-1", True)),
    "gathering_transcript": (lambda s: s.gathering_transcript("g-1"), ("transcript", "g-1")),
    "open_council": (lambda s: s.open_council(OPENING), OPENING),
    "councils": (lambda s: s.councils(), "councils"),
    "council_transcript": (lambda s: s.council_transcript("c-1"), ("council_transcript", "c-1")),
    "enter_council": (lambda s: s.enter_council("c-1", "ü\n?"), ("enter_council", "c-1", "ü\n?")),
    "rest_council": (lambda s: s.rest_council("c-1", 2.5), ("rest_council", "c-1", 2.5)),
    "ask_council": (lambda s: s.ask_council(ASKING), ASKING),
    "pause": (lambda s: s.pause(False, "link-1"), ("pause", False, "link-1")),
    "mute": (lambda s: s.mute("%1", True), ("mute", "%1", True)),
    "stop_all": (lambda s: s.stop_all(), "stop_all"),
    "watch": (lambda s: s.watch("%1", True), ("watch", "%1", True)),
    "pulse": (lambda s: s.pulse(PULSE), PULSE),
    "latest": (lambda s: s.latest(7), ("latest", 7)),
    "search_history": (lambda s: s.search_history(SEARCH), SEARCH),
}


def plain(value: object) -> object:
    return msgspec.json.decode(msgspec.json.encode(value))


@pytest.mark.parametrize("name", CALLS)
async def test_a_call_is_asked_and_answered_as_it_is_in_process(served: Served, name: str) -> None:
    call, asked = CALLS[name]
    if name == "extend_link":
        await served.service.create_link("%1", "%2")
    async with served.client() as client:
        answer = await call(client)
    # A sequence comes out as a list, whatever it was.
    assert plain(asked) in map(plain, served.service.asked)
    direct = MemoryService()
    direct.made = [link for link in served.service.made if name != "create_link"]
    assert plain(answer) == plain(await call(direct))
    assert type(answer) is type(await call(direct))


async def test_a_council_is_followed_to_its_end(served: Served) -> None:
    async with served.client() as client:
        seen = [event async for event in client.follow_council("c-1")]
    assert seen == [AnswerGrew("t1", "a\nü"), SessionEnded("c-1")]
    assert ("follow_council", "c-1") in served.service.asked


async def test_the_journal_is_read(served: Served) -> None:
    await served.service.publish("one", "two", "three")
    async with served.client() as client:
        assert await client.read_since(1, "%1", 1) == served.service.journal[1:2]
        assert await client.read_since(0, "%9") == []


def every_error() -> list[StreamrelayError]:
    def tree(kind: type[StreamrelayError]) -> list[type[StreamrelayError]]:
        return [kind, *(one for child in kind.__subclasses__() for one in tree(child))]

    return [
        kind("f.toml", "a.b", "is odd") if kind is errors.ConfigError else kind("it is so", data={"pane": "%1"})  # type: ignore[call-arg]
        for kind in tree(StreamrelayError)
        if kind.__module__ == "streamrelay.errors"
    ]


@pytest.mark.parametrize("error", every_error(), ids=lambda error: error.code)
async def test_an_error_is_raised_as_what_it_was(served: Served, error: StreamrelayError) -> None:
    served.service.raises = error
    async with served.client() as client:
        with pytest.raises(StreamrelayError) as raised:
            await client.sessions()
    assert failure(raised.value) == failure(error)


def test_what_an_error_is_about_may_be_anything() -> None:
    problem = problem_of(UsageError("no", data={"where": (1, {"a"}), "odd": object}))
    assert problem.data == {"where": (1, ["a"]), "odd": "<class 'object'>"}
    unknown = error_of(type(problem)(code="of_the_future", message="m", hint="h"))
    assert (type(unknown), unknown.message, unknown.hint) == (StreamrelayError, "m", "h")
    assert {status_of(one) for one in every_error()} >= {400, 404, 409, 410, 500, 502, 503, 504, 507}


async def test_a_defect_is_told_without_its_words_and_the_daemon_goes_on(served: Served) -> None:
    served.service.raises = ValueError("a secret of a pane")
    async with served.client() as client:
        with pytest.raises(StreamrelayError, match="has a defect") as raised:
            await client.sessions()
        assert type(raised.value) is StreamrelayError
        served.service.raises = None
        assert await client.sessions()


def http(served: Served) -> httpx.AsyncClient:
    transport = httpx.AsyncHTTPTransport(uds=str(served.address.socket))
    return httpx.AsyncClient(transport=transport, base_url="http://localhost", timeout=PATIENCE)


@pytest.mark.parametrize(
    ("method", "path", "content", "status", "words"),
    [
        ("POST", "/v1/messages", b"{", 400, "not a JSON object"),
        ("POST", "/v1/messages", b"[]", 400, "not a JSON object"),
        ("POST", "/v1/messages", b'{"to": "%1", "text": "\xff"}', 400, "not a JSON object"),
        pytest.param(
            "POST", "/v1/messages", b'{"to": ' + b"[" * 100_000, 400, "not a JSON object", id="nested too deeply"
        ),
        ("POST", "/v1/messages", b'{"to": "%1"}', 400, "missing required field `text`"),
        ("POST", "/v1/messages", b'{"to": 1, "text": ""}', 400, "Expected `str`"),
        ("POST", "/v1/messages", b'{"to": "%1", "text": "", "direkt": true}', 400, "unknown field: direkt"),
        ("GET", "/v1/journal?seq=x", None, 400, "Expected `int`"),
        ("GET", "/v1/journal?seq=1&seqq=2", None, 400, "unknown field: seqq"),
        ("GET", "/v1/events?after=x", None, 400, "Expected `int"),
        ("GET", "/v1/journal?seq=99999999999999999999", None, 400, "`$.seq`"),
        ("GET", "/v1/journal?seq=0&limit=99999999999999999999", None, 400, "`$.limit`"),
        ("GET", "/v1/journal?seq=0&limit=1001", None, 400, "`$.limit`"),
        ("GET", "/v1/events?after=-99999999999999999999", None, 400, "`$.after`"),
        ("POST", "/v1/links", b'{"a": "%1", "b": "%2", "policy": {"per_minute": -1}}', 400, "`$.policy.per_minute`"),
        ("POST", "/v1/links", b'{"a": "%1", "b": "%2", "policy": {"budget": 1000000001}}', 400, "`$.policy.budget`"),
        ("POST", "/v1/relays", b'{"participants": [], "budget": -1}', 400, "`$.budget`"),
        ("POST", "/v1/links/l/extend", b'{"deliveries": 0}', 400, "`$.deliveries`"),
        pytest.param(
            "POST", "/v1/links/l/extend", b'{"deliveries": ' + b"9" * 4300 + b"}", 400, "`$.deliveries`", id="too many"
        ),
        ("GET", "/v1/nothing", None, 404, "GET /v1/nothing: Not Found"),
        ("DELETE", "/v1/status", None, 405, "DELETE /v1/status: Method Not Allowed"),
    ],
)
async def test_what_makes_no_sense_is_refused_in_words(
    served: Served, method: str, path: str, content: bytes | None, status: int, words: str
) -> None:
    async with http(served) as client:
        response = await client.request(method, path, content=content)
    problem = response.json()
    assert (response.status_code, problem["code"]) == (status, "usage")
    assert words in problem["message"]


async def test_a_body_has_a_limit(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("streamrelay.daemon.app.MAX_BODY_SIZE", 1000)
    async with served.client() as client:
        with pytest.raises(UsageError, match="more than 1000 bytes"):
            await client.send_message(api.SendMessage(to="%1", text="x" * 2000))
        assert (await client.send_message(api.SendMessage(to="%1", text="x" * 500))).message_id


async def test_nobody_listens(served: Served) -> None:
    async with DaemonClient(served.address.socket.with_name("other")) as client:
        with pytest.raises(DaemonMissing, match="no daemon listens"):
            await client.status()
        with pytest.raises(DaemonMissing):
            await anext(aiter(client.events()))
        assert not await client.is_healthy()


async def asked_and_waiting(served: Served, client: DaemonClient) -> "asyncio.Task[list[api.Session]]":
    """Ask for something, and return when the service has it and does not answer."""
    asking = asyncio.create_task(client.sessions())
    await wait_until_async(lambda: "sessions" in served.service.asked, PATIENCE, "the service to be asked")
    return asking


async def test_the_daemon_goes_away_in_the_midst_of_a_question(served: Served) -> None:
    """It changes nothing, so whoever is there now is asked."""
    served.service.waits = asyncio.Event()
    async with served.client() as client:
        asking = await asked_and_waiting(served, client)
        served.server.stop()
        with pytest.raises(DaemonMissing, match="no daemon listens"):
            await asking
    served.service.waits.set()


async def test_the_daemon_goes_away_in_the_midst_of_a_change(served: Served) -> None:
    """Nobody can tell what became of it."""
    served.service.waits = asyncio.Event()
    async with served.client() as client:
        asking = asyncio.create_task(client.end_session("%7"))
        await wait_until_async(lambda: "%7" in served.service.asked, PATIENCE, "the service to be asked")
        served.server.stop()
        with pytest.raises(DaemonLost, match="went away"):
            await asking
    served.service.waits.set()


async def test_an_answer_that_does_not_come_is_not_waited_for(served: Served) -> None:
    served.service.waits = asyncio.Event()
    async with DaemonClient(served.address.socket, timeout=0.05) as client:
        with pytest.raises(DaemonLost, match="did not answer in time"):
            await client.sessions()
    served.service.waits.set()


async def test_a_call_under_way_is_answered_before_the_end(served: Served) -> None:
    served.service.waits = asyncio.Event()
    async with served.client() as client:
        asking = await asked_and_waiting(served, client)
        served.server.stop()
        await asyncio.sleep(0)
        served.service.waits.set()
        assert await asking


async def test_health_and_figures(served: Served) -> None:
    async with served.client() as client:
        assert await client.is_healthy()
        await client.sessions()
        await served.service.publish("one")
        stream = client.events(0)
        await anext(aiter(stream))
        page = await client.metrics()
        await stream.aclose()
    for line in (
        'streamrelay_http_request_seconds_count{operation="sessions",status="200"} 1.0',
        "streamrelay_sessions 2.0",
        'streamrelay_deliveries{state="queued"} 3.0',
        "streamrelay_problems 1.0",
        "streamrelay_subscribers 1.0",
        "streamrelay_lost_events_total 0.0",
    ):
        assert line in page.splitlines(), page
