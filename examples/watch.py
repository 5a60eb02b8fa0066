"""Print what the program in a tmux pane says: python examples/watch.py work:0.1"""

import asyncio
import sys

import streamrelay


async def main(target: str) -> None:
    async with streamrelay.connect() as server, server.watch(target) as stream:
        async for event in stream:
            if isinstance(event, streamrelay.Text) and event.origin == "program":
                print(event.text, flush=True)


asyncio.run(main(sys.argv[1]))
