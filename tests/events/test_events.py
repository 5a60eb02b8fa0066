"""The one JSON form: pinned by a golden file, the same both ways, and documented."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import get_args

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamrelay.events import (
    AnyEvent,
    Event,
    Retracted,
    Vote,
    decode,
    encode,
)

HERE = Path(__file__).parent
GOLDEN = HERE / "golden.jsonl"
DOCUMENT = HERE.parents[1] / "docs" / "events.md"
TYPES: tuple[type[Event], ...] = get_args(AnyEvent)
EVENTS: dict[type[Event], AnyEvent] = {type(event): event for event in map(decode, GOLDEN.read_bytes().splitlines())}


def tag(kind: type[Event]) -> str:
    return str(kind.__struct_config__.tag)


def test_the_golden_file_has_every_event_once() -> None:
    lines = GOLDEN.read_bytes().splitlines()
    assert {*EVENTS} == {*TYPES}
    assert len(lines) == len(TYPES)


def test_the_json_form_is_what_the_golden_file_says() -> None:
    """A field that the class lost, got or renamed would change its line."""
    assert [encode(event) for event in EVENTS.values()] == GOLDEN.read_bytes().splitlines()


@pytest.mark.parametrize("kind", TYPES, ids=tag)
def test_what_a_stream_does_not_know_is_left_out(kind: type[Event]) -> None:
    """`at` and `host` are there on live streams only."""
    event = msgspec.structs.replace(EVENTS[kind], at=msgspec.UNSET, host=msgspec.UNSET)
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
