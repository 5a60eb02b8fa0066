"""A scripted language model on loopback, for tests of real agents.

    def decide(asked: Asked) -> Reply:
        return Reply("Fine.") if asked.result else Reply("I ask.", call=("send_message", {"to": "Bob"}))

    with LoopbackModel(decide) as model:
        environment = {"ANTHROPIC_BASE_URL": model.url, ...}

It speaks as much of Anthropic's Messages (Claude Code), OpenAI's Responses (Codex) and Chat Completions (OpenCode, Qwen
Code, aider) and Google's GenerateContent (Gemini CLI) as those agents need, streaming. An answer comes at once, or word
by word over `ModelReply.seconds`; `answers` has when each began and ended, or that its client broke it off.
"""

import gzip
import re
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self

import msgspec

_SIDE_ANSWER = "A conversation"
"""The answer to side requests of an agent, which offer no tools: titles and the like."""
_PIECE = re.compile(r"\s*\S{1,6}|\s+")
"""What an answer is cut into that takes its time."""
_SHORTEST_WAIT = 0.002
"""Seconds: pieces that are due sooner go out together."""


class ModelRequest(msgspec.Struct, frozen=True):
    """One request: what the user said last, what the last tool returned (empty before one was called), the tools."""

    said: str
    result: str
    tools: tuple[str, ...]
    messages: tuple[str, ...] = ()
    """All that the user has said in this conversation: an agent may send several messages in one request."""

    def tool(self, name: str) -> str:
        """Return the agent's name of a tool; raises LookupError if it has no such tool."""
        for tool in self.tools:
            if tool == name or tool.endswith(f"__{name}"):
                return tool
        raise LookupError(name)


class ModelReply(msgspec.Struct, frozen=True):
    """One answer: its text, and the tool call after it, with arguments."""

    text: str
    call: tuple[str, Mapping[str, object]] | None = None
    seconds: float = 0.0
    """How long it takes to say the text; 0: all at once."""


class ModelAnswer(msgspec.Struct):
    """An answer to a request that was no side request; times of `time.monotonic`."""

    asked: ModelRequest
    reply: ModelReply
    began: float
    ended: float | None = None
    """None while it is under way, and for good if its client broke it off."""
    broken_off: bool = False


def offers_no_tools(asked: ModelRequest) -> bool:
    """Tell side requests by what most agents do: they offer no tools with them."""
    return not asked.tools


class _ModelServer(ThreadingHTTPServer):
    """A server of which clients may take leave at any time."""

    def handle_error(self, request: Any, client_address: Any) -> None:
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


