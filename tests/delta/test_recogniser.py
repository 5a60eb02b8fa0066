"""Which program is in front of us: by its command, else by a sign, and never by what an earlier one left behind."""

import regex

from streamrelay.delta.profiles import GENERIC, Profile, Recogniser

HOLLOW = Profile("hollow", commands=frozenset({"hollow"}), signs=(regex.compile("^hollow v"),))
INSIDE = Profile("inside", interpreters=frozenset({"snake"}), signs=(regex.compile("^inside v"),))
SNAKE = Profile("snake", commands=frozenset({"snake"}))
SHELL = Profile("shell", commands=frozenset({"shell"}))
ALL = (HOLLOW, INSIDE, SNAKE, SHELL)


def seen(command: str, *rows: str) -> str:
    recogniser = Recogniser(ALL)
    recogniser.run(command)
    recogniser.see(rows)
    return recogniser.profile.name


def test_a_command_is_enough() -> None:
    assert seen("hollow") == "hollow"
    assert seen("unheard-of") == "generic"


def test_a_sign_counts_where_no_profile_claims_the_command() -> None:
    assert seen("", "first", "hollow v2") == "hollow"
    assert seen("node", "hollow v2") == "hollow"


def test_what_an_earlier_program_left_on_the_screen_is_no_sign() -> None:
    assert seen("shell", "hollow v2", "$") == "shell"


def test_a_program_is_told_from_the_interpreter_that_runs_it() -> None:
    assert seen("snake") == "snake"
    assert seen("snake", "hollow v2") == "snake"
    assert seen("snake", "inside v1") == "inside"


def test_what_was_seen_counts_as_long_as_the_command_stays() -> None:
    recogniser = Recogniser(ALL)
    recogniser.run("node")
    recogniser.see(["hollow v2"])
    recogniser.run("node")
    recogniser.run("")
    recogniser.see(["nothing in particular"])
    assert recogniser.profile is HOLLOW
    recogniser.run("something-else")
    assert recogniser.profile is GENERIC


def test_a_program_that_shows_another_ones_sign_stays_what_it_is() -> None:
    recogniser = Recogniser(ALL)
    recogniser.see(["inside v1"])
    recogniser.see(["hollow v2", "inside v1"])
    assert recogniser.profile is INSIDE
