"""A demo council without keys: three scripted members that answer each kind of round."""

from collections.abc import AsyncIterator, Sequence
from typing import Final

from streamrelay.council.clients.contract import ChatMessage
from streamrelay.council.clients.scripted import ScriptedClient
from streamrelay.council.config import CouncilConfig
from streamrelay.council.members import Member
from streamrelay.council.rounds import INSTRUCTIONS

_PAUSE: Final = 0.06
"""Seconds between two words, about the speed of a model."""

DEMO: Final = CouncilConfig(
    member=(
        Member(
            name="Ada",
            vendor="scripted",
            script=(
                (
                    "I would begin with the data flow:\n\n```mermaid\ngraph LR\n  A[Question] --> B[Answers]\n"
                    "  B --> C[Decision]\n```\n\nEach arrow is **one** module, so each can be tested alone."
                ),
                "Then the second step is a prototype of the middle arrow, because it carries the risk.",
            ),
        ),
        Member(
            name="Grace",
            vendor="scripted",
            script=(
                (
                    "Two remarks on that:\n\n1. Start from what the user sees.\n2. Measure before you optimise.\n\n"
                    "I would rather have *one* module that works today than three that might."
                ),
                "A prototype is fine, with one condition: we throw it away.",
            ),
        ),
        Member(
            name="Alan",
            vendor="scripted",
            script=(
                (
                    "| Proposal | Cost | Risk |\n|---|---|---|\n| Ada's modules | 3 days | low |\n"
                    "| Grace's one module | 1 day | medium |\n\nI suggest Grace's, with Ada's arrows as its tests."
                ),
                "I agree, and I would write the test that decides between the two first.",
            ),
        ),
    ),
)

_DISSENT: Final = {
    "Ada": "One module is enough | Grace | it hides where the data changes",
    "Grace": "Three modules from the start | Ada | no user has asked for them",
    "Alan": "none",
}
_SUMMARY: Final = (
    "**Agreed:** a prototype of the middle step, and a test that decides.\n\n"
    "**Open:** one module (Grace) or three (Ada).\n\n**Next:** write the test."
)


class DemoClient(ScriptedClient):
    """A scripted member with answers for dissent rounds and as the chair."""

    def __init__(self, member: Member, *, pause: float = _PAUSE) -> None:
        super().__init__(member.script, pause=pause)
        self._asides = {
            INSTRUCTIONS["dissent"]: ScriptedClient([_DISSENT.get(member.name, "none")], pause=pause),
            INSTRUCTIONS["chair"]: ScriptedClient([_SUMMARY], pause=pause),
        }

    async def stream_response(self, messages: Sequence[ChatMessage], system_prompt: str) -> AsyncIterator[str]:
        """See `AIClient`."""
        asked = messages[-1].text if messages else ""
        aside = next((client for instruction, client in self._asides.items() if asked.endswith(instruction)), None)
        if aside is None:
            answer = super().stream_response(messages, system_prompt)
        else:
            answer = aside.stream_response(messages, system_prompt)
        async for piece in answer:
            yield piece
        if aside is not None:
            self.usage = aside.usage


def demo_client(member: Member, _model: str) -> DemoClient:
    """Return the client of a member of the demo."""
    return DemoClient(member)
