"""The SDK's own client, with a person who answers by a list, and a record of all that it was told."""

import asyncio
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

from acp import PROTOCOL_VERSION, Client, spawn_agent_process, text_block
from acp.schema import (
    AgentMessageChunk,
    AllowedOutcome,
    DeniedOutcome,
    PermissionOption,
    RequestPermissionResponse,
    TextContentBlock,
    ToolCallStart,
    ToolCallUpdate,
    UserMessageChunk,
)

from tests.mcp.staging import Household
from tests.service.conftest import PATIENCE


class RecordingClient(Client):
    """A client whose person chooses an option by its words; without an answer, they close the question."""

    def __init__(self, answers: Sequence[str] = ()) -> None:
        self.updates: list[Any] = []
        self.asked: list[list[PermissionOption]] = []
        self.answers = list(answers)
        self.agent: Any = None

    async def session_update(self, session_id: str, update: Any, **_: Any) -> None:
        self.updates.append(update)

    async def request_permission(
        self, session_id: str, tool_call: ToolCallUpdate, options: list[PermissionOption], **_: Any
    ) -> RequestPermissionResponse:
        self.asked.append(options)
        words = self.answers.pop(0) if self.answers else ""
        chosen = next((option for option in options if words and option.name.startswith(words)), None)
        if chosen is None:
            return RequestPermissionResponse(outcome=DeniedOutcome(outcome="cancelled"))
        return RequestPermissionResponse(outcome=AllowedOutcome(outcome="selected", option_id=chosen.option_id))

    def take(self) -> list[Any]:
        """Return the updates since the last call."""
        taken, self.updates = self.updates, []
        return taken


def said(updates: Sequence[Any], kind: type[Any] = AgentMessageChunk) -> str:
    """Join the text of the chunks of one kind, as a client does."""
    return "".join(
        update.content.text
        for update in updates
        if isinstance(update, kind) and isinstance(update.content, TextContentBlock)
    )


def heard(updates: Sequence[Any]) -> str:
    return said(updates, UserMessageChunk)


def tool_calls(updates: Sequence[Any]) -> list[str]:
    return [update.title for update in updates if isinstance(update, ToolCallStart)]


@asynccontextmanager
async def connected(
    household: Household, client: RecordingClient, *words: str, environment: dict[str, str] | None = None
) -> AsyncIterator[Any]:
    """Start `streamrelay acp` as a client does, and give the initialized connection."""
    command = ["-m", "streamrelay_cli", "acp", "-S", household.tmux.socket_path, *words]
    variables = {**household.environment(""), **(environment or {})}
    async with spawn_agent_process(client, sys.executable, *command, env=variables) as (agent, _):
        client.agent = agent
        await agent.initialize(protocol_version=PROTOCOL_VERSION)
        yield agent


async def ask(agent: Any, session: str, text: str) -> str:
    """Send a prompt, and return its stop reason."""
    return (await asyncio.wait_for(agent.prompt(session_id=session, prompt=[text_block(text)]), PATIENCE)).stop_reason