class LoopbackModel:
    """A server on a free port of 127.0.0.1 for as long as the block lasts; `asked` is all that it was asked.

    `is_side` tells the requests that an agent makes for itself: they get a fixed answer.
    """

    def __init__(
        self,
        decide: Callable[[ModelRequest], ModelReply],
        is_side: Callable[[ModelRequest], bool] = offers_no_tools,
    ) -> None:
        self.asked: list[ModelRequest] = []
        self.answers: list[ModelAnswer] = []
        self.errors: list[Exception] = []
        self._decide, self._is_side = decide, is_side
        self._server = _ModelServer(("127.0.0.1", 0), self._handler())
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True)

    @property
    def url(self) -> str:
        """Where it listens, without a path."""
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def answer(self, path: str, body: Mapping[str, Any]) -> tuple[ModelAnswer | None, Iterator[tuple[str, Any]]]:
        """Return the answer to one request, None for a side request, and its events."""
        if "enerateContent" in path:
            answer, reply = self._reply(_asked_of_contents(body))
            return answer, _contents(reply)
        if "/responses" in path:
            answer, reply = self._reply(_asked_of_responses(body))
            return answer, _responses(reply, len(self.asked))
        if "/chat/completions" in path:
            answer, reply = self._reply(_asked_of_chat(body))
            return answer, _chat(reply, len(self.asked))
        answer, reply = self._reply(_asked_of_messages(body))
        return answer, _messages(reply, len(self.asked), str(body.get("model", "")))

    def _reply(self, asked: ModelRequest) -> tuple[ModelAnswer | None, ModelReply]:
        if self._is_side(asked):
            return None, ModelReply(_SIDE_ANSWER)
        self.asked.append(asked)
        try:
            reply = self._decide(asked)
        except Exception as error:  # noqa: BLE001  # the test is told, and the agent goes on
            self.errors.append(error)
            reply = ModelReply(f"The script failed: {type(error).__name__}")
        answer = ModelAnswer(asked, reply, time.monotonic())
        self.answers.append(answer)
        return answer, reply

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        model = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                self._send(b'{"data": [], "models": []}', "application/json")

            def do_HEAD(self) -> None:
                self._send(b"", "application/json")

            def do_POST(self) -> None:
                answer: ModelAnswer | None = None
                try:
                    body = msgspec.json.decode(self._body() or b"{}")
                    if "count_tokens" in self.path or ":countTokens" in self.path:
                        self._send(b'{"input_tokens": 1, "totalTokens": 1}', "application/json")
                        return
                    answer, events = model.answer(self.path, body)
                    if not body.get("stream", "streamGenerateContent" in self.path):
                        self._send(_whole(self.path, events), "application/json")
                    elif answer is not None and answer.reply.seconds:
                        self._stream(events)
                    else:
                        self._send(b"".join(map(_event, events)), "text/event-stream")
                    if answer is not None:
                        answer.ended = time.monotonic()
                except ConnectionError:
                    if answer is not None:
                        answer.broken_off = True

            def _stream(self, events: Iterable[tuple[str, Any]]) -> None:
                self.send_response(200)
                self.send_header("Content-Type", "text/event-stream")
                self.send_header("Transfer-Encoding", "chunked")
                self.end_headers()
                for event in map(_event, events):
                    self.wfile.write(b"%x\r\n%s\r\n" % (len(event), event))
                self.wfile.write(b"0\r\n\r\n")

            def _body(self) -> bytes:
                if "chunked" in self.headers.get("Transfer-Encoding", ""):
                    data = b"".join(self._chunks())
                else:
                    data = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                return gzip.decompress(data) if self.headers.get("Content-Encoding") == "gzip" else data

            def _chunks(self) -> Iterator[bytes]:
                while size := int(self.rfile.readline().split(b";")[0] or b"0", 16):
                    yield self.rfile.read(size)
                    self.rfile.readline()
                self.rfile.readline()

            def _send(self, body: bytes, kind: str) -> None:
                self.send_response(200)
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, format: str, *args: object) -> None:  # noqa: A002  # as in the base class
                """Say nothing."""

        return Handler


def _event(event: tuple[str, Any]) -> bytes:
    kind, data = event
    said = data.encode() if isinstance(data, str) else msgspec.json.encode(data)
    return (b"event: %s\n" % kind.encode() if kind else b"") + b"data: %s\n\n" % said


def _whole(path: str, events: Iterable[tuple[str, Any]]) -> bytes:
    """Return an answer that is not streamed: only side requests ask for one."""
    every = [data for _, data in events]
    if "enerateContent" in path:
        # Gemini CLI asks who speaks next, and which model is to.
        text = msgspec.json.encode({"reasoning": "", "next_speaker": "user", "model_choice": "flash"}).decode()
        part = {"role": "model", "parts": [{"text": text}]}
        return msgspec.json.encode({**every[-1], "candidates": [{"content": part, "index": 0, "finishReason": "STOP"}]})
    if "/chat/completions" in path:
        choice = {"index": 0, "message": {"role": "assistant", "content": _SIDE_ANSWER}, "finish_reason": "stop"}
        return msgspec.json.encode({**every[0], "object": "chat.completion", "choices": [choice]})
    if "/responses" in path:
        return msgspec.json.encode(every[-1]["response"])
    content = [{"type": "text", "text": _SIDE_ANSWER}]
    return msgspec.json.encode({**every[0]["message"], "content": content, "stop_reason": "end_turn"})


