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

The docstrings of the events and of their fields are the tables of docs/events.md (scripts/generate.py).
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
    """The witness: `quiet`; `composer` (a line editor's request); `shell` (a shell that marks the beginning and the end
    of a command, or ends an unfinished line before its prompt); `title` and `agent_state` (what the program reports);
    `furniture` (whether its screen shows how to interrupt it); `hook` (its own stop hook, docs/agents.md).
    """
    says: Literal["busy", "idle"]
    """`busy` or `idle`."""
    since: float
    """The time of the change, in seconds of the stream."""


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
    """Version of this form: 1."""
    seq: int = 0
    """Number of the event in its stream, from 1; events that a slow subscriber lost are not numbered, a `gap` counts
    them.
    """
    t: float = 0.0
    """Seconds since the stream began."""
    at: float | msgspec.UnsetType = msgspec.UNSET
    """Unix time; on live streams only."""
    host: str | msgspec.UnsetType = msgspec.UNSET
    """Name of the machine; on live streams only."""
    session: str = ""
    """Name of the tmux session; empty in a replay."""
    pane: str = ""
    """The pane's id in tmux (`%3`)."""
    turn: int = 0
    """Number of the program's current answer; 0 before the first message."""


class PaneOpened(Event, tag="pane_opened"):
    """Watching begins. Earlier text on the screen is not repeated."""

    columns: int
    """Width in cells."""
    lines: int
    """Height in rows."""
    command: str = ""
    """The foreground program, as tmux names it; empty in a replay."""
    title: str = ""
    """The pane's title."""


class PaneResized(Event, tag="pane_resized"):
    """The pane has a new size."""

    columns: int
    """Width in cells."""
    lines: int
    """Height in rows."""


class ProgramChanged(Event, tag="program_changed"):
    """The pane's foreground program changed.

    streamrelay queries tmux once a second while the pane prints, and once more two seconds later. So this event is up
    to a second late, or two if the new program prints nothing; a silent change after that is noticed at the program's
    first output.
    """

    command: str
    """The name of the new program."""


class PaneClosed(Event, tag="pane_closed"):
    """Watching has ended: the last event of the stream."""

    reason: ClosedReason
    """`pane_gone` (the program ended or the pane was killed), `session_gone`, `server_lost`, `recording_ended`,
    `failed` (a defect of streamrelay ended this stream).
    """
    status: int | None = None
    """Exit status of the program, if known."""
    tail_certain: bool = False
    """Whether the stream received everything that the program printed. tmux drops the last output of a pane that
    closes, so this is true only if the pane remains (`remain-on-exit`) and the program was quiet before it ended.
    """


class Text(Event, tag="text"):
    """One logical line, without the terminal's soft wraps and without trailing blanks.

    Lines that become final together come in the order of the screen, from top to bottom; what was inserted above other
    lines comes after them.
    """

    text: str
    """The line."""
    origin: Origin
    """The author: `program`; `injected`, the echo of a message that streamrelay typed; `typed`, a person at a known
    prompt or line editor; `unknown`.
    """
    message_id: str | None = None
    """For an `injected` line, the message that it echoes."""
    line: int = 0
    """Number of the line; echo and output on the same row share it."""
    witnesses: tuple[WitnessName, ...] = ("screen",)
    """The sources of the line: `screen`; for an agent that records its answers (docs/agents.md) also `transcript`,
    `database` or `hook`. A line that the screen and the record share is the agent's own source, in Markdown. A line
    without `screen` fills a gap.
    """


class Live(Event, tag="live"):
    """The current state of a line that is not final.

    The stream emits it when the screen is quiet, and again when the line has changed; for a program that prints, at
    most ten times a second.
    """

    text: str
    """The line so far."""
    line: int
    """The number of the line."""


class Retracted(Event, tag="retracted"):
    """A live line vanished without becoming text."""

    line: int
    """The number of the line."""


class TurnStarted(Event, tag="turn_started"):
    """The program began to answer."""

    message_id: str | None = None
    """The message that it answers; null if unknown, or if a turn continues."""


