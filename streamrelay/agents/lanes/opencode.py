"""OpenCode's HTTP API as a lane (seen with 1.18.33; https://opencode.ai/docs/server).

The TUI is a client of an HTTP server. It runs in the same process, which listens only with `--port`; or `opencode
attach URL` names another one. The API does not tell which session a TUI shows, but the terminal title does: `OC | ` and
the session's title, cut after 37 characters. So the lane is open if exactly one session of the folder has that title.

`prompt_async` takes a message at any time. OpenCode queues it while it works and may answer several in one reply:
the reply names the last message that it answers, and it answers those before it too. Ids of messages rise with time,
and OpenCode takes a message with an id below the last reply's for answered.
"""

import asyncio
import contextlib
import secrets
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, Final, TypeVar

import httpx
import msgspec

from streamrelay.agents.lanes.arrival import appears
from streamrelay.agents.lanes.lane import Absence, Answering, Handed, HandOver, LaneAddress
from streamrelay.agents.listening import command_line, listening_urls, loopback_url
from streamrelay.agents.witnesses.process import AgentProcess

NAME: Final = "opencode"
TIMEOUT: Final = 15.0
"""Seconds for one request."""
MAX_BYTES: Final = 16 << 20
"""The longest reply of the API."""
MAX_SESSIONS: Final = 1_000
MAX_RECENT: Final = 200
"""How many messages of a session are looked through."""
_TITLE: Final = "OC | "
_MAX_TITLE, _CUT_TITLE = 40, 37
_PASSWORD: Final = "OPENCODE_SERVER_PASSWORD"  # noqa: S105  # the name of a variable
_ALPHABET: Final = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_RANDOM: Final = 14
_UNFINISHED: Final = frozenset({"tool-calls", "unknown"})
"""Ends of a reply after which OpenCode goes on with another one."""
_REFUSED: Final = range(400, 500)

_Type = TypeVar("_Type")


class _Health(msgspec.Struct):
    healthy: bool
    version: str


class _Session(msgspec.Struct):
    id: str
    title: str
    directory: str = ""
    parentID: str | None = None  # noqa: N815  # the API's name


class _Time(msgspec.Struct):
    created: float = 0
    completed: float | None = None


class _Model(msgspec.Struct):
    providerID: str  # noqa: N815
    modelID: str  # noqa: N815
    variant: str | None = None


class _Info(msgspec.Struct):
    id: str
    role: str
    time: _Time = msgspec.field(default_factory=_Time)
    parentID: str = ""  # noqa: N815
    finish: str = ""
    error: Any = None
    agent: str = ""
    model: _Model | None = None


class _Message(msgspec.Struct):
    info: _Info


class _Status(msgspec.Struct):
    type: str


