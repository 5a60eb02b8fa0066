"""The program in the measured pane: prints what it is told to, when it is told to. Needs the standard library only.

    producer.py SOCKET

It connects to the unix socket, says which pane it is in, and takes one order a line: `flood FILE MARKER`, `repeat FILE
MARKER`, which goes on until another line comes, `tick COUNT INTERVAL MARKER`. When an order is carried out it answers
with the moment before its first byte (seconds of the machine's monotonic clock). A ticking line ends with the moment it
was printed.

The marker is printed many times: tmux may cut it in two wherever it likes, and among many panes mostly does.
"""

import os
import select
import socket
import sys
import time
from pathlib import Path

_STDOUT = 1
_MARKERS = 12


def write(data: bytes) -> None:
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(_STDOUT, rest) :]


def tick(number: int, interval: float) -> None:
    for count in range(1, number + 1):
        time.sleep(interval)
        write(f"tick {count} t={time.monotonic():.6f}\n".encode())
    time.sleep(interval)


def main() -> None:
    with socket.socket(socket.AF_UNIX) as peer, peer.makefile("r") as orders:
        peer.connect(sys.argv[1])
        peer.sendall(f"{os.environ['TMUX_PANE']}\n".encode())
        for order in orders:
            kind, *words, marker = order.split()
            data = Path(words[0]).read_bytes() if kind in {"flood", "repeat"} else b""
            began = time.monotonic()
            if kind == "flood":
                write(data)
            elif kind == "repeat":
                while not select.select([peer], [], [], 0)[0]:
                    write(data)
                orders.readline()
            else:
                tick(int(words[0]), float(words[1]))
            write(f"{marker}\n".encode() * _MARKERS)
            peer.sendall(f"{began!r}\n".encode())


if __name__ == "__main__":
    main()
