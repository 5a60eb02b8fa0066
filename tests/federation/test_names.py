"""Which names are those of other machines, and how they are written here and there."""

import pytest

from streamrelay.errors import UsageError
from streamrelay.federation.names import RemoteName, check_node, far, is_far, seen_from


@pytest.mark.requirement("NET-02b")
@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("Bob@beta", RemoteName("Bob", "beta")),
        ("%3@beta", RemoteName("%3", "beta")),
        ("dev@example@beta", RemoteName("dev@example", "beta")),
        ("dev@example", None),
        ("Bob", None),
        ("@beta", None),
        ("Bob@Beta", None),
    ],
)
def test_a_name_is_remote_only_where_its_host_is_a_peer(name: str, found: RemoteName | None) -> None:
    assert far(name, ("beta", "gamma")) == found


def test_a_pane_is_written_from_each_side() -> None:
    assert seen_from("%3", "alpha", "beta") == "%3@alpha"
    assert seen_from("%3@beta", "alpha", "beta") == "%3"
    assert seen_from("%3@gamma", "alpha", "beta") == "%3@gamma@alpha"
    assert (is_far("%3@alpha"), is_far("%3")) == (True, False)


@pytest.mark.parametrize("name", ["", "a b", "-a", "a@b", "a:b", "x" * 64, "ä"])
def test_what_is_no_name_of_a_node_is_refused(name: str) -> None:
    with pytest.raises(UsageError):
        check_node(name)
