"""`streamrelay record`: a live pane into a file that `replay`, `explain` and `learn` open."""

import asyncio
import contextlib
import os
import sys
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Annotated

import typer

import streamrelay
from streamrelay.counts import counted
from streamrelay.delivery.lock import only_writer
from streamrelay.delivery.message import Message, Progress
from streamrelay.delivery.writer import PaneWriter
from streamrelay.events import Event, PaneClosed, Text, TurnEnded
from streamrelay.panes.recorder import LiveRecording
from streamrelay.panes.tasks import until_first
from streamrelay_cli.command_entry import WATCH, command
from streamrelay_cli.options import ConnectionAnywhere, PrintingOptions, takes_options
from streamrelay_cli.output import CommandOutput
from streamrelay_cli.runner import run_to_end
from streamrelay_cli.targets import found

SHOW_EVERY = 0.5
REST = 1.0
"""Seconds for which a program must have printed nothing before a message is sent to it."""


class _Count:
    """What was heard so far, and who waits for it."""

    def __init__(self) -> None:
        self.lines = 0
        self.turns = asyncio.Semaphore(0)
        self.closed: PaneClosed | None = None

    def take(self, event: Event) -> None:
        self.lines += isinstance(event, Text) and event.origin == "program"
        if isinstance(event, TurnEnded) and event.reason != "superseded":
            # A turn that a message supersedes is over without an answer to it.
            self.turns.release()
        if isinstance(event, PaneClosed):
            self.closed = event


@command("record", panel=WATCH, place=20)
@takes_options
def record(
    connection: ConnectionAnywhere,
    printing: PrintingOptions,
    target: Annotated[str, typer.Argument(help="A pane as tmux writes it (%3, name, name:0.1), or . for this one.")],
    file: Annotated[Path, typer.Argument(help="The new file: .jsonl.gz, or .jsonl for an uncompressed one.")],
    seconds: Annotated[
        float | None,
        typer.Option("--for", min=0.1, help="End after this many seconds.", metavar="SECONDS", show_default=False),
    ] = None,
    lines: Annotated[
        int | None,
        typer.Option("--lines", min=1, help="End after this many lines of output.", show_default=False),
    ] = None,
    say: Annotated[
        list[str] | None,
        typer.Option(
            "--say",
            help="Send this message to the program; repeatable, each after the end of the previous turn.",
            metavar="TEXT",
            show_default=False,
        ),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace an existing file.")] = False,
) -> None:
    """Record a pane into a file: bytes, times, sizes, messages.

    It ends with Ctrl-C, or when the pane closes. Only you can read the file. A pane may show secrets: read the file
    before you give it to others.
    """
    output = printing.output()

    async def main() -> int:
        count = _Count()
        loop = asyncio.get_running_loop()
        async with AsyncExitStack() as stack:
            server = await stack.enter_async_context(connection.connect())
            found_pane = (await found(server, target)).pane
            if say:
                # Before there is a file: a refused command leaves none behind.
                stack.enter_context(only_writer(server.info, found_pane, "record"))
            recorded = await stack.enter_async_context(server.record(found_pane, file, force=force))
            pane = server.pipeline(found_pane).info
            output.note(f"recording {pane.address} ({pane.pane}, {pane.command}) into {file}; Ctrl-C ends")
            began = loop.time()
            ways = [_follow(recorded, count, lines)]
            if not _prints_to(server.terminal(pane)):
                ways.append(_show(output, recorded, count))
            if seconds is not None:
                ways.append(asyncio.sleep(seconds))
            if say:
                ways.append(_say_all(server, recorded, count, say, output, stay=seconds is not None or bool(lines)))
            try:
                await until_first(*ways)
            finally:
                output.progress("")
                output.note(_summary(loop.time() - began, recorded, count))
        if count.closed is not None and count.closed.reason in {"server_lost", "failed"}:
            raise server.closing_error(count.closed)
        return 0

    run_to_end(output, main, until_ctrl_c=True)


def _prints_to(tty: str) -> bool:
    """Tell whether this command shows its progress in the very pane it records."""
    return sys.stderr.isatty() and os.ttyname(sys.stderr.fileno()) == tty


async def _follow(recorded: LiveRecording, count: _Count, lines: int | None) -> None:
    """Count lines and turns until a limit is reached or the pane closes."""
    async for event in recorded.stream:
        count.take(event)
        if lines is not None and count.lines >= lines:
            return


async def _show(output: CommandOutput, recorded: LiveRecording, count: _Count) -> None:
    loop = asyncio.get_running_loop()
    began = loop.time()
    while True:
        output.progress(_summary(loop.time() - began, recorded, count))
        await asyncio.sleep(SHOW_EVERY)


async def _say_all(
    server: streamrelay.Server,
    recorded: LiveRecording,
    count: _Count,
    texts: list[str],
    output: CommandOutput,
    *,
    stay: bool,
) -> None:
    """Send the messages, each to a program that rests, and wait for the end of the last turn."""
    pipeline = server.pipeline(recorded.stream.panes[0])
    loop = asyncio.get_running_loop()

    def report(progress: Progress) -> None:
        if progress.state in {"submitted", "failed"}:
            output.note(f"message {progress.message_id} of {len(texts)} {progress.state} {progress.reason}".rstrip())

    async def send() -> None:
        for number, text in enumerate(texts, 1):
            while (rested := loop.time() - (pipeline.last_output or pipeline.began)) < REST:
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(REST - rested):
                        await pipeline.changed()
            while not count.turns.locked():
                await count.turns.acquire()
            await writer.put(Message(str(number), text))
            await count.turns.acquire()
        if stay:
            await asyncio.Event().wait()

    # The person who records sends these messages, not a peer.
    writer = PaneWriter(server, pipeline, program=pipeline.info.command, report=report, allow_shell=True)
    await until_first(writer.run(), send())


def _summary(seconds: float, recorded: LiveRecording, count: _Count) -> str:
    messages = f", {counted(recorded.messages, 'message')}" if recorded.messages else ""
    return f"recorded {seconds:.1f} s, {counted(recorded.bytes, 'byte')}, {counted(count.lines, 'line')}{messages}"
