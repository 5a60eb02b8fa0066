"""The ceiling: a control client that throws away all it reads, until the markers have passed.

It is what tmux can give at best: large reads, one search for the marker, nothing else. All panes are windows of the
session of the first one, whose client hears them all. With `--keep` the lines that carry a time are kept with the
moment of the read they came in (for latency, not for throughput).
"""

import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

from ptyprocess import PtyProcess

from benchmarks.reading import Watch, arguments, hand_over

_READ_SIZE = 1 << 16
"""All that a pipe holds; asking for much more costs a mapping of fresh memory for every read."""
_ATTACHED = b"%session-changed "
_TIMED = re.compile(rb"tick \d+ t=\d+\.\d{6}")


@contextmanager
def attached(argv: list[str], transport: str) -> Iterator[int]:
    """Start a control client; gives the descriptor it is read from."""
    environment = {name: value for name, value in os.environ.items() if name != "TMUX"} | {"LANG": "C.UTF-8"}
    if transport == "cc":
        process = PtyProcess.spawn(argv, env=environment, echo=False)
        try:
            yield process.fd
        finally:
            process.close(force=True)
        return
    with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0, env=environment) as client:
        assert client.stdin is not None
        assert client.stdout is not None
        yield client.stdout.fileno()
        client.stdin.close()
        while os.read(client.stdout.fileno(), _READ_SIZE):
            pass


def read_until(reader: int, wanted: bytes, different: int = 1) -> Iterator[bytes]:
    """Yield what is read, up to and with the read that brings `wanted` with as many `different` numbers behind it."""
    numbered = re.compile(re.escape(wanted) + rb"-(\d+)\\" if different > 1 else re.escape(wanted))
    found: set[bytes] = set()
    longest = len(wanted) + 8
    tail = b""
    while len(found) < different:
        chunk = os.read(reader, _READ_SIZE)
        if not chunk:
            sys.exit("the control client ended early")
        yield chunk
        tail += chunk
        if wanted in tail:
            found.update(numbered.findall(tail))
        tail = tail[-longest:]


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--keep", action="store_true", help="keep timed lines")
    given = parser.parse_args()
    mode = "-C" if given.transport == "pipes" else "-CC"
    attach = ("attach-session", "-E", "-f", "ignore-size", "-t", given.panes[0])
    argv = [given.tmux, "-S", given.socket, "-N", mode, *attach]
    kept: list[tuple[float, bytes]] = []
    with attached(argv, given.transport) as reader:
        for _ in read_until(reader, _ATTACHED):
            pass
        watch = Watch()
        for chunk in read_until(reader, given.marker.encode(), given.until or len(given.panes)):
            if given.keep:
                kept += [(time.monotonic(), chunk)]
        reading = watch.stop()
    reading.seen = [(at, 0, [line.decode() for line in _TIMED.findall(chunk)]) for at, chunk in kept]
    hand_over(reading)


if __name__ == "__main__":
    main()
