"""The writer of a pane against real programs in a private tmux."""

import asyncio
import sqlite3
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, closing
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from streamrelay.control import Tmux
from streamrelay.delivery.machine import MAX_QUEUE, MIN_WAIT
from streamrelay.delivery.message import Message, Progress
from streamrelay.delivery.outbox import Outbox
from streamrelay.delivery.writer import PaneWriter
from streamrelay.errors import PaneGone, PaneSynchronized, ProgramLeft, TargetNotReading
from streamrelay.panes.server import Server
from streamrelay.testing.tmux import PrivateTmux
from streamrelay.testing.waiting import wait_until_async

pytestmark = pytest.mark.smoke

PATIENCE = 20.0

HOSTILE = """it's "quoted" $(touch x) `touch y` \\ \\n \\033[0m ; && || | > < & ;
#{pane_id} #[fg=red] #(touch z) {braces} %0 ~ $HOME !! ^x *?
#{l:end of format},}}
日本語、é 👩‍🚀 עברית\ta tab
-- -t %1 ;"""

# Asks for bracketed paste in raw mode and writes all it reads to a file.
RAW_READER = """
import os, sys, termios, tty
tty.setraw(0)
os.write(1, b"\\x1b[?2004hready")
with open(sys.argv[1], "wb", buffering=0) as file:
    while data := os.read(0, 65536):
        file.write(data)
        os.write(1, b".")
"""

# Asks for a secret without echo, then reads lines; writes both to a file as it reads them.
ASKER = """
import sys, termios
with open(sys.argv[1], "w", buffering=1) as file:
    before = termios.tcgetattr(0)
    termios.tcsetattr(0, termios.TCSANOW, [*before[:3], before[3] & ~termios.ECHO, *before[4:]])
    print("Password: ", end="", flush=True)
    file.write(sys.stdin.readline())
    termios.tcsetattr(0, termios.TCSANOW, before)
    print("\\nthanks", flush=True)
    for line in sys.stdin:
        file.write(line)
"""

# Asks for permission on a screen of its own, a clock turning beside the question, until a key is pressed; then reads
# lines. Whatever comes in is written to a file.
PERMISSION = """
import os, select, sys, tty
tty.setraw(0)
with open(sys.argv[1], "wb", buffering=0) as file:
    os.write(1, b"\\x1b[?25l\\x1b[2J\\x1b[HDo you want to proceed?\\r\\n\\r\\n")
    os.write(1, b"\\xe2\\x9d\\xaf 1. Yes\\r\\n  2. No\\r\\n\\r\\nEnter to confirm\\r\\n")
    turns = 0
    while not select.select([0], [], [], 0.05)[0]:
        turns += 1
        os.write(1, b"\\x1b]2;%d\\x07\\x1b[20;1H\\xe2\\xa0\\x8b waiting %d\\x1b[7;1H" % (turns, turns))
    file.write(os.read(0, 65536))
    os.write(1, b"\\x1b[2J\\x1b[H\\x1b[?25hthanks\\r\\n")
    while data := os.read(0, 65536):
        file.write(data)
        os.write(1, b".")
"""


@dataclass
class Delivery:
    """A writer at work, and what it reported."""

    server: Server
    pane: str
    writer: PaneWriter
    running: asyncio.Task[None]
    reports: list[Progress] = field(default_factory=list)

    def states(self, message_id: str) -> list[str]:
        return [report.state for report in self.reports if report.message_id == message_id]

    async def until(self, message_id: str, state: str) -> None:
        await wait_until_async(
            lambda: state in self.states(message_id) or self.running.done(), PATIENCE, f"{message_id} was not {state}"
        )
        assert state in self.states(message_id), self.running


