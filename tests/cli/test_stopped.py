"""streamrelay is stopped for a while under a flood, as by a suspended machine."""

import signal
import time
from itertools import pairwise
from pathlib import Path

import pytest

from streamrelay.panes.hub import PAUSE_AFTER
from streamrelay.testing.waiting import wait_until

MEGABYTE = 1024
FLOOD = "exec seq 100000000"
PACED = "n=0; while sleep 0.02; do seq $((n + 1)) $((n += 500)); done"
"""A few megabytes at most: the time to read it all is no part of the test."""


def resident(pid: int) -> int:
    """Kilobytes of memory."""
    return next(
        int(line.split()[1])
        for line in Path(f"/proc/{pid}/status").read_text().splitlines()
        if line.startswith("VmRSS")
    )


@pytest.mark.requirement("ENG-10b")
@pytest.mark.parametrize(
    ("program", "seconds"),
    [(PACED, 2), *(pytest.param(FLOOD, seconds, marks=pytest.mark.slow) for seconds in (2, 8, 20))],
    ids=["paced 2 s", *(f"flood {seconds} s" for seconds in (2, 8, 20))],
)
def test_a_flood_goes_on_where_it_was_stopped(private_tmux, cli, program, seconds):
    """The program waits, or tmux holds what it prints for 5 s at most and drops it then (docs/decisions/0007)."""
    private_tmux.new_session("work", ["sh", "-c", f"stty -echo; read go; {program}"])
    watching = cli.start("watch", "--json", "work")
    watching.until_ready()
    private_tmux.run("send-keys", "-t", "work", "Enter")
    watching.until(lambda: watching.stdout.count("\n") > 1_000, "a flood")
    before = resident(private_tmux.server_pid)
    watching.process.send_signal(signal.SIGSTOP)
    stopped = time.monotonic()
    try:
        wait_until(lambda: time.monotonic() > stopped + seconds, seconds + 5)
        assert seconds < PAUSE_AFTER or resident(private_tmux.server_pid) < before + 20 * MEGABYTE
    finally:
        watching.process.send_signal(signal.SIGCONT)
    heard = watching.stdout.count("\n")
    watching.until(lambda: watching.stdout.count("\n") > heard + 5_000, "the flood to go on")
    watching.interrupt()
    said = [int(line) for line in watching.said()]
    gaps = [gap["reason"] for gap in watching.events("gap")]
    assert gaps == ([] if seconds < PAUSE_AFTER else gaps[:1])
    jumps = [(number, after) for number, after in pairwise(said) if after != number + 1]
    assert len(jumps) == len(gaps)
    assert all(after > number for number, after in jumps)
