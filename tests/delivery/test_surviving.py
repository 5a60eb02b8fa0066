"""What was accepted is delivered, and once, whatever dies in between: the sender at any moment, or the whole server."""

import asyncio
import random
import subprocess
import sys
import time
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

import streamrelay
from streamrelay.delivery.commands import ENTERED, PASTED, DeliveryMark, enter_line, paste_line
from streamrelay.delivery.message import Message, Progress
from streamrelay.delivery.outbox import Outbox
from streamrelay.delivery.recovery import DeliveryMarks, fate
from streamrelay.delivery.sending import send
from streamrelay.delivery.writer import PaneWriter
from streamrelay.events import Event, Receipt
from streamrelay.panes.server import Server
from streamrelay.testing.agent import read_got
from streamrelay.testing.tmux import PrivateTmux
from streamrelay.testing.waiting import wait_until, wait_until_async

PATIENCE = 30.0
SENDER = Path(__file__).with_name("killed_sender.py")
COUNT = 4


def connect(tmux: PrivateTmux) -> Server:
    return streamrelay.connect(tmux=tmux.binary, socket_path=tmux.socket_path, profiles=())


def start_agent(tmux: PrivateTmux, log: Path) -> str:
    tmux.new_session("keeper", ["sleep", "1000"])
    words = [sys.executable, "-m", "streamrelay.testing.agent", "--log", str(log), "--works", "0.05"]
    pane = tmux.new_session("agent", words, columns=80, lines=24)
    wait_until(lambda: any(got.kind == "ready" for got in read_got(log)), PATIENCE)
    return pane


def deliver_and_die(tmux: PrivateTmux, pane: str, folder: Path, seconds: float | None) -> bool:
    """Run the sender, and kill it after that time; return whether it was done before."""
    words = [sys.executable, str(SENDER), tmux.binary, tmux.socket_path, pane, str(folder / "outbox.db"), str(COUNT)]
    with (folder / "said").open("ab") as said, subprocess.Popen(words, stdout=said) as sender:
        try:
            return sender.wait(PATIENCE if seconds is None else seconds) == 0
        except subprocess.TimeoutExpired:
            sender.kill()
            return False


def survives(tmux: PrivateTmux, folder: Path, seed: int) -> None:
    chance = random.Random(seed)
    pane = start_agent(tmux, folder / "got")
    deaths = 0
    while not deliver_and_die(tmux, pane, folder, chance.uniform(0.2, 1.6) if deaths < 8 else None):
        deaths += 1
        assert deaths < 12
    messages = [got.text for got in read_got(folder / "got") if got.kind == "message"]
    assert messages == [f"message {number}" for number in range(COUNT)], (folder / "said").read_text()


@pytest.mark.requirement("DLV-07a")
@pytest.mark.parametrize("seed", range(2))
def test_a_sender_killed_at_random_moments_loses_nothing_and_delivers_nothing_twice(
    private_tmux: PrivateTmux, tmp_path: Path, seed: int
) -> None:
    survives(private_tmux, tmp_path, seed)


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize("seed", range(100, 110))
def test_the_same_many_times(private_tmux: PrivateTmux, tmp_path: Path, seed: int) -> None:
    survives(private_tmux, tmp_path, seed)


