"""Parses the file of one profile into the values that other packages use.

Decoding is strict, because a misspelt key would be a rule without effect. A pattern may quote a row (`seen`), and must
then match it. Recordings test the patterns without a quoted row (tests/agents).
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Annotated, Literal

import msgspec
import regex

from streamrelay.agents.patterns import PatternError, compile_pattern
from streamrelay.delta.profiles import DialogKind, DialogSign, Profile
from streamrelay.errors import ConfigError
from streamrelay.events import WitnessName

Kind = Literal["agent", "shell", "repl"]
MidTurn = Literal["queue", "hold"]
LaneChoice = Literal["paste", "auto", "native"]
"""How messages reach a program: typed; by its native lane where that is open, else typed; or only by that lane."""
NativeLane = Literal["codex", "opencode"]
"""The native lanes that streamrelay has (agents/lanes)."""
InboxRecord = Literal["claude"]
"""The agents whose session records say whether a session has an inbox (agents/lanes/inbox.py)."""


class Pattern(msgspec.Struct, frozen=True):
    """A pattern of a profile: its place in the file, its text, and the row that it quotes with its source, if any."""

    key: str
    compiled: regex.Pattern[str]
    seen: str | None = None
    source: str | None = None


@dataclass(frozen=True, slots=True)
class DeliveryProfile:
    """How to deliver a message to the program."""

    ready: tuple[regex.Pattern[str], ...]
    """The program accepts messages while one of these matches a row. Without any, it does so whenever it is idle."""
    composer: regex.Pattern[str] | None
    """Matches the row of the composer; the group `draft` is its text."""
    submit_key: str
    """The key that submits, by tmux's name."""
    submit_delay: float
    """The least seconds between paste and submit key."""
    paste_limit: int | None
    """The most characters to paste; a longer text goes into a file, and the program gets its path. None: unlimited."""
    interrupt: tuple[str, ...]
    """The keys that interrupt an answer, one after the other, by tmux's names; empty if unknown."""
    clear: tuple[str, ...]
    """The keys that empty the composer, in case an interrupted program puts the message back into it."""
    mid_turn: MidTurn
    """Whether the program queues messages while it works (`queue`), or must finish first (`hold`)."""
    native: NativeLane | None = None
    """The native lane of the program; None if it has none."""
    lane: LaneChoice = "native"
    """The lanes that the profile allows; the user's choice can only narrow them."""
    inbox: InboxRecord | None = None
    """The record that says whether a running session has an inbox, which `streamrelay doctor` reports."""

    def lane_for(self, choice: LaneChoice) -> LaneChoice:
        """Return how messages reach the program, given the user's choice."""
        if self.native is None or "paste" in {choice, self.lane}:
            return "paste"
        return choice


@dataclass(frozen=True, slots=True)
class Start:
    """How to start the program: its command line, and the screen size that it needs; 0 for any."""

    command: tuple[str, ...]
    columns: int
    lines: int


