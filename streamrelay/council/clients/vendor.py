"""Base class of the clients that use a vendor's SDK.

It retries a request (three attempts), translates the SDK's exceptions to AIError, raises if an answer is incomplete,
and does the health check.
"""

import logging
from abc import abstractmethod
from collections.abc import AsyncGenerator, AsyncIterator, Iterator, Sequence
from contextlib import aclosing, contextmanager
from typing import ClassVar, Final

from streamrelay.council.clients.contract import AIClient, ChatMessage
from streamrelay.council.clients.failures import error_for
from streamrelay.council.clients.retrying import FIRST_WAIT, stream_with_retries
from streamrelay.errors import AIError, AIUnavailable

_SDK_LOGGERS: Final = ("anthropic", "openai", "google_genai", "httpx2", "httpcore2")


class VendorClient(AIClient):
    """A client that uses a vendor's SDK. A subclass reads the SDK's stream and names the SDK's exceptions."""

    status_errors: ClassVar[tuple[type[Exception], ...]]
    """The SDK's exceptions for a response with an HTTP error status."""
    other_errors: ClassVar[tuple[type[Exception], ...]]
    """The SDK's exceptions without a status: no connection, no response, an unreadable one."""

    def __init__(self, member: str, model: str, *, wait: float = FIRST_WAIT) -> None:
        """Take the member's name, the vendor's name of its model, and the seconds to wait before the second attempt."""
        self._member, self._model, self._wait = member, model, wait
        self._is_complete = False
        """Whether the vendor has marked the answer as complete."""
        for name in _SDK_LOGGERS:
            # At DEBUG, anthropic 2 logs the whole conversation; its variable ANTHROPIC_LOG sets that level.
            if (logger := logging.getLogger(name)).level < logging.WARNING:
                logger.setLevel(logging.WARNING)

    @abstractmethod
    def _stream_answer(self, messages: Sequence[ChatMessage], system_prompt: str) -> AsyncGenerator[str]:
        """Make one request and yield its answer in pieces; set `usage`, and `_is_complete` at the vendor's end mark."""

    @abstractmethod
    async def _find_model(self) -> None:
        """Request the description of the model; raise the SDK's exceptions."""

    @abstractmethod
    def _http_status(self, error: Exception) -> int | None:
        """Return the HTTP status of one of the `status_errors`."""

    async def stream_response(self, messages: Sequence[ChatMessage], system_prompt: str) -> AsyncIterator[str]:
        """See `AIClient`."""
        attempts = stream_with_retries(
            lambda: self._attempt(messages, system_prompt), member=self._member, wait=self._wait
        )
        async with aclosing(attempts):
            async for piece in attempts:
                yield piece

    async def health_check(self) -> bool:
        """See `AIClient`."""
        try:
            with self._sdk_errors_translated():
                await self._find_model()
        except AIError:
            return False
        return True

    async def _attempt(self, messages: Sequence[ChatMessage], system_prompt: str) -> AsyncGenerator[str]:
        self.usage, self._is_complete = None, False
        with self._sdk_errors_translated():
            async with aclosing(self._stream_answer(messages, system_prompt)) as pieces:
                async for piece in pieces:
                    yield piece
        if not self._is_complete:
            raise AIUnavailable(
                f"{self._member}: the answer is incomplete: its stream ended without an end mark",
                data={"member": self._member},
            )

    @contextmanager
    def _sdk_errors_translated(self) -> Iterator[None]:
        others: tuple[type[Exception], ...] = (*self.other_errors, OSError, ValueError)
        try:
            yield
        except self.status_errors as error:
            raise error_for(self._member, self._http_status(error)) from error
        except others as error:
            raise error_for(self._member, None, type(error).__name__) from error