@pytest.mark.requirement("DLV-07a")
@pytest.mark.parametrize("stage", ["nothing", "pasted", "entered"])
async def test_what_was_done_stands_in_the_pane(private_tmux: PrivateTmux, tmp_path: Path, stage: str) -> None:
    """The sender died with the message noted as queued; its lines had gone out, up to some stage."""
    pane = start_agent(private_tmux, tmp_path / "got")
    reports: list[Progress] = []
    async with connect(private_tmux) as server, server.watch(pane), Outbox(tmp_path / "outbox.db") as outbox:
        pipeline = server.pipeline(pane)
        program = pipeline.info.command
        first = PaneWriter(server, pipeline, program=program, report=reports.append, outbox=outbox)
        await first.put(Message("m1", "hello"))
        ((entry,),) = [await outbox.find("m1")]
        if stage != "nothing":
            await server.command(pane, paste_line(pane, "b", "hello", program, entry.mark))
            await wait_until_async(lambda: "> hello" in private_tmux.run("capture-pane", "-p", "-t", pane), PATIENCE)
        if stage == "entered":
            await server.command(pane, enter_line(pane, program, entry.mark))
            await wait_until_async(
                lambda: [got.text for got in read_got(tmp_path / "got") if got.kind == "message"], PATIENCE
            )
        reports.clear()
        second = PaneWriter(server, pipeline, program=program, report=reports.append, outbox=outbox)
        assert [left.message_id for left in await second.recover()] == ["m1"]
        running = asyncio.ensure_future(second.run())
        async with asyncio.timeout(PATIENCE):
            await second.finish()
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)
        # Put again by somebody who does not know what became of it.
        assert not await second.put(Message("m1", "hello"))
    await wait_until_async(lambda: len(read_got(tmp_path / "got")) >= 2, PATIENCE)
    assert [got.text for got in read_got(tmp_path / "got") if got.kind == "message"] == ["hello"]
    assert reports[-1].state in {"submitted", "turn_started", "answered"}


@pytest.mark.requirement("DLV-07a", "DLV-09c")
@pytest.mark.parametrize("stage", ["nothing", "pasted", "entering"])
async def test_sending_again_goes_on_with_what_a_killed_sender_left(
    private_tmux: PrivateTmux, tmp_path: Path, stage: str
) -> None:
    pane = start_agent(private_tmux, tmp_path / "got")
    async with connect(private_tmux) as server, Outbox(tmp_path / "outbox.db") as outbox:
        async with server.watch(pane):
            pipeline = server.pipeline(pane)
            program = pipeline.info.command
            first = PaneWriter(server, pipeline, program=program, report=lambda _: None, outbox=outbox)
            await first.put(Message("m1", "hello"))
            ((entry,),) = [await outbox.find("m1")]
            if stage != "nothing":
                await server.command(pane, paste_line(pane, "b", "hello", program, entry.mark))
            if stage == "entering":
                outbox.note(entry.number, "painted")
                outbox.note_composer(entry.number, "hello")
        told: list[Event] = []
        info = await server.find(pane)
        sent = await send(
            server, info, "hello", publish=told.append, message_id="m1", wait=True, timeout=PATIENCE, outbox=outbox
        )
        assert sent.state == "answered"
        assert sent.answer == ["answer 1"]
        again = await send(server, info, "hello", publish=told.append, message_id="m1", wait=True, outbox=outbox)
        assert again.state == "answered"
    states = [event.state for event in told if isinstance(event, Receipt) and event.state != "queued"]
    first = {"nothing": ["pasted", "painted"], "pasted": ["pasted"], "entering": []}[stage]
    assert states == [*first, "submitted", "turn_started", "answered", "answered"]
    assert [got.text for got in read_got(tmp_path / "got") if got.kind == "message"] == ["hello"]


@pytest.mark.requirement("DLV-07a")
async def test_a_line_that_is_sent_twice_is_carried_out_once(private_tmux: PrivateTmux, tmp_path: Path) -> None:
    private_tmux.new_session("keeper", ["sleep", "1000"])
    file = tmp_path / "read"
    pane = private_tmux.new_session("target", ["sh", "-c", f"exec cat > {file}"])
    await wait_until_async(
        lambda: private_tmux.run("display-message", "-p", "-t", pane, "#{pane_current_command}") == "cat", PATIENCE
    )
    async with connect(private_tmux) as server, server.watch(pane):
        early, late = DeliveryMark(1, "a"), DeliveryMark(2, "b")
        for mark in (early, early, late, late, early):
            await server.command(pane, paste_line(pane, "b", mark.message_id, "cat", mark))
        for _ in range(2):
            await server.command(pane, enter_line(pane, "cat", late))
        await server.command(pane, enter_line(pane, "cat", late, attempt=2))
        await server.command(pane, enter_line(pane, "cat", late))
    await wait_until_async(lambda: file.read_bytes().count(b"\n") >= 2, PATIENCE)
    assert file.read_bytes() == b"ab\n\n"
    assert private_tmux.run("show-options", "-p", "-t", pane).splitlines() == [
        '@streamrelay_entered "0000000000000000002 b 2"', '@streamrelay_pasted "0000000000000000002 b"',
    ]  # fmt: skip
    assert private_tmux.run("list-buffers") == ""


