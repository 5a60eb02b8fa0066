"""The tool of the council: an agent asks its user's council, and gets the answers and the dissent."""

from collections.abc import Sequence
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from streamrelay.mcp import descriptions
from streamrelay.mcp.arguments import Arguments
from streamrelay.mcp.results import Result, label, quoted
from streamrelay.mcp.tool import Tool
from streamrelay.service.api import AskCouncil as Asked
from streamrelay.service.interface import Service

MAX_QUESTION = 200_000


class AskCouncilArguments(Arguments, frozen=True, kw_only=True):
    """The arguments of `ask_council`."""

    question: Annotated[
        str, Meta(max_length=MAX_QUESTION, description="What you want to know. Empty to wait for open answers.")
    ] = ""
    council: Annotated[
        str, Meta(max_length=100, description="The `council` of an earlier answer, to go on with it or to wait for it.")
    ] = ""
    blind: Annotated[
        bool, Meta(description="true: no member sees the others' answers before it has given its own.")
    ] = True
    dissent: Annotated[
        bool, Meta(description="true: afterwards each member names what it disagrees with. Takes a second round.")
    ] = True
    wait_seconds: Annotated[
        float, Meta(ge=0, le=600, description="How long to wait. What is not there by then, ask for later.")
    ] = 50.0


class Answer(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What one member answered."""

    member: str
    text: str
    is_whole: bool = True


class Dispute(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A claim that a member disagrees with."""

    claim: str
    made_by: str
    disputed_by: str
    why: str = ""


class CouncilAnswered(Result, frozen=True, kw_only=True):
    """The result of `ask_council`."""

    council: str
    state: Literal["answered", "answering"]
    answers: tuple[Answer, ...] = ()
    dissent: tuple[Dispute, ...] = ()
    missing: tuple[str, ...] = ()
    question: str = ""
    cost: float = 0.0
    note: str
    next: str

    def as_text(self) -> str:
        """Return the answers, each quoted under its member's name, the dissent, and what follows."""
        lines = [f"council {self.council}: {self.state}"]
        for one in self.answers:
            lines += [f"{label(one.member)}{'' if one.is_whole else ' (broken off)'}:", quoted(one.text)]
        if self.dissent:
            lines.append("dissent:")
            lines += [
                quoted(f"{one.disputed_by} disputes what {one.made_by or 'a member'} said: {one.claim} ({one.why})")
                for one in self.dissent
            ]
        if self.missing:
            lines.append(f"no answer from: {', '.join(map(label, self.missing))}")
        if self.question:
            lines.append(f"a person is asked: {label(self.question)}")
        return "\n".join([*lines, self.note, self.next])


async def ask_council(service: Service, caller: str, asked: AskCouncilArguments) -> CouncilAnswered:
    """Put a question to the council."""
    told = await service.ask_council(
        Asked(
            question=asked.question,
            council=asked.council,
            blind=asked.blind,
            dissent=asked.dissent,
            wait_seconds=asked.wait_seconds,
            caller=caller,
            unknown_agent=not caller,
        )
    )
    return CouncilAnswered(
        council=told.council,
        state=told.state,
        answers=tuple(Answer(member=one.member, text=one.text, is_whole=one.is_whole) for one in told.answers),
        dissent=tuple(
            Dispute(claim=one.claim, made_by=one.made_by, disputed_by=one.disputed_by, why=one.why)
            for one in told.dissent
        ),
        missing=tuple(told.missing),
        question=told.question,
        cost=round(told.cost, 6),
        note=descriptions.COUNCIL_THEIRS,
        next=descriptions.COUNCIL_ANSWERED if told.state == "answered" else descriptions.COUNCIL_ANSWERING,
    )


TOOLS: Sequence[Tool] = (
    Tool("ask_council", "Ask the council", descriptions.ASK_COUNCIL, AskCouncilArguments, CouncilAnswered, ask_council),
)
