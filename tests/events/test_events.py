"""The one JSON form: pinned by a golden file, the same both ways, and documented."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamrelay.events import (
    Activity,
    AgentStopped,
    AnyEvent,
    Contribution,
    Event,
    Gap,
    GatheringClosed,
    GatheringLeft,
    GatheringOpened,
    GatheringPaused,
    GatheringPhase,
    Injected,
    LinkClosed,
    LinkCreated,
    LinkExtended,
    LinkSpent,
    LinkSuspended,
    Live,
    NeedsHuman,
    PaneClosed,
    PaneOpened,
    PaneResized,
    Piece,
    ProgramChanged,
    Receipt,
    RelayClosed,
    RelayDelivered,
    RelayLeft,
    RelayMuted,
    RelayOpened,
    RelayPaused,
    RelayWithheld,
    Retracted,
    StopNotified,
    Text,
    Traffic,
    TurnEnded,
    TurnStarted,
    Vote,
    WitnessCompared,
    decode,
    encode,
)

HERE = Path(__file__).parent
GOLDEN = HERE / "golden.jsonl"
DOCUMENT = HERE.parents[1] / "docs" / "events.md"
TYPES: tuple[type[Event], ...] = get_args(AnyEvent)
COMMON: dict[str, Any] = {
    "seq": 7, "t": 1.5, "at": 1700000000.25, "host": "moss", "session": "ann", "pane": "%3", "turn": 2,
}  # fmt: skip

EVENTS: list[Event] = [
    PaneOpened(columns=120, lines=40, command="cat", title="a title", **COMMON),
    PaneResized(columns=80, lines=24, **COMMON),
    ProgramChanged(command="sh", **COMMON),
    PaneClosed(reason="pane_gone", status=0, tail_certain=True, **COMMON),
    Text(text="hello 日本", origin="injected", message_id="m1", line=4, **COMMON),
    Live(text="hel", line=4, **COMMON),
    Retracted(line=4, **COMMON),
    TurnStarted(message_id="m1", **COMMON),
    TurnEnded(reason="quiet", certain=False, votes=(Vote("quiet", "idle", 1.25),), **COMMON),
    NeedsHuman(kind="password", text="Password:", **COMMON),
    Activity(text="ran ls", **COMMON),
    Injected(message_id="m1", state="pasting", text="hello", **COMMON),
    Receipt(message_id="m1", state="queued", reason="draft", removed={"U+001B": 2}, file="/home/ann/m1.txt", **COMMON),
    Gap(reason="slow_subscriber", lost_bytes=10, lost_lines=2, lost_events=3, **COMMON),
    RelayOpened(relay="relay-1", participants=("Ann (1)", "Bob (2)"), **COMMON),
    RelayDelivered(
        relay="relay-1", message_id="m1", speaker="Ann (1)", listeners=("Bob (2)",), text="Ann (1):\n\nhi", **COMMON
    ),
    RelayWithheld(
        relay="relay-1",
        speaker="Ann (1)",
        reason="acknowledgement",
        why="turn 3 in a row without new content; at most 2 go out",
        count=1,
        text="Thanks!",
        **COMMON,
    ),
    RelayPaused(relay="relay-1", paused=True, waiting=2, **COMMON),
    RelayMuted(relay="relay-1", participant="Ann (1)", muted=True, **COMMON),
    RelayLeft(relay="relay-1", participant="Ann (1)", reason="pane_gone", remaining=2, **COMMON),
    RelayClosed(
        relay="relay-1", reason="budget_spent", deliveries=8, traffic={"Ann (1)": Traffic(3, 120, 5, 260)}, **COMMON
    ),
    LinkCreated(link="link-1", parties=("$1", "$2"), titles=("ann", "bob"), budget=8, **COMMON),
    LinkSpent(link="link-1", deliveries=8, **COMMON),
    LinkExtended(link="link-1", deliveries=8, budget=16, **COMMON),
    LinkSuspended(link="link-1", by="relay-2", **COMMON),
    LinkClosed(
        link="link-1", reason="closed", by="$1", deliveries=9, traffic={"ann (1)": Traffic(4, 90, 5, 260)}, **COMMON
    ),
    StopNotified(caller="$1", target="$2", reason="signal", **COMMON),
    AgentStopped(agent="claude", answer="**Done.**", **COMMON),
    WitnessCompared(outcome="agrees", witnesses=("transcript",), used=True, shown=4, **COMMON),
    GatheringOpened(
        gathering="gathering-1",
        rhythm="weekly",
        structure="2-2-2",
        participants=("Sage (1)", "Rex (2)", "Ada (3)"),
        harvester="Ada (3)",
        question="What is alive?",
        **COMMON,
    ),
    GatheringPhase(gathering="gathering-1", phase="hold", round=1, rounds=2, **COMMON),
    Piece(
        gathering="gathering-1", speaker="Sage (1)", state="beat", beat=1, beats=3, due_in=60.0, how="time", **COMMON
    ),
    Contribution(
        gathering="gathering-1",
        message_id="gathering-1-4",
        speaker="Sage (1)",
        phase="hold",
        round=1,
        text="The tests are slow.",
        **COMMON,
    ),
    GatheringPaused(gathering="gathering-1", paused=True, **COMMON),
    GatheringLeft(gathering="gathering-1", participant="Rex (2)", reason="pane_gone", **COMMON),
    GatheringClosed(
        gathering="gathering-1",
        reason="complete",
        contributions=12,
        harvested=True,
        traffic={"Sage (1)": Traffic(6, 900, 20, 4000)},
        **COMMON,
    ),
]


def tag(kind: type[Event]) -> str:
    return str(kind.__struct_config__.tag)


def test_the_golden_file_has_every_event() -> None:
    assert [type(event) for event in EVENTS] == list(TYPES)


def test_the_json_form_is_what_the_golden_file_says() -> None:
    assert [encode(event) for event in EVENTS] == GOLDEN.read_bytes().splitlines()


def test_the_golden_file_reads_back() -> None:
    assert [decode(line) for line in GOLDEN.read_bytes().splitlines()] == EVENTS


@pytest.mark.parametrize("kind", TYPES, ids=tag)
def test_what_a_stream_does_not_know_is_left_out(kind: type[Event]) -> None:
    """`at` and `host` are there on live streams only."""
    event = msgspec.structs.replace(EVENTS[TYPES.index(kind)], at=msgspec.UNSET, host=msgspec.UNSET)
    assert {"at", "host"}.isdisjoint(msgspec.json.decode(encode(event)))
    assert decode(encode(event)) == event


SECONDS = st.floats(allow_nan=False, allow_infinity=False)
NUMBERS = st.integers(-(2**63), 2**63 - 1)
BY_TYPE: dict[object, st.SearchStrategy[object]] = {
    int: NUMBERS,
    int | None: NUMBERS | st.none(),
    float: SECONDS,
    float | msgspec.UnsetType: SECONDS | st.just(msgspec.UNSET),
    tuple[Vote, ...]: st.lists(st.builds(Vote, since=SECONDS)).map(tuple),
}


def made(kind: type[Event]) -> st.SearchStrategy[Event]:
    types = {field.name: field.type for field in msgspec.structs.fields(kind)}
    return st.builds(
        kind, **{name: BY_TYPE[type_] if type_ in BY_TYPE else st.from_type(type_) for name, type_ in types.items()}
    )


# Deferred: the table of all characters takes seconds to make, and every worker imports this module.
@given(st.deferred(lambda: st.one_of([made(kind) for kind in TYPES])))
def test_every_event_comes_back_as_it_was(event: Event) -> None:
    assert decode(encode(event)) == event


@pytest.mark.parametrize(
    "line",
    [
        b'{"event":"unheard_of"}',
        b'{"text":"no tag"}',
        b'{"event":"text","text":"x","origin":"somebody"}',
        b'{"event":"text","origin":"program"}',
        b'{"event":"live","text":"x","line":"one"}',
        b"[]",
        b"null",
    ],
)
def test_anything_else_is_refused(line: bytes) -> None:
    with pytest.raises(msgspec.ValidationError):
        decode(line)


def test_what_a_later_version_adds_is_passed_over() -> None:
    assert decode(b'{"event":"retracted","line":3,"news":true}') == Retracted(line=3)


def sections(document: str) -> dict[str, str]:
    """The text below each heading that is a tag."""
    parts = re.split(r"^### `(\w+)`$", document, flags=re.MULTILINE)
    return dict(zip(parts[1::2], (re.split(r"^#", part, flags=re.MULTILINE)[0] for part in parts[2::2]), strict=True))


def own_fields(kind: type[Event]) -> Iterator[str]:
    common = {field.name for field in msgspec.structs.fields(Event)}
    return (field.name for field in msgspec.structs.fields(kind) if field.name not in common)


def test_the_document_names_every_event_and_no_other() -> None:
    assert list(sections(DOCUMENT.read_text())) == [tag(kind) for kind in TYPES]


@pytest.mark.parametrize("kind", TYPES, ids=tag)
def test_the_document_names_every_field_of(kind: type[Event]) -> None:
    rows = re.findall(r"^\| `(\w+)` \|", sections(DOCUMENT.read_text())[tag(kind)], flags=re.MULTILINE)
    assert rows == list(own_fields(kind))


def test_the_document_names_the_common_fields_and_those_of_a_vote() -> None:
    document = DOCUMENT.read_text()
    for name in (*(field.name for field in msgspec.structs.fields(Event)), *Vote.__struct_fields__):
        assert f"| `{name}` |" in document


@pytest.mark.parametrize("kind", TYPES, ids=tag)
def test_the_document_names_every_value_a_field_can_have(kind: type[Event]) -> None:
    section = sections(DOCUMENT.read_text())[tag(kind)]
    for field in msgspec.structs.fields(kind):
        for value in (value for value in get_args(field.type) if isinstance(value, str)):
            assert f"`{value}`" in section


def test_the_document_shows_lines_that_decode() -> None:
    lines = re.findall(r'^    (\{"event".*\})$', DOCUMENT.read_text(), flags=re.MULTILINE)
    assert len(lines) == 5
    for line in lines:
        decode(line)
