"""Write what every pane says to JSON Lines, one object per line, until Ctrl-C: ship_logs.py > said.jsonl."""

import asyncio
import sys

import streamrelay
from streamrelay.events import encode


async def main() -> None:
    async with streamrelay.connect() as server:
        panes = [info.pane for info in await server.panes()]
        async with server.watch(*panes) as stream:
            async for event in stream:
                if isinstance(event, streamrelay.Text):
                    sys.stdout.write(encode(event).decode() + "\n")
                    sys.stdout.flush()


asyncio.run(main())
