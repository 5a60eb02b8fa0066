"""One profile: from the text of its file to the values that the rooms use.

Every part is decoded strictly, because a key with a typing error would be a rule that silently does not hold. A
pattern may quote the row it was written for, and then has to match it; the patterns that quote nothing are matched by
recordings (tests/agents).
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Annotated, Literal

import msgspec
import regex

from streamrelay.agents.patterns import PatternError, compile_pattern
from streamrelay.delta.profiles import DialogKind, DialogSign, Profile
from streamrelay.errors import ConfigError
from streamrelay.events import WitnessName

Kind = Literal["agent", "shell", "repl"]
MidTurn = Literal["queue", "hold"]


class Pattern(msgspec.Struct, frozen=True):
    """A pattern of a profile: where it stands, what it is, and the row that it quotes (and from where), if any."""

    key: str
    compiled: regex.Pattern[str]
    seen: str | None = None
    source: str | None = None


@dataclass(frozen=True, slots=True)
class DeliveryProfile:
    """How to get a message into the program."""

    ready: tuple[regex.Pattern[str], ...]
    """A row stands on the screen that one of these matches: it takes messages. None known: whenever it rests."""
    composer: regex.Pattern[str] | None
    """The row of the composer; the group `draft` is what stands in it."""
    submit_key: str
    """As tmux names keys."""
    submit_delay: float
    """Seconds between paste and submit key, at least."""
    paste_limit: int | None
    """Characters of a message; a longer one goes into a file, and the program is told where. None: no limit known."""
    interrupt: tuple[str, ...]
    """The keys that interrupt an answer, one after the other, as tmux names keys; none where they are not known."""
    clear: tuple[str, ...]
    """The keys that empty the composer, in case an interrupted program puts the message back into it."""
    mid_turn: MidTurn
    """Whether the program keeps what is sent while it works, for its next turn (`queue`), or must be let finish."""


@dataclass(frozen=True, slots=True)
class Start:
    """How the program is started: its words, and the size it wants; 0 where any will do."""

    command: tuple[str, ...]
    columns: int
    lines: int


class StopHook(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """How the program itself tells others that a turn is over: an `event` to be configured in a `file`."""

    file: str
    event: str
    format: Literal["settings", "notify"] | None = None
    """How it is written there (settings_file.py, notify_file.py); None for a way that only a person knows."""
    home: str = ""
    """The environment variable that names the folder which is the first below home in `file` otherwise."""


class TranscriptTable(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Where the program writes its conversation down: a glob, from home with `~`, else from where it was started."""

    path: str
    format: Literal["jsonl", "sqlite", "markdown"]
    home: str = ""
    """As of a stop hook."""


class Witness(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Who reads the agent's own record of its answers (agents/witnesses), and how late a line may come there."""

    reader: Literal["claude", "codex", "gemini", "opencode", "qwen"]
    lag: Annotated[float, msgspec.Meta(ge=0, le=10)]
    """Seconds from the rest of the screen to the record of the whole answer, with a margin: a turn waits so long."""

    @property
    def name(self) -> WitnessName:
        """Return what the witness is called in events."""
        return "database" if self.reader == "opencode" else "transcript"


@dataclass(frozen=True, slots=True)
class AgentProfile:
    """All that is known of one program."""

    title: str
    """What its makers call it."""
    source: str
    """The file it is from."""
    kind: Kind
    reading: Profile
    """What the delta stream needs."""
    delivery: DeliveryProfile
    start: Start
    stop_hook: StopHook | None
    transcript: TranscriptTable | None
    witness: Witness | None
    patterns: tuple[Pattern, ...]
    """Every pattern of the file, in its order."""
    text: str
    """The file itself."""

    @property
    def name(self) -> str:
        """What it is called here: the name of its file."""
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
    """Read a profile from the text of its file; raises ConfigError with the file, the key and what is wrong."""
    try:
        file = msgspec.toml.decode(text, type=_File)
    except msgspec.ValidationError as error:
        wrong, _, key = str(error).partition(" - at `$.")
        raise ConfigError(source, key.removesuffix("`"), wrong, hint=_HINT) from error
    except msgspec.DecodeError as error:
        raise ConfigError(source, "", f"no TOML: {error}", hint=_HINT) from error
    recognise, delivery = file.recognise, file.delivery
    if not recognise.commands and not recognise.signs:
        raise ConfigError(source, "recognise", "neither commands nor signs: nothing would be recognised", hint=_HINT)
    patterns = _Compiler(source)
    reading = Profile(
        name,
        commands=frozenset(recognise.commands),
        interpreters=frozenset(recognise.interpreters),
        signs=patterns.compiled("recognise.signs", recognise.signs),
        busy_titles=patterns.compiled("state.busy_titles", file.state.busy_titles),
        idle_titles=patterns.compiled("state.idle_titles", file.state.idle_titles),
        rest=file.state.rest,
        footers=patterns.compiled("screen.footers", file.screen.footers),
        furniture=patterns.compiled("screen.furniture", file.screen.furniture),
        activity=patterns.compiled("screen.activity", file.screen.activity),
        dialogs=tuple(
            DialogSign(dialog.kind, patterns.one(f"dialogs[{number}].pattern", dialog.pattern))
            for number, dialog in enumerate(file.dialogs)
        ),
    )
    composer = delivery.composer
    return AgentProfile(
        title=file.title,
        source=source,
        kind=file.kind,
        reading=reading,
        delivery=DeliveryProfile(
            ready=patterns.compiled("delivery.ready", delivery.ready),
            composer=None if composer is None else patterns.composer(composer),
            submit_key=delivery.submit_key,
            submit_delay=delivery.submit_delay,
            paste_limit=delivery.paste_limit,
            interrupt=tuple(delivery.interrupt),
            clear=tuple(delivery.clear),
            mid_turn=delivery.mid_turn,
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


_HINT = "docs/profiles.md says how a profile is written; without the file the program is treated like any other"


class _Compiler:
    """Compiles the patterns of one file, and keeps the list of them."""

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
            raise ConfigError(self._source, "delivery.composer", "it has no group (?P<draft>...)", hint=_HINT)
        return compiled
