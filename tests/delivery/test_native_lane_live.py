"""The real OpenCode and Codex get their messages by their own APIs, with a model on loopback.

The test takes them from $STREAMRELAY_OPENCODE and $STREAMRELAY_CODEX, or from PATH, and skips an agent that is not
there. Each agent runs with an empty home and an invalid key, and reaches nothing but loopback.
"""

import asyncio
import json
import os
import shutil
import statistics
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import httpx
import pytest

import streamrelay
from streamrelay.agents import load_profiles
from streamrelay.agents.lanes.choice import native_lane
from streamrelay.agents.lanes.opencode import OpenCodeLane
from streamrelay.agents.witnesses.process import foreground_processes
from streamrelay.delivery.message import FINAL, Message, Progress
from streamrelay.delivery.writer import PaneWriter
from streamrelay.events import Event, Text
from streamrelay.testing.loopback_model import LoopbackModel, ModelReply, ModelRequest
from streamrelay.testing.tmux import PrivateTmux
from streamrelay.testing.waiting import wait_until, wait_until_async
from tests.mcp.test_mcp_real_agents import codex, program_of

PATIENCE = 300.0
SLOW = "take your time"
DRAFT = "a thought of a person"
ONE_BY_ONE, WHILE_BUSY, BESIDE_DRAFT = 35, 10, 5
"""Numbers of messages. The model holds its answer to the last one of the first group until the second has arrived."""


class Model:
    """A model that answers at once, except that it holds its answer to the slow message until the test releases it."""

    def __init__(self) -> None:
        self.released = threading.Event()

    def decide(self, asked: ModelRequest) -> ModelReply:
        if SLOW in asked.said and not self.released.wait(PATIENCE):
            return ModelReply("The test did not release this answer.")
        return ModelReply("Understood.")


@pytest.fixture
def decider() -> Model:
    return Model()


@pytest.fixture
def model(decider: Model) -> Iterator[LoopbackModel]:
    with LoopbackModel(decider.decide) as model:
        yield model
        decider.released.set()


def start_opencode(tmux: PrivateTmux, home: Path, model: str) -> str:
    """Start OpenCode in a pane, with a server on a port of its own, and return the pane."""
    return tmux.new_session("opencode", [*opencode_command(home, model), "--port", "0"], columns=120, lines=40)


def opencode_command(home: Path, model: str) -> list[str]:
    """Set up OpenCode in a home of its own, and return the command that starts it there."""
    program = os.environ.get("STREAMRELAY_OPENCODE") or shutil.which("opencode")
    if program is None:
        pytest.skip("no opencode here; $STREAMRELAY_OPENCODE says where one is")
    (home / "work").mkdir(parents=True)
    folder = home / ".config" / "opencode"
    folder.mkdir(parents=True)
    provider = {
        "npm": "@ai-sdk/anthropic", "name": "Loopback", "options": {"baseURL": f"{model}/v1", "apiKey": "no-key"},
        "models": {"loopback": {"name": "Loopback", "tool_call": True}},
    }  # fmt: skip
    configured = {
        "autoupdate": False, "share": "disabled", "model": "loopback/loopback", "small_model": "loopback/loopback",
        "provider": {"loopback": provider},
    }  # fmt: skip
    (folder / "opencode.json").write_text(json.dumps(configured))
    quiet = ("AUTOUPDATE", "MODELS_FETCH", "LSP_DOWNLOAD", "DEFAULT_PLUGINS")
    variables = {
        **{f"OPENCODE_DISABLE_{name}": "1" for name in quiet},
        "HOME": str(home), "PATH": os.environ["PATH"], "TERM": "tmux-256color", "LANG": "C.UTF-8",
    }  # fmt: skip
    return [*environment_command(home, variables), program]


def start_codex(tmux: PrivateTmux, home: Path, model: str) -> str:
    """Start Codex in a pane, and its app server in another one; return the pane of Codex."""
    program = program_of("codex")
    (home / "work").mkdir(parents=True)
    how = codex(program, home, model, {"command": "true", "args": []})
    words = environment_command(
        home, {**how.variables, "HOME": str(home), "PATH": os.environ["PATH"], "TERM": "tmux-256color"}
    )
    address = home / "server.sock"
    tmux.new_session("server", [*words, program, "app-server", "--listen", f"unix://{address}"])
    wait_until(address.exists, PATIENCE, "the app server to listen")
    return tmux.new_session("codex", [*words, program, "--remote", f"unix://{address}"], columns=120, lines=40)


def environment_command(home: Path, variables: Mapping[str, str]) -> list[str]:
    """Return the beginning of a command that runs a program in the work folder with these variables only."""
    return ["env", "-i", "-C", str(home / "work"), *(f"{name}={value}" for name, value in variables.items())]


class LiveAgent(NamedTuple):
    """A real agent: how it is started, what its screen shows when it is ready, and its title once it has a session."""

    start: Callable[[PrivateTmux, Path, str], str]
    ready: str
    titled: str


LIVE = {
    "opencode": LiveAgent(start_opencode, "ctrl+p commands", "OC | "),
    "codex": LiveAgent(start_codex, "permissions: ", " | work"),
}


