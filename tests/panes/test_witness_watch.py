"""An agent's own record is read for a live pane when a turn waits for it, and at no other time."""

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass, field

import pytest

from streamrelay.agents import AgentProfile, shipped_profiles
from streamrelay.agents.witnesses import AgentRecord, Reading
from streamrelay.agents.witnesses.reading import Reason
from streamrelay.delta.inputs import Input, WitnessOpened, WitnessPassage, WitnessReported
from streamrelay.panes import witness
from streamrelay.panes.witness import SEARCH_EVERY, WitnessSource, WitnessWatch
from streamrelay.testing.waiting import wait_until_async

PROFILES = {profile.name: profile for profile in shipped_profiles()}

pytestmark = pytest.mark.requirement("DEL-11")


@dataclass
class Stream:
    """A stream that waits for as many readings as it is told to."""

    profile: str = ""
    waits: int = 0
    told: list[Input] = field(default_factory=list)
    answers: bool = False
    needs_record: bool = False

    @property
    def awaits_witness(self) -> bool:
        return self.waits > 0

    def enter(self, make: Callable[[float], Input]) -> None:
        entry = make(1.0)
        self.told.append(entry)
        if isinstance(entry, WitnessReported):
            self.waits -= 1


@dataclass
class Record:
    """A record that says these things, one a reading."""

    readings: list[Reading]
    count: int = 0

    def read(self) -> Reading:
        self.count += 1
        return self.readings.pop(0) if self.readings else Reading()


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, int]]:
    """Have no process looked at; return what was opened."""
    opened: list[tuple[str, int]] = []
    records = {
        101: Record([Reading(), Reading(), Reading((WitnessPassage("agent", "Fine."),))]),
        102: Record([Reading(reason="several")]),
    }

    def record_of(profile: AgentProfile, pid: int, since: float) -> AgentRecord:
        assert since > 0
        opened.append((profile.name, pid))
        return records[pid]

    monkeypatch.setattr(witness, "record_of", record_of)
    return opened


def watch(stream: Stream) -> WitnessWatch:
    return WitnessWatch(WitnessSource(PROFILES.get, "verify"), "%0", stream.enter)


async def test_a_record_is_opened_for_a_known_agent_and_read_while_a_turn_waits(opened: list[tuple[str, int]]) -> None:
    stream = Stream()
    watching = watch(stream)
    watching.look(stream, 101)
    assert not opened
    stream.profile = "claude"
    watching.look(stream, 101)
    await wait_until_async(lambda: len(stream.told) == 1)
    assert stream.told == [WitnessOpened(1.0, "%0", "claude", "transcript", 0.6, "verify", under_way=3.0)]
    stream.waits = 2
    watching.look(stream, 101)
    await wait_until_async(lambda: not stream.awaits_witness)
    reports = [entry for entry in stream.told if isinstance(entry, WitnessReported)]
    # The first reading is told of in any case, and then only what is new.
    assert [entry.passages for entry in reports] == [(), (WitnessPassage("agent", "Fine."),)]
    assert opened == [("claude", 101)]
    watching.close()


async def test_another_program_closes_the_record_and_another_process_opens_its_own(
    opened: list[tuple[str, int]],
) -> None:
    stream = Stream("claude")
    watching = watch(stream)
    watching.look(stream, 101)
    await wait_until_async(lambda: len(stream.told) == 1)
    stream.profile = "bash"
    watching.look(stream, 101)
    last = stream.told[-1]
    assert isinstance(last, WitnessOpened)
    assert last.policy == "off"
    stream.profile, stream.waits = "claude", 1
    watching.look(stream, 102)
    await wait_until_async(lambda: not stream.awaits_witness)
    assert opened == [("claude", 101), ("claude", 102)]
    assert [entry.reason for entry in stream.told if isinstance(entry, WitnessReported)] == ["several"]
    watching.close()


async def test_nothing_is_read_any_more_once_it_is_closed(opened: list[tuple[str, int]]) -> None:
    stream = Stream("claude")
    watching = watch(stream)
    watching.look(stream, 101)
    watching.close()
    await asyncio.sleep(0)
    stream.waits = 1
    watching.look(stream, 101)
    assert not [entry for entry in stream.told if isinstance(entry, WitnessReported)]


ASKED = WitnessPassage("person", "How is it?")
ANSWER = WitnessPassage("agent", "Fine.")
END = WitnessPassage("end")


def reports(stream: Stream) -> list[tuple[WitnessPassage, ...]]:
    return [entry.passages for entry in stream.told if isinstance(entry, WitnessReported)]


async def test_the_record_of_a_first_answer_is_found_while_it_is_under_way(monkeypatch: pytest.MonkeyPatch) -> None:
    record = Record([Reading(reason="no_record"), Reading((ASKED, ANSWER))])
    monkeypatch.setattr(witness, "record_of", lambda *_: record)
    monkeypatch.setattr(witness, "FIND_AFTER", 0.02)
    stream = Stream("claude", answers=True)
    watching = watch(stream)

    def looked() -> bool:
        watching.look(stream, 101)
        return bool(reports(stream))

    await wait_until_async(looked)
    assert reports(stream) == [(ASKED, ANSWER)]
    count = record.count
    await asyncio.sleep(0.1)
    watching.look(stream, 101)
    assert record.count == count == 2
    watching.close()


