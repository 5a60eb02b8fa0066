"""The benchmark of twenty agents plays what was recorded, and counts latency from the write that painted a row."""

from benchmarks import agents_replay
from benchmarks.agents import RECORDINGS, Played, latencies, load, painted


def test_twenty_different_recordings_are_played() -> None:
    assert len(set(RECORDINGS)) == 20


def test_an_agent_is_played_from_its_first_message_on() -> None:
    agent = load("codex/two", 2.0)
    assert agent.before
    assert agent.writes
    assert all(0 <= at < 2.0 for at, _ in agent.writes)


def test_a_row_is_painted_by_the_write_that_made_it_stand_there() -> None:
    writes = [(0.0, b"\r\nfirst"), (0.1, b"\r\nsecond"), (0.2, b"\rfirst again")]
    rows = painted(Played("claude", 20, 5, b"before", writes))
    assert rows == {"first": [0], "second": [1], "first again": [2]}


def test_latency_counts_from_the_last_write_that_painted_the_text() -> None:
    rows = {"a first row": [0, 2], "a second row": [1]}
    written = [10.0, 11.0, 12.0]
    assert latencies(rows, written, [(10.5, "a first row")]) == [0.5]
    assert latencies(rows, written, [(12.25, "first row"), (12.5, "a second row")]) == [0.25, 1.5]
    assert latencies(rows, written, [(9.0, "a first row"), (13.0, "never painted"), (13.0, "a")]) == []


def test_a_replay_of_the_agents_does_the_same_work_in_every_run() -> None:
    arguments = agents_replay.options().parse_args(["--agents", "3", "--seconds", "2", "--repetitions", "1"])
    one, other = (agents_replay.measure(arguments).figures for _ in range(2))
    assert one.events > 3
    assert (one.events, one.digest) == (other.events, other.digest)
