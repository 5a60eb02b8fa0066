"""A server on loopback that speaks the streaming protocols of Anthropic, Google and OpenAI, with faults on request."""

import asyncio
import json
from collections import Counter, deque
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Thread
from typing import Any, Literal

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from streamrelay.testing.waiting import wait_until

Fault = Literal["429", "500", "401", "cut", "slow", "malformed"]
Vendor = Literal["anthropic", "google", "openai"]
SLOW = 0.2
"""Seconds between two pieces of a slow stream: longer than a session waits before it shows what has come."""
REFUSALS = {"429": 429, "500": 500, "401": 401}


@dataclass
class Vendors:
    """What the server answers, and what it was asked."""

    url: str = ""
    requests: Counter[str] = field(default_factory=Counter)
    """By vendor and model: answers that were asked for."""
    seen: list[tuple[Vendor, dict[str, Any]]] = field(default_factory=list)
    keys: list[str] = field(default_factory=list)
    answers: dict[str, deque[str]] = field(default_factory=dict)
    """By model; the last one is given again and again."""
    faults: dict[str, deque[Fault]] = field(default_factory=dict)
    """By model, one for each request; none when they are used up."""
    pause: float = 0.0
    """Seconds between two pieces."""
    gone: list[str] = field(default_factory=list)
    """Models that this server does not have."""

    def answer(self, model: str) -> str:
        texts = self.answers.get(model) or deque([f"I am {model}."])
        return texts.popleft() if len(texts) > 1 else texts[0]

    def fault(self, model: str) -> Fault | None:
        faults = self.faults.get(model)
        return faults.popleft() if faults else None


def _pieces(text: str) -> list[str]:
    return [text[at : at + 7] for at in range(0, len(text), 7)]


def _event(data: object, name: str = "") -> str:
    return (f"event: {name}\n" if name else "") + f"data: {json.dumps(data)}\n\n"


def _anthropic(model: str, text: str) -> tuple[list[str], list[str]]:
    usage = {"input_tokens": 1000, "output_tokens": 1}
    message = {
        "id": "msg_1", "type": "message", "role": "assistant", "model": model, "content": [], "stop_reason": None,
        "stop_sequence": None, "usage": usage,
    }  # fmt: skip

    def event(kind: str, **data: object) -> str:
        return _event({"type": kind, **data}, kind)

    block = {"type": "text", "text": ""}
    start = [event("message_start", message=message), event("content_block_start", index=0, content_block=block)]
    middle = [
        event("content_block_delta", index=0, delta={"type": "text_delta", "text": piece}) for piece in _pieces(text)
    ]
    stop = {"stop_reason": "end_turn", "stop_sequence": None}
    end = [
        event("content_block_stop", index=0),
        event("message_delta", delta=stop, usage={"output_tokens": 500}),
        event("message_stop"),
    ]
    return start + middle, end


def _google(_: str, text: str) -> tuple[list[str], list[str]]:
    def candidate(piece: str, **more: object) -> list[object]:
        return [{"content": {"parts": [{"text": piece}], "role": "model"}, "index": 0, **more}]

    usage = {"promptTokenCount": 1000, "candidatesTokenCount": 500, "totalTokenCount": 1500}
    last = {"candidates": candidate("", finishReason="STOP"), "usageMetadata": usage}
    return [_event({"candidates": candidate(piece)}) for piece in _pieces(text)], [_event(last)]


def _openai(model: str, text: str) -> tuple[list[str], list[str]]:
    def chunk(choices: list[object], **more: object) -> str:
        known = {"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": model}
        return _event({**known, "choices": choices, **more})

    def choice(delta: object, finish: str | None = None) -> list[object]:
        return [{"index": 0, "delta": delta, "finish_reason": finish}]

    usage = {"prompt_tokens": 1000, "completion_tokens": 500, "total_tokens": 1500}
    end = [chunk(choice({}, "stop")), chunk([], usage=usage), "data: [DONE]\n\n"]
    return [chunk(choice({"content": piece})) for piece in _pieces(text)], end


_PROTOCOLS = {"anthropic": _anthropic, "google": _google, "openai": _openai}


def _app(vendors: Vendors) -> Starlette:
    async def respond(vendor: Vendor, model: str, body: dict[str, Any]) -> Response:
        vendors.requests[f"{vendor}:{model}"] += 1
        vendors.seen.append((vendor, body))
        fault = vendors.fault(model)
        if fault in REFUSALS:
            error = {"error": {"type": "e", "code": REFUSALS[fault], "message": "the key is sk-secret", "status": "E"}}
            return JSONResponse(error, REFUSALS[fault])
        start, end = _PROTOCOLS[vendor](model, vendors.answer(model))

        async def stream() -> AsyncIterator[str]:
            for number, piece in enumerate(start):
                if fault == "cut" and number == len(start) - 1:
                    raise RuntimeError("cut")
                if fault == "malformed" and number == len(start) - 1:
                    yield "data: {nothing\n\n"
                    return
                if pause := SLOW if fault == "slow" else vendors.pause:
                    await asyncio.sleep(pause)
                yield piece
            for piece in end:
                yield piece

        return StreamingResponse(stream(), media_type="text/event-stream")

    async def anthropic(request: Request) -> Response:
        vendors.keys.append(str(request.headers))
        body = await request.json()
        return await respond("anthropic", body["model"], body)

    async def openai(request: Request) -> Response:
        vendors.keys.append(str(request.headers))
        body = await request.json()
        return await respond("openai", body["model"], body)

    async def google(request: Request) -> Response:
        vendors.keys.append(str(request.headers))
        return await respond("google", request.path_params["call"].split(":")[0], await request.json())

    async def model(request: Request) -> Response:
        name = request.path_params["name"]
        if name in vendors.gone:
            return JSONResponse({"error": {"type": "not_found_error", "message": "no", "code": 404}}, 404)
        return JSONResponse({
            "id": name, "type": "model", "display_name": name, "created_at": "2026-01-01T00:00:00Z",
            "object": "model", "created": 1, "owned_by": "x", "name": f"models/{name}",
        })  # fmt: skip

    return Starlette(routes=[
        Route("/v1/messages", anthropic, methods=["POST"]),
        Route("/v1/chat/completions", openai, methods=["POST"]),
        Route("/v1/models/{call}", google, methods=["POST"]),
        Route("/v1/models/{name}", model),
    ])  # fmt: skip


@contextmanager
def serving() -> Iterator[Vendors]:
    """Serve on a free port of loopback until the context is left."""
    vendors = Vendors()
    config = uvicorn.Config(_app(vendors), host="127.0.0.1", port=0, log_level="critical", lifespan="off")
    server = uvicorn.Server(config)
    thread = Thread(target=server.run, name="vendors")
    thread.start()
    try:
        wait_until(lambda: server.started, 20)
        port = server.servers[0].sockets[0].getsockname()[1]
        vendors.url = f"http://127.0.0.1:{port}"
        yield vendors
    finally:
        server.should_exit = True
        thread.join()
