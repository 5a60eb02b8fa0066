"""Convert a gathering to what callers of the service see: its state, its transcript, its export. Pure."""

from streamrelay.gathering.circle import Circle
from streamrelay.gathering.transcript import GatheringExport, as_markdown, export
from streamrelay.service.gathering_api import (
    Gathering,
    GatheringMember,
    GatheringState,
    GatheringTranscript,
    TranscriptEntry,
)


def describe(circle: Circle, now: float, unix_now: float) -> Gathering:
    """Return the state of a gathering at a moment: `now` on its clock, `unix_now` in Unix time (both in seconds)."""
    ceremony = circle.ceremony
    plan, state = ceremony.plan, ceremony.state
    tenure = state.tenure  # the current speaker's time with the talking piece
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
        state=_state_name(circle),
        reason=state.closed or state.closing,
        phase=state.phase,
        round=state.round,
        rounds=plan.breath.rounds(state.phase),
        speaker=None if tenure is None else tenure.speaker,
        beat=0 if tenure is None else tenure.beat,
        next_beat_at=None if tenure is None or state.paused_at is not None else unix_now + tenure.due - now,
        started_at=circle.started_at,
        closed_at=circle.closed_at,
        harvest="\n\n".join(entry.text for entry in ceremony.record if entry.kind == "harvest"),
        participants=[_member(circle, number) for number in sorted(circle.seats)],
    )


def describe_transcript(circle: Circle, now: float, unix_now: float) -> GatheringTranscript:
    """Return the transcript of a gathering, with its state at a moment (see `describe`)."""
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
        gathering=describe(circle, now, unix_now), entries=entries, markdown=as_markdown(export_circle(circle))
    )


def export_circle(circle: Circle) -> GatheringExport:
    """Return the export of a gathering."""
    ceremony = circle.ceremony
    return export(circle.gathering_id, ceremony.plan, ceremony.members, ceremony.record, started_at=circle.started_at)


def _state_name(circle: Circle) -> GatheringState:
    state = circle.ceremony.state
    if circle.closed:
        return "closed"
    if state.paused_at is not None:
        return "paused"
    return "harvesting" if state.phase == "close" else "running"


def _member(circle: Circle, number: int) -> GatheringMember:
    seat, state = circle.seats[number], circle.ceremony.state
    member = next(member for member in circle.ceremony.members if member.number == number)
    traffic = state.traffic.get(member.label)
    return GatheringMember(
        number=number,
        name=seat.name,
        role=member.role,
        is_human=seat.is_human,
        session=seat.session,
        pane=seat.pane,
        agent=seat.agent or member.agent,
        started_here=seat.started_here,
        gone=state.gone.get(number, ""),
        contributions=0 if traffic is None else traffic.sent,
        prompts=0 if traffic is None else traffic.received,
        asked=circle.asked.get(number, ""),
        node=seat.node,
    )
