"""The client of Codex's app server against a server on loopback that answers, refuses, is silent or talks nonsense."""

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from websockets.asyncio.server import ServerConnection, serve, unix_serve

from streamrelay.agents.lanes import arrival
from streamrelay.agents.lanes.codex import CodexLane
from streamrelay.agents.lanes.lane import LaneAddress
from streamrelay.agents.listening import command_line
from streamrelay.agents.witnesses.process import AgentProcess
from streamrelay.testing.waiting import wait_until_async

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="no /proc tells there how a program was started")


class AppServer:
    """As much of an app server as the lane uses; `fault` says what it does with the next message."""

    def __init__(self, folder: Path) -> None:
        self.threads = [thread("t1", "A conversation", folder)]
        self.queue: list[dict[str, Any]] = []
        self.turns: list[dict[str, Any]] = []
        self.fault = ""

    def begin(self) -> None:
        """Begin the turn of the oldest message in the queue."""
        queued = self.queue.pop(0)
        item = {"type": "userMessage", "id": "i", "clientId": queued["clientUserMessageId"], "content": []}
        self.turns.insert(0, {"id": "turn", "status": "inProgress", "items": [item]})

    async def handle(self, connection: ServerConnection) -> None:
        async for frame in connection:
            asked = json.loads(frame)
            if "id" not in asked:
                continue
            await connection.send(json.dumps({"method": "thread/status/changed", "params": {}}))
            result = self._result(asked["method"], asked["params"])
            if self.fault == "nonsense":
                await connection.send("{" * 1000)
            elif asked["method"] == "thread/queue/add" and self.fault == "silent":
                await connection.close()
            elif result is None:
                await connection.send(json.dumps({"id": asked["id"], "error": {"code": -32603, "message": "no"}}))
            else:
                await connection.send(json.dumps({"id": asked["id"], "result": result}))

    def _result(self, method: str, params: dict[str, Any]) -> dict[str, Any] | None:
        match method:
            case "initialize":
                return {"userAgent": "codex-tui/0.171.0 (Debian)"}
            case "thread/loaded/list":
                return {"data": [each["id"] for each in self.threads]}
            case "thread/read":
                return {"thread": next(each for each in self.threads if each["id"] == params["threadId"])}
            case "thread/queue/list":
                return {"data": self.queue}
            case "thread/turns/list":
                return {"data": self.turns}
            case "thread/queue/add" if self.fault not in {"refuse", "lose"}:
                self.queue.append(params)
                return {"queuedSubmission": params}
            case "thread/queue/add" if self.fault == "lose":
                self.fault = "silent"
                return {}
            case _:
                return None


def thread(number: str, name: str | None, folder: Path, **more: object) -> dict[str, Any]:
    return {"id": number, "name": name, "cwd": str(folder), "status": {"type": "idle"}, "ephemeral": False, **more}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "work").mkdir()
    return tmp_path / "work"


class Stage:
    """A server, and a process that was started with its address."""

    def __init__(self, server: AppServer, folder: Path) -> None:
        self.server = server
        self._folder = folder
        self.started: list[subprocess.Popen[bytes]] = []

    async def start(self, *words: str) -> None:
        process = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)", *words])
        self.started.append(process)
        # A process that has just been executed has no command line for a moment.
        await wait_until_async(lambda: command_line(process.pid)[-len(words) :] == list(words), 30.0)

    def processes(self) -> list[AgentProcess]:
        return [
            AgentProcess(each.pid, os.getuid(), 0.0, self._folder, {"HOME": str(self._folder)}, frozenset())
            for each in self.started
        ]

    @asynccontextmanager
    async def lane(self) -> AsyncIterator[CodexLane]:
        lane = CodexLane(self.processes)
        try:
            yield lane
        finally:
            await lane.close()


@pytest.fixture
def stage(folder: Path) -> Iterator[Stage]:
    stage = Stage(AppServer(folder), folder)
    yield stage
    for process in stage.started:
        process.kill()
        process.wait()


@asynccontextmanager
async def serving(stage: Stage, folder: Path) -> AsyncIterator[CodexLane]:
    path = str(folder / "server.sock")
    await stage.start("--remote", f"unix://{path}")
    async with unix_serve(stage.server.handle, path), stage.lane() as lane:
        yield lane


async def found(lane: CodexLane) -> LaneAddress:
    address = await lane.find("A conversation | work")
    assert isinstance(address, LaneAddress), address
    return address


