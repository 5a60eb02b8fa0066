"""Ask the agent in a pane, and print its answer: ask.py work:0.1 "what did you change?"."""

import asyncio
import sys

import streamrelay


async def main(target: str, question: str) -> None:
    async with streamrelay.connect() as server:
        pane = await server.pane(target)
        print(await pane.ask(question))


asyncio.run(main(*sys.argv[1:3]))
