"""Messages that may not be in the outbox yet are read as they were kept, by this version and by earlier ones."""

import msgspec
import pytest

from streamrelay.delivery.message import DeliveryPolicy, Message
from streamrelay.service.persistence import OUT, PendingDelivery, pending

TEXT = 'größer "and"\n\x1b[0m longer \U0001f600'


@pytest.mark.parametrize("written", [msgspec.msgpack.encode, msgspec.json.encode], ids=["today", "schema 3"])
@pytest.mark.parametrize("policy", [None, DeliveryPolicy(needs_human="fail", patience=5.0)])
def test_it_is_read_as_it_was_kept(written, policy: DeliveryPolicy | None) -> None:
    kept = PendingDelivery(Message("m1", TEXT, "head", policy, "session"), "%3")
    assert pending({f"{OUT}1": written(kept), "other": b"x"}) == {f"{OUT}1": kept}
