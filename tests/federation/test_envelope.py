"""An envelope is read back as it was sealed, and every other entry is refused with a reason, and counted."""

import contextlib

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamrelay.errors import UsageError
from streamrelay.events import Text, TurnEnded
from streamrelay.federation.admission import MAX_CLOCK_SKEW, Admission
from streamrelay.federation.compression import kind_of
from streamrelay.federation.envelope import (
    MAX_BATCH,
    MAX_BATCH_SIZE,
    Envelope,
    batches,
    opened,
    read_body,
    rewritten,
    sealed,
    written,
)
from streamrelay.federation.keys import (
    MAX_SEALED_SIZE,
    VERSION,
    KeyPair,
    KeyRing,
    Refused,
    fingerprint,
    read_key_file,
    read_peer_keys,
    read_public,
)
from streamrelay.federation.messages import Ack, Deliver, Gone, Heard, Message
from tests.federation.conftest import KEYS, ring

SALT = b"salt of 16 bytes"
WORDS = "the words of a session"
NOW = 1_700_000_000.0
ENTRY = b"1700000000000-0"
STRANGER = KeyPair.generate()


def made(**said: object) -> Envelope:
    body = Heard(pane="%3", in_turns=True, events=(Text(text=f"größer\x1b[0m {WORDS}", origin="program"),))
    values = {"sender": "alpha", "to": "beta", "epoch": 5, "number": 7, "first": 6, "body": msgspec.Raw(written(body))}
    return Envelope(**values | said)


def seal(envelope: Envelope, keys: KeyRing, *, salt: bytes = SALT) -> dict[bytes, bytes]:
    return sealed([envelope], keys, at=NOW, salt=salt)


def entry(*, at: float = NOW, **said: object) -> dict[bytes, bytes]:
    return sealed([made(**said)], ring("alpha"), at=at, salt=SALT)


def open_for_beta(fields: dict[bytes, bytes]) -> Envelope:
    (envelope,) = opened(fields, to="beta", keys=ring("beta"))[1].envelopes
    return envelope


HEAD = (b"from", b"to", b"key", b"for", b"salt")


def with_head(fields: dict[bytes, bytes], **changed: bytes) -> dict[bytes, bytes]:
    """Return an entry with other words in its head."""
    words = dict(zip(HEAD, fields[b"head"].split(b" "), strict=True))
    words |= {name.strip("_").encode(): word for name, word in changed.items()}
    return {**fields, b"head": b" ".join(words.values())}


def refusal(fields: dict[bytes, bytes], entry_id: bytes = ENTRY, admission: Admission | None = None) -> str:
    admission = admission or Admission("beta", ring("beta"))
    with pytest.raises(Refused) as caught:
        admission.open(entry_id, fields)
    counted = admission.count(caught.value)
    assert (counted.reason, counted.count) == (caught.value.reason, 1)
    assert counted.why
    return counted.reason


def test_it_comes_back_as_it_was() -> None:
    there = open_for_beta(entry())
    assert (there.sender, there.epoch, there.number, there.first) == ("alpha", 5, 7, 6)
    body = read_body(there)
    assert isinstance(body, Heard)
    assert body.events[0] == Text(text=f"größer\x1b[0m {WORDS}", origin="program")
    assert kind_of(written(body)) == "heard"


def test_envelopes_of_one_entry_come_back_in_order() -> None:
    fields = sealed([made(number=number) for number in (0, 7, 8)], ring("alpha"), at=NOW, salt=SALT)
    assert [envelope.number for envelope in Admission("beta", ring("beta")).open(ENTRY, fields)] == [0, 7, 8]
    mixed = sealed([made(), made(sender="gamma")], ring("alpha"), at=NOW, salt=SALT)
    assert refusal(mixed) == "forged"
    assert refusal(sealed([made()] * (MAX_BATCH + 1), ring("alpha"), at=NOW, salt=SALT)) == "unreadable"


def test_a_batch_is_bounded_in_number_and_size() -> None:
    small = [made(number=number, body=msgspec.Raw(b"1")) for number in range(MAX_BATCH + 1)]
    assert [len(batch) for batch in batches(small)] == [MAX_BATCH, 1]
    sizes = (MAX_BATCH_SIZE - 1, 1, 1, 2 * MAX_BATCH_SIZE, 1)
    large = [made(body=msgspec.Raw(b"1" * size)) for size in sizes]
    assert [len(batch) for batch in batches(large)] == [2, 1, 1, 1]
    assert not list(batches([]))


@pytest.mark.requirement("NET-06a")
def test_an_entry_shows_no_plain_text_and_no_two_are_alike() -> None:
    fields = entry()
    shown = b"".join(fields.values())
    assert WORDS.encode() not in shown
    assert b"heard" not in shown
    assert b"%3" not in shown
    assert seal(made(), ring("alpha"), salt=b"another 16 bytes")[b"sealed"] != fields[b"sealed"]


