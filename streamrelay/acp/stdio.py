"""The agent over standard input and output, for the client that started the command."""

import logging
from typing import cast

from acp import Agent, run_agent

from streamrelay.acp.agent import TerminalAgent


class OneLine(logging.Formatter):
    """A log record as one line, with its exception's text instead of a traceback.

    The SDK logs a traceback for each line that is not JSON (acp 0.12 _transport.py), which may be anything.
    """

    def format(self, record: logging.LogRecord) -> str:
        """Return the level, the message and the exception, with control characters escaped."""
        error = record.exc_info[1] if record.exc_info else None
        words = f"{record.levelname.lower()}: {record.getMessage()}" + (f": {error}" if error else "")
        return words.encode("unicode_escape").decode("ascii")


async def serve_stdio(agent: TerminalAgent) -> None:
    """Serve one client until standard input ends; warnings go to standard error, a line each."""
    warnings = logging.StreamHandler()
    warnings.setFormatter(OneLine())
    logging.getLogger().addHandler(warnings)
    try:
        # The SDK's protocol class names the methods of all capabilities, and calls only those that an agent has.
        await run_agent(cast(Agent, agent))
    finally:
        await agent.close()
        logging.getLogger().removeHandler(warnings)