class Talk:
    """What was sent to an agent, and what the receipts say."""

    def __init__(self, writer: PaneWriter, reports: list[Progress]) -> None:
        self._writer = writer
        self._reports = reports
        self.texts: list[str] = []

    async def put(self, text: str) -> str:
        self.texts.append(text)
        message_id = f"m{len(self.texts)}"
        await self._writer.put(Message(message_id, text))
        return message_id

    def states(self, message_id: str) -> list[str]:
        return [each.state for each in self._reports if each.message_id == message_id and not each.reason]

    def last(self) -> Counter[str]:
        return Counter({report.message_id: report for report in self._reports}[each].state for each in self.ids)

    def took(self, message_id: str) -> float:
        """Return the seconds from the put to the API's reply."""
        return self._at(message_id, "submitted").at - self._at(message_id, "queued").at

    def is_handed(self, message_id: str) -> bool:
        return any((each.message_id, each.state) == (message_id, "submitted") for each in self._reports)

    def is_held(self, message_id: str) -> bool:
        return self._at(message_id, "submitted").reason == "held"

    def _at(self, message_id: str, state: str) -> Progress:
        return next(each for each in self._reports if (each.message_id, each.state) == (message_id, state))

    @property
    def ids(self) -> list[str]:
        return [f"m{number + 1}" for number in range(len(self.texts))]

    async def until_over(self, *message_ids: str) -> None:
        over = lambda each: {r.state for r in self._reports if r.message_id == each} & FINAL  # noqa: E731
        await wait_until_async(lambda: all(map(over, message_ids)), PATIENCE, f"{message_ids}: {self._reports[-5:]}")


@pytest.mark.slow
@pytest.mark.timeout(1800)
@pytest.mark.requirement("DLV-10")
@pytest.mark.parametrize("name", LIVE)
async def test_fifty_messages_arrive_once_beside_a_draft_and_while_it_works(
    private_tmux: PrivateTmux, tmp_path: Path, model: LoopbackModel, decider: Model, name: str
) -> None:
    agent = LIVE[name]
    pane = await asyncio.to_thread(agent.start, private_tmux, tmp_path / "home", model.url)
    show = lambda what: private_tmux.run("display-message", "-p", "-t", pane, what)  # noqa: E731
    shown = lambda: private_tmux.run("capture-pane", "-p", "-t", pane)  # noqa: E731
    await wait_until_async(lambda: agent.ready in shown(), PATIENCE, "the agent to be ready")
    reports: list[Progress] = []
    heard: list[Event] = []
    path = private_tmux.socket_path
    async with (
        streamrelay.connect(
            tmux=private_tmux.binary, socket_path=path, profiles=load_profiles(), lane="auto"
        ) as server,
        # The recording shows why a run failed.
        server.record(pane, tmp_path / "screen.jsonl.gz"),
    ):
        pipeline = server.pipeline(pane)
        pipeline.add_listener(heard.extend)
        writer = PaneWriter(server, pipeline, program=pipeline.info.command, report=reports.append)
        running = asyncio.ensure_future(writer.run())
        talk = Talk(writer, reports)
        # The first message makes the session, and is typed.
        await talk.until_over(await talk.put("the first message"))
        await wait_until_async(lambda: agent.titled in show("#{pane_title}"), PATIENCE, "a title")
        lane = native_lane(name, int(show("#{pane_pid}")))

        async def is_open() -> bool:
            return not isinstance(await lane.find(show("#{pane_title}")), str)

        # An agent can show the name of its session a moment before its API tells it.
        await wait_until_async(is_open, PATIENCE, "the lane to be open")
        await lane.close()
        for number in range(ONE_BY_ONE - 2):
            await talk.until_over(await talk.put(f"message {number} of the row"))
        slow = await talk.put(SLOW)
        await wait_until_async(lambda: "turn_started" in talk.states(slow), PATIENCE)
        for number in range(WHILE_BUSY):
            await talk.put(f"message {number} while it works")
        busy = talk.ids[ONE_BY_ONE:]
        await wait_until_async(lambda: all(map(talk.is_handed, busy)), PATIENCE, f"{reports[-5:]}")
        decider.released.set()
        await talk.until_over(*talk.ids)
        private_tmux.run("send-keys", "-t", pane, "-l", DRAFT)
        await wait_until_async(lambda: DRAFT in shown(), PATIENCE)
        for number in range(BESIDE_DRAFT):
            await talk.until_over(await talk.put(f"message {number} beside a draft"))
        await asyncio.sleep(1.0)
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)
    assert len(talk.texts) == ONE_BY_ONE + WHILE_BUSY + BESIDE_DRAFT
    if name == "opencode":
        assert await recorded(int(show("#{pane_pid}")), show("#{pane_title}")) == talk.texts
    else:
        assert [asked.said.rpartition("\n")[2] for asked in model.asked] == talk.texts
    assert talk.last() == {"answered": len(talk.texts)}
    kinds = {"one by one": talk.ids[1:ONE_BY_ONE], "busy": talk.ids[ONE_BY_ONE:-BESIDE_DRAFT]}
    kinds["draft"] = talk.ids[-BESIDE_DRAFT:]
    assert all(map(talk.is_held, kinds["busy"]))
    for kind, ids in kinds.items():
        took = sorted(1000 * talk.took(each) for each in ids)
        median = statistics.median(took)
        print(f"{name}, {kind}: {len(took)} messages in {took[0]:.0f} to {took[-1]:.0f} ms, median {median:.0f} ms")
    assert [each for each in talk.ids if "pasted" in talk.states(each)] == ["m1"]
    assert DRAFT in shown()
    said = {event.text for event in heard if isinstance(event, Text) and event.origin == "program" and event.text}
    assert said == {"Understood."}


async def recorded(pid: int, title: str) -> list[str]:
    """Return the messages of the session on the screen, as OpenCode recorded them."""
    lane = OpenCodeLane(lambda: foreground_processes(pid))
    address = await lane.find(title)
    await lane.close()
    assert not isinstance(address, str)
    async with httpx.AsyncClient(trust_env=False, timeout=30) as client:
        messages: list[dict[str, Any]] = (await client.get(f"{address.url}/session/{address.session}/message")).json()
    said = [each["parts"] for each in messages if each["info"]["role"] == "user"]
    return ["".join(part.get("text", "") for part in parts if part["type"] == "text") for parts in said]