@pytest.mark.requirement("NET-04b", "NET-06a")
@pytest.mark.parametrize(
    ("name", "word", "reason"),
    [
        ("from_", b"gamma", "unknown_key"),
        ("to", b"gamma", "other_node"),
        ("key", fingerprint(KEYS["gamma"].public).encode(), "unknown_key"),
        ("for_", fingerprint(KEYS["gamma"].public).encode(), "unknown_key"),
        ("salt", b"other of 16 byte".hex().encode(), "forged"),
        ("salt", SALT.hex().upper().encode(), "forged"),
    ],
    ids=["from", "to", "key", "for", "salt", "salt in capitals"],
)
def test_no_word_of_the_head_can_be_changed(name: str, word: bytes, reason: str) -> None:
    assert refusal(with_head(entry(), **{name: word})) == reason


@pytest.mark.requirement("NET-04b", "NET-06a")
def test_no_sealed_byte_can_be_changed() -> None:
    fields = entry()
    for place in (0, len(fields[b"sealed"]) // 2, -1):
        changed = bytearray(fields[b"sealed"])
        changed[place] ^= 1
        assert refusal({**fields, b"sealed": bytes(changed)}) == "forged"


@pytest.mark.requirement("NET-04b", "NET-06a")
def test_what_a_stranger_seals_is_refused_whatever_it_names() -> None:
    stranger = KeyRing([STRANGER], {"beta": [KEYS["beta"].public]})
    forged = seal(made(), stranger)
    assert refusal(forged) == "unknown_key"
    assert refusal(with_head(forged, key=fingerprint(KEYS["alpha"].public).encode())) == "forged"
    assert refusal(seal(made(sender="omega"), stranger)) == "unknown_peer"
    # What beta sealed for alpha does not come back to beta as alpha's word.
    own = seal(made(sender="beta", to="alpha"), ring("beta"))
    _, _, key, for_key, _ = own[b"head"].split(b" ")
    assert refusal(with_head(own, from_=b"alpha", to=b"beta", key=for_key, for_=key)) == "forged"


@pytest.mark.requirement("NET-04d")
def test_other_versions_other_nodes_and_what_is_too_long_are_refused() -> None:
    assert refusal({b"envelope": b"{}", b"signature": b"0"}) == "unknown_version"
    # Version 3 had a field for each word of the head, and JSON in it.
    earlier = {b"v": b"3", **dict.fromkeys((*HEAD, b"sealed"), b"x")}
    assert refusal(earlier) == "unknown_version"
    assert refusal({**entry(), b"v": b"6"}) == "unknown_version"
    assert refusal(seal(made(to="gamma"), ring("alpha"))) == "other_node"
    assert refusal({**entry(), b"sealed": b"x" * MAX_SEALED_SIZE}) == "too_large"
    for name in (b"head", b"sealed"):
        assert refusal({field: value for field, value in entry().items() if field != name}) == "malformed"
    for salt in (b"", b"73", SALT.hex().encode() + b"00", b"no digits", b"\xff" * 32):
        assert refusal(with_head(entry(), salt=salt)) == "malformed"
    assert refusal({**entry(), b"head": entry()[b"head"] + b" more"}) == "malformed"
    assert refusal({}) == "malformed"


@pytest.mark.requirement("NET-04b")
def test_a_copy_is_refused_and_the_same_entry_is_not() -> None:
    admission = Admission("beta", ring("beta"))
    admission.open(ENTRY, entry())
    assert admission.open(ENTRY, entry())[0].number == 7
    assert refusal(entry(), b"1700000000001-0", admission) == "replayed"
    # A node that has forgotten it after a restart knows a copy by its age.
    assert refusal(entry(), b"1700000400000-0") == "clock"


@pytest.mark.parametrize("offset", [-3600.0, 3600.0])
def test_a_sender_whose_clock_is_an_hour_off_is_refused(offset: float) -> None:
    assert refusal(entry(at=NOW + offset)) == "clock"
    Admission("beta", ring("beta")).open(ENTRY, entry(at=NOW + MAX_CLOCK_SKEW * offset / 7200))


def test_refusals_are_counted_by_sender_and_reason() -> None:
    admission = Admission("beta", ring("beta"))
    for fields in (entry(at=0.0), entry(at=1.0), {}):
        with pytest.raises(Refused) as caught:
            admission.open(ENTRY, fields)
        admission.count(caught.value)
    assert [(one.sender, one.reason, one.count) for one in admission.refusals] == [
        ("", "malformed", 1), ("alpha", "clock", 2),
    ]  # fmt: skip


@pytest.mark.requirement("NET-06a")
def test_a_key_is_replaced_while_envelopes_are_on_their_way() -> None:
    old, new = KEYS["alpha"], KeyPair.generate()
    beta = KEYS["beta"]
    knows_both = KeyRing([beta], {"alpha": [old.public, new.public]})
    for own in ([old, new], [new, old]):
        fields = seal(made(), KeyRing(own, {"beta": [beta.public]}))
        assert opened(fields, to="beta", keys=knows_both)[1].envelopes[0].number == 7
    # What beta still seals for the old key is read by the node that uses the new one.
    back = seal(made(sender="beta", to="alpha"), knows_both)
    assert opened(back, to="alpha", keys=KeyRing([new, old], {"beta": [beta.public]}))[1].envelopes[0].number == 7
    with pytest.raises(Refused, match=fingerprint(old.public)):
        opened(back, to="alpha", keys=KeyRing([new], {"beta": [beta.public]}))


def test_keys_are_read_as_they_are_written() -> None:
    pair = KEYS["alpha"]
    assert read_key_file(f"# mine\n{pair.private_text}\n\n{STRANGER.private_text}\n") == (pair, STRANGER)
    assert read_peer_keys([f"alpha {pair.public_text}", f"alpha {STRANGER.public_text}"]) == {
        "alpha": (pair.public, STRANGER.public)
    }


@pytest.mark.parametrize("text", ["", "x", "sr-public-", "sr-public-!!", "sr-public-AAAA", "sr-private-AAAA"])
def test_what_is_no_key_is_refused(text: str) -> None:
    for read in (read_public, read_key_file):
        with pytest.raises(UsageError):
            read(text)


def test_an_error_repeats_no_key() -> None:
    damaged = KEYS["alpha"].private_text[:-4]
    for read in (read_public, read_key_file):
        with pytest.raises(UsageError) as caught:
            read(damaged)
        assert damaged[20:] not in f"{caught.value.message} {caught.value.hint} {caught.value.data}"


def test_a_body_of_tomorrow_is_no_reason_to_stop() -> None:
    there = open_for_beta(entry(body=msgspec.Raw(msgspec.msgpack.encode({"kind": "sung"}))))
    assert there.number == 7
    with pytest.raises(Refused, match="body"):
        read_body(there)


FIELDS = [b"v", b"head", b"sealed", b"x"]
WHOLE_HEAD = entry()[b"head"]


@given(st.dictionaries(st.sampled_from(FIELDS), st.binary(max_size=200) | st.sampled_from([VERSION, WHOLE_HEAD])))
def test_no_bytes_raise_anything_else(fields: dict[bytes, bytes]) -> None:
    with pytest.raises(Refused):
        open_for_beta(fields)


@given(st.binary(max_size=200))
def test_no_body_raises_anything_else(body: bytes) -> None:
    with contextlib.suppress(Refused):
        read_body(made(body=msgspec.Raw(body)))


@pytest.mark.parametrize(
    "body",
    [
        Message(message_id="x y", name="Bob", text="x"),
        Message(message_id="x" * 123, name="Bob", text="x"),
        Message(message_id="m1", name="", text="x"),
        Deliver(link="link-1", message_id="", panes=("%1",), text="x"),
        Deliver(link="", message_id="m1", panes=("",), text="x"),
    ],
)
def test_what_could_not_be_typed_is_refused_before_it_is_taken_up(body: Message | Deliver) -> None:
    with pytest.raises(Refused, match=r"message id|no session"):
        read_body(made(body=msgspec.Raw(written(body))))


@pytest.mark.parametrize("depth", [10, 200_000])
def test_no_nesting_is_too_deep(depth: int) -> None:
    lists = b"\x91" * depth  # each is a list with one item
    nested = ring("alpha").seal("alpha", "beta", lists, SALT)
    assert refusal(nested) == "unreadable"
    with pytest.raises(Refused):
        read_body(made(body=msgspec.Raw(b"\x82\xa4kind\xa4gone\xa1x" + lists)))


@pytest.mark.parametrize("body", [Ack(epoch=1, up_to=2, missing=True), Gone(pane="%1", reason="pane_gone")])
def test_bodies_tell_what_they_are(body) -> None:
    assert read_body(made(body=msgspec.Raw(written(body)))) == body


def test_only_what_is_said_is_heard() -> None:
    closed = msgspec.msgpack.encode(
        {"kind": "heard", "pane": "%1", "in_turns": True, "events": [{"event": "pane_closed", "reason": "pane_gone"}]}
    )
    with pytest.raises(Refused):
        read_body(made(body=msgspec.Raw(closed)))
    heard = Heard(pane="%1", in_turns=False, events=(TurnEnded(reason="signal", certain=True),))
    assert read_body(made(body=msgspec.Raw(written(heard)))) == heard


def test_a_body_that_an_earlier_version_kept_is_sent_as_it_is_written_now() -> None:
    for body in (
        Heard(
            pane="%3",
            in_turns=True,
            events=(Text(text="größer", origin="program", turn=2), TurnEnded(reason="quiet", certain=False)),
        ),
        Message(message_id="m1", name="Bob", text='a "text"\n\x1b[0m\U0001f600', last=True),
        Ack(epoch=1 << 60, up_to=2, slow=5.0),
    ):
        assert rewritten(msgspec.json.encode(body)) == written(body)
        assert rewritten(written(body)) == written(body)