class Place:
    """Panes of a private server, and files that the programs in them write."""

    def __init__(self, tmux: PrivateTmux, files: Path) -> None:
        self.tmux = tmux
        self.file = files / "read"
        tmux.new_session("keeper", ["sleep", "1000"])

    async def runs(self, command: Sequence[str], *, name: str) -> str:
        """Start a program in a pane of its own, and wait until it is what tmux says is there."""
        pane = self.tmux.new_session("target", command)
        await wait_until_async(lambda: self.current(pane) == name, PATIENCE, f"{name} did not start")
        return pane

    def current(self, pane: str) -> str:
        return self.tmux.run("display-message", "-p", "-t", pane, "#{pane_current_command}")

    def screen(self, pane: str) -> str:
        return self.tmux.run("capture-pane", "-p", "-t", pane)

    async def reads_lines(self) -> str:
        return await self.runs(["sh", "-c", f"exec cat > {self.file}"], name="cat")

    async def reads_raw(self) -> str:
        pane = await self.runs([sys.executable, "-c", RAW_READER, str(self.file)], name=Path(sys.executable).name)
        await wait_until_async(lambda: "ready" in self.screen(pane), PATIENCE)
        return pane

    async def was_read(self, expected: bytes) -> None:
        await wait_until_async(lambda: len(self.file.read_bytes()) >= len(expected), PATIENCE, "not read")
        assert self.file.read_bytes() == expected

    @asynccontextmanager
    async def delivers(
        self, pane: str, *, read_timeout: float = 30.0, outbox: Outbox | None = None
    ) -> AsyncIterator[Delivery]:
        reports: list[Progress] = []
        async with Server(Tmux(self.tmux.binary, socket_path=self.tmux.socket_path)) as server, server.watch(pane):
            writer = PaneWriter(
                server,
                server.pipeline(pane),
                program=server.pipeline(pane).info.command,
                report=reports.append,
                allow_shell=True,
                outbox=outbox,
                read_timeout=read_timeout,
            )
            running = asyncio.create_task(writer.run())
            try:
                yield Delivery(server, pane, writer, running, reports)
            finally:
                running.cancel()
                await asyncio.gather(running, return_exceptions=True)


@pytest.fixture
def place(private_tmux: PrivateTmux, tmp_path: Path) -> Place:
    return Place(private_tmux, tmp_path)


@pytest.mark.skipif(sys.platform != "linux", reason="no /proc tells there what a process waits for")
async def test_a_shell_that_runs_a_command_is_waited_for(place: Place) -> None:
    pane = await place.runs(["env", "PS1=$ ", "bash", "--norc", "-i"], name="bash")
    place.tmux.run("send-keys", "-t", pane, "sleep 1; echo first", "Enter")
    await wait_until_async(lambda: place.current(pane) == "sleep", PATIENCE)
    async with place.delivers(pane) as delivery:
        await delivery.writer.put(Message("m1", "echo second"))
        await delivery.until("m1", "submitted")
        await wait_until_async(lambda: place.screen(pane).count("second") == 2, PATIENCE)
    rows = [row.rstrip() for row in place.screen(pane).splitlines() if row.strip()]
    assert rows == ["$ sleep 1; echo first", "first", "$ echo second", "second", "$"]


@pytest.mark.requirement("DLV-06a")
async def test_text_arrives_byte_for_byte_in_a_program_that_reads_lines(place: Place, tmp_path: Path) -> None:
    pane = await place.reads_lines()
    async with place.delivers(pane) as delivery:
        assert await delivery.writer.put(Message("m1", HOSTILE))
        await delivery.until("m1", "submitted")
        await place.was_read(HOSTILE.encode() + b"\n")
        assert delivery.states("m1") == ["queued", "pasted", "painted", "submitted"]
    assert {path.name for path in tmp_path.iterdir()} == {"read"}
    assert place.tmux.run("list-buffers") == ""


