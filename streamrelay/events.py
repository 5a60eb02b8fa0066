"""The events of a stream: one closed, tagged union with one JSON form (docs/events.md, pinned by a golden file).

Every event carries where it comes from and when: `seq` counts the events of one stream, `t` is seconds since that
stream began, `at` (Unix time) and `host` are there on live streams only. `turn` numbers the answers of one pane;
0 is output before the first message.

The promises:

* `Text` is one logical line, final, emitted once, never taken back. Only `origin="program"` is program output.
* `Live` is what the screen shows of a line that is not final; for people. A `Text` with the same `line` replaces it,
  a `Retracted` takes it away.
* `Gap` marks each place where output may have been missed, with counts if they are known.
* `TurnEnded` names the votes that ended the turn, and whether the end is certain.
* `Receipt` reports a proved state of a delivery; `Injected` is what a pane's stream sees of it.
"""

from typing import Literal

import msgspec

__all__ = [
    "VERSION",
    "Activity",
    "AgentStopped",
    "AnyEvent",
    "ClosedReason",
    "Contribution",
    "DeliveryState",
    "Event",
    "Gap",
    "GatheringClosed",
    "GatheringLeft",
    "GatheringOpened",
    "GatheringPaused",
    "GatheringPhase",
    "Injected",
    "InjectionState",
    "LinkClosed",
    "LinkCreated",
    "LinkExtended",
    "LinkSpent",
    "LinkSuspended",
    "Live",
    "NeedKind",
    "NeedsHuman",
    "Origin",
    "PaneClosed",
    "PaneOpened",
    "PaneResized",
    "Piece",
    "ProgramChanged",
    "Receipt",
    "RelayClosed",
    "RelayDelivered",
    "RelayLeft",
    "RelayMuted",
    "RelayOpened",
    "RelayPaused",
    "RelayWithheld",
    "Retracted",
    "StopNotified",
    "Text",
    "Traffic",
    "TurnEnd",
    "TurnEnded",
    "TurnStarted",
    "Vote",
    "WithheldReason",
    "WitnessCompared",
    "WitnessName",
    "WitnessOutcome",
    "decode",
    "encode",
]

VERSION = 1

Origin = Literal["program", "injected", "typed", "unknown"]
TurnEnd = Literal["quiet", "composer", "signal", "superseded", "closed"]
ClosedReason = Literal["pane_gone", "session_gone", "server_lost", "recording_ended", "failed"]
InjectionState = Literal["pasting", "painted", "entering"]
DeliveryState = Literal["queued", "pasted", "painted", "submitted", "turn_started", "answered", "failed", "unconfirmed"]


WithheldReason = Literal[
    "muted", "suspended", "checkpoint", "acknowledgement", "repetition", "hops", "too_many_waiting",
    "closed", "without_piece", "too_much",
]  # fmt: skip
NeedKind = Literal["password", "confirmation", "permission", "trust", "login", "picker"]

WitnessName = Literal["screen", "transcript", "hook", "database"]
WitnessOutcome = Literal["agrees", "repaired", "differs", "silent"]


class Vote(msgspec.Struct, frozen=True):
    """One witness's vote on a turn: the witness, its state, and since when (seconds, stream time)."""

    by: str
    says: Literal["busy", "idle"]
    since: float


class Traffic(msgspec.Struct):
    """The messages of one participant and their characters: sent to others, and received."""

    sent: int = 0
    sent_characters: int = 0
    received: int = 0
    received_characters: int = 0

    def spoke(self, characters: int) -> None:
        """Count a message to others, once however many they are."""
        self.sent += 1
        self.sent_characters += characters

    def heard(self, characters: int) -> None:
        """Count a received message."""
        self.received += 1
        self.received_characters += characters


# No event can be part of a cycle, and in a flood the collector would look at each of them again and again.
class Event(msgspec.Struct, kw_only=True, tag_field="event", gc=False):
    """What all events carry."""

    v: int = VERSION
    seq: int = 0
    t: float = 0.0
    at: float | msgspec.UnsetType = msgspec.UNSET
    host: str | msgspec.UnsetType = msgspec.UNSET
    session: str = ""
    pane: str = ""
    turn: int = 0


class PaneOpened(Event, tag="pane_opened"):
    """A pane is being watched from here on."""

    columns: int
    lines: int
    command: str = ""
    title: str = ""


