"""Models that are served over OpenAI's protocol: OpenAI's own, Grok's, and any compatible server's."""

from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import contextmanager

import httpx2
import openai
from openai.types.chat import ChatCompletionMessageParam

from streamrelay.council.clients.contract import AIClient, ChatMessage, Usage
from streamrelay.council.clients.failures import failure
from streamrelay.council.clients.retrying import FIRST_WAIT, stream_with_retries
from streamrelay.errors import AIError, AIUnavailable


class OpenAIClient(AIClient):
    """A member served over OpenAI's protocol, at `base_url` if not by OpenAI itself."""

    def __init__(
        self, member: str, model: str, key: str, *, base_url: str = "", max_tokens: int = 4096, wait: float = FIRST_WAIT
    ) -> None:
        self._member, self._model, self._max_tokens, self._wait = member, model, max_tokens, wait
        self._sdk = openai.AsyncOpenAI(api_key=key, base_url=base_url or None, max_retries=0)

    async def stream_response(self, messages: Sequence[ChatMessage], system_prompt: str) -> AsyncIterator[str]:
        """See `AIClient`."""
        async for piece in stream_with_retries(
            lambda: self._stream(messages, system_prompt), member=self._member, wait=self._wait
        ):
            yield piece

    async def _stream(self, messages: Sequence[ChatMessage], system_prompt: str) -> AsyncIterator[str]:
        self.usage, ended = None, False
        sent: list[ChatCompletionMessageParam] = [{"role": "system", "content": system_prompt}]
        for message in messages:
            if message.role == "assistant":
                sent.append({"role": "assistant", "content": message.text})
            else:
                sent.append({"role": "user", "content": message.text})
        with self._mapped():
            stream = await self._sdk.chat.completions.create(
                model=self._model,
                messages=sent,
                max_completion_tokens=self._max_tokens,
                stream=True,
                stream_options={"include_usage": True},
            )
            async with stream:
                async for chunk in stream:
                    for choice in chunk.choices:
                        if choice.delta.content:
                            yield choice.delta.content
                        ended = ended or choice.finish_reason is not None
                    if chunk.usage is not None:
                        self.usage = Usage(chunk.usage.prompt_tokens, chunk.usage.completion_tokens)
        if not ended:
            raise AIUnavailable(f"{self._member}: the answer ended without its end", data={"member": self._member})

    async def health_check(self) -> bool:
        """See `AIClient`."""
        try:
            with self._mapped():
                await self._sdk.models.retrieve(self._model)
        except AIError:
            return False
        return True

    @contextmanager
    def _mapped(self) -> Iterator[None]:
        try:
            yield
        except openai.APIStatusError as error:
            raise failure(self._member, error.status_code) from error
        except (openai.OpenAIError, httpx2.HTTPError, ValueError) as error:
            raise failure(self._member, None, type(error).__name__) from error

    async def aclose(self) -> None:
        """Let go of connections."""
        await self._sdk.close()
