"""What scripted agents really got, byte for byte, against what the receipts say; every quirk seen with real agents."""

import asyncio
import os
import random
import signal
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

import streamrelay
from streamrelay.agents import AgentProfile, parse_profile
from streamrelay.delivery.machine import CONFIRM
from streamrelay.delivery.message import DeliveryPolicy, Message, Progress
from streamrelay.delivery.sanitise import removed_from, sanitised
from streamrelay.delivery.writer import PaneWriter
from streamrelay.panes.server import Server
from streamrelay.testing.agent import PROFILE, LogEntry, read_got
from streamrelay.testing.tmux import PrivateTmux
from streamrelay.testing.waiting import wait_until_async

PATIENCE = 30.0


def sprite(**delivery: str) -> AgentProfile:
    text = PROFILE
    for key, value in delivery.items():
        text = text.replace('mid_turn = "queue"\n', "") if key == "mid_turn" else text
        text += f"{key} = {value}\n"
    return parse_profile("sprite", text, source="sprite.toml")


class AgentPane:
    """A scripted agent in a pane of a private server, its log, and a writer to it."""

    def __init__(self, tmux: PrivateTmux, log: Path) -> None:
        self._tmux = tmux
        self._log = log
        self.pane = ""
        self.reports: list[Progress] = []
        self.running: asyncio.Future[None]

    def start(self, *options: str) -> None:
        words = [sys.executable, "-m", "streamrelay.testing.agent", "--log", str(self._log), *options]
        self.pane = self._tmux.new_session("agent", words, columns=100, lines=30)

    @property
    def got(self) -> list[LogEntry]:
        return read_got(self._log)

    def messages(self) -> list[str]:
        return [got.text for got in self.got if got.kind == "message"]

    def of(self, kind: str) -> list[LogEntry]:
        return [got for got in self.got if got.kind == kind]

    def states(self, message_id: str = "m1") -> list[str]:
        return [report.state for report in self.reports if report.message_id == message_id and not self._waits(report)]

    def reasons(self, message_id: str = "m1") -> list[str]:
        return [report.reason for report in self.reports if report.message_id == message_id and report.reason]

    def signal(self, number: signal.Signals) -> None:
        os.kill(int(self._tmux.run("display-message", "-p", "-t", self.pane, "#{pane_pid}")), number)

    async def until(self, message_id: str, *states: str) -> None:
        await wait_until_async(lambda: set(states) & set(self.states(message_id)) or self.running.done(), PATIENCE)
        if self.running.done():
            self.running.result()

    @asynccontextmanager
    async def writer(
        self, *profiles: AgentProfile, policy: DeliveryPolicy | None = None
    ) -> AsyncIterator[tuple[PaneWriter, Server]]:
        await wait_until_async(lambda: self.of("ready"), PATIENCE)
        async with self.early_writer(*profiles, policy=policy) as found:
            yield found

    @asynccontextmanager
    async def early_writer(
        self, *profiles: AgentProfile, policy: DeliveryPolicy | None = None
    ) -> AsyncIterator[tuple[PaneWriter, Server]]:
        async with (
            streamrelay.connect(
                tmux=self._tmux.binary, socket_path=self._tmux.socket_path, profiles=profiles
            ) as server,
            server.watch(self.pane),
        ):
            pipeline = server.pipeline(self.pane)
            writer = PaneWriter(
                server, pipeline, program=pipeline.info.command, report=self.reports.append, policy=policy
            )
            self.running = asyncio.ensure_future(writer.run())
            try:
                yield writer, server
            finally:
                self.running.cancel()
                await asyncio.gather(self.running, return_exceptions=True)

    @staticmethod
    def _waits(report: Progress) -> bool:
        return report.state == "queued" and bool(report.reason)


@pytest.fixture
def agent(private_tmux: PrivateTmux, tmp_path: Path) -> AgentPane:
    private_tmux.new_session("keeper", ["sleep", "1000"])
    return AgentPane(private_tmux, tmp_path / "got")


WHOLE = ["queued", "pasted", "painted", "submitted", "turn_started", "answered"]


