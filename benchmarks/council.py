"""How soon the council's app shows a first token and a typed key while a member streams 200 tokens a second.

Each run drives two programs on a pseudo-terminal, one after the other: an empty Textual app (one input, one line of
text), and the council's app with its store and three members that answer in turn without a pause. A first token carries
the moment at which it was due; a key counts from its `write()`. Both count until the terminal has the bytes that show
them. What the council may add to the empty app's p99 is 50 ms, as the median of the runs; the exit code is 1 above it.

    python -m benchmarks.council
    python -m benchmarks.council --seconds 30 --json
"""

import argparse
import asyncio
import fcntl
import os
import pty
import re
import select
import statistics
import struct
import subprocess
import sys
import tempfile
import termios
import time
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Final

import msgspec
from textual.app import App, ComposeResult
from textual.widgets import Static, TextArea

from benchmarks import measuring
from benchmarks.measuring import Report, Sample, Table, progress
from streamrelay.council.app.app import run_app
from streamrelay.council.clients.contract import AIClient, ChatMessage
from streamrelay.council.config import CouncilConfig
from streamrelay.council.console import Console
from streamrelay.council.members import Member
from streamrelay.council.session import CouncilSession
from streamrelay.council.store import CouncilStore

BAR: Final = 50.0
"""Milliseconds that the council may add at p99."""
RATE: Final = 200
"""Tokens a second."""
TOKENS: Final = 300
"""Tokens of one answer."""
THINKING: Final = 0.3
"""Seconds before the first token."""
KEYS: Final = "ZVW#%^=+&~"
"""Characters that neither app prints otherwise, alone or in an escape sequence."""
KEY_EVERY: Final = 0.11
"""Seconds between two keys."""
ROWS, COLUMNS = 30, 100
PLACEHOLDER: Final = "Message, or /help"
MAX_WAIT: Final = 20.0
_STAMP: Final = re.compile(rb"@(\d+\.\d{6})@")


class Seen(msgspec.Struct, frozen=True):
    """What one program showed in one run, in milliseconds."""

    first_token: Sample
    key: Sample


class Added(msgspec.Struct, frozen=True):
    """What the council adds to the empty app's p99: one value for each run."""

    what: str
    empty: Sample
    council: Sample
    added: Sample


# The programs on the terminal


def _stamp(due: float) -> str:
    return f"@{due:.6f}@"


class EmptyApp(App[None]):
    """One input, and one line that shows a first token as often as the council begins an answer."""

    def compose(self) -> ComposeResult:
        """Make both."""
        yield Static(id="line", markup=False)
        yield TextArea(compact=True, placeholder=PLACEHOLDER)

    async def on_mount(self) -> None:
        """Begin."""
        self.query_one(TextArea).focus()
        self.run_worker(self._show_tokens())

    async def _show_tokens(self) -> None:
        while True:
            due = time.monotonic() + THINKING
            await asyncio.sleep(THINKING)
            self.query_one("#line", Static).update(_stamp(due))
            await asyncio.sleep(TOKENS / RATE)


class StreamingClient(AIClient):
    """Answers at once, token by token, on time."""

    async def stream_response(self, messages: Sequence[ChatMessage], system_prompt: str) -> AsyncIterator[str]:
        """See `AIClient`."""
        due = time.monotonic() + THINKING
        await asyncio.sleep(THINKING)
        yield f"{_stamp(due)} "
        for number in range(1, TOKENS):
            await asyncio.sleep(max(0.0, due + number / RATE - time.monotonic()))
            yield "\n\n" if number % 40 == 0 else "**word** " if number % 10 == 0 else "word "

    async def health_check(self) -> bool:
        """See `AIClient`."""
        return True


async def _hold_council(folder: Path) -> None:
    """Show a council whose members answer until the terminal is gone."""
    names = ("Ada", "Bob", "Cy")
    config = CouncilConfig(member=tuple(Member(name=name, vendor="scripted", script=("x",)) for name in names))

    async def speak(session: CouncilSession) -> None:
        while True:
            session.say("go on")
            await session.until_rest()

    async with CouncilStore(folder / "council.db") as store:
        session = await CouncilSession.begin(store, config, lambda _member, _model: StreamingClient())
        console = Console(session, store, lambda _path, _text: None)
        async with session.watch() as happenings, session:
            speaking = asyncio.create_task(speak(session))
            try:
                await run_app(console, session.joined, happenings)
            finally:
                speaking.cancel()


# The terminal