@pytest.mark.parametrize("more", [(), (ANSWER, END)], ids=["it was the end", "it goes on behind a tool"])
async def test_an_end_that_is_found_in_mid_answer_is_told_when_a_turn_waits(
    monkeypatch: pytest.MonkeyPatch, more: tuple[WitnessPassage, ...]
) -> None:
    """Gemini CLI 0.61.0 writes what it said before a tool, and that it called one when the tool has run."""
    monkeypatch.setattr(witness, "record_of", lambda *_: Record([Reading((ASKED, ANSWER, END)), Reading(more)]))
    monkeypatch.setattr(witness, "FIND_AFTER", 0.02)
    stream = Stream("gemini", answers=True)
    watching = watch(stream)

    def looked(count: int) -> bool:
        watching.look(stream, 101)
        return len(reports(stream)) == count

    await wait_until_async(lambda: looked(1))
    stream.answers, stream.waits = False, 1
    await wait_until_async(lambda: looked(2))
    assert reports(stream) == [(ASKED, ANSWER), (END, *more)]
    watching.close()


async def test_the_record_is_read_in_mid_answer_while_a_message_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    """What follows the last message is kept: an end may be none, and a message may be written behind its answer."""
    asked = WitnessPassage("person", "And then?", at=5.0)
    quick = WitnessPassage("agent", "Well.", at=6.0)
    record = Record([Reading((ASKED, ANSWER, END, quick)), Reading(), Reading((asked,)), Reading((ANSWER,))])
    monkeypatch.setattr(witness, "record_of", lambda *_: record)
    monkeypatch.setattr(witness, "FIND_AFTER", 0.02)
    monkeypatch.setattr(witness, "SEARCH_EVERY", 0.02)
    stream = Stream("claude", answers=True, needs_record=True)
    watching = watch(stream)

    def looked(count: int) -> bool:
        watching.look(stream, 101)
        return len(reports(stream)) == count

    await wait_until_async(lambda: looked(2))
    assert reports(stream) == [(ASKED,), (ANSWER, END, asked)]
    stream.needs_record = False
    count = record.count
    await asyncio.sleep(0.1)
    watching.look(stream, 101)
    assert (record.count, len(reports(stream))) == (count, 2)
    stream.waits = 1
    await wait_until_async(lambda: looked(3))
    assert reports(stream)[-1] == (quick, ANSWER)
    watching.close()


@pytest.mark.parametrize(("reason", "least", "most"), [("no_record", 2, 4), ("keeps_none", 1, 1)])
async def test_a_record_that_is_not_there_is_looked_for_ever_later(
    monkeypatch: pytest.MonkeyPatch, reason: Reason, least: int, most: int
) -> None:
    record = Record([Reading(reason=reason)] * 99)
    monkeypatch.setattr(witness, "record_of", lambda *_: record)
    monkeypatch.setattr(witness, "FIND_AFTER", 0.05)
    stream = Stream("claude", answers=True)
    watching = watch(stream)
    # At 0.05, 0.15, 0.35 and 0.75 seconds.
    end = time.monotonic() + 0.7
    while time.monotonic() < end or record.count < least:
        watching.look(stream, 101)
        await asyncio.sleep(0.01)
    assert least <= record.count <= most
    assert reports(stream) == []
    watching.close()


@pytest.mark.parametrize(
    ("readings", "count"),
    [
        ([Reading(), Reading((ANSWER,)), Reading((END,))], 3),
        ([Reading((ANSWER, END))], 1),
        ([Reading(reason="unreadable")], 1),
        ([], None),
    ],
)
async def test_a_pane_that_ends_is_heard_out_to_the_end_of_the_turn_in_a_bounded_time(
    monkeypatch: pytest.MonkeyPatch, readings: list[Reading], count: int | None
) -> None:
    record = Record(readings)
    monkeypatch.setattr(witness, "record_of", lambda *_: record)
    stream = Stream("claude", answers=True)
    watching = watch(stream)
    watching.look(stream, 101)
    await wait_until_async(lambda: len(stream.told) == 1)
    async with asyncio.timeout(5.0):
        await watching.hear_out(stream)
    assert record.count == count or (count is None and record.count > 1)
    assert [passage for said in reports(stream) for passage in said] in ([], [ANSWER, END])
    watching.close()


async def test_a_pane_that_ends_between_answers_is_not_waited_for(opened: list[tuple[str, int]]) -> None:
    stream = Stream("claude")
    watching = watch(stream)
    watching.look(stream, 101)
    await wait_until_async(lambda: len(stream.told) == 1)
    await watching.hear_out(stream)
    assert reports(stream) == []
    watching.close()


@dataclass
class Missing:
    """A record that is not there."""

    count: int = 0

    def read(self) -> Reading:
        self.count += 1
        return Reading(reason="no_record")


async def test_a_record_that_is_not_there_is_searched_for_less_often(monkeypatch: pytest.MonkeyPatch) -> None:
    record = Missing()
    monkeypatch.setattr(witness, "record_of", lambda *_: record)
    stream = Stream("claude", waits=2)
    watching = watch(stream)
    watching.look(stream, 101)
    await wait_until_async(lambda: record.count > 0)
    await asyncio.sleep(2.5 * SEARCH_EVERY)
    stream.waits = 0
    watching.close()
    assert 1 <= record.count <= 4
    assert len([entry for entry in stream.told if isinstance(entry, WitnessReported)]) == 1