@pytest.mark.requirement("DLV-02a", "DLV-03b", "DLV-06a")
async def test_a_program_that_asks_for_it_gets_a_bracketed_paste_and_a_separate_enter(place: Place) -> None:
    pane = await place.reads_raw()
    async with place.delivers(pane) as delivery:
        await delivery.writer.put(Message("m1", f"\x1b[201~{HOSTILE}\r\x03"))
        await delivery.until("m1", "submitted")
        await place.was_read(b"\x1b[200~[201~" + HOSTILE.encode() + b"\x1b[201~\r")
        at = {report.state: report.at for report in delivery.reports}
        assert at["submitted"] - at["pasted"] >= MIN_WAIT


async def test_messages_go_in_one_after_the_other(place: Place) -> None:
    pane = await place.reads_lines()
    async with place.delivers(pane) as delivery:
        for number in range(3):
            await delivery.writer.put(Message(f"m{number}", f"message {number}\nof two lines"))
        async with asyncio.timeout(PATIENCE):
            await delivery.writer.finish()
        order = [(report.message_id, report.state) for report in delivery.reports if report.state != "queued"]
        assert order == [(f"m{number}", state) for number in range(3) for state in ("pasted", "painted", "submitted")]
        await place.was_read(b"".join(b"message %d\nof two lines\n" % number for number in range(3)))


@pytest.mark.requirement("DLV-05a")
async def test_nothing_is_typed_into_another_program(place: Place) -> None:
    pane = await place.runs(["sh", "-c", f"read line; exec tee {place.file}"], name="sh")
    async with place.delivers(pane) as delivery:
        place.tmux.run("send-keys", "-t", pane, "Enter")
        await wait_until_async(lambda: place.current(pane) == "tee", PATIENCE)
        await delivery.writer.put(Message("m1", "not for tee"))
        with pytest.raises(ProgramLeft) as caught:
            async with asyncio.timeout(PATIENCE):
                await delivery.running
        assert caught.value.data == {"pane": pane, "program": "sh", "now": "tee"}
        assert delivery.states("m1") == ["queued", "failed"]
        # What was typed before this line would be read before it.
        place.tmux.run("send-keys", "-t", pane, "by hand", "Enter")
        await wait_until_async(lambda: b"by hand" in place.file.read_bytes(), PATIENCE)
        assert place.file.read_bytes() == b"by hand\n"
        assert place.tmux.run("list-buffers") == ""


@pytest.mark.requirement("DLV-03b")
async def test_copy_mode_is_left_first(place: Place) -> None:
    pane = await place.reads_lines()
    async with place.delivers(pane) as delivery:
        place.tmux.run("copy-mode", "-t", pane)
        await delivery.writer.put(Message("m1", "hello"))
        await delivery.until("m1", "submitted")
        await place.was_read(b"hello\n")
        assert place.tmux.run("display-message", "-p", "-t", pane, "#{pane_in_mode}") == "0"


async def test_a_clock_in_the_way_is_left_too(place: Place) -> None:
    pane = await place.reads_lines()
    async with place.delivers(pane) as delivery:
        place.tmux.run("clock-mode", "-t", pane)
        await delivery.writer.put(Message("m1", "hello"))
        await delivery.until("m1", "submitted")
        await place.was_read(b"hello\n")


async def test_no_key_while_a_password_is_asked_for(place: Place) -> None:
    command = [sys.executable, "-c", ASKER, str(place.file)]
    pane = await place.runs(command, name=Path(sys.executable).name)
    await wait_until_async(lambda: "Password:" in place.screen(pane), PATIENCE)
    async with place.delivers(pane) as delivery:
        pipeline = delivery.server.pipeline(pane)
        await wait_until_async(lambda: pipeline.needs_human == "password", PATIENCE)
        await delivery.writer.put(Message("m1", "from a peer"))
        # A paste would go over the same client, so it would stand before this answer.
        await delivery.server.command(pane, "display-message -p ok")
        assert set(delivery.states("m1")) == {"queued"}
        place.tmux.run("send-keys", "-t", pane, "secret", "Enter")
        await delivery.until("m1", "submitted")
        await place.was_read(b"secret\nfrom a peer\n")


