"""The events of a stream: one closed, tagged union with one JSON form (docs/events.md, pinned by a golden file).

Every event carries where it comes from and when: `seq` counts the events of one stream, `t` is seconds since that
stream began, `at` (Unix time) and `host` are there on live streams only. `turn` numbers the answers of one pane;
0 stands for what came before anybody spoke to the program.

The promises:

* `Text` is one logical line, final, emitted once, never taken back. Only `origin="program"` is what the program said.
* `Live` is what the screen shows of a line that is not final; for people. A `Text` with the same `line` replaces it,
  a `Retracted` takes it away.
* `Gap` stands wherever something may have been missed, with counts where they are known.
* `TurnEnded` says by which votes, and whether they are certain.
* `Receipt` says how far a delivery has come, when that is known; `Injected` is what a pane's stream sees of it.
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
    "StopTold",
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
    """One witness of the state of a turn: who says it, what, and since when (seconds, stream time)."""

    by: str
    says: Literal["busy", "idle"]
    since: float


class Traffic(msgspec.Struct):
    """What a conversation costs one participant: messages and their characters, sent to others and received."""

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
    """Another program is in the foreground of the pane now; tmux is asked soon after the pane has printed."""

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

    `witnesses` names who tells of it: the screen, and where it has one the agent's own record. A line that both tell of
    is the agent's own source, in its Markdown.
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
    """The program has answered; where only silence says so, `certain` is false and more may follow."""

    reason: TurnEnd
    certain: bool
    votes: tuple[Vote, ...] = ()
    disagreements: int = 0
    exit_status: int | None = None
    """How the command ended that the turn was, where the shell's marks tell (OSC 133)."""


class NeedsHuman(Event, tag="needs_human"):
    """The program waits for a person; nothing is typed into it meanwhile."""

    kind: NeedKind
    text: str = ""


class Activity(Event, tag="activity"):
    """What an agent's screen shows of what it does: a tool call and its output."""

    text: str


class Injected(Event, tag="injected"):
    """What a pane's own stream knows of a text that streamrelay types into it: evidence, not yet a receipt.

    `pasting` and `entering` come before tmux is asked, so that every painted character has an explanation; `turn` of an
    `entering` is the turn that will answer.
    """

    message_id: str
    state: InjectionState
    text: str = ""


class Receipt(Event, tag="receipt"):
    """How a delivery stands: each state once, in order, and only when there is proof of it."""

    message_id: str
    state: DeliveryState
    reason: str = ""
    removed: dict[str, int] = {}
    file: str | None = None


class Gap(Event, tag="gap"):
    """Something may have been missed here; counts are given where they are known."""

    reason: str
    lost_bytes: int | None = None
    lost_lines: int | None = None
    lost_events: int | None = None


class RelayOpened(Event, tag="relay_opened"):
    """A relay hears and speaks from here on."""

    relay: str
    participants: tuple[str, ...]


class RelayDelivered(Event, tag="relay_delivered"):
    """One burst of a participant went to all others."""

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
    """A person paused the relay, or let it go on; `waiting` messages go out then."""

    relay: str
    paused: bool
    waiting: int = 0


class RelayMuted(Event, tag="relay_muted"):
    """A person muted a participant, or let it be heard again."""

    relay: str
    participant: str
    muted: bool


class RelayLeft(Event, tag="relay_left"):
    """A participant is gone, and the others go on."""

    relay: str
    participant: str
    reason: str
    remaining: int


class RelayClosed(Event, tag="relay_closed"):
    """The relay ended; `reason` is the code of what ended it, `traffic` what it cost each participant."""

    relay: str
    reason: str
    deliveries: int
    traffic: dict[str, Traffic] = {}


class LinkCreated(Event, tag="link_created"):
    """Two sessions hear each other from here on; what crosses is told as of a relay with this id."""

    link: str
    parties: tuple[str, str]
    titles: tuple[str, str]
    budget: int


class LinkSpent(Event, tag="link_spent"):
    """The last delivery of the budget was made; nothing crosses until the link is extended."""

    link: str
    deliveries: int


class LinkExtended(Event, tag="link_extended"):
    """The link crosses again, until `budget` deliveries are made in all."""

    link: str
    deliveries: int
    budget: int


class LinkSuspended(Event, tag="link_suspended"):
    """One of the two is in the relay `by`, and nothing crosses meanwhile; or, with an empty `by`, no longer."""

    link: str
    by: str


class LinkClosed(Event, tag="link_closed"):
    """The link is gone: one side closed it (`by`, its session), or its session ended, or a person ended it."""

    link: str
    reason: str
    by: str
    deliveries: int
    traffic: dict[str, Traffic] = {}


class StopTold(Event, tag="stop_told"):
    """The session `caller`, which had asked for it, is told that `target` has stopped; once."""

    caller: str
    target: str
    reason: str


class AgentStopped(Event, tag="agent_stopped"):
    """An agent's own hook told that its turn is over: a vote, whatever its screen shows.

    `answer` is what it says it has answered, in its own notation, where it says so; what was seen of that is `Text`.
    """

    agent: str
    answer: str = ""


class WitnessCompared(Event, tag="witness_compared"):
    """An agent's own record of an answer was compared with what its screen showed; it stands behind the text.

    `used` says whether the text before it is the agent's source. The numbers count lines of the source that the screen
    `shown`, that were `filled` in because the screen could not show them or they were left out, and that are `absent`
    from the screen; and lines of the screen that the source does not have (`extra`).
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
    """A circle begins: who takes part, `structure` as `2-2-2`, and the question it opens with."""

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
    """What becomes of the talking piece; `due_in` is when the next thing happens by itself, in seconds."""

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
    """A person paused the gathering, or let it go on."""

    gathering: str
    paused: bool


class GatheringLeft(Event, tag="gathering_left"):
    """A participant is gone, and the circle goes on."""

    gathering: str
    participant: str
    reason: str


class GatheringClosed(Event, tag="gathering_closed"):
    """The gathering is over; `traffic` is what it cost each participant."""

    gathering: str
    reason: str
    contributions: int
    harvested: bool
    traffic: dict[str, Traffic] = {}


AnyEvent = (
    PaneOpened | PaneResized | ProgramChanged | PaneClosed | Text | Live | Retracted | TurnStarted | TurnEnded
    | NeedsHuman | Activity | Injected | Receipt | Gap | RelayOpened | RelayDelivered
    | RelayWithheld | RelayPaused | RelayMuted | RelayLeft | RelayClosed
    | LinkCreated | LinkSpent | LinkExtended | LinkSuspended | LinkClosed | StopTold
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
