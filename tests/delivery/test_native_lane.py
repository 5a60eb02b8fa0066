"""A native lane against a scripted agent with an HTTP API on loopback: what arrives, and what the receipts say."""

import asyncio
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

import streamrelay
from streamrelay.agents import AgentProfile, parse_profile
from streamrelay.agents.lanes.lane import Handed
from streamrelay.agents.lanes.opencode import OpenCodeLane
from streamrelay.agents.profile import LaneChoice
from streamrelay.agents.witnesses.process import foreground_processes
from streamrelay.delivery.commands import HANDED
from streamrelay.delivery.message import DeliveryPolicy, Message, Progress
from streamrelay.delivery.outbox import Outbox
from streamrelay.delivery.writer import PaneWriter
from streamrelay.panes.server import Server
from streamrelay.testing.agent import read_got
from streamrelay.testing.tmux import PrivateTmux
from streamrelay.testing.waiting import wait_until_async

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="no /proc tells there on which port a program listens")

PATIENCE = 30.0
TITLE = "OC | A conversation"
DRAFT = "half a thought"
PROFILE = r"""
title = "Scripted"
[recognise]
commands = ["scripted"]
signs = ['^OC \| ']
interpreters = ["python", "python3", "python3.11", "python3.12", "python3.13"]
[delivery]
ready = ['^>$']
composer = '^> ?(?P<draft>.*)$'
mid_turn = "queue"
native = "opencode"
"""
TYPED = ["queued", "pasted", "painted", "submitted", "turn_started", "answered"]
HANDED_OVER = ["queued", "submitted", "turn_started", "answered"]


def scripted(lane: LaneChoice = "native") -> AgentProfile:
    return parse_profile("scripted", f'{PROFILE}lane = "{lane}"\n', source="scripted.toml")


class ApiPane:
    """A scripted agent with an API in a pane of a private server, and a writer to it."""

    def __init__(self, tmux: PrivateTmux, log: Path) -> None:
        self.tmux = tmux
        self._log = log
        self.pane = ""
        self.reports: list[Progress] = []

    async def start(self, *options: str) -> None:
        words = [sys.executable, "-m", "streamrelay.testing.agent", "--log", str(self._log), "--api", "0"]
        options = ("--witness", "furniture", "--title", TITLE, *options)
        self.pane = self.tmux.new_session("agent", [*words, *options], columns=100, lines=30)
        await wait_until_async(lambda: any(got.kind == "ready" for got in read_got(self._log)), PATIENCE)

    @property
    def messages(self) -> list[str]:
        return [got.text for got in read_got(self._log) if got.kind == "message"]

    @property
    def screen(self) -> list[str]:
        return self.tmux.run("capture-pane", "-p", "-t", self.pane).splitlines()

    def states(self, message_id: str) -> list[str]:
        waits = lambda report: report.state == "queued" and report.reason  # noqa: E731
        return [report.state for report in self.reports if report.message_id == message_id and not waits(report)]

    def last(self, message_id: str) -> tuple[str, str]:
        return next((r.state, r.reason) for r in reversed(self.reports) if r.message_id == message_id)

    def reason(self, message_id: str, state: str) -> str:
        return next(r.reason for r in self.reports if (r.message_id, r.state) == (message_id, state))

    async def until_over(self, *message_ids: str) -> None:
        final = {"answered", "failed", "unconfirmed"}
        await wait_until_async(lambda: all(set(self.states(each)) & final for each in message_ids), PATIENCE)

    @asynccontextmanager
    async def writer(
        self, lane: LaneChoice = "auto", profile: AgentProfile | None = None, outbox: Outbox | None = None
    ) -> AsyncIterator[PaneWriter]:
        profiles = [profile or scripted()]
        path = self.tmux.socket_path
        async with (
            streamrelay.connect(tmux=self.tmux.binary, socket_path=path, profiles=profiles, lane=lane) as server,
            server.watch(self.pane),
        ):
            await wait_until_async(lambda: server.pipeline(self.pane).pane_state.profile == "scripted", PATIENCE)
            writer = self._writer(server, outbox)
            await writer.recover()
            running = asyncio.ensure_future(writer.run())
            try:
                yield writer
            finally:
                running.cancel()
                await asyncio.gather(running, return_exceptions=True)

    def _writer(self, server: Server, outbox: Outbox | None) -> PaneWriter:
        pipeline = server.pipeline(self.pane)
        return PaneWriter(server, pipeline, program=pipeline.info.command, report=self.reports.append, outbox=outbox)


