"""The programs of the demonstration: a build with colours and a progress bar, and a writer of log lines.

    python -m streamrelay.demo.programs build
    python -m streamrelay.demo.programs log

The log writer begins when a line is typed to it, and stays when it has finished: what a program prints in its last
moment can be lost with its pane. A log line ends with the moment it was printed (`t=`, seconds of the machine's
monotonic clock), so that a reader can tell how long it took.
"""

import sys
import time

BUILD_STEPS = ("streamrelay/control", "streamrelay/vt", "streamrelay/delta", "streamrelay/relay")
LOG_LINES = 40
LOG_INTERVAL = 0.17
_BAR = 24


def build_lines() -> list[str]:
    """Return the output of the build as plain lines, with only the last state of the progress bar."""
    return [
        f"Building {len(BUILD_STEPS)} rooms",
        *(f"  ✔ {step}" for step in BUILD_STEPS),
        f"[{'#' * _BAR}] 100%",
        "warning: 中文字 and 🦜 are two columns wide",
        "Build finished",
    ]


def build() -> None:
    """Print a build in colours, with a progress bar that redraws its row."""
    first, *steps, bar, warning, last = build_lines()
    print(f"\x1b[1m{first}\x1b[0m", flush=True)
    for step in steps:
        time.sleep(0.1)
        print(f"\x1b[32m{step}\x1b[0m", flush=True)
    for done in range(_BAR):
        print(f"\r\x1b[36m[{'#' * done:<{_BAR}}] {100 * done // _BAR:3d}%\x1b[0m", end="", flush=True)
        time.sleep(0.03)
    print(f"\r\x1b[36m{bar}\x1b[0m")
    print(f"\x1b[1;33mwarning:\x1b[0m{warning.removeprefix('warning:')}")
    print(f"\x1b[1;32m{last}\x1b[0m", flush=True)


def log() -> None:
    """Print log lines at a steady pace, after a start signal."""
    sys.stdin.readline()
    for number in range(1, LOG_LINES + 1):
        time.sleep(LOG_INTERVAL)
        print(f"\x1b[2mINFO\x1b[0m request {number} served t={time.monotonic():.6f}", flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    {"build": build, "log": log}[sys.argv[1]]()