async def test_no_key_into_a_dialog_beside_which_something_moves(place: Place) -> None:
    command = [sys.executable, "-c", PERMISSION, str(place.file)]
    pane = await place.runs(command, name=Path(sys.executable).name)
    await wait_until_async(lambda: "Enter to confirm" in place.screen(pane), PATIENCE)
    async with place.delivers(pane) as delivery:
        await delivery.writer.put(Message("m1", "from a peer"))
        pipeline = delivery.server.pipeline(pane)
        await wait_until_async(lambda: pipeline.needs_human == "permission", PATIENCE)
        before = place.screen(pane)
        await wait_until_async(lambda: place.screen(pane) != before, PATIENCE)
        await delivery.server.command(pane, "display-message -p ok")
        assert set(delivery.states("m1")) == {"queued"}
        place.tmux.run("send-keys", "-t", pane, "n")
        await delivery.until("m1", "submitted")
        await place.was_read(b"nfrom a peer\r")


async def test_a_program_that_never_reads_is_reported(place: Place) -> None:
    pane = await place.runs(["sleep", "1000"], name="sleep")
    async with place.delivers(pane, read_timeout=0.3) as delivery:
        await delivery.writer.put(Message("m1", "hello"))
        with pytest.raises(TargetNotReading) as caught:
            async with asyncio.timeout(PATIENCE):
                await delivery.running
        assert caught.value.data["pane"] == pane
        assert caught.value.data["unread"] == len("hello\n")


async def test_a_program_that_reads_is_not(place: Place) -> None:
    pane = await place.reads_lines()
    async with place.delivers(pane, read_timeout=0.01) as delivery:
        for number in range(5):
            await delivery.writer.put(Message(f"m{number}", "hello"))
        async with asyncio.timeout(PATIENCE):
            await delivery.writer.finish()
        assert not delivery.running.done()


async def test_a_pane_that_is_closed_ends_its_writer(place: Place) -> None:
    pane = await place.reads_lines()
    async with place.delivers(pane) as delivery:
        pipeline = delivery.server.pipeline(pane)
        place.tmux.run("kill-pane", "-t", pane)
        await wait_until_async(lambda: pipeline.closed, PATIENCE)
        await delivery.writer.put(Message("m1", "hello"))
        with pytest.raises(PaneGone):
            async with asyncio.timeout(PATIENCE):
                await delivery.running


@pytest.mark.parametrize("keeps", [False, True], ids=["without an outbox", "with one"])
async def test_a_writer_that_has_ended_says_of_every_message_why(place: Place, tmp_path: Path, keeps: bool) -> None:
    pane = await place.reads_lines()
    async with AsyncExitStack() as stack:
        outbox = await stack.enter_async_context(Outbox(tmp_path / "outbox.db")) if keeps else None
        delivery = await stack.enter_async_context(place.delivers(pane, outbox=outbox))
        assert await delivery.writer.put(Message("m1", "hello"))
        await delivery.until("m1", "submitted")
        place.tmux.run("kill-pane", "-t", pane)
        await wait_until_async(lambda: delivery.server.is_watched(pane) is False, PATIENCE)
        assert await delivery.writer.put(Message("m2", "to nobody"))
        with pytest.raises(PaneGone):
            async with asyncio.timeout(PATIENCE):
                await delivery.running
        for message_id in ("m3", "m4"):
            assert not await delivery.writer.put(Message(message_id, "later"))
        ended = [(one.message_id, one.state, one.reason) for one in delivery.reports if one.message_id != "m1"]
        failed = [(message_id, "failed", PaneGone.code) for message_id in ("m2", "m3", "m4")]
        assert ended == [("m2", "queued", ""), *failed]
        if outbox is not None:
            await outbox.flush()
            found = [(each, entry) for each, _, _ in failed for entry in await outbox.find(each)]
            assert [(each, entry.state, entry.reason) for each, entry in found] == failed


