"""The usual way, for comparison: `capture-pane` once a second with libtmux, looking for lines not seen before."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import libtmux
import regex

INTERVAL = 1.0
PRINTED_AT = regex.compile(r"t=(\d+\.\d+)$")


def printed_at(line: str) -> float | None:
    """Return the time at which a log line was printed (monotonic clock), if the line has it."""
    match = PRINTED_AT.search(line)
    return float(match[1]) if match else None


@contextmanager
def polling(server: libtmux.Server, pane_id: str) -> Iterator[list[float]]:
    """Poll a pane in a thread; the list fills with the seconds between the printing of each line and its sighting."""
    latencies: list[float] = []
    seen: set[str] = set()
    stop = threading.Event()
    pane = server.panes.get(pane_id=pane_id)
    if pane is None:
        raise LookupError(f"pane {pane_id} is not there")

    def poll() -> None:
        while not stop.wait(INTERVAL):
            captured = pane.capture_pane()
            now = time.monotonic()
            for line in captured:
                printed = printed_at(line)
                if printed is not None and line not in seen:
                    seen.add(line)
                    latencies.append(now - printed)

    thread = threading.Thread(target=poll, name="polling")
    thread.start()
    try:
        yield latencies
    finally:
        stop.set()
        thread.join()
