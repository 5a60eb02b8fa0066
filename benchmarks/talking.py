"""The programs of a measured relay: one that says a line now and then, and those that hear it and say nothing.

    python -m benchmarks.talking speak LINES INTERVAL
    python -m benchmarks.talking hear FILE

A line says when it was printed (`t=`, seconds of the machine's monotonic clock). Whoever hears it writes down how many
seconds that is ago, a line each.
"""

import re
import sys
import time
from pathlib import Path

_SAID_AT = re.compile(r"tick \d+ t=(\d+\.\d{6})")


def speak(lines: int, interval: float) -> None:
    """Begin when a line is typed, and stay afterwards: what is said last is said while the pane is there."""
    sys.stdin.readline()
    # The first line after the attach stands half a second before it is said (delta/printing/lines.py, `PROVING`).
    print("begin", flush=True)
    time.sleep(1.0)
    for number in range(lines):
        print(f"tick {number} t={time.monotonic():.6f}", flush=True)
        time.sleep(interval)
    sys.stdin.read()


def hear(file: Path) -> None:
    with file.open("a", buffering=1) as log:
        for line in sys.stdin:
            if (said := _SAID_AT.search(line)) is not None:
                log.write(f"{time.monotonic() - float(said[1]):.6f}\n")


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["speak", lines, interval]:
            speak(int(lines), float(interval))
        case ["hear", file]:
            hear(Path(file))
        case _:
            raise SystemExit(__doc__)
