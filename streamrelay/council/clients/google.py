"""Gemini, over Google's SDK."""

from collections.abc import AsyncGenerator, Sequence
from types import MappingProxyType
from typing import Final

import httpx2
from google import genai
from google.genai import errors, types

from streamrelay.council.clients.contract import ChatMessage, Usage
from streamrelay.council.clients.retrying import FIRST_WAIT
from streamrelay.council.clients.vendor import VendorClient

_ROLES: Final = MappingProxyType({"user": "user", "assistant": "model"})


class GoogleClient(VendorClient):
    """A member served by Google."""

    status_errors = (errors.APIError,)
    other_errors = (errors.UnknownApiResponseError, httpx2.HTTPError)

    def __init__(
        self, member: str, model: str, key: str, *, base_url: str = "", max_tokens: int = 4096, wait: float = FIRST_WAIT
    ) -> None:
        super().__init__(member, model, wait=wait)
        self._max_tokens = max_tokens
        options = types.HttpOptions(base_url=base_url or None, retry_options=types.HttpRetryOptions(attempts=1))
        self._sdk = genai.Client(api_key=key, vertexai=False, http_options=options)

    async def _stream_answer(self, messages: Sequence[ChatMessage], system_prompt: str) -> AsyncGenerator[str]:
        contents = [
            types.Content(role=_ROLES[message.role], parts=[types.Part(text=message.text)]) for message in messages
        ]
        config = types.GenerateContentConfig(system_instruction=system_prompt, max_output_tokens=self._max_tokens)
        stream = await self._sdk.aio.models.generate_content_stream(model=self._model, contents=contents, config=config)
        async for chunk in stream:
            if chunk.text:
                yield chunk.text
            if chunk.usage_metadata is not None:
                counted = chunk.usage_metadata
                self.usage = Usage(counted.prompt_token_count or 0, counted.candidates_token_count or 0)
            self._is_complete = self._is_complete or any(
                candidate.finish_reason for candidate in chunk.candidates or ()
            )

    async def _find_model(self) -> None:
        await self._sdk.aio.models.get(model=self._model)

    def _http_status(self, error: Exception) -> int | None:
        return error.code if isinstance(error, errors.APIError) else None

    async def aclose(self) -> None:
        """Close connections."""
        await self._sdk.aio.aclose()
