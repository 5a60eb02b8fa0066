"""Views of a gathering: its state, its transcript, its export. Pure."""

from streamrelay.gathering.circle import Circle
from streamrelay.gathering.transcript import GatheringExport, as_markdown
from streamrelay.gathering.transcript import transcript as export
from streamrelay.service.gathering_api import (
    Gathering,
    GatheringMember,
    GatheringState,
    GatheringTranscript,
    TranscriptEntry,
)


def shown(circle: Circle, now: float, at: float) -> Gathering:
    """Return the state of a gathering. `now` is the time of its clock in seconds, `at` the same moment as Unix time."""
    ceremony = circle.ceremony
    plan, standing, tenure = ceremony.plan, ceremony.standing, ceremony.standing.tenure
    return Gathering(
        gathering=circle.gathering_id,
        rhythm=plan.rhythm,
        inhale_rounds=plan.breath.inhale,
        hold_rounds=plan.breath.hold,
        exhale_rounds=plan.breath.exhale,
        beats_per_turn=plan.beats_per_turn,
        beat_interval_seconds=plan.beat_interval_seconds,
        listening=plan.listening,
        opening_question=plan.question,
        state=_state(circle),
        reason=standing.closed or standing.closing,
        phase=standing.phase,
        round=standing.round,
        rounds=plan.breath.rounds(standing.phase),
        speaker=None if tenure is None else tenure.speaker,
        beat=0 if tenure is None else tenure.beat,
        next_beat_at=None if tenure is None or standing.paused_at is not None else at + tenure.due - now,
        started_at=circle.started_at,
        closed_at=circle.closed_at,
        harvest="\n\n".join(entry.text for entry in ceremony.record if entry.kind == "harvest"),
        participants=[_member(circle, number) for number in sorted(circle.seats)],
    )


def transcript(circle: Circle, now: float, at: float) -> GatheringTranscript:
    """Return the transcript of a gathering. `now` and `at` are those of `shown`."""
    names = {number: seat.name for number, seat in circle.seats.items()}
    entries = [
        TranscriptEntry(
            at=circle.started_at + entry.t,
            kind=entry.kind,
            phase=entry.phase,
            round=entry.round,
            number=entry.number or None,
            name=names.get(entry.number, ""),
            text=entry.text,
        )
        for entry in circle.ceremony.record
    ]
    return GatheringTranscript(
        gathering=shown(circle, now, at), entries=entries, markdown=as_markdown(exported(circle))
    )


def exported(circle: Circle) -> GatheringExport:
    """Return the export of a gathering."""
    ceremony = circle.ceremony
    return export(circle.gathering_id, ceremony.plan, ceremony.members, ceremony.record, started_at=circle.started_at)


def _state(circle: Circle) -> GatheringState:
    standing = circle.ceremony.standing
    if circle.closed:
        return "closed"
    if standing.paused_at is not None:
        return "paused"
    return "harvesting" if standing.phase == "close" else "running"


def _member(circle: Circle, number: int) -> GatheringMember:
    seat, standing = circle.seats[number], circle.ceremony.standing
    member = next(one for one in circle.ceremony.members if one.number == number)
    traffic = standing.traffic.get(member.label)
    return GatheringMember(
        number=number,
        name=seat.name,
        role=member.role,
        is_human=seat.is_human,
        session=seat.session,
        pane=seat.pane,
        agent=seat.agent or member.agent,
        started_here=seat.started_here,
        gone=standing.gone.get(number, ""),
        contributions=0 if traffic is None else traffic.sent,
        prompts=0 if traffic is None else traffic.received,
        asked=circle.asked.get(number, ""),
        node=seat.node,
    )
