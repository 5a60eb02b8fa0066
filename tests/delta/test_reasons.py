"""A stream gives its reasons to whoever asks, and says the same to everybody."""

import pytest

from streamrelay.delta.inputs import Ended, Output, Pasted, Submitted, Waited
from streamrelay.delta.reasons import WORDS, Reasons
from streamrelay.delta.stream import DeltaStream
from streamrelay.events import Activity, Event, Text, encode
from streamrelay.vt import TmuxScreen


def conversation(reasons: Reasons | None) -> list[Event]:
    stream = DeltaStream(TmuxScreen(40, 10), reasons=reasons)
    events = stream.apply(Output(0.0, "%0", b"hello\r\n$ "))
    events += stream.apply(Waited(1.0, "%0"))
    events += stream.apply(Pasted(2.0, "%0", "m1", "run it"))
    events += stream.apply(Output(2.1, "%0", b"run it"))
    events += stream.apply(Submitted(2.2, "%0", "m1"))
    events += stream.apply(Output(2.3, "%0", b"\r\ndone\r\n\r\nhalf"))
    events += stream.apply(Waited(5.0, "%0"))
    return events + stream.apply(Ended(6.0, "%0", "pane_gone"))


def test_asking_changes_nothing() -> None:
    assert [encode(event) for event in conversation(Reasons())] == [encode(event) for event in conversation(None)]


def test_every_line_is_in_one_reason() -> None:
    reasons = Reasons()
    events = conversation(reasons)
    taken = reasons.taken()
    assert [id(event) for reason in taken for event in reason.events] == [
        id(event) for event in events if isinstance(event, Text | Activity)
    ]
    assert [(reason.rule, reason.rows) for reason in taken] == [
        ("passed", ("hello",)),
        ("echo_at_once", ("$ run it",)),
        ("passed", ("done",)),
        ("passed", ("",)),
        ("closed", ("half",)),
    ]
    assert reasons.taken() == []


@pytest.mark.parametrize("copies", [1, 2])
def test_a_plain_copy_is_an_echo_only_if_more_is_said(copies: int) -> None:
    reasons = Reasons()
    stream = DeltaStream(TmuxScreen(40, 10), reasons=reasons)
    stream.apply(Pasted(0.0, "%0", "m1", "marco"))
    stream.apply(Submitted(0.1, "%0", "m1"))
    stream.apply(Output(0.2, "%0", b"marco\r\n" * copies))
    stream.apply(Waited(9.0, "%0"))
    stream.apply(Ended(10.0, "%0", "pane_gone"))
    said = [(reason.rule, reason.events[0].origin) for reason in reasons.taken() if isinstance(reason.events[0], Text)]
    assert said == ([("held", "program")] if copies == 1 else [("echo_late", "injected"), ("passed", "program")])


def test_every_rule_has_its_words() -> None:
    assert all(words and not words.endswith(".") for words in WORDS.values())
