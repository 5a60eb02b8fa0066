"""A member with scripted answers: to try a council without keys, and for tests."""

import asyncio
import re
from collections.abc import AsyncIterator, Sequence

from streamrelay.council.clients.contract import AIClient, ChatMessage, Usage

_PIECE = re.compile(r"\S+\s*|\s+")


class ScriptedClient(AIClient):
    """Says the texts of a script one after the other, again and again, `pause` seconds between two words.

    `{last}` in a text is the first line of what was said last.
    """

    def __init__(self, script: Sequence[str], *, pause: float = 0.02) -> None:
        self._script, self._pause, self._said = tuple(script), pause, 0

    async def stream_response(self, messages: Sequence[ChatMessage], system_prompt: str) -> AsyncIterator[str]:
        """See `AIClient`."""
        last = next((message.text for message in reversed(messages) if message.role == "user"), "")
        text = self._script[self._said % len(self._script)].replace("{last}", last.strip().split("\n")[-1][:80])
        self._said += 1
        for piece in _PIECE.findall(text):
            await asyncio.sleep(self._pause)
            yield piece
        words = sum(len(message.text.split()) for message in messages)
        self.usage = Usage(words + len(system_prompt.split()), len(text.split()))

    async def health_check(self) -> bool:
        """See `AIClient`."""
        return True