class Terminal:
    """A pseudo-terminal with one of the programs, read here."""

    def __init__(self, program: str, folder: Path) -> None:
        self._master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
        self._process = subprocess.Popen(
            [sys.executable, "-m", "benchmarks.council", "--program", program, "--folder", str(folder)],
            stdin=slave, stdout=slave, stderr=slave, start_new_session=True, cwd=measuring.ROOT,
            env=os.environ | {"TERM": "xterm-256color", "COLORTERM": "truecolor"},
        )  # fmt: skip
        os.close(slave)
        self.first_tokens: dict[bytes, float] = {}
        """Milliseconds by the token's stamp."""
        self._tail = b""

    def read(self, until: float) -> bytes:
        """Return what the program writes before the clock is at `until`; empty if nothing."""
        ready, _, _ = select.select([self._master], [], [], max(0.0, until - time.monotonic()))
        if not ready:
            return b""
        data, now = os.read(self._master, 1 << 16), time.monotonic()
        text = self._tail + data
        for stamp in _STAMP.findall(text):
            self.first_tokens.setdefault(stamp, (now - float(stamp)) * 1e3)
        self._tail = text[-24:]
        return data

    def wait_for(self, text: bytes) -> float:
        """Read until the program has written a text; return when that was."""
        end, seen = time.monotonic() + MAX_WAIT, b""
        while text not in seen:
            seen = seen[-len(text) :] + self.read(end)
            if time.monotonic() > end:
                raise TimeoutError(f"not on the screen in {MAX_WAIT:.0f} s: {text!r}")
        return time.monotonic()

    def type(self, keys: bytes) -> float:
        """Type, and return when."""
        now = time.monotonic()
        os.write(self._master, keys)
        return now

    def close(self) -> None:
        """End the program."""
        self._process.kill()
        self._process.wait()
        os.close(self._master)


def _run(program: str, seconds: float) -> Seen:
    """Let a program run so long, type at an even pace, and read what it shows."""
    with tempfile.TemporaryDirectory() as folder:
        terminal = Terminal(program, Path(folder))
        try:
            terminal.wait_for(PLACEHOLDER.encode())
            terminal.wait_for(b"@")
            began = time.monotonic()
            end = began + seconds
            keys: list[float] = []
            next_at = time.monotonic()
            while time.monotonic() < end:
                for key in KEYS:
                    next_at = max(next_at + KEY_EVERY, time.monotonic())
                    while time.monotonic() < next_at:
                        terminal.read(next_at)
                    typed = terminal.type(key.encode())
                    keys.append((terminal.wait_for(key.encode()) - typed) * 1e3)
                terminal.type(b"\x15")  # Ctrl-U empties the input: its placeholder comes back
                terminal.wait_for(PLACEHOLDER.encode())
        finally:
            terminal.close()
    # A later redraw shows older tokens again: only the first time counts, and only what was due in this time.
    first = [late for stamp, late in terminal.first_tokens.items() if float(stamp) > began]
    return Seen(Sample.of(first), Sample.of(keys))


# Figures


def _added(what: str, pairs: Sequence[tuple[Sample, Sample]]) -> Added:
    return Added(
        what,
        Sample.of(empty.p99 for empty, _ in pairs),
        Sample.of(council.p99 for _, council in pairs),
        Sample.of(council.p99 - empty.p99 for empty, council in pairs),
    )


def measure(arguments: argparse.Namespace) -> Report:
    """Let both programs alternate."""
    runs: list[tuple[Seen, Seen]] = []
    for number in range(arguments.repetitions):
        progress(f"council: run {number + 1} of {arguments.repetitions}")
        runs.append((_run("empty", arguments.seconds), _run("council", arguments.seconds)))
    figures = [
        _added("first token", [(empty.first_token, council.first_token) for empty, council in runs]),
        _added("typed key", [(empty.key, council.key) for empty, council in runs]),
    ]
    medians = {
        "first token": [statistics.median(run[at].first_token.median for run in runs) for at in (0, 1)],
        "typed key": [statistics.median(run[at].key.median for run in runs) for at in (0, 1)],
    }
    rows = [
        [
            row.what, row.empty.spread(), row.council.spread(), row.added.spread(),
            f"{medians[row.what][0]:.1f}", f"{medians[row.what][1]:.1f}", f"at most {BAR:.0f}",
        ]
        for row in figures
    ]  # fmt: skip
    head = [
        "ms until on screen",
        "empty app, p99",
        "council, p99",
        "added at p99",
        "empty, median",
        "council, median",
        "bar",
    ]
    title = f"Council: {RATE} tokens/s, {arguments.repetitions} runs of {arguments.seconds:g} s; median (low-high)"
    return Report("council", measuring.machine(), figures, (Table(title, head, rows),))


def options() -> argparse.ArgumentParser:
    """Return the parser of the benchmark's options."""
    parser = measuring.options(__doc__, repetitions=5)
    parser.add_argument("--seconds", type=float, default=12.0, help="of each program in each run (%(default)s)")
    parser.add_argument("--program", choices=("empty", "council"), help=argparse.SUPPRESS)
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    return parser


def main() -> int:
    """Measure, or be one of the programs that are measured."""
    arguments = options().parse_args()
    if arguments.program == "empty":
        EmptyApp().run()
        return 0
    if arguments.program == "council":
        asyncio.run(_hold_council(arguments.folder))
        return 0
    report = measure(arguments)
    progress("")
    print(report.text(json=arguments.json))
    return int(any(row.added.median > BAR for row in report.figures))


if __name__ == "__main__":
    sys.exit(main())
