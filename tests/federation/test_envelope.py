"""An envelope is read back as it was sealed, and nothing else is read at all."""

import contextlib

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamrelay.events import Text, TurnEnded
from streamrelay.federation import envelope as envelopes
from streamrelay.federation.envelope import Envelope, Unreadable, opened, read_body, sealed, written
from streamrelay.federation.messages import Ack, Deliver, Gone, Heard, Message

KEY = "a key of more than sixteen characters"


def made(**said: object) -> Envelope:
    body = Heard(pane="%3", in_turns=True, events=(Text(text="größer\x1b[0m", origin="program"),))
    values = {"sender": "alpha", "to": "beta", "epoch": 5, "number": 7, "first": 6, "body": msgspec.Raw(written(body))}
    return Envelope(**values | said)


def test_it_comes_back_as_it_was() -> None:
    there = opened(sealed(made(), KEY), to="beta", key=KEY)
    assert (there.sender, there.epoch, there.number, there.first) == ("alpha", 5, 7, 6)
    body = read_body(there)
    assert isinstance(body, Heard)
    assert body.events == (Text(text="größer\x1b[0m", origin="program"),)


@pytest.mark.requirement("NET-04b")
@pytest.mark.parametrize(
    "change",
    [
        lambda fields: {**fields, b"envelope": fields[b"envelope"].replace(b'"number":7', b'"number":8')},
        lambda fields: {**fields, b"envelope": fields[b"envelope"].replace(b"%3", b"%4")},
        lambda fields: {**fields, b"signature": b"0" * 64},
        lambda fields: {b"envelope": fields[b"envelope"]},
        lambda _: sealed(made(), "another key of enough characters"),
        lambda _: sealed(made()),
    ],
)
def test_whatever_is_not_signed_as_it_stands_is_refused(change) -> None:
    with pytest.raises(Unreadable, match="signed"):
        opened(change(sealed(made(), KEY)), to="beta", key=KEY)


def test_what_is_for_somebody_else_or_of_another_version_is_refused() -> None:
    with pytest.raises(Unreadable, match="another node"):
        opened(sealed(made(to="gamma"), KEY), to="beta", key=KEY)
    with pytest.raises(Unreadable, match="version 2"):
        opened(sealed(made(v=2)), to="beta")


@pytest.mark.requirement("NET-04d")
def test_what_is_too_long_is_refused_before_it_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(envelopes, "MAX_ENVELOPE_SIZE", 100)
    with pytest.raises(Unreadable, match="longer than 100 bytes"):
        opened({b"envelope": b"x" * 101}, to="beta")


def test_a_body_of_tomorrow_is_no_reason_to_stop() -> None:
    there = opened(sealed(made(body=msgspec.Raw(b'{"kind":"sung"}'))), to="beta")
    assert there.number == 7
    with pytest.raises(Unreadable, match="body"):
        read_body(there)


@given(st.dictionaries(st.sampled_from([b"envelope", b"signature", b"x"]), st.binary(max_size=200)))
def test_no_bytes_raise_anything_else(fields: dict[bytes, bytes]) -> None:
    with pytest.raises(Unreadable):
        opened(fields, to="beta", key=KEY)


@given(st.binary(max_size=200))
def test_no_body_raises_anything_else(body: bytes) -> None:
    with contextlib.suppress(Unreadable):
        read_body(made(body=msgspec.Raw(body)))


@pytest.mark.parametrize(
    "body",
    [
        Message(message_id="x y", name="Bob", text="x"),
        Message(message_id="x" * 123, name="Bob", text="x"),
        Message(message_id="m1", name="", text="x"),
        Deliver(link="link-1", message_id="", pane="%1", text="x"),
        Deliver(link="", message_id="m1", pane="", text="x"),
    ],
)
def test_what_could_not_be_typed_is_refused_before_it_is_taken_up(body: Message | Deliver) -> None:
    with pytest.raises(Unreadable, match=r"message id|nobody"):
        read_body(made(body=msgspec.Raw(written(body))))


@pytest.mark.parametrize("depth", [10, 200_000])
def test_no_nesting_is_too_deep(depth: int) -> None:
    with pytest.raises(Unreadable):
        opened({b"envelope": b"[" * depth}, to="beta")
    with pytest.raises(Unreadable):
        read_body(made(body=msgspec.Raw(b'{"kind":"gone","x":' + b"[" * depth)))


@pytest.mark.parametrize("body", [Ack(epoch=1, up_to=2, missing=True), Gone(pane="%1", reason="pane_gone")])
def test_bodies_tell_what_they_are(body) -> None:
    assert read_body(made(body=msgspec.Raw(written(body)))) == body


def test_only_what_is_said_is_heard() -> None:
    closed = b'{"kind":"heard","pane":"%1","in_turns":true,"events":[{"event":"pane_closed","reason":"pane_gone"}]}'
    with pytest.raises(Unreadable):
        read_body(made(body=msgspec.Raw(closed)))
    heard = Heard(pane="%1", in_turns=False, events=(TurnEnded(reason="signal", certain=True),))
    assert read_body(made(body=msgspec.Raw(written(heard)))) == heard
