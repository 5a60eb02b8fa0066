"""When panes are looked at: in rounds, counted from the last time each printed."""

import asyncio
from collections.abc import Sequence

from streamrelay.panes.process_poll import ProcessPoller, ProcessState, parse_process_states

INTERVAL = 0.01


class Rounds:
    """Answers every look. The pane `clock` prints whenever it is looked at, and so is looked at in every round."""

    def __init__(self, end: int) -> None:
        self.poller = ProcessPoller(self._query, interval=INTERVAL)
        self.seen: list[set[str]] = []
        self.over = asyncio.Event()
        self._end = end

    def _query(self, panes: Sequence[str]) -> None:
        self.seen.append(set(panes))
        if len(self.seen) == self._end:
            self.poller.stop()
            self.over.set()
        else:
            self.poller.note_reply()
            self.poller.poll("clock")


async def test_a_pane_is_looked_at_in_the_first_round_and_the_third_after_it_printed() -> None:
    rounds = Rounds(end=6)
    rounds.poller.poll("clock")
    rounds.poller.poll("%1")
    await rounds.over.wait()
    assert [number for number, panes in enumerate(rounds.seen, 1) if "%1" in panes] == [1, 3]


async def test_a_pane_that_prints_on_is_looked_at_in_every_round() -> None:
    rounds = Rounds(end=4)
    rounds.poller.poll("clock")
    await rounds.over.wait()
    assert rounds.seen == [{"clock"}] * 4


async def test_the_rounds_go_on_where_none_has_to_be_looked_at() -> None:
    seen: list[Sequence[str]] = []
    done = asyncio.Event()

    def query(panes: Sequence[str]) -> None:
        seen.append(panes)
        poller.note_reply()
        if len(seen) == 2:
            done.set()

    poller = ProcessPoller(query, interval=INTERVAL)
    poller.poll("%1")
    await done.wait()
    await asyncio.sleep(5 * INTERVAL)
    assert seen == [["%1"], ["%1"]]


async def test_nothing_is_asked_while_an_answer_is_owed() -> None:
    seen: list[Sequence[str]] = []
    poller = ProcessPoller(seen.append, interval=INTERVAL)
    poller.poll("%1")
    await asyncio.sleep(5 * INTERVAL)
    poller.poll("%2")
    await asyncio.sleep(5 * INTERVAL)
    assert seen == [["%1"]]
    poller.note_reply()
    while len(seen) < 2:
        await asyncio.sleep(INTERVAL)
    poller.stop()
    assert set(seen[1]) == {"%2"}  # the second round of %1


def test_what_is_no_answer_to_a_look_is_passed_over() -> None:
    lines = [b"%3\t0\t41\tsh", b"", b"no pane", b"%4\t1\t0\ta\tb", b"%5\t0\tx\tsh"]
    assert parse_process_states(lines) == [
        ProcessState("%3", dead=False, pid=41, command="sh"),
        ProcessState("%4", dead=True, pid=0, command="a\tb"),
    ]
