"""How long the command line takes before it does anything: `python -m benchmarks.prompt [ROUNDS]`.

Each round runs every row once, one after the other, so that other work on the machine slows all rows alike. The ratios
are what counts: `--help` at most 2.0 and `--version` at most 1.5 times the `--help` of an empty typer app, and
`import streamrelay` at most 2.0 times `import typer`. The table goes into docs/benchmarks.md.
"""

import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

ROUNDS = 20
EMPTY_APP = "import typer\napp = typer.Typer()\n@app.command()\ndef empty(): ...\napp()\n"
COMMAND = str(Path(sys.executable).with_name("streamrelay"))


class Row(NamedTuple):
    """One command that is timed; with a bar, the row it is compared with and the largest allowed ratio."""

    name: str
    words: tuple[str, ...]
    against: str = ""
    bar: float | None = None
    environment: tuple[tuple[str, str], ...] = ()


HELP, TYPER = "empty typer app, --help", "import typer"
COMPLETING = (("_STREAMRELAY_COMPLETE", "complete_bash"), ("COMP_WORDS", "streamrelay re"), ("COMP_CWORD", "1"))
ROWS = (
    Row(HELP, (sys.executable, "-c", EMPTY_APP, "--help")),
    Row("streamrelay --help", (COMMAND, "--help"), HELP, 2.0),
    Row("streamrelay --version", (COMMAND, "--version"), HELP, 1.5),
    Row("completion of a command", (COMMAND,), HELP, environment=COMPLETING),
    Row("streamrelay ls, no server", (COMMAND, "ls", "-L", "streamrelay-none"), HELP),
    Row(TYPER, (sys.executable, "-c", "import typer")),
    Row("import streamrelay", (sys.executable, "-c", "import streamrelay"), TYPER, 2.0),
)


def measure(rounds: int) -> dict[str, list[float]]:
    """Return the seconds of each row, round by round; the first round warms the caches and does not count."""
    taken: dict[str, list[float]] = {row.name: [] for row in ROWS}
    with tempfile.TemporaryDirectory() as home:
        own = dict.fromkeys(("HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_RUNTIME_DIR", "TMUX_TMPDIR"), home)
        outside = {name: value for name, value in os.environ.items() if not name.startswith(("TMUX", "STREAMRELAY"))}
        for number in range(rounds + 1):
            for row in ROWS:
                began = time.perf_counter()
                subprocess.run(
                    row.words, env=outside | own | dict(row.environment), cwd=home, capture_output=True, check=False
                )
                if number:
                    taken[row.name].append(time.perf_counter() - began)
    return taken


def table(taken: dict[str, list[float]]) -> list[str]:
    """Return the rows in Markdown: median and spread in milliseconds, and the ratio of the medians."""
    medians = {name: statistics.median(seconds) for name, seconds in taken.items()}
    lines = ["| what | median ms | fastest - slowest ms | ratio | bar |", "|---|---|---|---|---|"]
    for row in ROWS:
        ratio = f"{medians[row.name] / medians[row.against]:.2f}" if row.against else "-"
        seconds = taken[row.name]
        spread = f"{1000 * min(seconds):.0f} - {1000 * max(seconds):.0f}"
        bar = "-" if row.bar is None else f"{row.bar:.1f}"
        lines.append(f"| {row.name} | {1000 * medians[row.name]:.0f} | {spread} | {ratio} | {bar} |")
    return lines


def missed(taken: dict[str, list[float]]) -> list[str]:
    """Return the rows whose ratio is above its bar."""
    medians = {name: statistics.median(seconds) for name, seconds in taken.items()}
    return [row.name for row in ROWS if row.bar is not None and medians[row.name] > row.bar * medians[row.against]]


def main(words: list[str]) -> int:
    rounds = int(words[0]) if words else ROUNDS
    taken = measure(rounds)
    print(f"{rounds} alternating runs, Python {sys.version.split()[0]}\n")
    print("\n".join(table(taken)))
    for name in missed(taken):
        print(f"above its bar: {name}", file=sys.stderr)
    return 1 if missed(taken) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