class OpenCodeLane:
    """The lane of the OpenCode in one pane."""

    def __init__(self, processes: Callable[[], Sequence[AgentProcess]]) -> None:
        self._processes = processes
        # Loading the system's certificates would take longer than all the rest, and the API is plain HTTP on loopback.
        transport = httpx.AsyncHTTPTransport(verify=False)
        self._client = httpx.AsyncClient(transport=transport, timeout=TIMEOUT, trust_env=False, follow_redirects=False)
        self._last_time = 0

    @property
    def name(self) -> str:
        """The name of the lane."""
        return NAME

    async def close(self) -> None:
        """Close the connections."""
        await self._client.aclose()

    async def server(self) -> tuple[str, str] | Absence:
        """Return the URL of the API of the agent in the pane and its version, or why there is none."""
        processes = await asyncio.to_thread(self._processes)
        if not processes:
            return "no_process"
        urls = await asyncio.to_thread(_urls, processes)
        if not urls:
            return "no_server"
        if any(process.environment.get(_PASSWORD) for process in processes):
            return "protected"
        found: list[tuple[str, str]] = []
        for url in urls:
            health = await self._get(f"{url}/global/health", _Health)
            if health is not None and health.healthy:
                found.append((url, health.version))
        if len(found) != 1:
            return "several" if found else "unreadable"
        return found[0]

    async def find(self, title: str) -> LaneAddress | Absence:
        """Return the session that the pane shows, or why there is none to be had."""
        if not title.startswith(_TITLE):
            return "no_session"
        server = await self.server()
        if isinstance(server, str):
            return server
        url, _ = server
        sessions = await self._get(f"{url}/session", list[_Session], roots="true", limit=str(MAX_SESSIONS))
        statuses = await self._get(f"{url}/session/status", dict[str, _Status])
        if sessions is None or statuses is None:
            return "unreadable"
        shown = title.removeprefix(_TITLE)
        named = [each for each in sessions if each.parentID is None and _as_title(each.title) == shown]
        if len(named) != 1:
            return "several" if named else "no_session"
        [session] = named
        status = statuses.get(session.id)
        return LaneAddress(NAME, url, session.id, status is not None and status.type != "idle")

    def reference(self, address: LaneAddress) -> Handed:
        """Return the id of the next message to a session, as OpenCode's own clients form it."""
        self._last_time = max(self._last_time + 1, time.time_ns() // 1_000_000 * 0x1000)
        rising = format(self._last_time & 0xFFFF_FFFF_FFFF, "012x")
        random = "".join(secrets.choice(_ALPHABET) for _ in range(_RANDOM))
        return Handed(NAME, address.url, address.session, f"msg_{rising}{random}")

    async def hand_over(self, handed: Handed, text: str) -> HandOver:
        """Post a message, with the agent and the model of the session's last one, and see it arrive."""
        body: dict[str, object] = {"messageID": handed.reference, "parts": [{"type": "text", "text": text}]}
        body |= _choices(await self._recent(handed, MAX_RECENT) or [])
        try:
            reply = await self._client.post(f"{_session(handed)}/prompt_async", json=body)
        except (httpx.ConnectError, httpx.ConnectTimeout, httpx.InvalidURL):
            return "not_sent"
        except httpx.HTTPError:
            return "taken" if await appears(self, handed) else "unknown"
        if reply.status_code in _REFUSED:
            return "not_sent"
        return "taken" if await appears(self, handed) else "unknown"

    async def was_taken(self, handed: Handed) -> bool | None:
        """Return whether the session has a message; None if the API does not answer."""
        try:
            reply = await self._client.get(f"{_session(handed)}/message/{handed.reference}")
        except (httpx.HTTPError, httpx.InvalidURL):
            return None
        if reply.status_code == httpx.codes.NOT_FOUND:
            return False
        message = _decoded(reply.content, _Message)
        return message.info.id == handed.reference if reply.is_success and message is not None else None

    async def states(self, messages: Collection[Handed]) -> Mapping[str, Answering] | None:
        """Return what OpenCode does with messages, by reference; None if the API does not answer."""
        found: dict[str, Answering] = {}
        for session in {(each.url, each.session): each for each in messages}.values():
            recent = await self._recent(session, MAX_RECENT)
            if recent is None:
                return None
            replies = [message.info for message in recent if message.info.role == "assistant"]
            for handed in messages:
                if (handed.url, handed.session) == (session.url, session.session):
                    found[handed.reference] = _state(handed.reference, replies)
        return found

    async def _recent(self, handed: Handed, count: int) -> list[_Message] | None:
        return await self._get(f"{_session(handed)}/message", list[_Message], limit=str(count))

    async def _get(self, url: str, kind: type[_Type], **query: str) -> _Type | None:
        """Return what the API says; None if it says nothing, too much, or something else."""
        data = bytearray()
        try:
            async with self._client.stream("GET", url, params=query) as reply:
                if not reply.is_success:
                    return None
                async for chunk in reply.aiter_bytes():
                    data += chunk
                    if len(data) > MAX_BYTES:
                        return None
        except (httpx.HTTPError, httpx.InvalidURL):
            return None
        return _decoded(bytes(data), kind)


def _urls(processes: Sequence[AgentProcess]) -> list[str]:
    """Return the URLs of the servers that the processes listen on, or are told to attach to."""
    found: list[str] = []
    for process in processes:
        words = command_line(process.pid)
        with contextlib.suppress(ValueError, IndexError):
            attached = loopback_url(words[words.index("attach") + 1])
            found += [] if attached is None else [attached]
        found += listening_urls(process.pid)
    return list(dict.fromkeys(found))


def _as_title(title: str) -> str:
    """Return a session's title as the terminal title shows it."""
    return title if len(title) <= _MAX_TITLE else f"{title[:_CUT_TITLE]}..."


def _session(handed: Handed) -> str:
    return f"{handed.url}/session/{handed.session}"


def _choices(recent: Sequence[_Message]) -> dict[str, object]:
    """Return agent and model of the last message of a person, so that a message does not change them."""
    last = next((each.info for each in reversed(recent) if each.info.role == "user"), None)
    if last is None:
        return {}
    chosen: dict[str, object] = {"agent": last.agent} if last.agent else {}
    if last.model is not None:
        chosen["model"] = {"providerID": last.model.providerID, "modelID": last.model.modelID}
        chosen |= {"variant": last.model.variant} if last.model.variant else {}
    return chosen


def _state(reference: str, replies: Sequence[_Info]) -> Answering:
    """Return the state of a message, given the replies of its session in their order."""
    answering = [reply for reply in replies if reply.parentID >= reference]
    is_over = any(
        reply.error is not None or (reply.time.completed and reply.finish not in _UNFINISHED) for reply in answering
    )
    return "answered" if is_over else "started" if answering else "held"


def _decoded(data: bytes, kind: type[_Type]) -> _Type | None:
    try:
        return msgspec.json.decode(data, type=kind)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        return None
