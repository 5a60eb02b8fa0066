"""The client of OpenCode's HTTP API against servers on loopback that answer as expected, or not at all."""

import os
import threading
from collections.abc import Iterator, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import msgspec
import pytest

from streamrelay.agents.lanes import opencode
from streamrelay.agents.lanes.lane import LaneAddress
from streamrelay.agents.lanes.opencode import OpenCodeLane
from streamrelay.agents.witnesses.process import AgentProcess

LONG = "A title that is longer than what the terminal title shows of it"


class Replies:
    """A server that gives a reply of the test for each path, as bytes or as JSON."""

    def __init__(self) -> None:
        self.replies: dict[str, Any] = {
            "/global/health": {"healthy": True, "version": "1.18.33"},
            "/session": [session("ses_1", "A conversation")],
            "/session/status": {},
            "/session/ses_1/message": [],
        }
        self.posted: list[dict[str, Any]] = []
        replies = self

        class ReplyHandler(BaseHTTPRequestHandler):
            def log_message(self, *_: object) -> None:
                """Print nothing."""

            def do_GET(self) -> None:
                self._send(replies.replies.get(self.path.partition("?")[0]))

            def do_POST(self) -> None:
                replies.posted.append(msgspec.json.decode(self.rfile.read(int(self.headers["Content-Length"]))))
                self._send(None)

            def _send(self, reply: Any) -> None:
                body = reply if isinstance(reply, bytes) else msgspec.json.encode(reply)
                self.send_response(404 if reply is None else 200)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), ReplyHandler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"
        threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


def session(number: str, title: str, **more: object) -> dict[str, object]:
    return {"id": number, "title": title, "directory": "/work", **more}


def process(**environment: str) -> AgentProcess:
    return AgentProcess(os.getpid(), os.getuid(), 0.0, Path("/"), environment, frozenset())


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Replies]:
    replies = Replies()

    def urls(processes: Sequence[AgentProcess]) -> list[str]:
        return [replies.url]

    # This process listens on more ports than that one: pytest's workers, other tests.
    monkeypatch.setattr(opencode, "_urls", urls)
    yield replies
    replies.close()


async def find(title: str, **environment: str) -> LaneAddress | str:
    lane = OpenCodeLane(lambda: [process(**environment)])
    try:
        return await lane.find(title)
    finally:
        await lane.close()


@pytest.mark.requirement("DLV-10")
async def test_the_session_on_the_screen_is_found_by_the_title_that_the_terminal_shows(server: Replies) -> None:
    server.replies["/session"] = [session("ses_1", "A conversation"), session("ses_2", LONG)]
    server.replies["/session/status"] = {"ses_2": {"type": "busy"}}
    assert await find("OC | A conversation") == LaneAddress("opencode", server.url, "ses_1")
    assert await find(f"OC | {LONG[:37]}...") == LaneAddress("opencode", server.url, "ses_2", is_busy=True)
    assert await find("OC | Another") == "no_session"
    assert await find("OpenCode") == "no_session"
    assert await find("OC | A conversation", OPENCODE_SERVER_PASSWORD="secret") == "protected"  # noqa: S106  # a fake
    server.replies["/session"] = [session("ses_1", "A conversation", parentID="ses_0")]
    assert await find("OC | A conversation") == "no_session"


@pytest.mark.requirement("DLV-10")
@pytest.mark.parametrize("path", ["/global/health", "/session", "/session/status"])
@pytest.mark.parametrize(
    "reply",
    [None, b"", b"{", b"[" * 100_000, b"\xff\xfe", {"id": 1}, [1], [{"id": None, "title": []}], "text", {"x": "y"}],
    ids=lambda reply: str(reply)[:12],
)
async def test_a_reply_of_another_form_closes_the_lane(server: Replies, path: str, reply: object) -> None:
    server.replies[path] = reply
    assert await find("OC | A conversation") == "unreadable"


@pytest.mark.requirement("DLV-10")
async def test_a_reply_without_end_closes_the_lane(server: Replies, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(opencode, "MAX_BYTES", 1_000)
    server.replies["/session"] = [session("ses_1", "A conversation", more="x" * 2_000)]
    assert await find("OC | A conversation") == "unreadable"


@pytest.mark.requirement("DLV-10")
async def test_a_message_keeps_agent_and_model_of_the_session_and_ids_rise(server: Replies) -> None:
    model = {"providerID": "loopback", "modelID": "small", "variant": "high"}
    said = {"info": {"id": "msg_0", "role": "user", "agent": "plan", "model": model}}
    server.replies["/session/ses_1/message"] = [said, {"info": {"id": "msg_1", "role": "assistant"}}]
    lane = OpenCodeLane(lambda: [process()])
    address = await lane.find("OC | A conversation")
    assert isinstance(address, LaneAddress)
    ids = [lane.reference(address) for _ in range(100)]
    assert [each.reference for each in ids] == sorted({each.reference for each in ids})
    # This server refuses each message, so the lane may be left for another one.
    assert await lane.hand_over(ids[0], "hello") == "not_sent"
    await lane.close()
    [posted] = server.posted
    assert posted == {
        "messageID": ids[0].reference,
        "parts": [{"type": "text", "text": "hello"}],
        "agent": "plan",
        "model": {"providerID": "loopback", "modelID": "small"},
        "variant": "high",
    }


@pytest.mark.requirement("DLV-10")
@pytest.mark.parametrize(
    ("replies", "state"),
    [
        pytest.param([], "held", id="no reply yet"),
        pytest.param([("msg_1", {})], "held", id="a reply to an earlier message"),
        pytest.param([("msg_2", {})], "started", id="a reply has begun"),
        pytest.param([("msg_3", {})], "started", id="a reply to it and a later one has begun"),
        pytest.param([("msg_2", {"finish": "tool-calls"})], "started", id="a tool call is no end"),
        pytest.param([("msg_3", {"finish": "stop"})], "answered", id="answered together with a later one"),
        pytest.param([("msg_2", {"error": {"name": "MessageAbortedError"}})], "answered", id="interrupted"),
    ],
)
async def test_a_message_is_answered_by_the_reply_to_it_or_to_a_later_one(
    server: Replies, replies: list[tuple[str, dict[str, Any]]], state: str
) -> None:
    server.replies["/session/ses_1/message"] = [
        {
            "info": {
                "id": f"msg_reply{number}", "role": "assistant", "parentID": parent,
                "time": {"created": 1, **({"completed": 2} if more else {})}, **more,
            }
        }
        for number, (parent, more) in enumerate(replies)
    ]  # fmt: skip
    lane = OpenCodeLane(lambda: [process()])
    handed = opencode.Handed("opencode", server.url, "ses_1", "msg_2")
    assert await lane.states([handed]) == {"msg_2": state}
    await lane.close()
