"""For which words history is searched."""

import pytest

from streamrelay.pulse.keywords import MAX_WORDS, pick
from streamrelay.pulse.model import Repository, SessionNow


def repository(branch: str, *subjects: str, folder: str = "/x/y") -> Repository:
    return Repository(folder=folder, branch=branch, commits=subjects)


@pytest.mark.requirement("GAT-06")
def test_the_rhythms_own_words_go_first_then_what_is_worked_on_most() -> None:
    picked = pick(
        ["release", "Friction "],
        [repository("talking-piece", "Fix the lexer", "The lexer is done", "Merge branch release")],
        [SessionNow(title="Sage", said="the lexer and the grammar")],
    )
    assert picked[:2] == ("release", "Friction")
    assert picked[2] == "lexer"
    assert set(picked[3:5]) == {"piece", "talking"}
    assert {"sage", "grammar"} <= set(picked)
    assert not {"the", "merge", "branch", "done", "Release", "fix"} & set(picked)


def test_words_that_say_nothing_or_are_no_words_are_left_out() -> None:
    assert pick([], [repository("main", "Update with some of the things", "1234 a1 --- ☃", "x" * 41)], []) == ()
    assert pick(["", "  "], [], []) == ()


def test_what_is_repeated_in_one_place_is_one_places() -> None:
    talk = SessionNow(title="", said="banana " * 50)
    picked = pick([], [repository("", "cherry tart", "cherry cake")], [talk])
    assert picked.index("cherry") < picked.index("banana")


def test_no_more_words_than_are_useful_and_always_the_same() -> None:
    subjects = [f"word{chr(97 + number)} of it" for number in range(26)]
    picked = pick(["one"], [repository("", *subjects)], [])
    assert len(picked) == MAX_WORDS
    assert picked == pick(["one"], [repository("", *reversed(subjects))], [])
    assert len(pick([f"own{number}" for number in range(40)], [], [])) == MAX_WORDS


def test_scripts_without_blanks() -> None:
    assert pick([], [repository("", "端末の修正 for größere Häuser")], []) == ("größere", "häuser", "端末の修正")
