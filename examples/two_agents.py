"""Let two agents talk, a few turns each: two_agents.py work:0.0 work:0.1 "Ask your neighbour for a review." 3."""

import asyncio
import sys

import streamrelay


async def main(first: str, second: str, opening: str, turns: str) -> None:
    async with streamrelay.connect() as server:
        one, other = await server.pane(first), await server.pane(second)
        said = opening
        for _ in range(int(turns)):
            said = await one.ask(said)
            print(f"[{first}] {said}")
            said = await other.ask(said)
            print(f"[{second}] {said}")


asyncio.run(main(*sys.argv[1:5]))
