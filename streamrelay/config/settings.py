"""Every key of the configuration, with its type, its bounds, its default and its meaning, as plain values.

The packages that use these values have their own defaults and do not import the configuration. tests/config compares
the two, and docs/configuration.md with both. Tables nest, and a key is named by its path: `link.texts.spent`.
"""

from collections.abc import Iterator
from typing import Annotated, Any, Literal, NamedTuple

import msgspec
from msgspec import Meta


def _about(meaning: str) -> Meta:
    return Meta(description=meaning)


_Text = Annotated[str, Meta(min_length=1)]
_Count = Annotated[int, Meta(ge=0, le=1_000_000_000)]
_Amount = Annotated[float, Meta(ge=0, le=1_000_000_000)]
_Span = Annotated[float, Meta(gt=0, le=86_400)]


class Table(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A table of the configuration."""


class LinkTexts(Table, frozen=True, kw_only=True):
    """Templates of the texts that are typed into the sides of a link."""

    frame: Annotated[_Text, _about("The message to the other side: `{name}`, `{number}`, `{text}`.")] = (
        "[From {name}] {text}"
    )
    spent: Annotated[str, _about("To both sides when the budget is spent: `{title}`, `{deliveries}`, `{made}`.")] = (
        "[streamrelay] The link with {title} is spent after {made}: it delivers nothing until a "
        "person extends it. No answer is needed."
    )
    extended: Annotated[str, _about("To both sides when the link is extended.")] = ""
    closed: Annotated[str, _about("To the other side when one closes the link.")] = (
        "[streamrelay] {title} has closed the link: it delivers nothing more. No answer is needed."
    )
    ended: Annotated[str, _about("To the other side when one ends.")] = (
        "[streamrelay] {title} has ended, and the link with it. No answer is needed."
    )
    stopped: Annotated[str, _about("To a listener when its target stops.")] = (
        "[streamrelay] {title} has stopped; what it said is in its own session."
    )
    gone: Annotated[str, _about("To a listener when its target ends.")] = "[streamrelay] {title} has ended."


class LinkTable(Table, frozen=True, kw_only=True):
    """Links: docs/links.md."""

    budget: Annotated[_Count, _about("Deliveries of a link; 0 for no limit.")] = 8
    acknowledgements: Annotated[_Count, _about("Delivered turns in a row without new content; 0 for no limit.")] = 2
    hops: Annotated[_Count, _about("How many times an answer may follow an answer; 0 for no limit.")] = 1_000
    longest: Annotated[_Count, _about("Characters of one delivery; 0 for no limit.")] = 0
    per_minute: Annotated[_Count, _about("Deliveries per minute, further ones wait; 0 for no limit.")] = 0
    checkpoints: Annotated[tuple[str, ...], _about("Output that begins like one of these is not delivered.")] = (
        "[checkpoint]",
    )
    phrases: Annotated[tuple[str, ...], _about("Further sentences that count as no new content.")] = ()
    start_sessions: Annotated[bool, _about("Whether the two sides may start sessions while they are linked.")] = True
    notices: Annotated[bool, _about("Whether the two sides get notices about the link.")] = True
    texts: LinkTexts = LinkTexts()


class RelayTable(Table, frozen=True, kw_only=True):
    """Relays."""

    budget: Annotated[_Count, _about("Deliveries of a relay; 0 for no limit.")] = 0
    acknowledgements: Annotated[_Count, _about("Delivered turns in a row without new content; 0 for no limit.")] = 2
    hops: Annotated[_Count, _about("How many times an answer may follow an answer; 0 for no limit.")] = 1_000
    longest: Annotated[_Count, _about("Characters of one delivery; 0 for no limit.")] = 0
    per_minute: Annotated[_Count, _about("Deliveries per minute, further ones wait; 0 for no limit.")] = 0
    checkpoints: Annotated[tuple[str, ...], _about("Output that begins like one of these is not delivered.")] = ()
    phrases: Annotated[tuple[str, ...], _about("Further sentences that count as no new content.")] = ()
    frame: Annotated[_Text, _about("The message to the others: `{name}`, `{number}`, `{text}`.")] = (
        "{name} ({number}):\n\n{text}"
    )
    read_timeout: Annotated[
        float, Meta(ge=1), _about("Seconds after which a program that does not read its input counts as lost.")
    ] = 30.0


class GatheringTable(Table, frozen=True, kw_only=True):
    """Gatherings: docs/gatherings.md."""

    listening: Annotated[
        Literal["each", "digest"],
        _about("Whether members get each contribution at once, or all of them with the piece."),
    ] = "each"
    last_words: Annotated[_Span, _about("Seconds to wait for a speaker's last words.")] = 30.0
    reach_timeout: Annotated[
        _Span, _about("Seconds after which a speaker's time runs even if the prompt has not arrived.")
    ] = 60.0
    harvest_timeout: Annotated[_Span, _about("Seconds to wait for the harvest.")] = 600.0


class DeliveryTable(Table, frozen=True, kw_only=True):
    """How messages are typed: docs/delivery.md."""

    needs_human: Annotated[
        Literal["hold", "fail"], _about("Whether a message waits or fails while the program waits for a person.")
    ] = "hold"
    commands: Annotated[
        Literal["send", "refuse"],
        _about("Whether to send or refuse a text that starts with `/ ! # @`, a command to an agent."),
    ] = "send"
    lane: Annotated[
        Literal["paste", "auto", "native"],
        _about(
            "How messages reach an agent: typed; by its own API where that is open, else typed; or only by its API."
        ),
    ] = "paste"
    wait_timeout: Annotated[
        _Amount, _about("Seconds that `send --wait` waits, without `--timeout`; 0 for no limit.")
    ] = 600.0


class SessionsTable(Table, frozen=True, kw_only=True):
    """Sessions that are started: docs/operations.md."""

    start: Annotated[
        Literal["anyone", "people", "nobody"], _about("Who may start sessions; `people` excludes agents in sessions.")
    ] = "anyone"
    most: Annotated[_Count, _about("Sessions started here that may run at a time; 0 for no limit.")] = 32


class StreamTable(Table, frozen=True, kw_only=True):
    """Sources of a stream besides the screen: docs/agents.md."""

    witness: Annotated[
        Literal["prefer", "verify", "off"],
        _about(
            "Use of an agent's own record of its answers: prefer its source to the screen's lines, only verify the "
            "screen's lines with it, or do not read it."
        ),
    ] = "prefer"


class WebTable(Table, frozen=True, kw_only=True):
    """The page for browsers: docs/web.md."""

    listen: Annotated[
        str, _about("`[HOST:]PORT` at which the daemon serves the page from its start; empty for only on request.")
    ] = ""
    names: Annotated[
        tuple[str, ...], _about("Further names (`NAME` or `NAME:PORT`) by which browsers reach the page.")
    ] = ()
    send: Annotated[bool, _about("Whether the page may send and cancel messages, and take part in councils.")] = True


class HistoryTable(Table, frozen=True, kw_only=True):
    """How long the journal keeps its entries, and how large it may grow."""

    keep_days: Annotated[_Amount, _about("Days after which journal entries are deleted; 0 for never.")] = 90.0
    most_megabytes: Annotated[_Amount, _about("Megabytes above which the oldest entries go; 0 for no limit.")] = 512.0


class PulseTable(Table, frozen=True, kw_only=True):
    """The pulse of a gathering: docs/pulse.md."""

    seconds: Annotated[
        Annotated[float, Meta(gt=0)], _about("Time limit in seconds; late sources are left out and named.")
    ] = 5.0
    longest: Annotated[_Count, _about("Characters of the pulse in a seed.")] = 4_000
    history_days: Annotated[_Amount, _about("Days of history to search; 0 for everything.")] = 90.0
    pipelines: Annotated[
        dict[str, Annotated[tuple[str, ...], Meta(min_length=1)]],
        _about(
            "Commands that report the state of pipelines, by name; one with `{repository}` runs in each repository."
        ),
    ] = {}
    summary: Annotated[
        tuple[str, ...], _about("A command that reads search results and prints a summary; none by default.")
    ] = ()


class FederationTable(Table, frozen=True, kw_only=True):
    """Other machines: docs/federation.md."""

    node: Annotated[str, _about("The name of this machine for the others; empty to be no node.")] = ""
    peers: Annotated[tuple[str, ...], _about("The other nodes; `NAME@NODE` is a session on one of them.")] = ()
    redis_url: Annotated[
        _Text,
        _about(
            "The Redis server between them: `redis://`, `rediss://` for TLS, `unix://`, `redis+sentinel://` or `redis+cluster://`."
        ),
    ] = "redis://localhost:6379/0"
    key_file: Annotated[str, _about("The file with this node's own private keys: `streamrelay peers add-key`.")] = (
        "~/.config/streamrelay/federation.key"
    )
    peer_keys: Annotated[
        tuple[str, ...], _about('The public keys of the peers, as `"NODE sr-public-..."`; the first of each is used.')
    ] = ()
    namespace: Annotated[_Text, _about("The prefix of its streams' names.")] = "streamrelay"
    may_send: Annotated[tuple[str, ...], _about("The peers that may send messages here; `*` stands for all.")] = ("*",)
    may_link: Annotated[tuple[str, ...], _about("The peers that may link local sessions with theirs.")] = ("*",)
    may_seat: Annotated[
        tuple[str, ...], _about("The peers in whose relays and gatherings local sessions may take part.")
    ] = ("*",)
    may_start: Annotated[
        tuple[str, ...], _about("The peers that may start sessions here for their gatherings; none by default.")
    ] = ()
    messages_per_minute: Annotated[
        tuple[str, ...],
        _about('Messages that a peer may send here in a minute, as `"NODE 600"`; `*` is any other.'),
    ] = ()
    bytes_per_minute: Annotated[
        tuple[str, ...], _about('Bytes that a peer may send here in a minute, as `"NODE 1000000"`; `*` is any other.')
    ] = ()


class Settings(Table, frozen=True, kw_only=True):
    """All settings."""

    tmux: Annotated[_Text, _about("The tmux binary.")] = "tmux"
    socket_name: Annotated[_Text | None, _about("Name of the tmux server's socket, as with `-L`.")] = None
    socket_path: Annotated[_Text | None, _about("Path of the tmux server's socket, as with `-S`.")] = None
    host: Annotated[
        _Text | None,
        _about("The machine of the tmux server, reached by ssh, for the commands that have `--host`."),
    ] = None
    ssh: Annotated[_Text, _about("The ssh command, with options of your own; split as a shell would.")] = "ssh"
    transport: Annotated[
        Literal["pipes", "cc"], _about("`tmux -C` over two pipes, or `tmux -CC` over a pseudo terminal.")
    ] = "pipes"
    profiles: Annotated[bool, _about("Whether to use the profiles of programs.")] = True
    self_check: Annotated[
        Annotated[float, Meta(ge=0.1)] | None,
        _about("Seconds between two comparisons of a quiet pane with tmux, in `watch`."),
    ] = None
    notify: Annotated[bool, _about("Whether tmux shows people the state of their conversations (docs/tmux.md).")] = True
    stream: StreamTable = StreamTable()
    link: LinkTable = LinkTable()
    relay: RelayTable = RelayTable()
    gathering: GatheringTable = GatheringTable()
    delivery: DeliveryTable = DeliveryTable()
    sessions: SessionsTable = SessionsTable()
    history: HistoryTable = HistoryTable()
    web: WebTable = WebTable()
    pulse: PulseTable = PulseTable()
    federation: FederationTable = FederationTable()


class Key(NamedTuple):
    """One key: its path, the type of its value, its default, and what it means."""

    name: str
    type: Any
    default: object
    meaning: str

    @property
    def path(self) -> tuple[str, ...]:
        """The tables that contain it, and its own name."""
        return tuple(self.name.split("."))

    @property
    def variable(self) -> str:
        """The environment variable that sets it."""
        return "STREAMRELAY_" + "_".join(self.path).upper()

    @property
    def yours_alone(self) -> bool:
        """Whether only the user's own file may set it: it names a program, lifts a protection, or deletes."""
        protections = {"delivery.commands", "delivery.lane", "link.start_sessions"}
        programs = {"tmux", "host", "ssh", "pulse.pipelines", "pulse.summary"}
        return self.name in programs | protections or self.path[0] in {
            "federation",
            "history",
            "sessions",
            "stream",
            "web",
        }


def all_keys() -> dict[str, Key]:
    """Return every key by its name, in the order of this file."""
    return {key.name: key for key in _keys(Settings, "")}


def _keys(table: type[Table], before: str) -> Iterator[Key]:
    for field in msgspec.structs.fields(table):
        name = before + field.name
        if isinstance(field.type, type) and issubclass(field.type, Table):
            yield from _keys(field.type, f"{name}.")
        else:
            meaning = next(meta.description for meta in reversed(field.type.__metadata__) if meta.description)
            # msgspec makes a new one of what can be changed.
            default = field.default_factory() if field.default is msgspec.NODEFAULT else field.default
            yield Key(name, field.type, default, meaning)


def value_of(settings: Settings, key: Key) -> object:
    """Return what a key is set to."""
    value: object = settings
    for name in key.path:
        value = getattr(value, name)
    return value