class TurnEnded(Event, tag="turn_ended"):
    """The program has answered.

    If silence is the only evidence, `certain` is false and the turn may continue: with a `turn_started` of the same
    `turn`.
    """

    reason: TurnEnd
    """`quiet` (no text changed for 1.5 s; for 3 s after a program was last seen at work behind an unfinished line;
    for 10 s if the program has not shown its message, if it usually signals its state and has not done so in this turn,
    or if it is a shell's command with no question on its line; never while a dialog is open), `composer` (its line
    editor reads again), `signal` (its own state signal), `superseded` (other text was typed at its prompt, or it had
    gone on with the next message), `closed` (the pane is gone).
    """
    certain: bool
    """Whether there is more evidence than silence."""
    votes: tuple[Vote, ...] = ()
    """The votes of the witnesses."""
    disagreements: int = 0
    """How often in this turn one witness reported `idle` while another still reported `busy`."""
    exit_status: int | None = None
    """Exit status of the command that was the turn, if the shell's integration reports it (`OSC 133` or `OSC 633`,
    `D;status`); else null.
    """


class NeedsHuman(Event, tag="needs_human"):
    """The program waits for a person. streamrelay types nothing into its pane meanwhile."""

    kind: NeedKind
    """The kind of question: `password`, `confirmation`, `permission`, `trust`, `login`, `picker`."""
    text: str = ""
    """The question of the dialog, else the line at the cursor."""


class Activity(Event, tag="activity"):
    """A tool call on an agent's screen, or its output. It is not delivered to any participant."""

    text: str
    """One logical line."""


class Injected(Event, tag="injected"):
    """What the pane's own stream knows of a text that streamrelay types into it, or sends by the program's own API.

    It does not prove that the program has got the text; the `receipt` reports that and the result. `pasting` and
    `entering` are emitted before the command to tmux or the request to the API, so every painted character has an
    explanation.
    """

    message_id: str
    """The message."""
    state: InjectionState
    """`pasting` (about to be pasted or sent by the API; echoes of it can follow), `painted` (the program shows it;
    never with the API), `entering` (the Enter is about to be sent; with the API directly after `pasting`; `turn` is the
    turn that will answer).
    """
    text: str = ""
    """With `pasting`: the message."""


class Receipt(Event, tag="receipt"):
    """The state of a delivery, in the stream of the client that requested it.

    Each state is reported when there is proof of it. `queued` is repeated when the reason for waiting changes; every
    other state comes once. A state without proof is skipped.
    """

    message_id: str
    """The message."""
    state: DeliveryState
    """`queued` (accepted), `pasted` (tmux has pasted it), `painted` (the program shows it), `submitted` (tmux has sent
    the Enter, or the agent's own API has the message), `turn_started` (the program answers), `answered` (its turn is
    over), `failed` (it was not delivered, or not submitted), `unconfirmed` (the outcome is unknown, and nothing is sent
    again).
    """
    reason: str = ""
    """Why the delivery is in this state; docs/events.md lists the reasons."""
    removed: dict[str, int] = {}
    """With the first `queued`: the code points that sanitising removed, with their counts."""
    file: str | None = None
    """The file with the text, if the text was too long to paste and its path was pasted instead."""


class Gap(Event, tag="gap"):
    """Output may have been missed here. Unknown counts are null."""

    reason: str
    """`slow_subscriber` (this reader was too slow), `moved` (the pane went to another session), `detached` (the
    connection to tmux was lost and made again), `paused` (the pane printed faster than it could be read, and tmux
    dropped output), `tail` (the same, in the program's last moment), `respawned` (another program was started in the
    pane, over the screen of the previous one), `restarted` (the tmux server was restarted), `history` (more lines
    scrolled by at once than the screen's history holds), `divergence` (a self-check found that the screen differs from
    tmux's, and continued with tmux's), `forgotten` (the journal has deleted these events), `unpainted` (a screen
    vanished without having scrolled), `joined` (watching began during an answer: its rest follows), `unreadable` (the
    answer cannot be told from other text on the screen, because the program did not show the message, or no composer
    was found; the answer is not reported, and the message is `unconfirmed`).
    """
    lost_bytes: int | None = None
    """Lost bytes of the program's output."""
    lost_lines: int | None = None
    """Lost logical lines; rows if tmux dropped them (`paused`, `detached`, `moved`, `respawned`, `tail`), which tmux
    counts since 3.8; 0 if its history still held all of them, and they follow.
    """
    lost_events: int | None = None
    """Lost events of this stream."""


class RelayOpened(Event, tag="relay_opened"):
    """A relay starts."""

    relay: str
    """The relay's id."""
    participants: tuple[str, ...]
    """`Name (number)` of each."""


class RelayDelivered(Event, tag="relay_delivered"):
    """The relay delivers one participant's output to all others."""

    relay: str
    """The relay's id."""
    message_id: str
    """The id of the message in its receipts and echoes."""
    speaker: str
    """`Name (number)`."""
    listeners: tuple[str, ...]
    """`Name (number)` of each."""
    text: str
    """The whole pasted text: the header, an empty line, the content."""