class StopHook(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The hook with which the program reports the end of a turn: an `event` to configure in a `file`."""

    file: str
    event: str
    format: Literal["settings", "notify"] | None = None
    """The format of the file (settings_file.py, notify_file.py); None if only a person can edit it."""
    home: str = ""
    """The environment variable that replaces the first folder below home in `file`."""


class TranscriptTable(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Where the program stores its transcripts: a glob, relative to home with `~`, else to the program's folder."""

    path: str
    format: Literal["jsonl", "sqlite", "markdown"]
    home: str = ""
    """The environment variable that replaces the folder, as for a stop hook."""


class Witness(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The reader of the agent's own record of its answers (agents/witnesses), and the delay of that record."""

    reader: Literal["claude", "codex", "gemini", "opencode", "qwen"]
    lag: Annotated[float, msgspec.Meta(ge=0, le=10)]
    """Seconds that a turn waits, after the screen rests, until the record has the whole answer."""
    under_way: Annotated[float, msgspec.Meta(ge=0, le=10)] = 0.0
    """Seconds that it waits where the record has the message already, but not the end of its answer."""

    @property
    def name(self) -> WitnessName:
        """Return the name of the witness in events."""
        return "database" if self.reader == "opencode" else "transcript"


@dataclass(frozen=True, slots=True)
class AgentProfile:
    """The profile of one program."""

    title: str
    """The program's own name."""
    source: str
    """The file of the profile."""
    kind: Kind
    reading: Profile
    """The part for the delta stream."""
    delivery: DeliveryProfile
    start: Start
    stop_hook: StopHook | None
    transcript: TranscriptTable | None
    witness: Witness | None
    patterns: tuple[Pattern, ...]
    """Every pattern of the file, in its order."""
    text: str
    """The content of the file."""

    @property
    def name(self) -> str:
        """The name of the profile: that of its file."""
        return self.reading.name


# The file, as it is written


class _Quoting(msgspec.Struct, forbid_unknown_fields=True):
    pattern: str
    seen: str
    source: str


_Pattern = str | _Quoting
_Patterns = list[_Pattern]
_Text = Annotated[str, msgspec.Meta(min_length=1)]


class _Recognise(msgspec.Struct, forbid_unknown_fields=True):
    commands: list[_Text] = []
    interpreters: list[_Text] = []
    signs: _Patterns = []


class _State(msgspec.Struct, forbid_unknown_fields=True):
    busy_titles: _Patterns = []
    idle_titles: _Patterns = []
    rest: Annotated[float, msgspec.Meta(ge=0, le=10)] | None = None


class _Screen(msgspec.Struct, forbid_unknown_fields=True):
    footers: _Patterns = []
    furniture: _Patterns = []
    activity: _Patterns = []
    message_mark: str = ""


class _Dialog(msgspec.Struct, forbid_unknown_fields=True):
    kind: DialogKind
    pattern: _Pattern


class _Start(msgspec.Struct, forbid_unknown_fields=True):
    command: Annotated[list[_Text], msgspec.Meta(min_length=1)] | None = None
    columns: Annotated[int, msgspec.Meta(ge=40, le=1000)] = 0
    lines: Annotated[int, msgspec.Meta(ge=10, le=1000)] = 0


class _Delivery(msgspec.Struct, forbid_unknown_fields=True):
    ready: _Patterns = []
    composer: _Pattern | None = None
    submit_key: _Text = "Enter"
    submit_delay: Annotated[float, msgspec.Meta(ge=0, le=10)] = 0.12
    paste_limit: Annotated[int, msgspec.Meta(ge=1)] | None = None
    interrupt: list[_Text] = []
    clear: list[_Text] = []
    mid_turn: MidTurn = "hold"
    native: NativeLane | None = None
    lane: LaneChoice = "native"
    inbox: InboxRecord | None = None


class _File(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    title: _Text
    kind: Kind = "agent"
    recognise: _Recognise
    state: _State = msgspec.field(default_factory=_State)
    screen: _Screen = msgspec.field(default_factory=_Screen)
    dialogs: list[_Dialog] = []
    delivery: _Delivery = msgspec.field(default_factory=_Delivery)
    start: _Start = msgspec.field(default_factory=_Start)
    stop_hook: StopHook | None = None
    transcript: TranscriptTable | None = None
    witness: Witness | None = None


def parse_profile(name: str, text: str, *, source: str) -> AgentProfile:
    """Parse a profile from the text of its file; raises ConfigError with the file, the key and the fault."""
    try:
        file = msgspec.toml.decode(text, type=_File)
    except msgspec.ValidationError as error:
        wrong, _, key = str(error).partition(" - at `$.")
        raise ConfigError(source, key.removesuffix("`"), wrong, hint=_HINT) from error
    except (msgspec.DecodeError, RecursionError) as error:
        raise ConfigError(source, "", f"invalid TOML: {error}", hint=_HINT) from error
    recognise, delivery = file.recognise, file.delivery
    if not recognise.commands and not recognise.signs:
        raise ConfigError(
            source, "recognise", "neither commands nor signs, so it would recognise no program", hint=_HINT
        )
    patterns = _Compiler(source)
    reading = Profile(
        name,
        is_agent=file.kind == "agent",
        commands=frozenset(recognise.commands),
        interpreters=frozenset(recognise.interpreters),
        signs=patterns.compiled("recognise.signs", recognise.signs),
        busy_titles=patterns.compiled("state.busy_titles", file.state.busy_titles),
        idle_titles=patterns.compiled("state.idle_titles", file.state.idle_titles),
        rest=file.state.rest,
        footers=patterns.compiled("screen.footers", file.screen.footers),
        chrome=patterns.compiled("screen.furniture", file.screen.furniture),
        activity=patterns.compiled("screen.activity", file.screen.activity),
        message_mark=file.screen.message_mark,
        dialogs=tuple(
            DialogSign(dialog.kind, patterns.one(f"dialogs[{number}].pattern", dialog.pattern))
            for number, dialog in enumerate(file.dialogs)
        ),
    )
    ready = patterns.compiled("delivery.ready", delivery.ready)
    if file.kind == "agent":
        reading = replace(reading, ready=ready)
    composer = delivery.composer
    return AgentProfile(
        title=file.title,
        source=source,
        kind=file.kind,
        reading=reading,
        delivery=DeliveryProfile(
            ready=ready,
            composer=None if composer is None else patterns.composer(composer),
            submit_key=delivery.submit_key,
            submit_delay=delivery.submit_delay,
            paste_limit=delivery.paste_limit,
            interrupt=tuple(delivery.interrupt),
            clear=tuple(delivery.clear),
            mid_turn=delivery.mid_turn,
            native=delivery.native,
            lane=delivery.lane,
            inbox=delivery.inbox,
        ),
        start=Start(
            tuple(file.start.command or recognise.commands[:1] or [name]), file.start.columns, file.start.lines
        ),
        stop_hook=file.stop_hook,
        transcript=file.transcript,
        witness=file.witness,
        patterns=tuple(patterns.all),
        text=text,
    )


_HINT = "see docs/profiles.md; without the file the program is treated like any other"


class _Compiler:
    """Compiles the patterns of one file and lists them."""

    def __init__(self, source: str) -> None:
        self._source = source
        self.all: list[Pattern] = []

    def compiled(self, key: str, patterns: Iterable[_Pattern]) -> tuple[regex.Pattern[str], ...]:
        return tuple(self.one(f"{key}[{number}]", pattern) for number, pattern in enumerate(patterns))

    def one(self, key: str, pattern: _Pattern) -> regex.Pattern[str]:
        quoting = pattern if isinstance(pattern, _Quoting) else None
        text = pattern if isinstance(pattern, str) else pattern.pattern
        seen, source = (quoting.seen, quoting.source) if quoting is not None else (None, None)
        try:
            compiled = compile_pattern(text, seen=seen)
        except PatternError as error:
            raise ConfigError(self._source, key, str(error), hint=_HINT) from error
        self.all.append(Pattern(key, compiled, seen, source))
        return compiled

    def composer(self, pattern: _Pattern) -> regex.Pattern[str]:
        compiled = self.one("delivery.composer", pattern)
        if "draft" not in compiled.groupindex:
            raise ConfigError(self._source, "delivery.composer", "missing group (?P<draft>...)", hint=_HINT)
        return compiled