@pytest.fixture
def agent(private_tmux: PrivateTmux, tmp_path: Path) -> ApiPane:
    private_tmux.new_session("keeper", ["sleep", "1000"])
    return ApiPane(private_tmux, tmp_path / "got")


@pytest.mark.requirement("DLV-10")
@pytest.mark.parametrize("lane", ["auto", "native"])
async def test_messages_go_past_a_draft_once_and_in_order_and_the_busy_agent_holds_them(
    agent: ApiPane, lane: LaneChoice
) -> None:
    await agent.start("--draft", DRAFT, "--works", "3.0")
    texts = [f"message {number}\nof two lines" for number in range(3)]
    async with agent.writer(lane) as writer:
        await writer.put(Message("m0", texts[0]))
        # Three seconds are time enough for the others to come while it works.
        await wait_until_async(lambda: "turn_started" in agent.states("m0"), PATIENCE)
        await writer.put(Message("m1", texts[1]))
        await writer.put(Message("m2", texts[2]))
        await agent.until_over("m0", "m1", "m2")
    assert agent.messages == texts
    assert [agent.states(f"m{number}") for number in range(3)] == [HANDED_OVER] * 3
    assert [agent.reason(f"m{number}", "submitted") for number in range(3)] == ["", "held", "held"]
    assert f"> {DRAFT}" in agent.screen


WATCHER = """
import asyncio, pathlib, sys
import streamrelay
from streamrelay.events import Text
from tests.delivery.test_native_lane import scripted

async def main(tmux, path, pane, at_most):
    async with streamrelay.connect(tmux=tmux, socket_path=path, profiles=[scripted()]) as server:
        async with server.watch(pane) as stream:
            print("watching", flush=True)
            async with asyncio.timeout(float(at_most)):
                async for event in stream:
                    if isinstance(event, Text):
                        print(event.origin, event.message_id, event.text, sep="|", flush=True)

asyncio.run(main(*sys.argv[1:]))
"""


class Watcher:
    """Another process that watches the pane, from now on."""

    def __init__(self, agent: ApiPane) -> None:
        words = [agent.tmux.binary, agent.tmux.socket_path, agent.pane, str(PATIENCE)]
        self._process = subprocess.Popen([sys.executable, "-c", WATCHER, *words], stdout=subprocess.PIPE, text=True)

    def __enter__(self) -> "Watcher":
        assert self.line() == "watching"
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.communicate()

    def line(self) -> str:
        assert self._process.stdout is not None
        return self._process.stdout.readline().rstrip("\n")


@pytest.mark.requirement("DLV-10")
async def test_a_process_that_begins_to_watch_knows_what_the_api_took_before(agent: ApiPane) -> None:
    await agent.start("--works", "4.0")
    async with agent.writer() as writer:
        await writer.put(Message("m0", "the first"))
        await wait_until_async(lambda: "turn_started" in agent.states("m0"), PATIENCE)
        await writer.put(Message("m1", "the second"))
        await wait_until_async(lambda: "submitted" in agent.states("m1"), PATIENCE)
        assert agent.reason("m1", "submitted") == "held"
        with await asyncio.to_thread(Watcher, agent) as watcher:
            lines: list[str] = []
            while "program|None|answer 2" not in lines:
                lines.append(await asyncio.to_thread(watcher.line))
                assert lines[-1], lines
        await agent.until_over("m0", "m1")
    assert "injected|m1|the second" in lines
    assert not any(line.startswith("typed|") for line in lines)


@pytest.mark.requirement("DLV-10")
@pytest.mark.parametrize(("user", "known"), [("paste", "native"), ("native", "paste"), ("auto", "paste")])
async def test_the_lane_is_used_only_where_the_user_and_the_profile_allow_it(
    agent: ApiPane, user: LaneChoice, known: LaneChoice
) -> None:
    await agent.start()
    async with agent.writer(user, scripted(known)) as writer:
        await writer.put(Message("m1", "hello"))
        await agent.until_over("m1")
    assert agent.states("m1") == TYPED
    assert agent.messages == ["hello"]


