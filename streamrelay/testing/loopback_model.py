"""A scripted language model on loopback, for tests of real agents.

    def decide(asked: Asked) -> Reply:
        return Reply("Fine.") if asked.result else Reply("I ask.", call=("send_message", {"to": "Bob"}))

    with LoopbackModel(decide) as model:
        environment = {"ANTHROPIC_BASE_URL": model.url, ...}

It speaks as much of Anthropic's Messages (Claude Code), OpenAI's Responses (Codex) and Google's GenerateContent (Gemini
CLI) as those agents need, streaming.
"""

import contextlib
import gzip
import threading
from collections.abc import Callable, Iterator, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self

import msgspec

_SIDE_ANSWER = "A conversation"
"""The answer to side requests of an agent, which offer no tools: titles and the like."""


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


class LoopbackModel:
    """A server on a free port of 127.0.0.1 for as long as the block lasts; `asked` is all that it was asked."""

    def __init__(self, decide: Callable[[ModelRequest], ModelReply]) -> None:
        self.asked: list[ModelRequest] = []
        self.errors: list[Exception] = []
        self._decide = decide
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
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

    def answer(self, path: str, body: Mapping[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
        """Return the events of the answer to one request."""
        if ":streamGenerateContent" in path:
            return _contents(self._reply(_asked_of_contents(body)))
        if "/responses" in path:
            return _responses(self._reply(_asked_of_responses(body)), len(self.asked))
        return _messages(self._reply(_asked_of_messages(body)), len(self.asked), str(body.get("model", "")))

    def _reply(self, asked: ModelRequest) -> ModelReply:
        if not asked.tools:
            return ModelReply(_SIDE_ANSWER)
        self.asked.append(asked)
        try:
            return self._decide(asked)
        except Exception as error:  # noqa: BLE001  # the test is told, and the agent goes on
            self.errors.append(error)
            return ModelReply(f"The script failed: {type(error).__name__}")

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        model = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                self._send(b'{"data": [], "models": []}', "application/json")

            def do_HEAD(self) -> None:
                self._send(b"", "application/json")

            def do_POST(self) -> None:
                with contextlib.suppress(ConnectionError):
                    body = msgspec.json.decode(self._body() or b"{}")
                    if "count_tokens" in self.path:
                        self._send(b'{"input_tokens": 1}', "application/json")
                        return
                    events = model.answer(self.path, body)
                    lines = [
                        (b"event: %s\n" % kind.encode() if kind else b"") + b"data: %s\n\n" % msgspec.json.encode(data)
                        for kind, data in events
                    ]
                    self._send(b"".join(lines), "text/event-stream")

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


def _messages(reply: ModelReply, number: int, model: str) -> Iterator[tuple[str, dict[str, Any]]]:
    usage = {"input_tokens": 1, "output_tokens": 1}
    message: dict[str, Any] = {
        "id": f"msg_{number}", "type": "message", "role": "assistant", "model": model, "content": [],
        "stop_reason": None, "stop_sequence": None, "usage": usage,
    }  # fmt: skip
    yield _typed("message_start", message=message)
    yield _typed("content_block_start", index=0, content_block={"type": "text", "text": ""})
    yield _typed("content_block_delta", index=0, delta={"type": "text_delta", "text": reply.text})
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
        yield _typed("response.output_item.added", output_index=index, item={**item, "status": "in_progress"})
        if item is said:
            yield _typed(
                "response.output_text.delta", item_id="msg_1", output_index=0, content_index=0, delta=reply.text
            )
        yield _typed("response.output_item.done", output_index=index, item=item)
    yield _typed("response.completed", response={**whole, "output": output, "usage": usage})


def _contents(reply: ModelReply) -> Iterator[tuple[str, dict[str, Any]]]:
    parts: list[dict[str, Any]] = [{"text": reply.text}]
    if reply.call is not None:
        parts.append({"functionCall": {"name": reply.call[0], "args": reply.call[1]}})
    usage = {"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2}
    for part in parts:
        last = {"finishReason": "STOP"} if part is parts[-1] else {}
        candidate = {"content": {"role": "model", "parts": [part]}, "index": 0, **last}
        yield "", {"candidates": [candidate], "usageMetadata": usage, "modelVersion": "loopback"}


def _typed(kind: str, **fields: Any) -> tuple[str, dict[str, Any]]:
    return kind, {"type": kind, **fields}
