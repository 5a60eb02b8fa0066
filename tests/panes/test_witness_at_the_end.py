"""A pane that closes in mid-answer: what the agent's own record has by then is published, in a bounded time."""

import asyncio
import contextlib
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from streamrelay.agents.profile import AgentProfile, parse_profile
from streamrelay.agents.witnesses import AgentRecord, Reading, record_of
from streamrelay.control import Tmux
from streamrelay.delivery.message import Message
from streamrelay.delivery.writer import PaneWriter
from streamrelay.events import Event, PaneClosed, Text, WitnessCompared
from streamrelay.panes import witness
from streamrelay.panes.server import Server
from streamrelay.panes.subscription import Subscription
from streamrelay.testing.tmux import PrivateTmux
from streamrelay.testing.waiting import wait_until_async

SESSION = "864760d9-92c6-4ac1-b0c0-12c177dbae11"
FIRST = "First I look at the **mill** and its `wheel`."
LAST = "The wheel stands still, because the river is *dry*.\nIt will turn again in spring."
AGENT = f'''
"""Paints the first part of an answer, and goes on working until its terminal is gone."""
import json, os, re, signal, sys, time
from pathlib import Path
from streamrelay.raw_terminal import raw_terminal
from streamrelay.testing.transcript_program import TranscriptProgram, UiStyle

os.umask(0o077)
folder, last = Path(os.environ["HOME"]) / ".claude", sys.argv[1]
(folder / "sessions").mkdir(parents=True)
(folder / "projects/mill").mkdir(parents=True)
(folder / f"sessions/{{os.getpid()}}.json").write_text(json.dumps({{"sessionId": "{SESSION}"}}))

def write(role, text, reason=None):
    at = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime()) + ".999Z"
    message = {{"role": role, "content": [{{"type": "text", "text": text}}], "stop_reason": reason}}
    kind = "user" if role == "user" else "assistant"
    with (folder / "projects/mill/{SESSION}.jsonl").open("a") as file:
        file.write(json.dumps({{"type": kind, "timestamp": at, "message": message}}) + "\\n")

def paint(data):
    os.write(1, data)

def hang_up(*_):
    if last == "writes":
        write("assistant", {LAST!r}, "end_turn")
    os._exit(0)

signal.signal(signal.SIGHUP, hang_up)
program = TranscriptProgram(UiStyle(columns=100, lines=30, witness="agent_state", bullet="● "))
with raw_terminal():
    paint(b"\\x1b]2;the scribe\\x07" + program.starts())
    typed = b""
    while b"\\r" not in typed:
        typed += os.read(0, 4096)
        message = re.sub(r"\x1b\\[20[01]~", "", typed.partition(b"\\r")[0].decode())
        paint(program.drafts(message))
    paint(program.submits())
    write("user", message)
    time.sleep(0.3)
    paint(program.says({FIRST!r}.replace("*", "").replace("`", "")))
    write("assistant", {FIRST!r}, "tool_use")
    while True:
        time.sleep(0.1)
        paint(program.works())
'''


def scribe() -> AgentProfile:
    text = 'title = "Scribe"\n[recognise]\nsigns = ["^the scribe"]\n[witness]\nreader = "claude"\nlag = 1.0\n'
    return parse_profile("scribe", text, source="test")


class Watched:
    """A record that notes that it was found."""

    def __init__(self, record: AgentRecord, found: list[Reading]) -> None:
        self._record, self._found = record, found

    def read(self) -> Reading:
        reading = self._record.read()
        self._found.append(reading)
        return reading


@pytest.fixture
def found(monkeypatch: pytest.MonkeyPatch) -> list[Reading]:
    """Return what is read of the record, as it is read."""
    readings: list[Reading] = []

    def watched(profile: AgentProfile, pid: int, since: float) -> AgentRecord | None:
        record = record_of(profile, pid, since)
        return None if record is None else Watched(record, readings)

    monkeypatch.setattr(witness, "record_of", watched)
    return readings


@contextlib.asynccontextmanager
async def asked(
    tmux: PrivateTmux, folder: Path, last: str, found: list[Reading]
) -> AsyncIterator[tuple[Subscription, str]]:
    """Have an agent in mid-answer in a pane that is not the only one."""
    (folder / "home").mkdir()
    (folder / "agent.py").write_text(AGENT)
    words = ["env", f"HOME={folder / 'home'}", sys.executable, str(folder / "agent.py"), last]
    tmux.new_session("other", ["cat"])
    pane = tmux.new_session("agent", words, columns=100, lines=30)

    def shown() -> str:
        return tmux.run("capture-pane", "-p", "-t", pane)

    await wait_until_async(lambda: bool(shown().strip()), 20.0, "the agent to be ready")
    server = Server(Tmux(tmux.binary, socket_path=tmux.socket_path), profiles=[scribe()])
    async with server, server.watch(pane) as stream:
        pipeline = server.pipeline(pane)
        writer = PaneWriter(server, pipeline, program=pipeline.info.command, report=lambda _: None)
        writing = asyncio.create_task(writer.run())
        await writer.put(Message("m1", "What of the mill?"))
        await wait_until_async(lambda: "First I look" in shown(), 20.0, "the answer to begin")
        # Once it has ended, no record can be found any more.
        await wait_until_async(lambda: bool(found), 20.0, "the record to be looked for")
        await wait_until_async(lambda: found[-1].passages, 20.0, f"the record to be found, at first {found[-1]}")
        yield stream, pane
        writing.cancel()
        await asyncio.gather(writing, return_exceptions=True)


async def rest(stream: Subscription) -> list[Event]:
    heard: list[Event] = []
    async with asyncio.timeout(20.0):
        async for event in stream:
            heard.append(event)
            if isinstance(event, PaneClosed):
                break
    return heard


@pytest.mark.requirement("DEL-11")
@pytest.mark.parametrize(("last", "expected"), [("writes", f"{FIRST}\n{LAST}"), ("writes nothing", FIRST)])
async def test_what_the_record_has_of_an_answer_is_said_when_its_pane_closes(
    private_tmux: PrivateTmux, tmp_path: Path, found: list[Reading], last: str, expected: str
) -> None:
    async with asked(private_tmux, tmp_path, last, found) as (stream, pane):
        private_tmux.run("kill-pane", "-t", pane)
        # A record that says no more is waited for no longer than its lag.
        heard = await rest(stream)
    said = [event for event in heard if isinstance(event, Text) and event.origin == "program" and event.text]
    assert "\n".join(event.text for event in said) == expected
    assert all("transcript" in event.witnesses for event in said)
    [compared] = [event for event in heard if isinstance(event, WitnessCompared)]
    assert compared.reason == ("cut_off" if last == "writes" else "")
    assert compared.outcome == ("repaired" if last == "writes" else "agrees")
