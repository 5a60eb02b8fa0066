"""Claude, over Anthropic's SDK."""

from collections.abc import AsyncGenerator, Sequence

import anthropic
import httpx2
from anthropic.types import MessageParam

from streamrelay.council.clients.contract import ChatMessage, Usage
from streamrelay.council.clients.retrying import FIRST_WAIT
from streamrelay.council.clients.vendor import VendorClient


def _param(message: ChatMessage) -> MessageParam:
    if message.role == "user":
        return {"role": "user", "content": message.text}
    return {"role": "assistant", "content": message.text}


class AnthropicClient(VendorClient):
    """A member served by Anthropic."""

    status_errors = (anthropic.APIStatusError,)
    other_errors = (anthropic.AnthropicError, httpx2.HTTPError)

    def __init__(
        self, member: str, model: str, key: str, *, base_url: str = "", max_tokens: int = 4096, wait: float = FIRST_WAIT
    ) -> None:
        super().__init__(member, model, wait=wait)
        self._max_tokens = max_tokens
        self._sdk = anthropic.AsyncAnthropic(api_key=key, base_url=base_url or None, max_retries=0)

    async def _stream_answer(self, messages: Sequence[ChatMessage], system_prompt: str) -> AsyncGenerator[str]:
        async with self._sdk.messages.stream(
            model=self._model,
            max_tokens=self._max_tokens,
            system=system_prompt,
            messages=[_param(message) for message in messages],
        ) as stream:
            async for piece in stream.text_stream:
                yield piece
            final = await stream.get_final_message()
        self._is_complete = final.stop_reason is not None
        if self._is_complete:
            self.usage = Usage(final.usage.input_tokens, final.usage.output_tokens)

    async def _find_model(self) -> None:
        await self._sdk.models.retrieve(self._model)

    def _http_status(self, error: Exception) -> int | None:
        return error.status_code if isinstance(error, anthropic.APIStatusError) else None

    async def aclose(self) -> None:
        """Close connections."""
        await self._sdk.close()