@pytest.mark.sampled(3)
@pytest.mark.requirement("DLV-01a", "DLV-02a")
@pytest.mark.parametrize(
    "options",
    [
        pytest.param(["--digest", "0.06"], id="an Enter within 60 ms is a line feed"),
        pytest.param(["--paint-delay", "0.3"], id="paints a paste late"),
        pytest.param(["--folds-from", "1"], id="shows a placeholder"),
        pytest.param(["--alternate", "--witness", "agent_state"], id="on the alternate screen"),
        pytest.param(["--witness", "furniture"], id="tells its state by its screen alone"),
        pytest.param(["--works", "0.4"], id="turns a spinner while it works"),
    ],
)
@pytest.mark.parametrize(
    "known", [pytest.param(True, id="with a profile", marks=pytest.mark.slow), pytest.param(False, id="without")]
)
async def test_each_state_is_told_in_order_and_the_text_is_exact(
    agent: AgentPane, options: list[str], known: bool
) -> None:
    agent.start(*options)
    texts = ["hello", "two\nlines", '\'; run-shell "touch x" ; #{pane_id} $(y) ~ \\']
    async with agent.writer(*([sprite()] if known else [])) as (writer, _):
        for number, text in enumerate(texts):
            await writer.put(Message(f"m{number}", text))
        await agent.until("m2", "answered")
    assert agent.messages() == texts
    for number in range(len(texts)):
        assert agent.states(f"m{number}") == WHOLE


@pytest.mark.requirement("DLV-02b")
@pytest.mark.parametrize("deaf", [1, 2])
async def test_an_enter_that_was_overheard_is_sent_once_more_and_never_a_third_time(
    agent: AgentPane, private_tmux: PrivateTmux, deaf: int
) -> None:
    agent.start("--deaf", str(deaf))
    async with agent.writer() as (writer, _):
        await writer.put(Message("m1", "hello"))
        await writer.put(Message("m2", "again"))
        if deaf == 2:
            # The text is no draft of a person, and the message behind it says that the program does not take it.
            await wait_until_async(lambda: "not_ready" in agent.reasons("m2"), PATIENCE)
            await asyncio.sleep(CONFIRM)
            assert "draft" not in agent.reasons("m2")
            assert agent.messages() == []
            assert agent.states()[-1] == "submitted"
            # A person presses the Enter that is missing.
            private_tmux.run("send-keys", "-t", agent.pane, "Enter")
        await agent.until("m2", "answered", "failed")
    assert agent.states() == agent.states("m2") == WHOLE
    assert agent.messages() == ["hello", "again"]


@pytest.mark.requirement("DLV-01a", "DLV-02b")
async def test_a_message_that_an_agent_keeps_while_it_loads_is_submitted_once_and_answered(agent: AgentPane) -> None:
    loads = 2 * CONFIRM + 1
    agent.start("--loads", str(loads))
    async with agent.writer() as (writer, _):
        began = time.monotonic()
        await writer.put(Message("m1", "hello"))
        await writer.put(Message("m2", "again"))
        await agent.until("m2", "answered", "failed")
    assert agent.states() == agent.states("m2") == WHOLE
    assert agent.messages() == ["hello", "again"]
    assert agent.of("message")[0].at >= began + loads


@pytest.mark.requirement("DLV-03a")
@pytest.mark.parametrize("known", [True, False], ids=["with a profile", "without"])
async def test_a_draft_is_left_alone_and_the_message_waits(agent: AgentPane, known: bool) -> None:
    agent.start("--draft", "half a wo")
    async with agent.writer(*([sprite()] if known else [])) as (writer, server):
        await writer.put(Message("m1", "from a peer"))
        await wait_until_async(lambda: agent.reasons() == ["draft"], PATIENCE)
        await server.command(agent.pane, "display-message -p ok")
        assert agent.states() == ["queued"]
        agent.signal(signal.SIGUSR1)
        await agent.until("m1", "answered")
    assert agent.messages() == ["from a peer"]


@pytest.mark.requirement("DLV-04")
@pytest.mark.parametrize("policy", ["hold", "fail"])
async def test_no_key_goes_into_a_dialog(agent: AgentPane, policy: str) -> None:
    agent.start("--dialog")
    async with agent.writer(policy=DeliveryPolicy(needs_human=policy)) as (writer, _):  # type: ignore[arg-type]
        await writer.put(Message("m1", "from a peer"))
        await wait_until_async(lambda: agent.reasons() == ["needs_human"], PATIENCE)
        if policy == "hold":
            assert agent.states() == ["queued"]
            agent.signal(signal.SIGUSR2)
            await agent.until("m1", "submitted")
            await wait_until_async(agent.messages, PATIENCE)
        else:
            assert agent.states() == ["queued", "failed"]
    assert agent.of("key") == []
    assert agent.messages() == (["from a peer"] if policy == "hold" else [])


