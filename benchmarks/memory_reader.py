"""Watches a pane with a subscriber that takes its time, and says every second how much memory that takes.

    memory_reader PANE --socket PATH [--tmux PATH] [--pause SECONDS]

A line of JSON a second, from when the screen is seeded, until standard input ends.
"""

import argparse
import asyncio
import sys
import time

import msgspec

import streamrelay
from streamrelay.events import Gap
from streamrelay.testing.tmux import resident


class Held(msgspec.Struct):
    """Seconds since it was ready; bytes of resident memory here; lines taken, and events told as lost."""

    seconds: float
    memory: int
    lines: int
    lost: int


async def read(given: argparse.Namespace) -> None:
    lines = lost = 0
    connected = streamrelay.connect(socket_path=given.socket, tmux=given.tmux)
    async with connected as server, server.watch(given.pane, queue=given.queue) as stream:
        began = time.monotonic()
        over = asyncio.Event()
        asyncio.get_running_loop().add_reader(sys.stdin, over.set)

        async def take() -> None:
            nonlocal lines, lost
            async for events in stream.batches():
                lines += len(events.texts())
                lost += sum(part.lost_events or 0 for part in events.parts if isinstance(part, Gap))
                await asyncio.sleep(given.pause)

        taking = asyncio.ensure_future(take())
        while not over.is_set():
            held = Held(time.monotonic() - began, resident(), lines, lost)
            print(msgspec.json.encode(held).decode(), flush=True)
            await asyncio.wait([asyncio.ensure_future(over.wait())], timeout=1)
        taking.cancel()
        await asyncio.gather(taking, return_exceptions=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pane")
    parser.add_argument("--socket", required=True)
    parser.add_argument("--tmux", default="tmux")
    parser.add_argument("--pause", type=float, default=0.5, help="seconds between two batches (%(default)s)")
    parser.add_argument("--queue", type=int, default=1000, help="events that may wait for the subscriber (%(default)s)")
    asyncio.run(read(parser.parse_args()))


if __name__ == "__main__":
    main()
