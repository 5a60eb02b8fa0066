"""Codex's app server as a lane (seen with 0.171.0; https://developers.openai.com/codex/app-server).

`codex --remote ADDRESS` makes the TUI a client of an app server, and a second client may use the same threads. The
server's `thread/queue/add` takes a message at any time: it starts a turn at once, or after the turn that runs, so no
answer is aborted. The server keeps our id of each message (`clientUserMessageId`).

The server does not tell which thread a TUI shows, but the terminal title does: `NAME | FOLDER`. So the lane is open if
exactly one loaded thread of the agent's folder has that name.

The messages are JSON-RPC, one in each WebSocket text frame. The lane subscribes to no thread, so it never gets a
question that a person has to answer.
"""

import asyncio
import json
import re
import stat
import uuid
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

import websockets
from websockets.asyncio.client import ClientConnection, connect, unix_connect

from streamrelay.agents.lanes.arrival import appears
from streamrelay.agents.lanes.lane import Absence, Answering, Handed, HandOver, LaneAddress
from streamrelay.agents.listening import command_line, loopback_url
from streamrelay.agents.witnesses.process import AgentProcess
from streamrelay.version import VERSION

NAME: Final = "codex"
TIMEOUT: Final = 15.0
"""Seconds for one request."""
MAX_BYTES: Final = 16 << 20
MAX_THREADS: Final = 100
MAX_QUEUED: Final = 100
MAX_TURNS: Final = 50
"""How many turns of a thread are looked through."""
_UNIX: Final = "unix://"
_DEFAULT_SOCKET: Final = Path("app-server-control", "app-server-control.sock")
_SPINNER: Final = re.compile(r"^[\u2800-\u28ff] ")
_VERSION: Final = re.compile(r"/(\d+\.\d+\.\d+\S*)")


class _Refused(Exception):
    """The server answered with an error."""


class _NotConnected(Exception):
    """The request has certainly not been sent."""


class _NoReply(Exception):
    """The request may have been carried out."""