@pytest.mark.requirement("DLV-10")
async def test_a_message_is_held_then_answered_and_each_state_is_told(stage: Stage, folder: Path) -> None:
    async with serving(stage, folder) as lane:
        address = await found(lane)
        assert await lane.server() == (address.url, "0.171.0")
        assert not address.is_busy
        first, second = lane.reference(address), lane.reference(address)
        assert [await lane.hand_over(first, "one"), await lane.hand_over(second, "two")] == ["taken", "taken"]
        assert [each["input"] for each in stage.server.queue] == [
            [{"type": "text", "text": "one"}], [{"type": "text", "text": "two"}],
        ]  # fmt: skip
        both = [first, second]
        assert await lane.states(both) == {first.reference: "held", second.reference: "held"}
        stage.server.begin()
        assert await lane.states(both) == {first.reference: "started", second.reference: "held"}
        for status in ("completed", "interrupted", "failed"):
            stage.server.turns[0]["status"] = status
            assert await lane.states(both) == {first.reference: "answered", second.reference: "held"}
        assert [await lane.was_taken(first), await lane.was_taken(second)] == [True, True]
        assert await lane.was_taken(lane.reference(address)) is False


@pytest.mark.requirement("DLV-10")
async def test_a_busy_thread_is_found_behind_the_spinner_of_its_title(stage: Stage, folder: Path) -> None:
    stage.server.threads[0]["status"] = {"type": "active", "activeFlags": []}
    async with serving(stage, folder) as lane:
        address = await lane.find("⠋ A conversation | work")
        assert isinstance(address, LaneAddress)
        assert address.is_busy


@pytest.mark.requirement("DLV-10")
@pytest.mark.parametrize(
    ("threads", "absence"),
    [
        pytest.param([("A conversation", {}), ("A conversation", {})], "several", id="two of the name"),
        pytest.param([("Another", {})], "no_session", id="none of the name"),
        pytest.param([(None, {})], "no_session", id="no name yet"),
        pytest.param([("A conversation", {"ephemeral": True})], "no_session", id="a side task"),
        pytest.param([("A conversation", {"parentThreadId": "t0"})], "no_session", id="an agent's agent"),
        pytest.param([("A conversation", {"cwd": "/elsewhere/work"})], "no_session", id="of another folder"),
    ],
)
async def test_the_thread_on_the_screen_is_never_guessed(
    stage: Stage, folder: Path, threads: list[tuple[str | None, dict[str, object]]], absence: str
) -> None:
    stage.server.threads = [
        {**thread(f"t{number}", name, folder), **more} for number, (name, more) in enumerate(threads)
    ]
    async with serving(stage, folder) as lane:
        assert await lane.find("A conversation | work") == absence


@pytest.mark.requirement("DLV-10")
@pytest.mark.parametrize(
    ("fault", "outcome"), [("refuse", "not_sent"), ("silent", "taken"), ("lose", "unknown"), ("nonsense", "unknown")]
)
async def test_only_what_the_server_refuses_and_has_not_got_may_be_sent_otherwise(
    stage: Stage, folder: Path, fault: str, outcome: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(arrival, "SEEN_WITHIN", 0.5)
    async with serving(stage, folder) as lane:
        handed = lane.reference(await found(lane))
        stage.server.fault = fault
        assert await lane.hand_over(handed, "one") == outcome


@pytest.mark.requirement("DLV-10")
async def test_a_server_that_is_gone_has_not_got_the_message(stage: Stage, folder: Path) -> None:
    async with serving(stage, folder) as lane:
        handed = lane.reference(await found(lane))
        await lane.close()
    async with stage.lane() as lane:
        assert await lane.hand_over(handed, "one") == "not_sent"
        assert await lane.was_taken(handed) is None
        assert await lane.states([handed]) is None
        (folder / "server.sock").unlink()
        assert await lane.find("A conversation | work") == "no_server"


@pytest.mark.requirement("DLV-10")
async def test_only_a_server_on_this_machine_that_takes_no_token_is_used(stage: Stage, folder: Path) -> None:
    async with serve(stage.server.handle, "127.0.0.1", 0) as server, stage.lane() as lane:
        port = server.sockets[0].getsockname()[1]
        assert await lane.find("A conversation | work") == "no_process"
        await stage.start("--model", "x")
        assert await lane.find("A conversation | work") == "no_server"
        await stage.start("--remote", "wss://example.org:443")
        assert await lane.find("A conversation | work") == "no_server"
        await stage.start(f"--remote=ws://127.0.0.1:{port}")
        assert (await found(lane)).url == f"ws://127.0.0.1:{port}"
        await stage.start("--remote", "ws://127.0.0.1:1")
        assert await lane.find("A conversation | work") == "several"
        await stage.start("--remote-auth-token-env", "TOKEN")
        assert await lane.find("A conversation | work") == "protected"


@pytest.mark.requirement("DLV-10")
async def test_calls_at_the_same_time_get_their_own_answers(stage: Stage, folder: Path) -> None:
    async with serving(stage, folder) as lane:
        address = await found(lane)
        handed = [lane.reference(address) for _ in range(20)]
        outcomes = await asyncio.gather(*(lane.hand_over(each, f"number {n}") for n, each in enumerate(handed)))
        assert set(outcomes) == {"taken"}
        assert {each["clientUserMessageId"] for each in stage.server.queue} == {each.reference for each in handed}
        assert await lane.states(handed) == {each.reference: "held" for each in handed}