@pytest.mark.requirement("DLV-04")
async def test_a_dialog_that_comes_between_paste_and_enter_gets_no_enter(agent: AgentPane) -> None:
    agent.start("--paint-delay", "0.2")
    async with agent.writer() as (writer, _):
        await writer.put(Message("m1", "from a peer"))
        await agent.until("m1", "pasted")
        agent.signal(signal.SIGUSR1)
        await wait_until_async(lambda: agent.of("dialog"), PATIENCE)
        await asyncio.sleep(1.5)  # the time in which an Enter would have come
        assert "submitted" not in agent.states()
        agent.signal(signal.SIGUSR2)
        await agent.until("m1", "submitted")
        await wait_until_async(agent.messages, PATIENCE)
    assert agent.of("key") == []
    assert agent.messages() == ["from a peer"]


@pytest.mark.requirement("DLV-03c")
async def test_nothing_is_typed_before_an_agent_is_ready(agent: AgentPane, private_tmux: PrivateTmux) -> None:
    agent.start("--boot", "1.0")
    await wait_until_async(lambda: "loading" in private_tmux.run("capture-pane", "-p", "-t", agent.pane), PATIENCE)
    async with agent.early_writer(sprite()) as (writer, _):
        await writer.put(Message("m1", "hello"))
        await agent.until("m1", "answered")
    assert agent.of("lost") == []
    assert agent.messages() == ["hello"]


@pytest.mark.parametrize("mid_turn", ["hold", "queue"])
async def test_an_agent_that_would_throw_its_answer_away_is_let_finish(agent: AgentPane, mid_turn: str) -> None:
    agent.start("--works", "1.0", "--mid-turn", "abort" if mid_turn == "hold" else "queue")
    async with agent.writer(sprite(mid_turn=f'"{mid_turn}"')) as (writer, _):
        await writer.put(Message("m1", "first"))
        await agent.until("m1", "turn_started")
        await writer.put(Message("m2", "second"))
        await agent.until("m2", "answered")
    assert agent.messages() == ["first", "second"]
    assert agent.of("aborted") == []
    order = [(report.message_id, report.state) for report in agent.reports]
    before = order.index(("m2", "pasted")) < order.index(("m1", "answered"))
    assert before == (mid_turn == "queue")
    assert agent.states("m1") == agent.states("m2") == WHOLE


COMMANDS = """; kill-server ; run-shell 'touch ran' ; #(touch ran) #{q:pane_id} #{E:@x} #[fg=red]
%exit
%begin 1 2 0
} ' " \\" $(touch ran) `touch ran` && touch ran | tee ran > ran
source-file - {}  %if 1 ; set -g status off ~ $HOME \\; \\
"""
TEN_THOUSAND = "".join(chr(0x1F600 + number % 80) for number in range(10_000))
EVERY_CONTROL = "".join(f"{number:02x}{chr(number)}" for number in [*range(0x20), *range(0x7F, 0xA0)])


