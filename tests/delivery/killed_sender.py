"""A process that delivers numbered messages until it is killed: `killed_sender.py TMUX SOCKET PANE OUTBOX COUNT`.

Every message has an id of its own and is put again by each run; what an earlier run left is taken up first.
"""

import asyncio
import sys
from pathlib import Path

import streamrelay
from streamrelay.delivery.message import Message, Progress
from streamrelay.delivery.outbox import Outbox
from streamrelay.delivery.writer import PaneWriter
from streamrelay.panes.tasks import until_first


def report(progress: Progress) -> None:
    print(progress.message_id, progress.state, progress.reason, flush=True)


async def main(tmux: str, socket: str, pane: str, outbox: str, count: str) -> None:
    async with (
        streamrelay.connect(tmux=tmux, socket_path=socket, profiles=()) as server,
        server.watch(pane),
        Outbox(Path(outbox)) as kept,
    ):
        pipeline = server.pipeline(pane)
        writer = PaneWriter(server, pipeline, program=pipeline.info.command, report=report, outbox=kept)
        await writer.recover()

        async def deliver() -> None:
            for number in range(int(count)):
                await writer.put(Message(f"m{number}", f"message {number}"))
            await writer.finish()

        await until_first(deliver(), writer.run())


asyncio.run(main(*sys.argv[1:]))
