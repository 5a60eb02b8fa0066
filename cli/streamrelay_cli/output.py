"""The one place that prints: data on standard output, everything else on standard error.

What comes from panes is hostile to the terminal it is printed on, so text that is not JSON goes through `sanitised`.
A reader that goes away (`| head`) ends the command quietly.
"""

import json
import logging
import os
import sys
from collections.abc import Iterable
from typing import NoReturn

from streamrelay.delivery.sanitise import sanitised
from streamrelay.errors import StreamrelayError
from streamrelay.events import Event, encode
from streamrelay_cli.background import BackgroundWriter
from streamrelay_cli.standard_output import writing


class CommandOutput:
    """Standard output and error of one command."""

    def __init__(self, *, quiet: bool = False, as_json: bool = False, verbose: int = 0) -> None:
        """Take what the person wants to see; with `verbose` logs too, from INFO on, of 2 and more from DEBUG."""
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
        """Print what a daemon has made: its name for scripts, a note for people, or all of it as JSON."""
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
        """Print data without stopping the event loop, however slow its reader is."""
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
        """Tell the person something that is not data."""
        if not self.quiet:
            self.log(text)

    def log(self, text: str) -> None:
        """Print a line of a log."""
        self.progress("")
        print(sanitised(text), file=sys.stderr, flush=True)

    def progress(self, text: str) -> None:
        """Show how far long work has come, in place; an empty text takes that back. On a terminal only."""
        if (text or self._in_progress) and not self.quiet and sys.stderr.isatty():
            self._in_progress = bool(text)
            print(f"\r\x1b[K{sanitised(text)}", end="", file=sys.stderr, flush=True)

    def error(self, message: str, hint: str = "") -> None:
        """Say what went wrong, and what to do."""
        self.progress("")
        label = "\x1b[1;31merror:\x1b[0m" if self._colour else "error:"
        print(label, sanitised(message), file=sys.stderr)
        if hint:
            print("hint:", sanitised(hint), file=sys.stderr, flush=True)

    def fail(self, error: StreamrelayError) -> NoReturn:
        """Say what went wrong and end the command with the error's exit code."""
        self.error(error.message, error.hint)
        sys.exit(error.exit_code)

    def _write(self, data: bytes) -> None:
        if data:
            sys.stdout.buffer.write(data)
            sys.stdout.buffer.flush()


class _LogHandler(logging.Handler):
    """What the rooms log, as lines on standard error."""

    def __init__(self, output: CommandOutput) -> None:
        super().__init__()
        self.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
        self._output = output

    def emit(self, record: logging.LogRecord) -> None:
        """Print one record."""
        self._output.log(self.format(record))


def as_lines(texts: Iterable[str]) -> bytes:
    """Return lines of data as they are printed."""
    return b"".join(sanitised(text).encode() + b"\n" for text in texts)


def as_events(events: Iterable[Event]) -> bytes:
    """Return events as JSON Lines."""
    return b"".join(encode(event) + b"\n" for event in events)
