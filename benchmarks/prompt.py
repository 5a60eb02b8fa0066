"""How long the command line takes before it does anything.

Each round runs every row once, one after the other, so that other work on the machine slows all rows alike. The ratios
are what counts: `--help` at most 2.0 and `--version` at most 1.5 times the `--help` of an empty typer app, and
`import streamrelay` at most 2.0 times `import typer`. The table goes into docs/benchmarks.md.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

import msgspec

from benchmarks import measuring
from benchmarks.measuring import Report, Sample, Table, progress

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
    Row("streamrelay hook, no daemon", (COMMAND, "hook", "claude"), HELP, environment=(("TMUX_PANE", "%0"),)),
    Row(TYPER, (sys.executable, "-c", "import typer")),
    Row("import streamrelay", (sys.executable, "-c", "import streamrelay"), TYPER, 2.0),
)


class Timed(msgspec.Struct, frozen=True):
    """What one row took, in milliseconds, and how its median compares with that of another row."""

    name: str
    taken: Sample
    ratio: float | None = None
    bar: float | None = None

    @property
    def missed(self) -> bool:
        """Whether the ratio is above its bar."""
        return self.ratio is not None and self.bar is not None and self.ratio > self.bar


def time_rows(rounds: int) -> dict[str, list[float]]:
    """Return the milliseconds of each row, round by round; the first round warms the caches and does not count."""
    taken: dict[str, list[float]] = {row.name: [] for row in ROWS}
    with tempfile.TemporaryDirectory() as home:
        own = dict.fromkeys(("HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_RUNTIME_DIR", "TMUX_TMPDIR"), home)
        outside = {name: value for name, value in os.environ.items() if not name.startswith(("TMUX", "STREAMRELAY"))}
        for number in range(rounds + 1):
            progress(f"prompt: round {number} of {rounds}")
            for row in ROWS:
                began = time.perf_counter()
                subprocess.run(
                    row.words, env=outside | own | dict(row.environment), cwd=home, capture_output=True, check=False,
                    stdin=subprocess.DEVNULL,
                )  # fmt: skip
                if number:
                    taken[row.name].append(1000 * (time.perf_counter() - began))
    return taken


def compare(taken: dict[str, list[float]]) -> list[Timed]:
    """Return the figures of each row, with the ratio of its median to that of the row it is compared with."""
    samples = {name: Sample.of(values) for name, values in taken.items()}
    return [
        Timed(
            row.name, samples[row.name],
            samples[row.name].median / samples[row.against].median if row.against else None, row.bar,
        )
        for row in ROWS
    ]  # fmt: skip


def measure(arguments: argparse.Namespace) -> Report:
    """Time all rows in turns."""
    figures = compare(time_rows(arguments.repetitions))
    rows = [
        (
            one.name, one.taken.spread(0), "-" if one.ratio is None else f"{one.ratio:.2f}",
            "-" if one.bar is None else f"{one.bar:.1f}",
        )
        for one in figures
    ]  # fmt: skip
    title = f"At the prompt: {arguments.repetitions} alternating runs"
    table = Table(title, ("what", "median (lowest-highest), ms", "ratio", "limit"), rows)
    return Report("prompt", measuring.machine(), figures, (table,))


def options() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    return measuring.options(__doc__, repetitions=20)


def main() -> int:
    """Measure and print; return 1 if a ratio is above its bar."""
    measuring.end_when_told()
    arguments = options().parse_args()
    report = measure(arguments)
    progress("")
    print(report.text(json=arguments.json))
    missed = [one.name for one in report.figures if one.missed]
    for name in missed:
        print(f"above its limit: {name}", file=sys.stderr)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