@pytest.mark.sampled(3)
@pytest.mark.requirement("DLV-06a")
@pytest.mark.parametrize(
    "text",
    [
        pytest.param("x", id="1 byte"),
        pytest.param(TEN_THOUSAND, id="10,000 emoji"),
        pytest.param(EVERY_CONTROL, id="every control character"),
        pytest.param("a\x1b[201~\rrm -rf\r\x1b[200~b", id="paste terminators"),
        pytest.param(COMMANDS, id="tmux commands and formats, shell words"),
        pytest.param("tab\tand  blanks \n\n  indented\n" * 40, id="white space"),
        pytest.param("日本語 é e\u0301 👩‍🚀 עברית " * 300, id="many alphabets"),
        pytest.param("x" * (1 << 20), id="1 MB in one line"),
        pytest.param("".join(f"{n:07d} line\n" for n in range(80_000)), id="1 MB in 80,000 lines"),
    ],
)
async def test_a_text_of_any_size_arrives_exactly_but_for_what_the_receipt_says_was_removed(
    agent: AgentPane, text: str, private_tmux: PrivateTmux, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    agent.start()
    options = private_tmux.run("show-options", "-g")
    async with agent.writer() as (writer, _):
        await writer.put(Message("m1", text))
        await agent.until("m1", "answered")
    assert agent.messages() == [sanitised(text)]
    queued = agent.reports[0]
    assert queued.state == "queued"
    assert queued.removed == removed_from(text)
    assert len(text) - len(sanitised(text)) == sum(queued.removed.values())
    # Nothing of it was executed.
    assert [path.name for path in tmp_path.iterdir()] == ["got"]
    assert private_tmux.run("show-options", "-g") == options
    assert private_tmux.run("list-buffers") == ""


@pytest.mark.requirement("DLV-06b")
async def test_a_text_above_the_profiles_limit_goes_into_a_file_of_the_users_own(agent: AgentPane) -> None:
    agent.start()
    text = "Ann (1):\n\n" + "long " * 100
    async with agent.writer(sprite(paste_limit="200")) as (writer, _):
        await writer.put(Message("m1", text, head="Ann (1):"))
        await writer.put(Message("m2", "short"))
        await agent.until("m2", "answered")
    file = next(Path(report.file) for report in agent.reports if report.file)
    assert file.read_text() == text
    assert file.stat().st_mode & 0o777 == 0o600
    pointer, short = agent.messages()
    assert short == "short"
    assert pointer.startswith("Ann (1):\n\n")
    assert str(file) in pointer
    assert len(pointer) < len(text)


async def test_random_texts_at_random_moments_all_arrive_once_and_in_order(agent: AgentPane) -> None:
    agent.start("--works", "0.05", "--digest", "0.06")
    chance = random.Random(5)
    texts = ["".join(chance.choices("ab \n日😀#{};'\"$", k=chance.randint(1, 300))) + f".{n}" for n in range(8)]
    async with agent.writer(sprite()) as (writer, _):
        for number, text in enumerate(texts):
            await writer.put(Message(f"m{number}", text))
            await asyncio.sleep(chance.random() * 0.1)
        await agent.until("m7", "submitted")
        await wait_until_async(lambda: len(agent.messages()) == len(texts), PATIENCE)
    assert agent.messages() == texts


@pytest.mark.requirement("DLV-08")
async def test_panes_are_delivered_to_side_by_side_and_each_in_order(private_tmux: PrivateTmux, tmp_path: Path) -> None:
    """Six listeners, one of which waits for a person: it keeps nobody waiting."""
    logs = [tmp_path / f"got{number}" for number in range(6)]
    panes = []
    for number, log in enumerate(logs):
        words = [sys.executable, "-m", "streamrelay.testing.agent", "--log", str(log), "--works", "0.01"]
        panes.append(private_tmux.new_session(f"agent{number}", [*words, *(["--dialog"] if number == 0 else [])]))
    await wait_until_async(lambda: all(any(got.kind == "ready" for got in read_got(log)) for log in logs), PATIENCE)
    reports: list[Progress] = []
    async with (
        streamrelay.connect(tmux=private_tmux.binary, socket_path=private_tmux.socket_path, profiles=[]) as server,
        server.watch(*panes),
    ):
        writers = [
            PaneWriter(server, server.pipeline(pane), program=server.pipeline(pane).info.command, report=reports.append)
            for pane in panes
        ]
        running = [asyncio.ensure_future(writer.run()) for writer in writers]
        for text in ("one", "two"):
            await asyncio.gather(*(writer.put(Message(text, text)) for writer in writers))
        async with asyncio.timeout(PATIENCE):
            await asyncio.gather(*(writer.finish() for writer in writers[1:]))
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)
    first = [(report.state, report.pane) for report in reports if report.message_id == "one"]
    pasted = [at for at, (state, _) in enumerate(first) if state == "pasted"]
    submitted = [at for at, (state, _) in enumerate(first) if state == "submitted"]
    assert len(pasted) == len(submitted) == 5
    # One after the other, each would be submitted before the next was pasted.
    assert pasted[2] < submitted[0]
    for log in logs[1:]:
        assert [got.text for got in read_got(log) if got.kind == "message"] == ["one", "two"]
    assert [got.kind for got in read_got(logs[0])] == ["ready", "dialog"]
