"""The agent over standard input and output, for the client that started the command."""

from typing import cast

from acp import Agent, run_agent

from streamrelay.acp.agent import TerminalAgent


async def serve_stdio(agent: TerminalAgent) -> None:
    """Serve one client until standard input ends."""
    try:
        # The SDK's protocol class names the methods of all capabilities, and calls only those that an agent has.
        await run_agent(cast(Agent, agent))
    finally:
        await agent.close()
