"""The contract of all members' clients."""

from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class ChatMessage:
    """A message as a model is given it: what the member itself said is `assistant`, all else `user`."""

    role: Literal["user", "assistant"]
    text: str


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens that an answer took, as its vendor counts them."""

    read: int
    written: int


class AIClient(ABC):
    """One member's connection to its model or agent; an async context manager."""

    usage: Usage | None = None
    """What the last answer took, where the vendor tells."""

    @abstractmethod
    def stream_response(self, messages: Sequence[ChatMessage], system_prompt: str) -> AsyncIterator[str]:
        """Answer, piece by piece.

        Raises AIUnavailable, AIKeyRefused, AIRequestRefused, and AICutOff where it ends before it is over. Leaving the
        iterator early stops the answer.
        """

    @abstractmethod
    async def health_check(self) -> bool:
        """Tell whether the key is accepted and the model can be had. Asked once at the start of a session."""

    async def aclose(self) -> None:
        """Let go of connections; nothing to do for a client that holds none."""
        return

    async def __aenter__(self) -> "AIClient":
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()
