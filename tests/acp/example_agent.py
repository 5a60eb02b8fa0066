"""An agent that speaks ACP as the SDK's example agent does: it sends back what the client sent, block by block.

The SDK's own file is not in its wheel; `$STREAMRELAY_ACP_EXAMPLE` says where one is (`examples/agent.py`).
"""

import asyncio
from typing import Any

from acp import (
    PROTOCOL_VERSION,
    InitializeResponse,
    NewSessionResponse,
    PromptResponse,
    run_agent,
    text_block,
    update_agent_message,
)


class ExampleAgent:
    """Answers each prompt with `Client sent:` and the prompt's own blocks."""

    def __init__(self) -> None:
        self._client: Any = None
        self._sessions = 0

    def on_connect(self, client: Any) -> None:
        self._client = client

    async def initialize(self, **_: Any) -> InitializeResponse:
        return InitializeResponse(protocol_version=PROTOCOL_VERSION)

    async def new_session(self, **_: Any) -> NewSessionResponse:
        self._sessions += 1
        return NewSessionResponse(session_id=str(self._sessions))

    async def prompt(self, prompt: list[Any], session_id: str, **_: Any) -> PromptResponse:
        for block in [text_block("Client sent:"), *prompt]:
            await self._client.session_update(session_id, update_agent_message(block))
        return PromptResponse(stop_reason="end_turn")

    async def cancel(self, **_: Any) -> None:
        """Do nothing: a prompt is answered at once."""


if __name__ == "__main__":
    agent: Any = ExampleAgent()
    asyncio.run(run_agent(agent))