async def start_cat(tmux: PrivateTmux, folder: Path) -> tuple[str, Path]:
    """Start a program that reads lines into a file, and return its pane with that file."""
    tmux.new_session("keeper", ["sleep", "1000"])
    file = folder / "read"
    pane = tmux.new_session("target", ["sh", "-c", f"exec cat > {file}"])
    await wait_until_async(
        lambda: tmux.run("display-message", "-p", "-t", pane, "#{pane_current_command}") == "cat", PATIENCE
    )
    return pane, file


@pytest.mark.requirement("DLV-07a")
async def test_a_line_of_the_one_before_that_comes_late_is_taken_for_what_it_is(
    private_tmux: PrivateTmux, tmp_path: Path
) -> None:
    pane, file = await start_cat(private_tmux, tmp_path)
    said: list[str] = []
    async with connect(private_tmux) as server, server.watch(pane), Outbox(tmp_path / "outbox.db") as outbox:
        pipeline = server.pipeline(pane)
        first, second = (
            PaneWriter(server, pipeline, program="cat", report=lambda one: said.append(one.state), outbox=outbox)
            for _ in range(2)
        )
        await first.put(Message("m1", "hello"))
        (entry,) = await outbox.find("m1")
        await second.recover()
        await server.command(pane, paste_line(pane, "b", "hello", "cat", entry.mark))
        running = asyncio.ensure_future(second.run())
        async with asyncio.timeout(PATIENCE):
            await second.finish()
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)
    await wait_until_async(lambda: file.read_bytes().count(b"\n") == 1, PATIENCE)
    assert file.read_bytes() == b"hello\n"
    assert [state for state in said if state in {"pasted", "submitted", "unconfirmed"}] == ["pasted", "submitted"]


@pytest.mark.requirement("DLV-01a", "DLV-07a")
@pytest.mark.parametrize(
    ("stage", "told"),
    [("nothing", "failed program_left"), ("pasted", "unconfirmed program_left"), ("entered", "submitted restarted")],
)
async def test_what_a_program_that_has_left_was_given_is_read_from_the_pane(
    private_tmux: PrivateTmux, tmp_path: Path, stage: str, told: str
) -> None:
    pane, _ = await start_cat(private_tmux, tmp_path)
    said: list[str] = []

    def report(progress: Progress) -> None:
        said.append(f"{progress.state} {progress.reason}")

    async with connect(private_tmux) as server, server.watch(pane), Outbox(tmp_path / "outbox.db") as outbox:
        pipeline = server.pipeline(pane)
        await PaneWriter(server, pipeline, program="cat", report=report, outbox=outbox).put(Message("m1", "hello"))
        (entry,) = await outbox.find("m1")
        if stage != "nothing":
            await server.command(pane, paste_line(pane, "b", "hello", "cat", entry.mark))
        if stage == "entered":
            await server.command(pane, enter_line(pane, "cat", entry.mark))
        await PaneWriter(server, pipeline, program="another", report=report, outbox=outbox).recover()
    assert said == ["queued ", told]


