"""The tools of gatherings: to call one together, and to pass the piece in one."""

from collections.abc import Sequence
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from streamrelay.errors import PieceNotHeld
from streamrelay.mcp import descriptions
from streamrelay.mcp.arguments import MAX_TEXT_LENGTH, Arguments
from streamrelay.mcp.results import Result, label
from streamrelay.mcp.tool import Tool
from streamrelay.service.api import Gathering, Invited, StartGathering
from streamrelay.service.interface import Service
from streamrelay.sessions.programs import own_search_path

MAX_PARTICIPANTS = 50


class InvitedParticipant(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Who is to take part."""

    name: Annotated[str, Meta(min_length=1, max_length=64, description="How the others know it.")]
    number: Annotated[int, Meta(ge=1, description="Speakers speak in ascending order of their numbers.")]
    role: Annotated[
        Literal["speaker", "harvester"],
        Meta(description="There is exactly one harvester: it hears all, and writes the harvest at the close."),
    ] = "speaker"
    is_human: Annotated[
        bool, Meta(description="A person: nothing is started. Without a session it takes part by yours.")
    ] = False
    agent: Annotated[str, Meta(description="What is started for it: claude, codex, gemini, ... or a command.")] = ""
    session: Annotated[
        str, Meta(description="A session that is there already, by id or title, instead of an agent.")
    ] = ""


class StartGatheringArguments(Arguments, frozen=True, kw_only=True):
    """For `start_gathering`."""

    participants: Annotated[
        list[InvitedParticipant], Meta(min_length=3, max_length=MAX_PARTICIPANTS, description="Two speakers at least.")
    ]
    rhythm: Annotated[
        str, Meta(description="daily (1-1-1, 2 beats of 60 s), weekly (2-2-2, 3 of 60 s), monthly (2-3-2, 4 of 90 s).")
    ] = "daily"
    inhale_rounds: Annotated[int | None, Meta(description="How often the piece goes around to gather signals.")] = None
    hold_rounds: Annotated[int | None, Meta(description="How often, to weigh what was said.")] = None
    exhale_rounds: Annotated[int | None, Meta(description="How often, to converge.")] = None
    beats_per_turn: Annotated[int | None, Meta(description="Of one speaker's time with the piece.")] = None
    beat_interval_seconds: Annotated[float | None, Meta(description="From one beat to the next.")] = None
    opening_question: Annotated[
        str, Meta(max_length=MAX_TEXT_LENGTH, description="Left out: the one of the rhythm's procedure.")
    ] = ""


class SeatedParticipant(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Who takes part, and where."""

    number: int
    name: str
    role: str
    session: str = ""
    pane: str = ""
    is_human: bool = False


class GatheringStarted(Result, frozen=True, kw_only=True):
    """Of `start_gathering`."""

    gathering: str
    participants: list[SeatedParticipant]
    next: str

    def told(self) -> str:
        """Return who takes part, and what follows."""
        lines = [
            f"{one.number}  {label(one.name)}, {one.role}{', a person' if one.is_human else ''}"
            f"{f', session {one.session}' if one.session else ', on a page'}"
            for one in self.participants
        ]
        return "\n".join([f"gathering {self.gathering} has begun:", *lines, self.next])


class PassPieceArguments(Arguments, frozen=True, kw_only=True):
    """For `pass_piece`."""


class PiecePassed(Result, frozen=True, kw_only=True):
    """Of `pass_piece`."""

    gathering: str
    passed: bool
    """False during the turn in which it was called: the piece is passed on when that turn ends."""
    next: str

    def told(self) -> str:
        """Return what becomes of the piece."""
        return self.next


async def start_gathering(service: Service, caller: str, asked: StartGatheringArguments) -> GatheringStarted:
    """Call a gathering together."""
    held = await service.start_gathering(
        StartGathering(
            rhythm=asked.rhythm,
            participants=[Invited(**msgspec.structs.asdict(one)) for one in asked.participants],
            inhale_rounds=asked.inhale_rounds,
            hold_rounds=asked.hold_rounds,
            exhale_rounds=asked.exhale_rounds,
            beats_per_turn=asked.beats_per_turn,
            beat_interval_seconds=asked.beat_interval_seconds,
            opening_question=asked.opening_question,
            search_path=own_search_path(),
            caller=caller,
            unknown_agent=not caller,
        )
    )
    seated = [
        SeatedParticipant(
            number=one.number,
            name=one.name,
            role=one.role,
            session=one.session,
            pane=one.pane,
            is_human=one.is_human,
        )
        for one in held.participants
    ]
    takes_part = bool(caller) and any(one.session == caller for one in held.participants)
    follows = descriptions.IN_CIRCLE if takes_part else descriptions.CIRCLE_GOES_ON
    return GatheringStarted(gathering=held.gathering, participants=seated, next=follows)


async def pass_piece(service: Service, caller: str, _asked: PassPieceArguments) -> PiecePassed:
    """Pass the piece for the caller."""
    held = _of(await service.gatherings(), caller) if caller else None
    if held is None:
        raise PieceNotHeld("you are in no gathering in progress", hint="" if caller else descriptions.UNKNOWN_CALLER)
    now = await service.pass_piece(held.gathering, session=caller)
    own = next(member.number for member in now.participants if member.session == caller)
    passed = now.speaker != own
    return PiecePassed(
        gathering=now.gathering, passed=passed, next=descriptions.PASSED if passed else descriptions.PASSES
    )


def _of(gatherings: Sequence[Gathering], session: str) -> Gathering | None:
    held = [one for one in gatherings if one.state != "closed"]
    return next((one for one in held if any(member.session == session for member in one.participants)), None)


TOOLS: Sequence[Tool] = (
    Tool(
        "start_gathering",
        "Call a gathering together",
        descriptions.START_GATHERING,
        StartGatheringArguments,
        GatheringStarted,
        start_gathering,
    ),
    Tool(
        "pass_piece",
        "Pass the talking piece",
        descriptions.PASSING,
        PassPieceArguments,
        PiecePassed,
        pass_piece,
        at_hand=True,
    ),
)
