"""Watches every pane it is told of, and says what that costs whenever it is asked.

    scale_reader --socket PATH [--tmux PATH] PANE...

The first line of JSON says how long it took to be ready (screens seeded) and what memory that took; each line of
standard input is answered with one that says what was used and heard since the beginning.
"""

import argparse
import asyncio
import gc
import sys
import time
from pathlib import Path

import msgspec

import streamrelay
from benchmarks.reading import processor_time
from streamrelay.events import Gap


class Cost(msgspec.Struct):
    """`ready` in seconds, `memory` in bytes of resident memory; `cpu` in seconds, `lines` and `gaps` as counted."""

    ready: float
    memory: int
    cpu: float
    lines: int
    gaps: int
    pid: int
    """The process of the tmux client, whose CPU time counts too."""


def _resident() -> int:
    gc.collect()
    return int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1]) * 4096


def _client() -> int:
    children = Path(f"/proc/self/task/{Path('/proc/self').readlink()}/children").read_text(encoding="ascii").split()
    return int(children[0]) if children else 0


async def read(panes: list[str], *, socket: str, tmux: str) -> None:
    """Watch panes until standard input ends."""
    lines = gaps = 0
    connecting = streamrelay.connect(socket_path=socket, tmux=tmux)  # loads the engine, which no pane costs
    memory, began = _resident(), time.perf_counter()
    async with connecting as server, server.watch(*panes) as stream:
        ready = time.perf_counter() - began
        memory = _resident() - memory

        def tell() -> None:
            cost = Cost(ready, memory, processor_time(), lines, gaps, _client())
            print(msgspec.json.encode(cost).decode(), flush=True)

        def asked() -> None:
            if sys.stdin.readline():
                tell()
            else:
                done.set()

        done = asyncio.Event()
        asyncio.get_running_loop().add_reader(sys.stdin, asked)
        tell()

        async def listen() -> None:
            nonlocal lines, gaps
            async for events in stream.batches():
                lines += len(events.texts())
                gaps += sum(isinstance(part, Gap) for part in events.parts)

        listening = asyncio.ensure_future(listen())
        await done.wait()
        listening.cancel()
        await asyncio.gather(listening, return_exceptions=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("panes", nargs="+")
    parser.add_argument("--socket", required=True)
    parser.add_argument("--tmux", default="tmux")
    given = parser.parse_args()
    asyncio.run(read(given.panes, socket=given.socket, tmux=given.tmux))


if __name__ == "__main__":
    main()
