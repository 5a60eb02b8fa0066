"""The model on loopback: what it streams in each protocol, how long that takes, and answers that are broken off."""

import contextlib
import http.client
import json
import time
from collections.abc import Iterator
from typing import Any

import pytest

from streamrelay.testing.loopback_model import LoopbackModel, ModelReply, ModelRequest
from streamrelay.testing.waiting import wait_until

TEXT = "Barley and kettle,\n\n- **pilot** `thimble`\n"
TOOLS = [{"name": "tool", "function": {"name": "tool"}, "functionDeclarations": [{"name": "tool"}]}]
ASKED = [{"role": "user", "content": "say it"}]
PROTOCOLS: dict[str, tuple[str, dict[str, Any]]] = {
    "messages": ("/v1/messages", {"messages": ASKED, "stream": True}),
    "responses": ("/v1/responses", {"input": ASKED, "stream": True}),
    "chat": ("/v1/chat/completions", {"messages": ASKED, "stream": True}),
    "contents": (
        "/v1beta/models/any:streamGenerateContent",
        {"contents": [{"role": "user", "parts": [{"text": "say it"}]}]},
    ),
}  # fmt: skip


def post(model: LoopbackModel, path: str, body: dict[str, Any], size: int | None = None) -> bytes:
    """Return the answer, or its first bytes, after which the connection is closed."""
    connection = http.client.HTTPConnection(model.url.removeprefix("http://"), timeout=10)
    with contextlib.closing(connection):
        connection.request("POST", path, json.dumps({"tools": TOOLS, **body}))
        with connection.getresponse() as response:
            return response.read(size)


def events(body: bytes) -> Iterator[dict[str, Any]]:
    for line in body.decode().splitlines():
        if line.startswith("data: ") and line != "data: [DONE]":
            yield json.loads(line.removeprefix("data: "))


def said(event: dict[str, Any]) -> str:
    """Return the new text in an event of any of the protocols."""
    if "candidates" in event:
        return str(event["candidates"][0]["content"]["parts"][0].get("text", ""))
    if "choices" in event:
        return "".join(str(choice["delta"].get("content") or "") for choice in event["choices"])
    delta = event.get("delta") or ""
    return str(delta.get("text", "")) if isinstance(delta, dict) else str(delta)


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("seconds", [0.0, 0.2])
def test_an_answer_is_streamed_whole(protocol: str, seconds: float) -> None:
    path, body = PROTOCOLS[protocol]
    with LoopbackModel(lambda _: ModelReply(TEXT, seconds=seconds)) as model:
        began = time.monotonic()
        pieces = [said(event) for event in events(post(model, path, body))]
        took = time.monotonic() - began
        assert "".join(pieces) == TEXT
        assert len([*filter(None, pieces)]) == 1 if not seconds else len([*filter(None, pieces)]) > 2
        assert took >= seconds
        (answer,) = model.answers
        wait_until(lambda: answer.ended is not None, 5.0)
        assert (answer.asked.said, answer.broken_off) == ("say it", False)


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_client_that_leaves_breaks_the_answer_off(protocol: str) -> None:
    path, body = PROTOCOLS[protocol]
    with LoopbackModel(lambda _: ModelReply(TEXT * 200, seconds=30.0)) as model:
        assert len(post(model, path, body, 20)) == 20
        (answer,) = model.answers
        wait_until(lambda: answer.broken_off, 10.0)
        assert answer.ended is None


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_side_request_gets_no_answer_of_the_script(protocol: str) -> None:
    path, body = PROTOCOLS[protocol]

    def decide(asked: ModelRequest) -> ModelReply:
        raise AssertionError(asked)

    with LoopbackModel(decide, lambda asked: asked.said == "say it") as model:
        assert TEXT not in "".join(map(said, events(post(model, path, body))))
        whole = post(model, path.replace(":streamG", ":g"), {**body, "stream": False})
        assert isinstance(json.loads(whole), dict)
        assert (model.answers, model.asked, model.errors) == ([], [], [])


def test_a_call_over_chat_completions_has_its_arguments() -> None:
    path, body = PROTOCOLS["chat"]
    with LoopbackModel(lambda _: ModelReply("I call.", ("tool", {"to": "Bob"}))) as model:
        deltas = [event["choices"][0]["delta"] for event in events(post(model, path, body)) if event["choices"]]
        (function,) = [delta["tool_calls"][0]["function"] for delta in deltas if "tool_calls" in delta]
        assert (function["name"], json.loads(function["arguments"])) == ("tool", {"to": "Bob"})
        followed = {"messages": [*ASKED, {"role": "tool", "content": "done"}], "stream": True}
        post(model, path, followed)
        assert (model.asked[-1].said, model.asked[-1].result, model.asked[-1].tools) == ("say it", "done", ("tool",))
