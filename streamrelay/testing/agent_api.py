"""The HTTP API of the scripted agent: as much of OpenCode's as a native lane uses, with faults of its own.

The agent's loop takes messages from `taken` (`notify` is written a byte for each) and tells of its answers with `begin`
and `finish`. `fault` makes the API misbehave with the messages that contain it:

* `reject`: it answers 400 and keeps nothing;
* `lose`: it answers 204 and keeps nothing;
* `cut`: it keeps the message and cuts the connection without an answer;
* `vanish`: it keeps nothing, and cuts the connection.
"""

import os
import threading
import time
from collections import deque
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Final
from urllib.parse import urlsplit

import msgspec

SESSION: Final = "ses_scripted"
FAULTS: Final = ("reject", "lose", "cut", "vanish")


class AgentApi:
    """A server on a port of 127.0.0.1 (0: any), from its creation to the end of the process."""

    def __init__(self, port: int, title: str, notify: int, sessions: int = 1) -> None:
        self.taken: deque[str] = deque()
        self._notify = notify
        self._titles = [title] * sessions
        self._lock = threading.Lock()
        self._messages: list[dict[str, Any]] = []
        self._unanswered: deque[str] = deque()
        server = ThreadingHTTPServer(("127.0.0.1", port), self._handler())
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, daemon=True).start()

    def begin(self) -> None:
        """Record that an answer to the oldest message has begun."""
        with self._lock:
            if self._unanswered:
                self._messages.append(self._info("assistant", f"msg_reply{len(self._messages)}", self._unanswered[0]))

    def finish(self) -> None:
        """Record that this answer is complete."""
        with self._lock:
            if self._unanswered:
                reply = next(each["info"] for each in self._messages if each["info"]["parentID"] == self._unanswered[0])
                reply["time"]["completed"], reply["finish"] = time.time(), "stop"
                self._unanswered.popleft()

    def accept(self, body: dict[str, Any]) -> None:
        """Keep a message, and hand it to the agent's loop."""
        text = body["parts"][0]["text"]
        with self._lock:
            self._messages.append(self._info("user", body["messageID"], ""))
            self._unanswered.append(body["messageID"])
            self.taken.append(text)
        os.write(self._notify, b"m")

    def note_typed(self) -> None:
        """Record a message that a person, or a paste, submitted in the composer."""
        reference = f"msg_{time.time_ns() // 1_000_000 * 0x1000 & 0xFFFF_FFFF_FFFF:012x}typed"
        with self._lock:
            self._messages.append(self._info("user", reference, ""))
            self._unanswered.append(reference)

    def read(self, path: str) -> object:
        """Return what a GET of a path returns; None for a path that it does not have."""
        with self._lock:
            match path.strip("/").split("/"):
                case ["global", "health"]:
                    return {"healthy": True, "version": "0.0.1"}
                case ["session"]:
                    return [{"id": SESSION, "title": title, "directory": "/"} for title in self._titles]
                case ["session", "status"]:
                    return {SESSION: {"type": "busy"}} if self._unanswered else {}
                case ["session", _, "message"]:
                    return self._messages
                case ["session", _, "message", reference]:
                    return next((each for each in self._messages if each["info"]["id"] == reference), None)
                case _:
                    return None

    @staticmethod
    def _info(role: str, reference: str, parent: str) -> dict[str, Any]:
        return {"info": {"id": reference, "role": role, "parentID": parent, "time": {"created": time.time()}}}

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        api = self

        class ApiHandler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_: object) -> None:
                """Print nothing: standard error is the agent's screen."""

            def do_GET(self) -> None:
                found = api.read(urlsplit(self.path).path)
                self._answer(200 if found is not None else 404, found)

            def do_POST(self) -> None:
                data = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                body = msgspec.json.decode(data)
                text = body["parts"][0]["text"]
                fault = next((each for each in FAULTS if each in text), "")
                if fault in {"", "cut"}:
                    api.accept(body)
                if fault in {"cut", "vanish"}:
                    self.close_connection = True
                    self.connection.close()
                    return
                self._answer(400 if fault == "reject" else 204, None)

            def _answer(self, status: int, found: object) -> None:
                body = b"" if status == 204 else msgspec.json.encode(found)
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

        return ApiHandler
