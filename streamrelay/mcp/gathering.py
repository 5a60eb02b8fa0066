"""The tools `start_gathering` and `pass_piece`."""

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
    """An invited participant: a speaker or the harvester; an agent to start, a session, or a person."""

    name: Annotated[str, Meta(min_length=1, max_length=64, description="The name by which the others know it.")]
    number: Annotated[int, Meta(ge=1, description="Speakers speak in ascending order of their numbers.")]
    role: Annotated[
        Literal["speaker", "harvester"],
        Meta(description="Exactly one is the harvester: it hears all, and writes down the result at the close."),
    ] = "speaker"
    is_human: Annotated[
        bool,
        Meta(description="A person, for whom nothing is started. Without `session` they use yours."),
    ] = False
    agent: Annotated[str, Meta(description="The agent to start for it: claude, codex, gemini, ... or a command.")] = ""
    session: Annotated[str, Meta(description="A running session to use instead of a new agent, by id or title.")] = ""


class StartGatheringArguments(Arguments, frozen=True, kw_only=True):
    """The arguments of `start_gathering`."""

    participants: Annotated[
        list[InvitedParticipant],
        Meta(min_length=3, max_length=MAX_PARTICIPANTS, description="At least two speakers, and the harvester."),
    ]
    rhythm: Annotated[
        str, Meta(description="daily (1-1-1, 2 beats of 60 s), weekly (2-2-2, 3 of 60 s), monthly (2-3-2, 4 of 90 s).")
    ] = "daily"
    inhale_rounds: Annotated[
        int | None, Meta(description="Rounds of the first phase, in which speakers report what they see.")
    ] = None
    hold_rounds: Annotated[int | None, Meta(description="Rounds of the second phase, in which they weigh it.")] = None
    exhale_rounds: Annotated[int | None, Meta(description="Rounds of the third phase, in which they agree.")] = None
    beats_per_turn: Annotated[
        int | None, Meta(description="Beats (time signals) during one speaker's turn with the piece.")
    ] = None
    beat_interval_seconds: Annotated[float | None, Meta(description="Seconds from one beat to the next.")] = None
    opening_question: Annotated[
        str, Meta(max_length=MAX_TEXT_LENGTH, description="The question to begin with; by default that of the rhythm.")
    ] = ""


class SeatedParticipant(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A participant of a started gathering, with its session."""

    number: int
    name: str
    role: str
    session: str = ""
    pane: str = ""
    is_human: bool = False


class GatheringStarted(Result, frozen=True, kw_only=True):
    """The result of `start_gathering`."""

    gathering: str
    participants: list[SeatedParticipant]
    next: str

    def as_text(self) -> str:
        """Return the participants, a line each, and the next step."""
        lines = [
            f"{one.number}  {label(one.name)}, {one.role}{', a person' if one.is_human else ''}"
            f"{f', session {one.session}' if one.session else ', on a page'}"
            for one in self.participants
        ]
        return "\n".join([f"gathering {self.gathering} has begun:", *lines, self.next])


class PassPieceArguments(Arguments, frozen=True, kw_only=True):
    """The arguments of `pass_piece`: none."""


class PiecePassed(Result, frozen=True, kw_only=True):
    """The result of `pass_piece`."""

    gathering: str
    passed: bool
    """False during the turn in which it was called: the piece is passed on when that turn ends."""
    next: str

    def as_text(self) -> str:
        """Return whether the piece has gone on, or goes on when the turn ends."""
        return self.next


async def start_gathering(service: Service, caller: str, arguments: StartGatheringArguments) -> GatheringStarted:
    """Start a gathering and its sessions."""
    started = await service.start_gathering(
        StartGathering(
            rhythm=arguments.rhythm,
            participants=[Invited(**msgspec.structs.asdict(one)) for one in arguments.participants],
            inhale_rounds=arguments.inhale_rounds,
            hold_rounds=arguments.hold_rounds,
            exhale_rounds=arguments.exhale_rounds,
            beats_per_turn=arguments.beats_per_turn,
            beat_interval_seconds=arguments.beat_interval_seconds,
            opening_question=arguments.opening_question,
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
        for one in started.participants
    ]
    takes_part = bool(caller) and any(one.session == caller for one in started.participants)
    next_step = descriptions.IN_GATHERING if takes_part else descriptions.GATHERING_GOES_ON
    return GatheringStarted(gathering=started.gathering, participants=seated, next=next_step)


async def pass_piece(service: Service, caller: str, _arguments: PassPieceArguments) -> PiecePassed:
    """Pass the piece for the caller."""
    current = _gathering_of(await service.gatherings(), caller) if caller else None
    if current is None:
        raise PieceNotHeld("you are in no gathering in progress", hint="" if caller else descriptions.UNKNOWN_CALLER)
    now = await service.pass_piece(current.gathering, session=caller)
    own = next(member.number for member in now.participants if member.session == caller)
    passed = now.speaker != own
    return PiecePassed(
        gathering=now.gathering,
        passed=passed,
        next=descriptions.PIECE_PASSED if passed else descriptions.PIECE_PASSES_LATER,
    )


def _gathering_of(gatherings: Sequence[Gathering], session: str) -> Gathering | None:
    """Return the open gathering that a session takes part in; None if there is none."""
    for gathering in gatherings:
        if gathering.state != "closed" and any(member.session == session for member in gathering.participants):
            return gathering
    return None


TOOLS: Sequence[Tool] = (
    Tool(
        "start_gathering",
        "Start a gathering",
        descriptions.START_GATHERING,
        StartGatheringArguments,
        GatheringStarted,
        start_gathering,
    ),
    Tool(
        "pass_piece",
        "Pass the talking piece",
        descriptions.PASSING_PIECE,
        PassPieceArguments,
        PiecePassed,
        pass_piece,
        always_shown=True,
    ),
)