class RelayWithheld(Event, tag="relay_withheld"):
    """The relay withheld an output; it does not count as a delivery."""

    relay: str
    """The relay's, the link's or the gathering's id."""
    speaker: str
    """`Name (number)`."""
    reason: WithheldReason
    """`muted`; `suspended` (a participant of a link is in a relay, gathering or council); `checkpoint` (it begins like
    the answer to a checkpoint); `acknowledgement` or `repetition` (one turn too many in a row without new content);
    `hops` (one answer too many in a chain of answers); `too_many_waiting` (more than a pause holds); `closed` (the
    conversation ended while this waited); in a gathering `without_piece` (another participant holds it) and `too_much`
    (more than one tenure holds).
    """
    why: str
    """An explanation with the figures of the rule, for people."""
    count: int
    """How often this reason has applied so far."""
    text: str = ""
    """Its first 80 characters."""


class RelayPaused(Event, tag="relay_paused"):
    """A person paused or resumed the relay. Output during a pause waits."""

    relay: str
    """The relay's id."""
    paused: bool
    """Whether it is paused now."""
    waiting: int = 0
    """How many messages wait."""


class RelayMuted(Event, tag="relay_muted"):
    """A person muted or unmuted a participant. It still receives the others' output."""

    relay: str
    """The relay's id."""
    participant: str
    """`Name (number)`."""
    muted: bool
    """Whether it is muted now."""


class RelayLeft(Event, tag="relay_left"):
    """A participant has left, and at least two others go on."""

    relay: str
    """The relay's id."""
    participant: str
    """`Name (number)`."""
    reason: str
    """One of the reasons of `relay_closed`."""
    remaining: int
    """How many participants are left."""


class RelayClosed(Event, tag="relay_closed"):
    """The relay ended."""

    relay: str
    """The relay's id."""
    reason: str
    """`budget_spent`, `stopped` (by a person), `ended` (by `streamrelay end`), a reason of `pane_closed`, or the code
    of the error that ended it: `program_left`, `target_not_reading`, `server_lost` ….
    """
    deliveries: int
    """How many messages it delivered."""
    traffic: dict[str, Traffic] = {}
    """The cost: for each `Name (number)` the `sent` and `received` messages, and their `sent_characters` and
    `received_characters`.
    """


class LinkCreated(Event, tag="link_created"):
    """Two sessions are linked, and each receives the other's output."""

    link: str
    """The link's id."""
    parties: tuple[str, str]
    """The two session ids, first the one that asked for the link."""
    titles: tuple[str, str]
    """The title by which each side knows the other."""
    budget: int
    """The number of deliveries; 0 for no limit."""


class LinkSpent(Event, tag="link_spent"):
    """The last delivery of the budget was made.

    The link delivers nothing until it is extended; both sides get a notice.
    """

    link: str
    """The link's id."""
    deliveries: int
    """The number of deliveries so far."""


class LinkExtended(Event, tag="link_extended"):
    """The link was extended. Output that has waited since it was spent is delivered now."""

    link: str
    """The link's id."""
    deliveries: int
    """The number of deliveries so far."""
    budget: int
    """The new limit of deliveries."""


class LinkSuspended(Event, tag="link_suspended"):
    """One of the two sessions is in a relay, a gathering or a council's turn, and the link delivers nothing; or it
    left.
    """

    link: str
    """The link's id."""
    by: str
    """The relay, the gathering or the council's turn; empty when the link delivers again."""


class LinkClosed(Event, tag="link_closed"):
    """The link ended."""

    link: str
    """The link's id."""
    reason: str
    """`closed` (by one side), `stopped` (by a person), `spent` (with no user there to extend it), `superseded`
    (another machine made the same link at that moment), `ended` (by `streamrelay end`), a reason of `pane_closed`, or
    the code of the error that ended a session: `program_left` ….
    """
    by: str
    """The session that closed it, or that ended; else empty."""
    deliveries: int
    """The number of deliveries so far."""
    traffic: dict[str, Traffic] = {}
    """The cost, as in `relay_closed`."""


class StopNotified(Event, tag="stop_told"):
    """A session with a listener gets one notice that its target has stopped."""

    caller: str
    """The session with the listener."""
    target: str
    """The session that has stopped."""
    reason: str
    """What ended the turn, as in `turn_ended`, or the session."""


