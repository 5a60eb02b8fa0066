"""Gemini, over Google's SDK."""

from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import contextmanager
from types import MappingProxyType
from typing import Final

import httpx2
from google import genai
from google.genai import errors, types

from streamrelay.council.clients.contract import AIClient, ChatMessage, Usage
from streamrelay.council.clients.failures import failure
from streamrelay.council.clients.retrying import FIRST_WAIT, stream_with_retries
from streamrelay.errors import AIError, AIUnavailable

_ROLES: Final = MappingProxyType({"user": "user", "assistant": "model"})


class GoogleClient(AIClient):
    """A member served by Google."""

    def __init__(
        self, member: str, model: str, key: str, *, base_url: str = "", max_tokens: int = 4096, wait: float = FIRST_WAIT
    ) -> None:
        self._member, self._model, self._max_tokens, self._wait = member, model, max_tokens, wait
        options = types.HttpOptions(base_url=base_url or None, retry_options=types.HttpRetryOptions(attempts=1))
        self._sdk = genai.Client(api_key=key, vertexai=False, http_options=options)

    async def stream_response(self, messages: Sequence[ChatMessage], system_prompt: str) -> AsyncIterator[str]:
        """See `AIClient`."""
        async for piece in stream_with_retries(
            lambda: self._stream(messages, system_prompt), member=self._member, wait=self._wait
        ):
            yield piece

    async def _stream(self, messages: Sequence[ChatMessage], system_prompt: str) -> AsyncIterator[str]:
        self.usage, ended = None, False
        contents = [
            types.Content(role=_ROLES[message.role], parts=[types.Part(text=message.text)]) for message in messages
        ]
        config = types.GenerateContentConfig(system_instruction=system_prompt, max_output_tokens=self._max_tokens)
        with self._mapped():
            stream = await self._sdk.aio.models.generate_content_stream(
                model=self._model, contents=contents, config=config
            )
            async for chunk in stream:
                if chunk.text:
                    yield chunk.text
                if chunk.usage_metadata is not None:
                    counted = chunk.usage_metadata
                    self.usage = Usage(counted.prompt_token_count or 0, counted.candidates_token_count or 0)
                ended = ended or any(candidate.finish_reason for candidate in chunk.candidates or ())
        if not ended:
            raise AIUnavailable(f"{self._member}: the answer ended without its end", data={"member": self._member})

    async def health_check(self) -> bool:
        """See `AIClient`."""
        try:
            with self._mapped():
                await self._sdk.aio.models.get(model=self._model)
        except AIError:
            return False
        return True

    @contextmanager
    def _mapped(self) -> Iterator[None]:
        try:
            yield
        except errors.APIError as error:
            raise failure(self._member, error.code) from error
        except (errors.UnknownApiResponseError, httpx2.HTTPError, OSError, ValueError) as error:
            raise failure(self._member, None, type(error).__name__) from error

    async def aclose(self) -> None:
        """Let go of connections."""
        await self._sdk.aio.aclose()