class PaneResized(Event, tag="pane_resized"):
    """The pane has a new size."""

    columns: int
    lines: int


class ProgramChanged(Event, tag="program_changed"):
    """Another program is in the foreground of the pane; noticed by a query to tmux soon after the pane printed."""

    command: str


class PaneClosed(Event, tag="pane_closed"):
    """The pane is no longer watched; the last event of its stream.

    `tail_certain` is false where output printed in the last moment may have been lost by tmux.
    """

    reason: ClosedReason
    status: int | None = None
    tail_certain: bool = False


class Text(Event, tag="text"):
    """One logical line: final, unwrapped, without trailing blanks.

    `witnesses` names the sources that have the line: the screen, the agent's own record, or both. If both have it,
    `text` is the agent's own source, in Markdown.
    """

    text: str
    origin: Origin
    message_id: str | None = None
    line: int = 0
    witnesses: tuple[WitnessName, ...] = ("screen",)


class Live(Event, tag="live"):
    """What the screen shows of a line that is not final yet."""

    text: str
    line: int


class Retracted(Event, tag="retracted"):
    """A live line is gone from the screen without having become text."""

    line: int


class TurnStarted(Event, tag="turn_started"):
    """The program began to answer."""

    message_id: str | None = None


class TurnEnded(Event, tag="turn_ended"):
    """The program has answered. If only silence ended the turn, `certain` is false and more output may follow."""

    reason: TurnEnd
    certain: bool
    votes: tuple[Vote, ...] = ()
    disagreements: int = 0
    exit_status: int | None = None
    """Exit status of the command that was this turn, if the shell marks it (OSC 133)."""


class NeedsHuman(Event, tag="needs_human"):
    """The program waits for a person; nothing is typed into it meanwhile."""

    kind: NeedKind
    text: str = ""


class Activity(Event, tag="activity"):
    """A tool call and its output, as the agent's screen shows them."""

    text: str


class Injected(Event, tag="injected"):
    """The state of a message to the pane's program, as the pane's stream sees it: evidence, not a receipt.

    `pasting` and `entering` are emitted before the command to tmux, or before the request to the program's own API, so
    that every painted character has an explanation. A message by the API has no `painted`.
    `turn` of an `entering` is the turn that will answer.
    """

    message_id: str
    state: InjectionState
    text: str = ""


class Receipt(Event, tag="receipt"):
    """The state of a delivery: each state once, in order, and only with proof."""

    message_id: str
    state: DeliveryState
    reason: str = ""
    removed: dict[str, int] = {}
    file: str | None = None


class Gap(Event, tag="gap"):
    """Output may have been missed here; counts are given if they are known."""

    reason: str
    lost_bytes: int | None = None
    lost_lines: int | None = None
    lost_events: int | None = None


class RelayOpened(Event, tag="relay_opened"):
    """A relay delivers its participants' output to each other from here on."""

    relay: str
    participants: tuple[str, ...]


class RelayDelivered(Event, tag="relay_delivered"):
    """The output of one participant went to all others."""

    relay: str
    message_id: str
    speaker: str
    listeners: tuple[str, ...]
    text: str


class RelayWithheld(Event, tag="relay_withheld"):
    """The relay withheld an output; `why` explains the reason, `count` is how often this reason occurred."""

    relay: str
    speaker: str
    reason: WithheldReason
    why: str
    count: int
    text: str = ""


class RelayPaused(Event, tag="relay_paused"):
    """A person paused the relay or resumed it; the `waiting` messages are delivered when it resumes."""

    relay: str
    paused: bool
    waiting: int = 0


class RelayMuted(Event, tag="relay_muted"):
    """A person muted a participant or unmuted it."""

    relay: str
    participant: str
    muted: bool


class RelayLeft(Event, tag="relay_left"):
    """A participant is gone; the others continue."""

    relay: str
    participant: str
    reason: str
    remaining: int


class RelayClosed(Event, tag="relay_closed"):
    """The relay ended; `reason` is the code of the cause, `traffic` counts the messages of each participant."""

    relay: str
    reason: str
    deliveries: int
    traffic: dict[str, Traffic] = {}


class LinkCreated(Event, tag="link_created"):
    """Two sessions receive each other's output from here on, reported by relay events with this id as `relay`."""

    link: str
    parties: tuple[str, str]
    titles: tuple[str, str]
    budget: int


