"""A session is in one relay or circle at most."""

import pytest

from streamrelay.errors import SessionTaken
from streamrelay.relay.registry import SessionAssignments


@pytest.mark.requirement("REL-09")
def test_a_session_is_in_one_relay_at_most():
    seats = SessionAssignments()
    seats.take("relay-1", ["ann", "bob"])
    with pytest.raises(SessionTaken) as refused:
        seats.take("relay-2", ["cy", "bob"])
    assert refused.value.data == {"session": "bob", "relay": "relay-1"}
    assert seats.relay_of("cy") is None
    assert seats.relay_of("ann") == "relay-1"
    seats.take("relay-1", ["ann", "dee"])
    assert seats.sessions_of("relay-1") == ["ann", "bob", "dee"]


def test_who_leaves_or_whose_relay_ends_is_free():
    seats = SessionAssignments({"ann": "relay-1", "bob": "relay-1", "cy": "relay-2"})
    assert seats.leave("ann") == "relay-1"
    assert seats.leave("ann") is None
    assert seats.free("relay-1") == ["bob"]
    assert seats.stored() == {"cy": "relay-2"}
    seats.take("relay-3", ["ann", "bob"])
