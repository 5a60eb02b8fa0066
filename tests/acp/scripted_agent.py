"""An agent that speaks ACP, on the SDK: it says what it got, asks for permissions, and waits to be cancelled.

    python scripted_agent.py [LOG SECONDS]

With a log it writes each prompt into it, works for that many seconds, and answers `answer of it`.
"""

import asyncio
import signal
import sys
from functools import partial
from pathlib import Path
from typing import Any

from acp import (
    PROTOCOL_VERSION,
    InitializeResponse,
    NewSessionResponse,
    PromptResponse,
    run_agent,
    start_tool_call,
    update_agent_message_text,
)
from acp.schema import PermissionOption, ToolCallUpdate


class ScriptedAgent:
    """`permit` in a prompt asks for a permission, `slow` waits for the cancel, `die` ends it in mid-turn, `stay` makes
    it deaf to SIGTERM."""

    def __init__(self) -> None:
        self._cancelled = asyncio.Event()
        self._client: Any = None

    def on_connect(self, client: Any) -> None:
        self._client = client

    async def initialize(self, protocol_version: int, **_: Any) -> InitializeResponse:
        return InitializeResponse(protocol_version=PROTOCOL_VERSION)

    async def new_session(self, cwd: str, **_: Any) -> NewSessionResponse:
        return NewSessionResponse(session_id="one")

    async def prompt(self, session_id: str, prompt: list[Any], **_: Any) -> PromptResponse:
        text = "".join(block.text for block in prompt)
        self._cancelled.clear()
        if sys.argv[1:]:
            with Path(sys.argv[1]).open("a") as log:
                log.write(f"{text}\n")
            await asyncio.sleep(float(sys.argv[2]))
            await self._say(session_id, "answer of it")
            return PromptResponse(stop_reason="end_turn")
        if "gathering" in text or "Phase:" in text or "[Beat" in text:
            await self._say(session_id, "A thought of mine.")
            return PromptResponse(stop_reason="end_turn")
        await self._say(session_id, "I heard:\n\n")
        if "stay" in text:
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
        if "die" in text:
            sys.exit(3)
        if "slow" in text:
            await self._cancelled.wait()
            return PromptResponse(stop_reason="cancelled")
        if "permit" in text:
            await self._client.session_update(session_id=session_id, update=start_tool_call("t1", "Make a file"))
            options = [
                PermissionOption(option_id="yes", name="Allow once", kind="allow_once"),
                PermissionOption(option_id="no", name="Reject", kind="reject_once"),
            ]
            asked = ToolCallUpdate(tool_call_id="t1", title="Make a file")
            ask = partial(self._client.request_permission, session_id=session_id, tool_call=asked, options=options)
            answers = await asyncio.gather(*(ask() for _ in range(2 if "twice" in text else 1)))
            chosen = [getattr(answer.outcome, "option_id", "none") for answer in answers]
            await self._say(session_id, f"Permission: {', '.join(chosen)}\n")
        for line in text.split("\n"):
            await self._say(session_id, f"* {line[: len(line) // 2]}")
            await self._say(session_id, f"{line[len(line) // 2 :]}\n")
        await self._say(session_id, "**That** is all.")
        return PromptResponse(stop_reason="end_turn")

    async def cancel(self, session_id: str, **_: Any) -> None:
        self._cancelled.set()

    async def _say(self, session_id: str, text: str) -> None:
        await self._client.session_update(session_id=session_id, update=update_agent_message_text(text))


if __name__ == "__main__":
    agent: Any = ScriptedAgent()
    asyncio.run(run_agent(agent))
