"""What a hub decides, on plain values."""

import re
from collections.abc import Sequence

import pytest

from streamrelay.control.hub import (
    LIST_PLACES,
    LIST_SESSIONS,
    LOOK_FOR_LEFTOVERS,
    TAG,
    HubSession,
    WindowLink,
    leftovers,
    let_go,
    link,
    only_hubs,
    onward,
    opening,
    parse_leftovers,
    parse_sessions,
    parse_window_links,
    unlink,
    visiting,
)
from streamrelay.control.quoting import check_line

ALPHA, BETA, HUB, ZULU = (
    HubSession("$1", 30, False, "alpha"),
    HubSession("$2", 10, False, "beta"),
    HubSession("$9", 5, True, "streamrelay-1"),
    HubSession("$3", 20, False, "zulu"),
)
ALL = [ALPHA, BETA, HUB, ZULU]


def test_a_hub_is_made_and_tagged_in_one_command_line_with_its_flags() -> None:
    words = opening("streamrelay-1", "77", ("ignore-size", "pause-after=30"))
    assert words[:4] == ("new-session", "-E", "-f", "ignore-size,pause-after=30")
    line = " ".join(words)
    assert f"; set-option -t =streamrelay-1: {TAG} 77 ;" in line
    assert "destroy-unattached off" in line
    assert "set-hook -t =streamrelay-1: client-detached" in line


def test_lines_name_the_hub_and_the_window_by_id() -> None:
    for line in (link("$9", "@4"), unlink("$9", "@4")):
        check_line(line)
        assert "@4" in line
    assert unlink("$9", "@4") == '"unlink-window" "-k" "-t" "\\0449:@4"'


def test_listings_are_read_and_what_a_hook_prints_is_left_out() -> None:
    lines = ["$1 1700000000 0 my session 1", "$9 1700000001 1 streamrelay-1", "a hook's words", "", "$x y z"]
    assert parse_sessions(lines) == [
        HubSession("$1", 1700000000, False, "my session 1"),
        HubSession("$9", 1700000001, True, "streamrelay-1"),
    ]
    assert parse_window_links(["$1 3 @7 0", "$9 1 @7 1", "a hook's words"]) == [
        WindowLink("$1", 3, "@7", False),
        WindowLink("$9", 1, "@7", True),
    ]
    assert TAG in LIST_SESSIONS[-1]
    assert TAG in LIST_PLACES[-1]


def visited(line: Sequence[str]) -> list[str]:
    """The sessions of a passing client's line, in order; tmux is told `$` as an octal escape."""
    return re.findall(r"\$\d+", " ".join(line).replace("\\044", "$"))


def test_every_session_but_hubs_is_visited_and_the_one_used_last_comes_last() -> None:
    (line,) = visiting(ALL)
    assert visited(line) == ["$2", "$3", "$1"]
    assert line[0] == "attach-session"
    assert line[-1] == "detach-client"
    assert " ".join(line).count("switch-client") == 2
    assert " ".join(line).count("-E") == 3


def test_many_sessions_are_visited_by_several_clients_in_order() -> None:
    many = [HubSession(f"${number}", 7, False, "x") for number in range(250)]
    lines = visiting(reversed(many))
    assert [session for line in lines for session in visited(line)] == [one.session for one in many]
    assert len(lines) == 3
    assert visiting([HUB]) == []


def test_a_tagged_session_without_a_client_is_a_leftover() -> None:
    assert leftovers(ALL, ["$1"]) == ["$9"]
    assert leftovers(ALL, ["$9", "$1"]) == []


def test_leftovers_are_found_in_one_reply_whatever_sessions_are_called() -> None:
    lines = ["$1 30 0 client $9 0", "$9 5 1 streamrelay-1", "$8 5 1 streamrelay-2", "client $1 0", "client $9 1"]
    assert parse_leftovers(lines) == ["$8"]
    assert parse_leftovers([*lines, "client $8 0"]) == ["$8"], "a person who came into it does not keep it"
    assert parse_leftovers([*lines, "client $8 1"]) == []
    assert "list-sessions" in LOOK_FOR_LEFTOVERS
    assert "list-clients" in LOOK_FOR_LEFTOVERS
    check_line(LOOK_FOR_LEFTOVERS)


def test_hubs_alone_are_nobody() -> None:
    assert only_hubs([HUB])
    assert only_hubs([])
    assert not only_hubs(ALL)


@pytest.mark.parametrize(
    ("places", "back"),
    [
        ([], None),
        ([WindowLink("$9", 1, "@7", True)], None),
        ([WindowLink("$1", 2, "@5", False), WindowLink("$9", 1, "@7", True)], WindowLink("$1", 3, "@7", False)),
        ([WindowLink("$1", 3, "@5", False), WindowLink("$9", 1, "@7", True)], None),
    ],
    ids=["the server ends", "its session ended", "unlink-window", "its index was taken with -k"],
)
def test_a_window_that_only_hubs_hold_ends_or_is_handed_back(places: list[WindowLink], back: WindowLink | None) -> None:
    assert let_go("@7", WindowLink("$1", 3, "@7", False), places) == back


@pytest.mark.parametrize(
    ("came_from", "policy", "where"),
    [
        ("", "off", "$2"),
        ("", "next", "$3"),
        ("", "previous", "$2"),
        ("gone", "on", "$2"),
        ("beta", "off", "$3"),
        ("zulu", "off", "$2"),
        ("alpha", "off", "$1"),
    ],
    ids=["thrown", "thrown on", "thrown back", "of another name", "walking on", "walking back", "chosen"],
)
def test_whoever_comes_into_a_hub_is_sent_where_he_would_be_without_it(came_from: str, policy: str, where: str) -> None:
    assert onward(ALL, "$9", came_from, policy) == where


def test_where_there_is_no_other_session_he_is_let_go() -> None:
    assert onward([HUB], "$9", "", "off") is None
    assert onward([ALPHA], "$9", "", "off") is None, "the hub itself is gone"


def test_the_neighbours_of_a_hub_are_found_around_the_corner() -> None:
    last = HubSession("$8", 1, True, "~hub")
    assert onward([ALPHA, BETA, last], "$8", "beta", "off") == "$1"
    assert onward([ALPHA, BETA, last], "$8", "alpha", "off") == "$2"
    first = HubSession("$8", 1, True, "!hub")
    assert onward([first, ALPHA, BETA], "$8", "alpha", "off") == "$2"
