"""Models that are served over OpenAI's protocol: OpenAI's own, Grok's, and any compatible server's."""

from collections.abc import AsyncGenerator, Sequence

import httpx2
import openai
from openai.types.chat import ChatCompletionMessageParam

from streamrelay.council.clients.contract import ChatMessage, Usage
from streamrelay.council.clients.retrying import FIRST_WAIT
from streamrelay.council.clients.vendor import VendorClient


def _param(message: ChatMessage) -> ChatCompletionMessageParam:
    if message.role == "assistant":
        return {"role": "assistant", "content": message.text}
    return {"role": "user", "content": message.text}


class OpenAIClient(VendorClient):
    """A member with OpenAI's protocol, at `base_url` or at OpenAI itself."""

    status_errors = (openai.APIStatusError,)
    other_errors = (openai.OpenAIError, httpx2.HTTPError)

    def __init__(
        self, member: str, model: str, key: str, *, base_url: str = "", max_tokens: int = 4096, wait: float = FIRST_WAIT
    ) -> None:
        super().__init__(member, model, wait=wait)
        self._max_tokens = max_tokens
        self._sdk = openai.AsyncOpenAI(api_key=key, base_url=base_url or None, max_retries=0)

    async def _stream_answer(self, messages: Sequence[ChatMessage], system_prompt: str) -> AsyncGenerator[str]:
        stream = await self._sdk.chat.completions.create(
            model=self._model,
            messages=[{"role": "system", "content": system_prompt}, *map(_param, messages)],
            max_completion_tokens=self._max_tokens,
            stream=True,
            stream_options={"include_usage": True},
        )
        async with stream:
            async for chunk in stream:
                for choice in chunk.choices:
                    if choice.delta.content:
                        yield choice.delta.content
                    self._is_complete = self._is_complete or choice.finish_reason is not None
                if chunk.usage is not None:
                    self.usage = Usage(chunk.usage.prompt_tokens, chunk.usage.completion_tokens)

    async def _find_model(self) -> None:
        await self._sdk.models.retrieve(self._model)

    def _http_status(self, error: Exception) -> int | None:
        return error.status_code if isinstance(error, openai.APIStatusError) else None

    async def aclose(self) -> None:
        """Close connections."""
        await self._sdk.close()