def _pieces(reply: ModelReply) -> Iterator[str]:
    """Yield the text of a reply, when each piece of it is due."""
    if not reply.seconds:
        yield reply.text
        return
    pieces = _PIECE.findall(reply.text)
    began, held = time.monotonic(), ""
    for number, piece in enumerate(pieces, 1):
        held += piece
        wait = began + reply.seconds * number / len(pieces) - time.monotonic()
        if wait > _SHORTEST_WAIT or number == len(pieces):
            time.sleep(max(0.0, wait))
            yield held
            held = ""


def _text(content: Any) -> str:
    """Return the text of a message's content, whatever its parts are called."""
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        return "\n".join(filter(None, map(_text, content)))
    if isinstance(content, Mapping):
        return _text(content.get("text") or content.get("content") or content.get("output"))
    return ""


def _asked_of_messages(body: Mapping[str, Any]) -> ModelRequest:
    said, result = "", ""
    every: list[str] = []
    for message in body.get("messages", []):
        content = message.get("content")
        parts = content if isinstance(content, list) else [{"type": "text", "text": content}]
        results = [part for part in parts if part.get("type") == "tool_result"]
        if message.get("role") != "user":
            continue
        words = [
            part for part in parts if part.get("type") == "text" and not _text(part).startswith("<system-reminder>")
        ]
        if results:
            result = _text(results)
        if words:
            # Behind a refused tool, the next prompt stands in the message that holds the tool's result.
            said, result = _text(words), ""
            every.append(said)
    return ModelRequest(said, result, tuple(tool.get("name", "") for tool in body.get("tools") or []), tuple(every))


def _asked_of_responses(body: Mapping[str, Any]) -> ModelRequest:
    said, result = "", ""
    every: list[str] = []
    for item in body.get("input", []):
        if item.get("role") == "user":
            said, result = _text(item.get("content")), ""
            every.append(said)
        elif str(item.get("type")).endswith("_output"):
            result = _text(item)
    tools: list[str] = []
    for tool in body.get("tools") or []:
        within = tool.get("tools") if tool.get("type") == "namespace" else None
        prefix = f"{tool.get('name')}__" if within else ""
        tools += [f"{prefix}{one.get('name', one.get('type'))}" for one in within or [tool]]
    return ModelRequest(said, result, tuple(tools), tuple(every))


def _asked_of_contents(body: Mapping[str, Any]) -> ModelRequest:
    said, result = "", ""
    every: list[str] = []
    for content in body.get("contents", []):
        parts = content.get("parts", []) if content.get("role") == "user" else []
        results = [part["functionResponse"] for part in parts if "functionResponse" in part]
        if results:
            result = msgspec.json.encode(results).decode()
        elif parts:
            said, result = _text(parts), ""
            every.append(said)
    declared = [each for tool in body.get("tools") or [] for each in tool.get("functionDeclarations", [])]
    return ModelRequest(said, result, tuple(each.get("name", "") for each in declared), tuple(every))


def _asked_of_chat(body: Mapping[str, Any]) -> ModelRequest:
    said, result = "", ""
    every: list[str] = []
    for message in body.get("messages", []):
        if message.get("role") == "user":
            said, result = _text(message.get("content")), ""
            every.append(said)
        elif message.get("role") == "tool":
            result = _text(message.get("content"))
    named = [_text((tool.get("function") or {}).get("name")) for tool in body.get("tools") or []]
    return ModelRequest(said, result, tuple(named), tuple(every))


def _messages(reply: ModelReply, number: int, model: str) -> Iterator[tuple[str, dict[str, Any]]]:
    usage = {"input_tokens": 1, "output_tokens": 1}
    message: dict[str, Any] = {
        "id": f"msg_{number}", "type": "message", "role": "assistant", "model": model, "content": [],
        "stop_reason": None, "stop_sequence": None, "usage": usage,
    }  # fmt: skip
    yield _typed("message_start", message=message)
    yield _typed("content_block_start", index=0, content_block={"type": "text", "text": ""})
    for piece in _pieces(reply):
        yield _typed("content_block_delta", index=0, delta={"type": "text_delta", "text": piece})
    yield _typed("content_block_stop", index=0)
    if reply.call is not None:
        name, arguments = reply.call
        block = {"type": "tool_use", "id": f"toolu_{number}", "name": name, "input": {}}
        given = msgspec.json.encode(arguments).decode()
        yield _typed("content_block_start", index=1, content_block=block)
        yield _typed("content_block_delta", index=1, delta={"type": "input_json_delta", "partial_json": given})
        yield _typed("content_block_stop", index=1)
    reason = "end_turn" if reply.call is None else "tool_use"
    yield _typed("message_delta", delta={"stop_reason": reason, "stop_sequence": None}, usage=usage)
    yield _typed("message_stop")