class LinkSpent(Event, tag="link_spent"):
    """The last delivery of the budget was made; the link delivers nothing until it is extended."""

    link: str
    deliveries: int


class LinkExtended(Event, tag="link_extended"):
    """The link delivers again, up to `budget` deliveries in all."""

    link: str
    deliveries: int
    budget: int


class LinkSuspended(Event, tag="link_suspended"):
    """The link delivers nothing while one side is in the relay `by`; an empty `by` ends the suspension."""

    link: str
    by: str


class LinkClosed(Event, tag="link_closed"):
    """The link is closed: by one side (`by`, its session), by the end of a session, or by a person."""

    link: str
    reason: str
    by: str
    deliveries: int
    traffic: dict[str, Traffic] = {}


class StopNotified(Event, tag="stop_told"):
    """The session `caller` got the notice it had asked for: `target` has stopped. Sent once."""

    caller: str
    target: str
    reason: str


class AgentStopped(Event, tag="agent_stopped"):
    """An agent's own hook reported the end of its turn: a vote, whatever the screen shows.

    `answer` is the answer as the hook reports it, if it does, in the agent's own notation; what the screen showed is
    `Text`.
    """

    agent: str
    answer: str = ""


class WitnessCompared(Event, tag="witness_compared"):
    """An agent's own record of an answer was compared with its screen; this event follows the text of the answer.

    `used` says whether that text is the record's. The numbers count lines of the record that the screen has (`shown`),
    lines of the record that were `filled` in because the screen lacked them, lines of the record that are `absent` from
    the screen, and lines of the screen that the record lacks (`extra`).
    """

    outcome: WitnessOutcome
    witnesses: tuple[WitnessName, ...] = ()
    used: bool = False
    shown: int = 0
    filled: int = 0
    absent: int = 0
    extra: int = 0
    reason: str = ""


class GatheringOpened(Event, tag="gathering_opened"):
    """A gathering begins; `structure` is its number of rounds in each phase, such as `2-2-2`."""

    gathering: str
    rhythm: str
    structure: str
    participants: tuple[str, ...]
    harvester: str
    question: str = ""


class GatheringPhase(Event, tag="gathering_phase"):
    """A round of a phase begins: `inhale`, `hold`, `exhale` or `close`."""

    gathering: str
    phase: str
    round: int
    rounds: int


class Piece(Event, tag="piece"):
    """The talking piece changed its state; `due_in` is the time until its next state, in seconds."""

    gathering: str
    speaker: str
    state: Literal["given", "begun", "beat", "last_words", "passed"]
    beat: int
    beats: int
    due_in: float | None = None
    how: str = ""


class Contribution(Event, tag="contribution"):
    """A contribution that a gathering delivers to its members: a speaker's, or the harvester's harvest."""

    gathering: str
    message_id: str
    speaker: str
    phase: str
    round: int
    text: str


class GatheringPaused(Event, tag="gathering_paused"):
    """A person paused the gathering or resumed it."""

    gathering: str
    paused: bool


class GatheringLeft(Event, tag="gathering_left"):
    """A participant is gone; the gathering continues."""

    gathering: str
    participant: str
    reason: str


class GatheringClosed(Event, tag="gathering_closed"):
    """The gathering is closed; `traffic` counts the messages of each participant."""

    gathering: str
    reason: str
    contributions: int
    harvested: bool
    traffic: dict[str, Traffic] = {}


AnyEvent = (
    PaneOpened | PaneResized | ProgramChanged | PaneClosed | Text | Live | Retracted | TurnStarted | TurnEnded
    | NeedsHuman | Activity | Injected | Receipt | Gap | RelayOpened | RelayDelivered
    | RelayWithheld | RelayPaused | RelayMuted | RelayLeft | RelayClosed
    | LinkCreated | LinkSpent | LinkExtended | LinkSuspended | LinkClosed | StopNotified
    | AgentStopped | WitnessCompared
    | GatheringOpened | GatheringPhase | Piece | Contribution | GatheringPaused | GatheringLeft | GatheringClosed
)  # fmt: skip


def encode(event: Event) -> bytes:
    """Return the one JSON form of an event, without a newline."""
    return msgspec.json.encode(event)


def decode(line: bytes | str) -> AnyEvent:
    """Return the event of a JSON line; raises msgspec.DecodeError on anything else."""
    event: AnyEvent = msgspec.json.decode(line, type=AnyEvent)
    return event
