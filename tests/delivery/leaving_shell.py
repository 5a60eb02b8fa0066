"""A shell whose agent exits when it is told to: `leaving_shell.py FOLDER`. Whatever the shell itself reads is logged.

The agent is a process of its own, in the foreground, called `agent`: it asks for bracketed paste and reads raw. Number
N stops reading at the moment that stands in FOLDER/N (seconds of the monotonic clock), withdraws its request so many
seconds later, says goodbye, and is gone: `at once`, as no agent is; `soon`, after 30 ms; or `free` of what was typed,
for which it waits up to 2 s more. What it read, and how many bytes it left, is in FOLDER/read, a JSON line for each
agent, and what the shell then read from the same terminal in FOLDER/typed. It begins when there is FOLDER/0. No read
waits for a byte: what was there may be taken back before it.
"""

import json
import os
import select
import signal
import sys
import termios
import time
from pathlib import Path

AGENT = """
import array, fcntl, json, os, select, sys, termios, time, tty
order, log = sys.argv[1:]
before = termios.tcgetattr(0)
tty.setraw(0)
mode = termios.tcgetattr(0)
mode[6][termios.VMIN] = 0
termios.tcsetattr(0, termios.TCSADRAIN, mode)
os.write(1, b"\\x1b[?2004hready> ")
until, how, read = None, "", b""
while until is None or time.monotonic() < until:
    patience = 0.005 if until is None else max(0.0, until - time.monotonic())
    if select.select([0], [], [], patience)[0]:
        read += os.read(0, 65536)
        os.write(1, b".")
    if until is None and os.path.exists(order):
        until, how, stalls = json.load(open(order))
def unread():
    waiting = array.array("i", [0])
    fcntl.ioctl(0, termios.FIONREAD, waiting)
    return waiting[0]
time.sleep(stalls)
left = unread()
os.write(1, b"\\x1b[?2004l\\r\\nbye\\r\\n")
if how != "at once":
    time.sleep(0.03)
while how == "free" and unread() and time.monotonic() < until + stalls + 2:
    time.sleep(0.005)
termios.tcsetattr(0, termios.TCSADRAIN, before)
with open(log, "a") as file:
    file.write(json.dumps([read.decode(errors="replace"), left]) + "\\n")
os._exit(0)
"""


def run_agent(order: Path, log: Path) -> None:
    child = os.fork()
    if child == 0:
        os.setpgid(0, 0)
        os.tcsetpgrp(0, os.getpid())
        signal.signal(signal.SIGTTOU, signal.SIG_DFL)
        words = ["agent", "-S", "-E", "-c", AGENT, str(order), str(log)]
        os.execve(sys.executable, words, os.environ | {"PYTHONHOME": sys.base_prefix})
    os.waitpid(child, 0)
    os.tcsetpgrp(0, os.getpgrp())


def typed(seconds: float) -> bytes:
    """What a shell that edits its line reads in that time."""
    before = termios.tcgetattr(0)
    mode = termios.tcgetattr(0)
    mode[3] &= ~(termios.ICANON | termios.ECHO)
    mode[6][termios.VMIN] = mode[6][termios.VTIME] = 0
    termios.tcsetattr(0, termios.TCSADRAIN, mode)
    until, read = time.monotonic() + seconds, b""
    while (left := until - time.monotonic()) > 0:
        if select.select([0], [], [], left)[0]:
            read += os.read(0, 65536)
    termios.tcsetattr(0, termios.TCSADRAIN, before)
    return read


def main(folder: Path) -> None:
    signal.signal(signal.SIGTTOU, signal.SIG_IGN)
    number = 0
    while not (folder / "0").exists():
        time.sleep(0.005)
    with (folder / "typed").open("w", buffering=1) as log:
        while True:
            number += 1
            run_agent(folder / str(number), folder / "read")
            log.write(json.dumps(typed(0.08).decode(errors="replace")) + "\n")


main(Path(sys.argv[1]))