def _responses(reply: ModelReply, number: int) -> Iterator[tuple[str, dict[str, Any]]]:
    said: dict[str, Any] = {
        "id": "msg_1", "type": "message", "role": "assistant", "status": "completed",
        "content": [{"type": "output_text", "text": reply.text, "annotations": []}],
    }  # fmt: skip
    output = [said]
    if reply.call is not None:
        space, _, name = reply.call[0].rpartition("__")
        call = {
            "id": "fc_1", "type": "function_call", "status": "completed", "call_id": f"call_{number}",
            "name": name, "arguments": msgspec.json.encode(reply.call[1]).decode(),
        }  # fmt: skip
        output.append(call | ({"namespace": space} if space else {}))
    whole = {"id": "resp_1", "object": "response", "created_at": 1, "status": "completed", "model": "loopback"}
    usage = {
        "input_tokens": 1, "input_tokens_details": {"cached_tokens": 0}, "output_tokens": 1,
        "output_tokens_details": {"reasoning_tokens": 0}, "total_tokens": 2,
    }  # fmt: skip
    yield _typed("response.created", response={**whole, "status": "in_progress", "output": [], "usage": None})
    for index, item in enumerate(output):
        begun = {**item, "status": "in_progress", **({"content": []} if item is said else {})}
        yield _typed("response.output_item.added", output_index=index, item=begun)
        if item is said:
            for piece in _pieces(reply):
                yield _typed(
                    "response.output_text.delta", item_id="msg_1", output_index=0, content_index=0, delta=piece
                )
        yield _typed("response.output_item.done", output_index=index, item=item)
    yield _typed("response.completed", response={**whole, "output": output, "usage": usage})


def _contents(reply: ModelReply) -> Iterator[tuple[str, dict[str, Any]]]:
    usage = {"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2}

    def said(part: dict[str, Any], **last: str) -> tuple[str, dict[str, Any]]:
        candidate = {"content": {"role": "model", "parts": [part]}, "index": 0, **last}
        return "", {"candidates": [candidate], "usageMetadata": usage, "modelVersion": "loopback"}

    held = ""
    for piece in _pieces(reply):
        if held:
            yield said({"text": held})
        held = piece
    if reply.call is None:
        yield said({"text": held}, finishReason="STOP")
    else:
        yield said({"text": held})
        yield said({"functionCall": {"name": reply.call[0], "args": reply.call[1]}}, finishReason="STOP")


def _chat(reply: ModelReply, number: int) -> Iterator[tuple[str, Any]]:
    whole = {"id": f"chat_{number}", "object": "chat.completion.chunk", "created": 1, "model": "loopback"}

    def said(reason: str | None = None, **delta: Any) -> tuple[str, Any]:
        return "", {**whole, "choices": [{"index": 0, "delta": delta, "finish_reason": reason}]}

    yield said(role="assistant", content="")
    for piece in _pieces(reply):
        yield said(content=piece)
    if reply.call is not None:
        function = {"name": reply.call[0], "arguments": msgspec.json.encode(reply.call[1]).decode()}
        yield said(tool_calls=[{"index": 0, "id": f"call_{number}", "type": "function", "function": function}])
    yield said("stop" if reply.call is None else "tool_calls")
    usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
    yield "", {**whole, "choices": [], "usage": usage}
    yield "", "[DONE]"


def _typed(kind: str, **fields: Any) -> tuple[str, dict[str, Any]]:
    return kind, {"type": kind, **fields}
