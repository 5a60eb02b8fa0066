"""Prints for all commands: data on standard output, everything else on standard error.

Text from panes is hostile to the user's terminal, so all output except JSON goes through `sanitised`. If the reader of
the output goes away (`| head`), the command ends silently.
"""

import json
import logging
import os
import sys
from collections.abc import Iterable, Sequence
from typing import NoReturn

from streamrelay.delivery.sanitise import sanitised
from streamrelay.errors import StreamrelayError
from streamrelay.events import Event, encode
from streamrelay_cli.background import BackgroundWriter
from streamrelay_cli.standard_output import writing


class CommandOutput:
    """Standard output and error of one command."""

    def __init__(self, *, quiet: bool = False, as_json: bool = False, verbose: int = 0) -> None:
        """Take the user's choices; `verbose` 1 logs from INFO on, 2 or more from DEBUG on."""
        if verbose:
            logger = logging.getLogger("streamrelay")
            logger.setLevel(logging.DEBUG if verbose > 1 else logging.INFO)
            logger.addHandler(_LogHandler(self))
        self.quiet = quiet
        self.as_json = as_json
        self._background: BackgroundWriter | None = None
        self._in_progress = False
        self._colour = sys.stderr.isatty() and "NO_COLOR" not in os.environ

    def line(self, text: str) -> None:
        """Print one line of data."""
        self.lines([text])

    def lines(self, texts: Iterable[str]) -> None:
        """Print lines of data at once."""
        self._write(as_lines(texts))

    def made(self, name: str, note: str, shown: object) -> None:
        """Print an object that the daemon has created: its id for scripts with a note for people, or all as JSON."""
        if self.as_json:
            self.json(shown)
        else:
            self.line(name)
            self.note(note)

    def labelled(self, label: str, text: str, *, colour: int | None = None) -> None:
        """Print one line of data with a label before it, coloured (SGR parameter) on a terminal."""
        coloured = colour is not None and sys.stdout.isatty() and "NO_COLOR" not in os.environ
        shown = f"\x1b[{colour}m{sanitised(label)}\x1b[0m" if coloured else sanitised(label)
        self._write(f"{shown} │ {sanitised(text)}\n".encode())

    def events(self, events: Iterable[Event]) -> None:
        """Print events as JSON Lines, at once."""
        self._write(as_events(events))

    async def write(self, data: bytes) -> None:
        """Print data without blocking the event loop, even if its reader is slow."""
        if not data:
            return
        if self._background is None:
            self._background = BackgroundWriter(sys.stdout.fileno())
        with writing():
            await self._background.write(data)

    def json(self, value: object) -> None:
        """Print one JSON document."""
        self._write(json.dumps(value, ensure_ascii=False).encode() + b"\n")

    def note(self, text: str) -> None:
        """Print a note for the user on standard error."""
        if not self.quiet:
            self.log(text)

    def log(self, text: str) -> None:
        """Print a line of a log."""
        self.progress("")
        print(sanitised(text), file=sys.stderr, flush=True)

    def progress(self, text: str) -> None:
        """Show progress in place, on a terminal only; an empty text removes it."""
        if (text or self._in_progress) and not self.quiet and sys.stderr.isatty():
            self._in_progress = bool(text)
            print(f"\r\x1b[K{sanitised(text)}", end="", file=sys.stderr, flush=True)

    def interrupted(self) -> None:
        """Begin a new line on a terminal, which shows `^C` on this one; a line of progress is removed with it."""
        shows_progress = self._in_progress
        self.progress("")
        if not shows_progress and not self.quiet and sys.stderr.isatty():
            print(file=sys.stderr, flush=True)

    def error(self, message: str, hint: str = "") -> None:
        """Print an error and its hint."""
        self.progress("")
        label = "\x1b[1;31merror:\x1b[0m" if self._colour else "error:"
        print(label, sanitised(message), file=sys.stderr)
        if hint:
            print("hint:", sanitised(hint), file=sys.stderr, flush=True)

    def fail(self, error: StreamrelayError) -> NoReturn:
        """Print an error and exit with its code."""
        self.error(error.message, error.hint)
        sys.exit(error.exit_code)

    def _write(self, data: bytes) -> None:
        if data:
            sys.stdout.buffer.write(data)
            sys.stdout.buffer.flush()


class _LogHandler(logging.Handler):
    """Prints the library's log records on standard error."""

    def __init__(self, output: CommandOutput) -> None:
        super().__init__()
        self.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
        self._output = output

    def emit(self, record: logging.LogRecord) -> None:
        """Print one record."""
        self._output.log(self.format(record))


def aligned(rows: Iterable[Sequence[str]]) -> list[str]:
    """Return rows of equally many cells as lines, each column as wide as its widest cell."""
    known = [*rows]
    widths = [max(map(len, column)) for column in zip(*known, strict=True)]
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in known]


def as_lines(texts: Iterable[str]) -> bytes:
    """Return lines of data as they are printed."""
    return b"".join(sanitised(text).encode() + b"\n" for text in texts)


def as_events(events: Iterable[Event]) -> bytes:
    """Return events as JSON Lines."""
    return b"".join(encode(event) + b"\n" for event in events)