@pytest.mark.requirement("DLV-10")
@pytest.mark.parametrize("lane", ["auto", "native"])
async def test_of_several_sessions_with_the_title_on_the_screen_none_is_guessed(
    agent: ApiPane, lane: LaneChoice
) -> None:
    await agent.start("--sessions", "2")
    async with agent.writer(lane) as writer:
        await writer.put(Message("m1", "hello"))
        await agent.until_over("m1")
    if lane == "auto":
        assert agent.states("m1") == TYPED
        assert agent.messages == ["hello"]
    else:
        assert agent.last("m1") == ("failed", "no_lane")
        assert agent.messages == []


@pytest.mark.requirement("DLV-10")
@pytest.mark.parametrize(
    ("fault", "states", "reason", "arrives"),
    [
        pytest.param("reject", TYPED, None, True, id="what the API refuses is typed"),
        pytest.param("cut", HANDED_OVER, None, True, id="without a reply the API is asked for the message"),
        pytest.param("vanish", ["queued", "unconfirmed"], "no_reply", False, id="what it has not got is not typed"),
        pytest.param("lose", ["queued", "unconfirmed"], "no_reply", False, id="what it accepts and loses is not typed"),
    ],
)
async def test_only_what_has_certainly_not_arrived_is_typed(
    agent: ApiPane, fault: str, states: list[str], reason: str | None, arrives: bool
) -> None:
    await agent.start()
    async with agent.writer() as writer:
        await writer.put(Message("m1", f"please {fault} it"))
        await writer.put(Message("m2", "and then"))
        await agent.until_over("m1", "m2")
    assert agent.states("m1") == states
    assert reason is None or agent.last("m1") == ("unconfirmed", reason)
    assert agent.states("m2") == HANDED_OVER
    assert agent.messages == ([f"please {fault} it", "and then"] if arrives else ["and then"])


@pytest.mark.requirement("DLV-10", "DLV-04")
@pytest.mark.parametrize("policy", ["hold", "fail"])
async def test_no_key_goes_into_a_dialog_and_the_message_is_held_or_fails(agent: ApiPane, policy: str) -> None:
    await agent.start("--dialog")
    choice = DeliveryPolicy(needs_human="hold" if policy == "hold" else "fail")
    async with agent.writer() as writer:
        await writer.put(Message("m1", "hello", policy=choice))
        await wait_until_async(lambda: agent.last("m1")[0] != "queued", PATIENCE)
    assert agent.last("m1") == (("submitted", "") if policy == "hold" else ("failed", "needs_human"))
    assert agent.messages == (["hello"] if policy == "hold" else [])
    assert not any(got.kind == "key" for got in read_got(agent._log))


@pytest.mark.requirement("DLV-10", "DLV-07a")
@pytest.mark.parametrize("has_it", [True, False])
async def test_after_a_crash_the_api_is_asked_and_nothing_is_sent_twice(
    agent: ApiPane, tmp_path: Path, has_it: bool
) -> None:
    await agent.start()
    pid = int(agent.tmux.run("display-message", "-p", "-t", agent.pane, "#{pane_pid}"))
    async with Outbox(tmp_path / "outbox.db") as outbox:
        # What a writer leaves that is killed just before, or after, the API got the message.
        lane = OpenCodeLane(lambda: foreground_processes(pid))
        address = await lane.find(TITLE)
        assert not isinstance(address, str)
        handed = lane.reference(address)
        if has_it:
            assert await lane.hand_over(handed, "hello") == "taken"
        await lane.close()
        async with agent.writer(outbox=outbox) as writer:
            server = writer._server_key
            entry, _ = await outbox.put(Message("m1", "hello"), server=server, pane=agent.pane, program=writer.program)
        agent.tmux.run("set-option", "-p", "-t", agent.pane, HANDED, f"{entry.mark} {handed}")
        async with agent.writer(outbox=outbox) as writer:
            await writer.put(Message("m2", "and then"))
            await agent.until_over("m2")
        [kept] = await outbox.find("m1")
    assert (kept.state, kept.reason) == (("submitted", "restarted") if has_it else ("unconfirmed", "no_reply"))
    assert agent.messages == (["hello", "and then"] if has_it else ["and then"])


def test_the_note_of_a_handed_message_is_read_back_and_nothing_else() -> None:
    handed = Handed("opencode", "http://127.0.0.1:4096", "ses_1", "msg_1")
    assert Handed.parse(str(handed)) == handed
    assert Handed.parse("") is Handed.parse("a b c") is Handed.parse("a b  d") is None
