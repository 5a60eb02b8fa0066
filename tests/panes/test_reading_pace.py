"""When reading pauses: while much output may wait, and none may not."""

from streamrelay.panes.reading_pace import MAX_BYTES, MIN_READS, PAUSE, WINDOW, ReadingPace

URGENT = 0.02


def reads(pace: ReadingPace, *, begin: float, until: float, every: float = WINDOW / 20, urgency: float = 0.0) -> float:
    """Note small reads at regular times; return the time of the last."""
    at = begin
    while at + every < until:
        at += every
        pace.note(10, at, urgency=urgency)
    return at


def busy() -> tuple[ReadingPace, float]:
    """Return a pace whose reads have come often for more than a window, and the time of the last one."""
    pace = ReadingPace()
    return pace, reads(pace, begin=100.0, until=100.0 + 1.5 * WINDOW)


def test_a_window_of_many_reads_begins_the_pauses() -> None:
    pace = ReadingPace()
    reads(pace, begin=100.0, until=100.0 + 0.9 * WINDOW)
    assert pace.pause == 0.0
    assert busy()[0].pause == PAUSE


def test_pauses_last_while_every_pause_ends_with_a_read() -> None:
    pace, at = busy()
    for _ in range(100):
        at += PAUSE
        pace.note(10, at, urgency=0.0)
        assert pace.pause == PAUSE


def test_pauses_end_where_one_read_a_window_is_left() -> None:
    pace, at = busy()
    assert pace.pause == PAUSE
    reads(pace, begin=at, until=at + 4 * WINDOW, every=1.05 * WINDOW)
    assert pace.pause == 0.0


def test_many_panes_in_one_read_are_one_read() -> None:
    pace = ReadingPace()
    for at in (100.0, 100.0 + WINDOW / 2, 100.0 + 1.1 * WINDOW):
        for _ in range(10 * MIN_READS):
            pace.note(10, at, urgency=0.0)
        assert pace.pause == 0.0


def test_output_that_may_not_wait_ends_the_pauses_for_a_moment() -> None:
    pace, at = busy()
    pace.note(10, at, urgency=URGENT)
    assert pace.pause == 0.0
    pace.note(10, at + URGENT / 2, urgency=0.0)
    assert pace.pause == 0.0
    pace.note(10, at + 1.5 * URGENT, urgency=0.0)
    assert pace.pause == PAUSE


def test_lasting_output_that_may_not_wait_is_read_without_pauses() -> None:
    pace = ReadingPace()
    at = 100.0
    for _ in range(200):
        at = reads(pace, begin=at, until=at + URGENT / 2, urgency=URGENT)
        assert pace.pause == 0.0


def test_a_flood_is_read_without_pauses() -> None:
    pace, at = busy()
    pace.note(MAX_BYTES + 1, at, urgency=0.0)
    assert pace.pause == 0.0


def test_the_first_read_after_a_silence_ends_the_pauses() -> None:
    pace, at = busy()
    pace.note(10, at + 3 * WINDOW, urgency=0.0)
    assert pace.pause == 0.0
