"""Who may start sessions, as values."""

import pytest

from streamrelay.errors import NotAllowed
from streamrelay.sessions.model import Session
from streamrelay.sessions.permission import asking, check_start


def session(name: str, *, started_here: bool = True, ended: bool = False) -> Session:
    return Session(
        session=f"s-{name}",
        pane=f"%{name}",
        title=name,
        session_name=name,
        program="x",
        state="ended" if ended else "idle",
        started_here=started_here,
    )


THERE = [session("1"), session("2", started_here=False), session("3", ended=True), session("4")]


@pytest.mark.parametrize(
    ("asks", "rule", "refused"),
    [
        ("s-1", {"who": "anyone", "most": 0}, ""),
        ("", {"who": "people", "most": 0}, ""),
        ("s-1", {"who": "people", "most": 0}, "only people"),
        ("", {"who": "nobody", "most": 0}, "not started here"),
        ("", {"who": "anyone", "most": 3}, ""),
        ("", {"who": "anyone", "most": 2}, "2 sessions were started here earlier, and 2 may run"),
        ("", {"who": "anyone", "most": 3, "being_born": 1}, "3 sessions"),
        ("s-1", {"who": "anyone", "most": 0, "forbidden_by": "link-1"}, "link-1 may not start"),
    ],
)
def test_who_may_not_is_told_what_would_help(asks, rule, refused):
    if not refused:
        check_start(THERE, asks, **rule)
        return
    with pytest.raises(NotAllowed, match=refused) as caught:
        check_start(THERE, asks, **rule)
    assert caught.value.hint


def test_what_a_program_runs_it_asks_for_itself():
    assert asking(THERE, "", "%1") == "s-1"
    assert asking(THERE, "", "%9") == ""
    assert asking(THERE, "", "") == ""
    assert asking(THERE, "s-2", "%1") == "s-2"