class AgentStopped(Event, tag="agent_stopped"):
    """An agent's own stop hook reported the end of its turn (docs/agents.md).

    It is one vote, independent of the screen.
    """

    agent: str
    """The name of its profile."""
    answer: str = ""
    """The answer that the hook reports, in the agent's notation (Markdown), if it does; the screen's version comes as
    `text`.
    """


class WitnessCompared(Event, tag="witness_compared"):
    """The agent's own record of an answer was compared with what its screen showed (docs/agents.md).

    The event follows the text that it is about.
    """

    outcome: WitnessOutcome
    """`agrees`; `repaired` (the record closed a gap, restored a line that was left out, or showed that a line is no
    part of the answer: that line is an `activity`); `differs` (one has words that the other lacks: lines that both have
    are the source, all others are the screen's); `silent` (no record of this answer in time: the text is the screen's).
    """
    witnesses: tuple[WitnessName, ...] = ()
    """The records that were compared with the screen: `transcript`, `database`, `hook`."""
    used: bool = False
    """Whether the text is the agent's source."""
    shown: int = 0
    """Lines of the source that the screen showed."""
    filled: int = 0
    """Lines of the source that the screen could not show, or that were left out."""
    absent: int = 0
    """Lines of the source that the screen should have shown and did not; they are not used."""
    extra: int = 0
    """Lines of the screen that the source does not have."""
    reason: str = ""
    """Why the outcome is `silent`: `late` (nothing came in time), `too_long`, `cut_off` (the program ended before it
    wrote any), or why there is no record, as in docs/agents.md. Also `cut_off` if it ended before the screen showed all
    that the record has; else empty.
    """


class GatheringOpened(Event, tag="gathering_opened"):
    """A gathering begins."""

    gathering: str
    """The gathering's id."""
    rhythm: str
    """`daily`, `weekly`, `monthly`, or one of the user's own."""
    structure: str
    """Rounds of inhale, hold and exhale: `2-2-2`."""
    participants: tuple[str, ...]
    """`Name (number)`, the speakers in their order, then the harvester."""
    harvester: str
    """`Name (number)`."""
    question: str = ""
    """The opening question."""


class GatheringPhase(Event, tag="gathering_phase"):
    """A round begins."""

    gathering: str
    """The gathering's id."""
    phase: str
    """`inhale`, `hold`, `exhale` or `close`."""
    round: int
    """The round of the phase, from 1."""
    rounds: int
    """The number of rounds of the phase."""


class Piece(Event, tag="piece"):
    """The talking piece changed its state."""

    gathering: str
    """The gathering's id."""
    speaker: str
    """`Name (number)` of its holder."""
    state: Literal["given", "begun", "beat", "last_words", "passed"]
    """`given`: its prompt is on the way to the speaker; `begun`: the prompt has arrived, and the speaker's time runs;
    `beat`: a beat; `last_words`: the speaker is asked for its last words; `passed`: the speaker no longer holds it.
    """
    beat: int
    """The number of the last beat; 0 before the first."""
    beats: int
    """The number of beats of a tenure."""
    due_in: float | None = None
    """Seconds until the next automatic change."""
    how: str = ""
    """With `passed`: `phrase`, `tool`, `time`, `last_words` (after the last words), `left` (the speaker's session is
    gone), `closed`.
    """


class Contribution(Event, tag="contribution"):
    """Output that is delivered to the others: of a speaker with the piece, or, in the close, the harvest."""

    gathering: str
    """The gathering's id."""
    message_id: str
    """The id of its deliveries."""
    speaker: str
    """`Name (number)`."""
    phase: str
    """As in `gathering_phase`."""
    round: int
    """As in `gathering_phase`."""
    text: str
    """The contribution itself."""


class GatheringPaused(Event, tag="gathering_paused"):
    """A person paused or resumed the gathering."""

    gathering: str
    """The gathering's id."""
    paused: bool
    """Whether it is paused now."""


class GatheringLeft(Event, tag="gathering_left"):
    """A participant has left; the gathering continues."""

    gathering: str
    """The gathering's id."""
    participant: str
    """`Name (number)`."""
    reason: str
    """One of the reasons of `relay_left`."""


class GatheringClosed(Event, tag="gathering_closed"):
    """The gathering is over."""

    gathering: str
    """The gathering's id."""
    reason: str
    """`complete`, `stopped` (by a person), `no_speakers` (all are gone), or another cause."""
    contributions: int
    """Their number."""
    harvested: bool
    """Whether there is a harvest."""
    traffic: dict[str, Traffic] = {}
    """The cost of each participant, as in `relay_closed`."""


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
