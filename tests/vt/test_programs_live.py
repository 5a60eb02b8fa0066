"""Programs recorded as they run in a pane of the running tmux: what it shows in the end is what is shown here.

A program that is not installed is skipped by name; the keys it gets end it in a state that does not move.
"""

import importlib.util
import shutil
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from streamrelay.testing.oracle import Oracle
from streamrelay.testing.tmux import PrivateTmux
from streamrelay.testing.waiting import wait_until
from streamrelay.vt import TmuxScreen
from streamrelay.vt.comparison import divergences
from streamrelay.vt.engine import Snapshot
from streamrelay.vt.widths import Widths

COLUMNS, LINES = 80, 24
TEXT = "".join(f"{number}\tline {'世界' * (number % 9)} of a file {'x' * number}\n" for number in range(1, 120))
RICH = """
from rich.console import Console
from rich.progress import track
from rich.table import Table
console = Console(force_terminal=True)
table = Table(title="世界")
for name in ("one", "two", "three"):
    table.add_column(name, style="red")
for number in range(30):
    table.add_row(f"[b]{number}[/b]", "text " * (number % 7), "⚠️ é")
console.print(table)
for _ in track(range(300), console=console):
    pass
"""
TQDM = "import tqdm\nfor _ in tqdm.tqdm(range(3000), mininterval=0):\n    pass\n"


@dataclass(frozen=True)
class Program:
    """What to run (`{file}` is a text to show), and the keys it gets one after the other."""

    command: list[str]
    keys: tuple[str, ...] = ()
    needs: Callable[[], object] | None = None


def module(name: str) -> Callable[[], object]:
    return lambda: importlib.util.find_spec(name)


PROGRAMS = {
    "vim": Program(
        ["vim", "-u", "NONE", "-N", "--cmd", "syntax on", "{file}"], ("C-f", "dd", "/9 line", "Enter", "ihi", "C-u")
    ),
    "less": Program(["less", "{file}"], ("Space", "Down", "b", "/of a", "Enter", "G")),
    "htop": Program(["htop", "-d", "100"], ("Down", "F5")),
    "top": Program(["top", "-d", "100"], ("c", "1")),
    "mc": Program(["mc"], ("Down", "Tab", "F9")),
    "git": Program(["git", "-c", "color.ui=always", "--no-pager", "log", "--graph", "--stat", "-n", "12"]),
    "tqdm": Program([sys.executable, "-c", TQDM], needs=module("tqdm")),
    "rich": Program([sys.executable, "-c", RICH], needs=module("rich")),
}  # fmt: skip


def record(server: PrivateTmux, program: Program, folder: Path) -> tuple[bytes, Snapshot]:
    """Run a program in a pane; return every byte it printed, and what tmux shows once it rests."""
    file, log = folder / "file.c", folder / "log"
    file.write_text(TEXT)
    command = [word.format(file=file) if "{file}" in word else word for word in program.command]
    # The pane waits for a key, so that it is piped before anything is printed.
    words = ["sh", "-c", 'stty -echo; read x; stty echo; "$@"; exec sleep 600', "sh", *command]
    pane = server.new_session("program", words, columns=COLUMNS, lines=LINES)
    server.run("pipe-pane", "-t", pane, f"cat > {log}")

    def rested(looks: int) -> bytes:
        """Wait until this many looks at pane and log in a row are the same; return the log."""
        states: list[tuple[bytes, str]] = []

        def same() -> bool:
            read = log.read_bytes() if log.exists() else b""
            states.append((read, server.run("capture-pane", "-p", "-e", "-t", pane)))
            return len(states) > looks and len(read) > 0 and all(state == states[-1] for state in states[-looks:])

        wait_until(same, 30, "the program never rests")
        return states[-1][0]

    server.run("send-keys", "-t", pane, "C-j")
    rested(20)
    for key in program.keys:
        server.run("send-keys", "-t", pane, key)
        rested(10)
    data = rested(60)
    answer = Oracle(server).look("program", COLUMNS, LINES)
    return data, answer.snapshot


@pytest.mark.sampled(4)
@pytest.mark.requirement("VT-01a", "VT-01c")
@pytest.mark.parametrize("name", PROGRAMS)
def test_same_as_tmux(name: str, private_tmux: PrivateTmux, widths: Widths, tmp_path: Path) -> None:
    program = PROGRAMS[name]
    if not (program.needs() if program.needs else shutil.which(program.command[0])):
        pytest.skip(f"{name} is not installed")
    data, snapshot = record(private_tmux, program, tmp_path)
    assert len(data) > 500
    screen = TmuxScreen(COLUMNS, LINES, widths=widths)
    screen.feed(data)
    assert divergences(screen, snapshot) == ()
