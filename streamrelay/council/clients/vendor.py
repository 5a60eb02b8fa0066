"""The base of the vendors' clients: three attempts, our errors for the SDK's, whole answers, the health check."""

import logging
from abc import abstractmethod
from collections.abc import AsyncGenerator, AsyncIterator, Iterator, Sequence
from contextlib import aclosing, contextmanager
from typing import ClassVar, Final

from streamrelay.council.clients.contract import AIClient, ChatMessage
from streamrelay.council.clients.failures import failure
from streamrelay.council.clients.retrying import FIRST_WAIT, stream_with_retries
from streamrelay.errors import AIError, AIUnavailable

_SDK_LOGGERS: Final = ("anthropic", "openai", "google_genai", "httpx2", "httpcore2")


class VendorClient(AIClient):
    """A member served over its vendor's SDK. A subclass reads the SDK's stream, and names what the SDK raises."""

    refusals: ClassVar[tuple[type[Exception], ...]]
    """What the SDK raises for an answer with an HTTP status."""
    faults: ClassVar[tuple[type[Exception], ...]]
    """What the SDK raises where there is no such answer."""

    def __init__(self, member: str, model: str, *, wait: float = FIRST_WAIT) -> None:
        """Take the member's name, its model as the vendor writes it, and the seconds before the second attempt."""
        self._member, self._model, self._wait = member, model, wait
        self._is_whole = False
        """Whether the vendor has said that the answer is over."""
        for name in _SDK_LOGGERS:
            # At DEBUG, anthropic 2 logs the whole conversation; its variable ANTHROPIC_LOG sets that level.
            if (logger := logging.getLogger(name)).level < logging.WARNING:
                logger.setLevel(logging.WARNING)

    @abstractmethod
    def _pieces(self, messages: Sequence[ChatMessage], system_prompt: str) -> AsyncGenerator[str]:
        """Ask once and yield the answer; set `usage`, and `_is_whole` when the vendor says that it is over."""

    @abstractmethod
    async def _find_model(self) -> None:
        """Ask the vendor for the model; raises what the SDK raises."""

    @abstractmethod
    def _status(self, error: Exception) -> int | None:
        """Return the HTTP status of one of the `refusals`."""

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
            with self._mapped():
                await self._find_model()
        except AIError:
            return False
        return True

    async def _attempt(self, messages: Sequence[ChatMessage], system_prompt: str) -> AsyncGenerator[str]:
        self.usage, self._is_whole = None, False
        with self._mapped():
            async with aclosing(self._pieces(messages, system_prompt)) as pieces:
                async for piece in pieces:
                    yield piece
        if not self._is_whole:
            raise AIUnavailable(f"{self._member}: the answer ended without its end", data={"member": self._member})

    @contextmanager
    def _mapped(self) -> Iterator[None]:
        faults: tuple[type[Exception], ...] = (*self.faults, OSError, ValueError)
        try:
            yield
        except self.refusals as error:
            raise failure(self._member, self._status(error)) from error
        except faults as error:
            raise failure(self._member, None, type(error).__name__) from error
