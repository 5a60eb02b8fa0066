"""Claude, over Anthropic's SDK."""

from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import contextmanager

import anthropic
import httpx2
from anthropic.types import MessageParam

from streamrelay.council.clients.contract import AIClient, ChatMessage, Usage
from streamrelay.council.clients.failures import failure
from streamrelay.council.clients.retrying import FIRST_WAIT, stream_with_retries
from streamrelay.errors import AIError, AIUnavailable


def _param(message: ChatMessage) -> MessageParam:
    if message.role == "user":
        return {"role": "user", "content": message.text}
    return {"role": "assistant", "content": message.text}


class AnthropicClient(AIClient):
    """A member served by Anthropic."""

    def __init__(
        self, member: str, model: str, key: str, *, base_url: str = "", max_tokens: int = 4096, wait: float = FIRST_WAIT
    ) -> None:
        self._member, self._model, self._max_tokens, self._wait = member, model, max_tokens, wait
        self._sdk = anthropic.AsyncAnthropic(api_key=key, base_url=base_url or None, max_retries=0)

    async def stream_response(self, messages: Sequence[ChatMessage], system_prompt: str) -> AsyncIterator[str]:
        """See `AIClient`."""
        async for piece in stream_with_retries(
            lambda: self._stream(messages, system_prompt), member=self._member, wait=self._wait
        ):
            yield piece

    async def _stream(self, messages: Sequence[ChatMessage], system_prompt: str) -> AsyncIterator[str]:
        self.usage = None
        with self._mapped():
            async with self._sdk.messages.stream(
                model=self._model,
                max_tokens=self._max_tokens,
                system=system_prompt,
                messages=[_param(message) for message in messages],
            ) as stream:
                async for piece in stream.text_stream:
                    yield piece
                final = await stream.get_final_message()
        if final.stop_reason is None:
            raise AIUnavailable(f"{self._member}: the answer ended without its end", data={"member": self._member})
        self.usage = Usage(final.usage.input_tokens, final.usage.output_tokens)

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
        except anthropic.APIStatusError as error:
            raise failure(self._member, error.status_code) from error
        except (anthropic.AnthropicError, httpx2.HTTPError, ValueError) as error:
            raise failure(self._member, None, type(error).__name__) from error

    async def aclose(self) -> None:
        """Let go of connections."""
        await self._sdk.close()
