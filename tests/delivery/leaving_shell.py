"""A shell whose agent exits at random moments: `leaving_shell.py LOG SEED`. Whatever the shell itself reads is logged.

The agent is a process of its own, in the foreground, called `agent`: it asks for bracketed paste, reads raw, and leaves
some milliseconds after it has begun or has read something. Then the shell takes its terminal back, and reads.
"""

import json
import os
import random
import select
import signal
import sys
import termios
import time
from pathlib import Path

AGENT = """
import os, select, sys, termios, time, tty
before = termios.tcgetattr(0)
tty.setraw(0)
os.write(1, b"\\x1b[?2004hready> ")
until = time.monotonic() + float(sys.argv[1])
count = 0
while (left := until - time.monotonic()) > 0:
    if select.select([0], [], [], left)[0]:
        count += len(os.read(0, 65536))
        os.write(1, b".")
os.write(1, b"\\x1b[?2004l\\r\\nbye\\r\\n")
termios.tcsetattr(0, termios.TCSADRAIN, before)
"""


def run_agent(seconds: float) -> None:
    child = os.fork()
    if child == 0:
        os.setpgid(0, 0)
        os.tcsetpgrp(0, os.getpid())
        signal.signal(signal.SIGTTOU, signal.SIG_DFL)
        words = ["agent", "-S", "-E", "-c", AGENT, str(seconds)]
        os.execve(sys.executable, words, os.environ | {"PYTHONHOME": sys.base_prefix})
    os.waitpid(child, 0)
    os.tcsetpgrp(0, os.getpgrp())


def typed(seconds: float) -> bytes:
    """What a shell that edits its line reads in that time."""
    before = termios.tcgetattr(0)
    mode = termios.tcgetattr(0)
    mode[3] &= ~(termios.ICANON | termios.ECHO)
    termios.tcsetattr(0, termios.TCSADRAIN, mode)
    until, read = time.monotonic() + seconds, b""
    while (left := until - time.monotonic()) > 0:
        if select.select([0], [], [], left)[0]:
            read += os.read(0, 65536)
    termios.tcsetattr(0, termios.TCSADRAIN, before)
    return read


def main(path: str, seed: str) -> None:
    signal.signal(signal.SIGTTOU, signal.SIG_IGN)
    chance = random.Random(int(seed))
    with Path(path).open("w", buffering=1) as log:
        while True:
            run_agent(chance.uniform(0.02, 0.4))
            log.write(json.dumps(typed(0.05).decode(errors="replace")) + "\n")


main(*sys.argv[1:])