def mark_ahead(tmux: PrivateTmux, pane: str) -> None:
    """Leave the marks of somebody whose clock is two minutes ahead: who types here from another machine."""
    mark = DeliveryMark(time.time_ns() // 1000 + 120_000_000, "other")
    tmux.run("set-option", "-p", "-t", pane, PASTED, str(mark))
    tmux.run("set-option", "-p", "-t", pane, ENTERED, f"{mark} 1")


@pytest.mark.requirement("DLV-01a", "DLV-07a")
@pytest.mark.parametrize("keeps", [False, True], ids=["without an outbox", "with one"])
async def test_what_is_typed_after_a_clock_that_is_ahead_is_typed(
    private_tmux: PrivateTmux, tmp_path: Path, keeps: bool
) -> None:
    pane, file = await start_cat(private_tmux, tmp_path)
    mark_ahead(private_tmux, pane)
    said: list[Progress] = []

    async with AsyncExitStack() as stack:
        outbox = await stack.enter_async_context(Outbox(tmp_path / "outbox.db")) if keeps else None
        server = await stack.enter_async_context(connect(private_tmux))
        await stack.enter_async_context(server.watch(pane))
        pipeline = server.pipeline(pane)
        writer = PaneWriter(server, pipeline, program="cat", report=said.append, outbox=outbox)
        await writer.recover()
        running = asyncio.ensure_future(writer.run())
        for message_id in ("m1", "m2", "m3"):
            if message_id == "m2":
                # While this writer is at it: what it had numbered before is not typed, and not said to be.
                mark_ahead(private_tmux, pane)
            await writer.put(Message(message_id, message_id))
            async with asyncio.timeout(PATIENCE):
                await writer.finish()
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)
    await wait_until_async(lambda: file.read_bytes().count(b"\n") == 2, PATIENCE)
    assert file.read_bytes() == b"m1\nm3\n"
    told = {
        each: [f"{one.state} {one.reason}" for one in said if one.message_id == each] for each in ("m1", "m2", "m3")
    }
    assert told["m2"] == ["queued ", "unconfirmed overtaken"]
    assert all("submitted " in told[each] for each in ("m1", "m3"))


@pytest.mark.requirement("DLV-07b")
async def test_where_tmux_died_too_nothing_is_sent_again(tmp_path: Path) -> None:
    said: list[Progress] = []
    with PrivateTmux() as tmux:
        for _ in range(2):
            tmux.new_session("keeper", ["sleep", "1000"])
            pane = tmux.new_session("target", ["cat"])
            async with connect(tmux) as server, server.watch(pane), Outbox(tmp_path / "outbox.db") as outbox:
                pipeline = server.pipeline(pane)
                writer = PaneWriter(server, pipeline, program="cat", report=said.append, outbox=outbox)
                left = await writer.recover()
                if not (entries := await outbox.find("m1")):
                    await writer.put(Message("m1", "hello"))
            tmux.kill()
    assert left == []
    assert [(entry.state, entry.reason, entry.text) for entry in entries] == [("unconfirmed", "server_lost", "")]


OWN, LATER = DeliveryMark(5, "m1"), DeliveryMark(6, "m2")


@pytest.mark.parametrize(
    ("marks", "expected"),
    [
        (DeliveryMarks(), "send"),
        (DeliveryMarks(str(DeliveryMark(4, "m0")), f"{DeliveryMark(4, 'm0')} 1"), "send"),
        (DeliveryMarks(str(OWN), f"{DeliveryMark(4, 'm0')} 1"), "enter"),
        (DeliveryMarks(str(OWN), f"{OWN} 1"), "submitted"),
        (DeliveryMarks(str(OWN), f"{OWN} 2"), "submitted"),
        (DeliveryMarks(str(LATER), f"{LATER} 1"), "unconfirmed"),
        (DeliveryMarks(str(LATER), f"{OWN} 1"), "submitted"),
    ],
)
def test_the_fate_of_a_delivery_is_read_from_the_marks(marks: DeliveryMarks, expected: str) -> None:
    assert fate(OWN, marks) == expected


@pytest.mark.parametrize(
    ("marks", "highest"),
    [
        (DeliveryMarks(), 0),
        (DeliveryMarks(str(OWN), f"{LATER} 1"), 6),
        (DeliveryMarks(str(LATER), f"{OWN} 1"), 6),
        (DeliveryMarks("a person's", f"{OWN} 1"), 5),
        (DeliveryMarks(f"{'9' * 19} m3", ""), 0),
    ],
)
def test_numbers_begin_above_those_that_stand_in_the_pane(marks: DeliveryMarks, highest: int) -> None:
    assert marks.highest == highest


def test_marks_are_in_order_whatever_their_ids() -> None:
    numbers = [0, 9, 10, 99, 10**15, 10**16, 2**62]
    marks = [str(DeliveryMark(number, name)) for number, name in zip(numbers, "zyxwvut", strict=True)]
    assert marks == sorted(marks)