class CodexLane:
    """The lane of the Codex in one pane."""

    def __init__(self, processes: Callable[[], Sequence[AgentProcess]]) -> None:
        self._processes = processes
        self._connection: ClientConnection | None = None
        self._url = ""
        self._version = ""
        self._number = 0
        self._lock = asyncio.Lock()

    @property
    def name(self) -> str:
        """The name of the lane."""
        return NAME

    async def close(self) -> None:
        """Close the connection."""
        connection, self._connection = self._connection, None
        if connection is not None:
            await connection.close()

    async def server(self) -> tuple[str, str] | Absence:
        """Return the address of the app server of the agent in the pane and its version, or why there is none."""
        found = await self._address()
        if isinstance(found, str):
            return found
        url, _ = found
        try:
            await self._call(url, "thread/loaded/list", {"limit": 1})
        except (_Refused, _NotConnected, _NoReply):
            return "unreadable"
        return url, self._version

    async def find(self, title: str) -> LaneAddress | Absence:
        """Return the thread that the pane shows, or why there is none to be had."""
        found = await self._address()
        if isinstance(found, str):
            return found
        url, folder = found
        shown = _SPINNER.sub("", title)
        try:
            loaded = await self._call(url, "thread/loaded/list", {"limit": MAX_THREADS})
            threads = [await self._call(url, "thread/read", {"threadId": each}) for each in _texts(loaded.get("data"))]
        except (_Refused, _NotConnected, _NoReply):
            return "unreadable"
        named = [
            thread
            for thread in (_dict(each.get("thread")) for each in threads)
            if _is_persons(thread, folder) and shown == f"{thread.get('name')} | {folder.name}"
        ]
        if len(named) != 1:
            return "several" if named else "no_session"
        [thread] = named
        return LaneAddress(NAME, url, str(thread.get("id")), _dict(thread.get("status")).get("type") == "active")

    def reference(self, address: LaneAddress) -> Handed:
        """Return the id of the next message to a thread."""
        return Handed(NAME, address.url, address.session, f"streamrelay-{uuid.uuid4().hex}")

    async def hand_over(self, handed: Handed, text: str) -> HandOver:
        """Put a message into the thread's queue, which the server works through."""
        message = {"type": "text", "text": text}
        asked = {"threadId": handed.session, "clientUserMessageId": handed.reference, "input": [message]}
        try:
            await self._call(handed.url, "thread/queue/add", asked)
        except _NotConnected:
            return "not_sent"
        except _Refused:
            taken = await self.was_taken(handed)
            return "unknown" if taken is None else "taken" if taken else "not_sent"
        except _NoReply:
            return "taken" if await appears(self, handed) else "unknown"
        return "taken"

    async def was_taken(self, handed: Handed) -> bool | None:
        """Return whether the thread has a message; None if the server does not answer."""
        states = await self._look(handed)
        return None if states is None else handed.reference in states

    async def states(self, messages: Collection[Handed]) -> Mapping[str, Answering] | None:
        """Return what Codex does with messages, by reference; None if the server does not answer."""
        found: dict[str, Answering] = {}
        for thread in {(each.url, each.session): each for each in messages}.values():
            states = await self._look(thread)
            if states is None:
                return None
            of_thread = [each for each in messages if (each.url, each.session) == (thread.url, thread.session)]
            found |= {each.reference: states.get(each.reference, "held") for each in of_thread}
        return found

    async def _look(self, handed: Handed) -> dict[str, Answering] | None:
        """Return the states of a thread's messages by our ids: first the queue, because messages leave it for turns."""
        thread = {"threadId": handed.session}
        try:
            queued = await self._call(handed.url, "thread/queue/list", {**thread, "limit": MAX_QUEUED})
            listed = {"limit": MAX_TURNS, "sortDirection": "desc", "itemsView": "full"}
            turns = await self._call(handed.url, "thread/turns/list", {**thread, **listed})
        except (_Refused, _NotConnected, _NoReply):
            return None
        found: dict[str, Answering] = {str(each.get("clientUserMessageId")): "held" for each in _dicts(queued)}
        for turn in _dicts(turns):
            state: Answering = "started" if turn.get("status") == "inProgress" else "answered"
            items = turn.get("items")
            for item in map(_dict, items if isinstance(items, list) else ()):
                if item.get("type") == "userMessage" and isinstance(item.get("clientId"), str):
                    found[item["clientId"]] = state
        return found

    async def _address(self) -> tuple[str, Path] | Absence:
        """Return the address that the agent was started with, and the agent's folder."""
        processes = await asyncio.to_thread(self._processes)
        if not processes:
            return "no_process"
        named = [(process, command_line(process.pid)) for process in processes]
        if any("--remote-auth-token-env" in word for _, words in named for word in words):
            return "protected"
        found = {
            (url, process.folder)
            for process, words in named
            for given in _remotes(words)
            if (url := _trusted(given, process)) is not None
        }
        if len({url for url, _ in found}) != 1:
            return "several" if found else "no_server"
        return next(iter(found))

    # The connection

    async def _call(self, url: str, method: str, params: Mapping[str, object]) -> dict[str, Any]:
        """Return the result of a request."""
        async with self._lock:
            if self._connection is None or self._url != url:
                await self.close()
                await self._connect(url)
            return await self._ask(method, params)

    async def _connect(self, url: str) -> None:
        settings: dict[str, Any] = {"compression": None, "max_size": MAX_BYTES, "open_timeout": TIMEOUT}
        try:
            if url.startswith(_UNIX):
                path = url.removeprefix(_UNIX)
                self._connection = await unix_connect(path, "ws://localhost/", **settings)
            else:
                self._connection = await connect(url, proxy=None, **settings)
            self._url = url
            client = {"name": "streamrelay", "title": "streamrelay", "version": VERSION}
            asked = {"clientInfo": client, "capabilities": {"experimentalApi": True}}
            version = _VERSION.search(str((await self._ask("initialize", asked)).get("userAgent")))
            self._version = version[1] if version else ""
            await self._connection.send(json.dumps({"method": "initialized"}))
        except (OSError, TimeoutError, websockets.WebSocketException, _Refused, _NoReply) as error:
            await self.close()
            raise _NotConnected from error

    async def _ask(self, method: str, params: Mapping[str, object]) -> dict[str, Any]:
        assert self._connection is not None  # noqa: S101  # `_call` connects first
        self._number += 1
        try:
            async with asyncio.timeout(TIMEOUT):
                await self._connection.send(json.dumps({"id": self._number, "method": method, "params": params}))
                while True:
                    reply = _dict(json.loads(await self._connection.recv()))
                    if reply.get("id") == self._number and "method" not in reply:
                        break
        except (OSError, TimeoutError, ValueError, RecursionError, websockets.WebSocketException) as error:
            with suppress(OSError, websockets.WebSocketException):
                await self.close()
            raise _NoReply from error
        if "result" not in reply:
            raise _Refused
        return _dict(reply["result"])


def _remotes(words: Sequence[str]) -> Iterator[str]:
    """Yield the addresses that a command line gives for `--remote`."""
    for number, word in enumerate(words):
        if word == "--remote" and number + 1 < len(words):
            yield words[number + 1]
        elif word.startswith("--remote="):
            yield word.removeprefix("--remote=")


def _trusted(given: str, process: AgentProcess) -> str | None:
    """Return an address on this machine that belongs to the agent's user; None for any other."""
    if given.startswith(_UNIX):
        home = process.home("CODEX_HOME", ".codex")
        path = given.removeprefix(_UNIX) or ("" if home is None else str(home / _DEFAULT_SOCKET))
        try:
            status = Path(process.folder, path).stat()
        except OSError:
            return None
        is_own = stat.S_ISSOCK(status.st_mode) and status.st_uid == process.uid
        return f"{_UNIX}{Path(process.folder, path)}" if is_own else None
    if not given.startswith("ws://"):
        return None
    plain = loopback_url(given.replace("ws://", "http://", 1))
    return None if plain is None else plain.replace("http://", "ws://", 1)


def _is_persons(thread: Mapping[str, Any], folder: Path) -> bool:
    """Return whether a thread is one that a person sees in a folder, and not a side task or an agent's agent."""
    is_own = not thread.get("ephemeral") and not thread.get("parentThreadId")
    return is_own and thread.get("cwd") == str(folder) and bool(thread.get("name"))


def _dict(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _dicts(page: Mapping[str, Any]) -> list[dict[str, Any]]:
    data = page.get("data")
    return [_dict(each) for each in data] if isinstance(data, list) else []


def _texts(value: object) -> list[str]:
    return [each for each in value if isinstance(each, str)] if isinstance(value, list) else []
