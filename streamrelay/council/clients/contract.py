"""The contract of all members' clients."""

from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class ChatMessage:
    """A message for a model: `assistant` for the member's own messages, `user` for all others."""

    role: Literal["user", "assistant"]
    text: str


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one request, as the vendor counts them: read (input) and written (output)."""

    read: int
    written: int


class AIClient(ABC):
    """One member's connection to its model or agent; an async context manager."""

    usage: Usage | None = None
    """The tokens of the last answer, if the vendor reports them."""
    resumes_answers = False
    """Whether `stream_response` can yield the whole answer of a turn that a killed process began."""

    def begin_turn(self, turn: str) -> None:
        """Name the turn that the next `stream_response` answers: unique, and the same if it is resumed after a kill.

        The default ignores it.
        """
        return

    def leave(self) -> None:
        """Note that this process ends before the answer, which another process resumes; the default ignores it."""
        return

    @abstractmethod
    def stream_response(self, messages: Sequence[ChatMessage], system_prompt: str) -> AsyncIterator[str]:
        """Answer, piece by piece.

        Raises AIUnavailable, AIKeyRefused, AIRequestRefused, and AICutOff if the answer breaks off. Leaving the
        iterator early stops the answer.
        """

    @abstractmethod
    async def health_check(self) -> bool:
        """Tell whether the key is accepted and the model exists; called once at the start of a session."""

    async def aclose(self) -> None:
        """Close connections; the default does nothing."""
        return

    async def __aenter__(self) -> "AIClient":
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()