@pytest.mark.requirement("DLV-07a")
async def test_an_id_that_is_sent_again_puts_no_state_back(place: Place, tmp_path: Path) -> None:
    pane = await place.reads_lines()
    path = tmp_path / "outbox.db"
    async with Outbox(path) as outbox, place.delivers(pane, outbox=outbox) as delivery:
        await delivery.writer.put(Message("m1", "hello"))
        await delivery.until("m1", "pasted")
        await outbox.flush()
        with closing(sqlite3.connect(path, isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            again = asyncio.ensure_future(delivery.writer.put(Message("m1", "hello")))
            await delivery.until("m1", "submitted")
        assert not await again
        told = delivery.states("m1")
        assert told == sorted(told, key=["queued", "pasted", "painted", "submitted", "turn_started", "answered"].index)
        await outbox.flush()
        (entry,) = await outbox.find("m1")
        assert entry.state in {"submitted", "turn_started", "answered"}


async def test_too_many_messages_are_refused_and_said_to_be(place: Place) -> None:
    pane = await place.runs(["sleep", "1000"], name="sleep")
    reports: list[Progress] = []
    async with Server(Tmux(place.tmux.binary, socket_path=place.tmux.socket_path)) as server, server.watch(pane):
        writer = PaneWriter(server, server.pipeline(pane), program="cat", report=reports.append)
        taken = [await writer.put(Message(f"m{number}", "x")) for number in range(MAX_QUEUE + 1)]
    assert taken == [True] * MAX_QUEUE + [False]
    assert (reports[-1].state, reports[-1].reason) == ("failed", "too_many_waiting")


@pytest.mark.requirement("DLV-05a")
async def test_a_program_that_has_ended_in_a_pane_that_remains_gets_nothing(place: Place) -> None:
    """A paste into a dead pane would take the whole tmux 3.3a server down."""
    pane = await place.reads_lines()
    place.tmux.run("set-option", "-g", "remain-on-exit", "on")
    async with place.delivers(pane) as delivery:
        place.tmux.run("send-keys", "-t", pane, "C-c")
        await wait_until_async(
            lambda: place.tmux.run("display-message", "-p", "-t", pane, "#{pane_dead}") == "1", PATIENCE
        )
        await delivery.writer.put(Message("m1", "hello"))
        with pytest.raises(PaneGone):
            async with asyncio.timeout(PATIENCE):
                await delivery.running
    assert place.tmux.run("list-buffers") == ""


async def test_a_pane_that_passes_input_on_to_its_neighbours_gets_nothing(place: Place) -> None:
    pane = await place.reads_lines()
    neighbour = place.tmux.run("split-window", "-P", "-F", "#{pane_id}", "-t", pane, "cat").strip()
    place.tmux.run("set-option", "-w", "-t", pane, "synchronize-panes", "on")
    async with place.delivers(pane) as delivery:
        await delivery.writer.put(Message("m1", "hello"))
        with pytest.raises(PaneSynchronized):
            async with asyncio.timeout(PATIENCE):
                await delivery.running
    assert "hello" not in place.screen(neighbour)
    assert place.tmux.run("list-buffers") == ""


@pytest.mark.parametrize("question", ["Enter PIN > ", "API key", "Kennwort: ", "Unlock the vault: "])
async def test_a_hidden_question_is_a_secret_in_other_words_too(place: Place, question: str) -> None:
    command = [sys.executable, "-c", ASKER.replace("Password: ", question), str(place.file)]
    pane = await place.runs(command, name=Path(sys.executable).name)
    await wait_until_async(lambda: question.strip() in place.screen(pane), PATIENCE)
    async with place.delivers(pane) as delivery:
        await delivery.writer.put(Message("m1", "from a peer"))
        await delivery.server.command(pane, "display-message -p ok")
        assert set(delivery.states("m1")) == {"queued"}
        place.tmux.run("send-keys", "-t", pane, "secret", "Enter")
        await delivery.until("m1", "submitted")
        await place.was_read(b"secret\nfrom a peer\n")
