"""How often, and how soon, a lost connection is made again."""

from itertools import pairwise

from streamrelay.panes.backoff import MAX_ATTEMPTS, WINDOW, Backoff


def test_at_once_then_later_and_later_and_not_for_ever():
    patience = Backoff()
    waits = [patience.wait(100.0) for _ in range(MAX_ATTEMPTS)]
    assert waits[0] == 0.0
    assert all(after >= 2 * before for before, after in pairwise(waits[1:]))
    assert sum(waits) < WINDOW
    assert patience.wait(100.0) is None


def test_what_is_long_ago_does_not_count():
    patience = Backoff()
    for _ in range(MAX_ATTEMPTS):
        patience.wait(0.0)
    assert patience.wait(WINDOW - 0.1) is None
    assert patience.wait(WINDOW) == 0.0
