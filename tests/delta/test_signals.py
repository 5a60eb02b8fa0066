"""State that programs tell their terminal."""

import pytest
import regex

from streamrelay.delta.profiles import GENERIC, DialogSign, Profile, Recogniser, matches
from streamrelay.delta.signals import Signal, Signals
from streamrelay.vt.engine import TerminalEvent, TerminalEventKind


def read(signals: Signals, kind: TerminalEventKind, payload: str = "") -> Signal | None:
    return signals.read(TerminalEvent(kind, payload))


@pytest.mark.requirement("DEL-04a")
@pytest.mark.parametrize(
    ("payload", "says"),
    [
        ("state=working", "busy"), ("state=busy", "busy"), ("state=done", "idle"), ("state=idle:app=x", "idle"),
        ("app=x;state=working", "busy"), ("app=x:state=done", "idle"), ("state=", None), ("state=sleeping", None),
        ("mystate=working", None), ("", None), ("\x00\ud800", None),
    ],
)  # fmt: skip
def test_agent_state(payload: str, says: str | None) -> None:
    signals = Signals()
    signal = read(signals, "agent_state", payload)
    assert (signal.says if signal else None) == says
    assert signal is None or signal.by == "agent_state"
    assert signals.tell is (says is not None)


def test_a_title_tells_only_once_one_of_them_was_busy() -> None:
    signals = Signals()
    assert read(signals, "title", "✳ project") is None
    assert not signals.tell
    assert read(signals, "title", "⠂ project") == Signal("title", "busy")
    assert read(signals, "title", "✳ project") == Signal("title", "idle")
    assert read(signals, "title", "") == Signal("title", "idle")
    assert signals.tell


@pytest.mark.parametrize("title", ["⠀blank braille", "⣿", "⠋"])
def test_a_title_that_begins_with_braille_is_busy(title: str) -> None:
    assert read(Signals(), "title", title) == Signal("title", "busy")


@pytest.mark.parametrize("title", ["vim ⠋", "-⠋", "~/src", "⟳ sync"])
def test_no_other_title_is(title: str) -> None:
    assert read(Signals(), "title", title) is None


@pytest.mark.parametrize("kind", ["bell", "notification", "prompt_mark", "reset"])
def test_no_other_event_tells(kind: TerminalEventKind) -> None:
    signals = Signals()
    assert read(signals, kind, "state=working") is None
    assert not signals.tell


PROFILE = Profile(
    "one",
    commands=frozenset({"one"}),
    signs=(regex.compile("^One v"),),
    busy_titles=(regex.compile("^Working"),),
    idle_titles=(regex.compile("^Ready"),),
    dialogs=(DialogSign("trust", regex.compile("Trust")),),
)


def test_titles_of_a_profile_tell_from_the_first_on() -> None:
    signals = Signals()
    signals.profile = PROFILE
    assert read(signals, "title", "Ready (project)") == Signal("title", "idle")
    assert read(signals, "title", "something") is None
    assert read(signals, "title", "Working… (project)") == Signal("title", "busy")
    assert read(signals, "title", "something") == Signal("title", "idle")


OTHER = Profile("other", commands=frozenset({"two"}), signs=(regex.compile("v2"),))
INNER = Profile("inner", interpreters=frozenset({"two"}), signs=(regex.compile("^Inner"),))


def seen(recogniser: Recogniser, *rows: str) -> str:
    recogniser.see(rows)
    return recogniser.profile.name


def test_a_program_is_recognised_by_its_command_before_any_sign() -> None:
    recogniser = Recogniser([PROFILE, OTHER, INNER])
    assert recogniser.profile is GENERIC
    recogniser.run("two")
    assert recogniser.profile is OTHER
    assert seen(recogniser, "One v1") == "other", "what stands on the screen may be left over"
    recogniser.run("")
    assert recogniser.profile is OTHER, "nothing is known of the command"


def test_a_sign_counts_where_no_profile_claims_the_command_until_another_command_comes() -> None:
    recogniser = Recogniser([PROFILE, OTHER])
    recogniser.run("node")
    assert seen(recogniser, "", "no sign") == "generic"
    assert seen(recogniser, "", "One v1") == "one"
    recogniser.run("node")
    assert recogniser.profile is PROFILE
    assert seen(recogniser, "words", "mentioned v2") == "other"
    recogniser.run("sh")
    assert recogniser.profile is GENERIC


def test_a_program_known_to_run_inside_the_command_is_recognised_by_its_sign() -> None:
    recogniser = Recogniser([PROFILE, OTHER, INNER])
    recogniser.run("two")
    assert seen(recogniser, "Inner v1") == "inner"
    assert seen(recogniser, "One v1") == "inner"


def test_without_profiles_everything_is_generic() -> None:
    recogniser = Recogniser([])
    recogniser.run("one")
    assert seen(recogniser, "One v2") == "generic"


def test_matches() -> None:
    patterns = (regex.compile("a"), regex.compile("^b"))
    assert matches(patterns, "xa")
    assert not matches(patterns, "xb")
    assert not matches((), "a")
