"""A scripted participant: a terminal program that answers typed text, for tests and demos.

    python -m streamrelay.testing.participant --name Ann --first --rounds 50 --paint-delay 0.2 --quote-every 5

`--input cooked` reads lines, and the kernel echoes them. `--input raw` is a composer as agents have one: no echo,
bracketed paste, and the program itself paints what was typed to it, `> ` before the first line and two spaces before
the others. Everything it does with its input it does `--paint-delay` seconds after the input came.

`--log` writes its input and output as JSON Lines (`ParticipantRecord`), for a test to compare with. From when
that file is there on, SIGUSR1 makes it say message 1.
"""

import argparse
import codecs
import os
import select
import signal
import sys
import time
from collections import deque
from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import BinaryIO, Literal

import msgspec

from streamrelay.raw_terminal import raw_terminal
from streamrelay.testing.conversation import RawComposer, ScriptedConversation, parse_header
from streamrelay.testing.signals import readable_signals
from streamrelay.testing.tmux import PrivateTmux
from streamrelay.testing.waiting import wait_until

_STDIN, _STDOUT = 0, 1
_READ_BYTES = 65536
START_LINE = "start"


class ParticipantRecord(msgspec.Struct, frozen=True):
    """One line of the log: seconds since the start, what happened, the text, and from whom it was heard."""

    t: float
    kind: Literal["said", "heard"]
    text: str
    sender: str | None = None


def read_log(path: Path) -> list[ParticipantRecord]:
    """Read the complete lines of a log; the file may still be written."""
    lines = path.read_bytes().split(b"\n")[:-1] if path.exists() else []
    return [msgspec.json.decode(line, type=ParticipantRecord) for line in lines]


def begin(tmux: PrivateTmux, pane: str, log: Path, patience: float = 30.0) -> None:
    """Have the participant in a pane say message 1, as soon as it runs; raises TimeoutError."""
    wait_until(log.exists, patience, "the participant")
    os.kill(int(tmux.run("display-message", "-p", "-t", pane, "#{pane_pid}")), signal.SIGUSR1)


class ParticipantScript(msgspec.Struct, frozen=True):
    """What the command line asks of a participant."""

    name: str
    input: Literal["cooked", "raw"] = "cooked"
    rounds: int = 0
    stay: bool = False
    first: bool = False
    paint_delay: float = 0.0
    quote_every: int = 0
    prompt: str = ""


class ScriptedParticipant:
    """The program: reads from and writes to its terminal until it ends."""

    def __init__(self, script: ParticipantScript, log: BinaryIO | None) -> None:
        self.script = script
        self.conversation = ScriptedConversation(script.name, rounds=script.rounds, quote_every=script.quote_every)
        self._log = log
        self._began = time.monotonic()
        self._arrived: deque[tuple[float, bytes]] = deque()
        self._composer = RawComposer()
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._text = ""
        self._painted = False
        self._sender: str | None = None
        self._leaving = False

    def run(self, hand: int) -> None:
        """Converse until all is said (unless it is to stay), or its input ends; begin when `hand` is readable."""
        self._write(self.script.prompt)
        while not self._leaving:
            readable, _, _ = select.select([_STDIN, hand], [], [], self._patience())
            if hand in readable:
                os.read(hand, 1)
                self._say(self.conversation.start())
            elif readable:
                data = os.read(_STDIN, _READ_BYTES)
                self._arrived.append((time.monotonic() + self.script.paint_delay, data))
                if not data:
                    self._catch_up(float("inf"))
                    return
            self._catch_up(time.monotonic())

    def _patience(self) -> float | None:
        return max(0.0, self._arrived[0][0] - time.monotonic()) if self._arrived else None

    def _catch_up(self, now: float) -> None:
        while self._arrived and self._arrived[0][0] <= now:
            _, data = self._arrived.popleft()
            if self.script.input == "raw":
                self._compose(data)
            else:
                self._read_lines(data)

    def _read_lines(self, data: bytes) -> None:
        # The kernel has echoed, edited and cut into lines; a line longer than its buffer comes in pieces.
        *lines, self._text = (self._text + self._decoder.decode(data)).split("\n")
        for line in lines:
            self._hear(line)
            self._write(self.script.prompt)

    def _compose(self, data: bytes) -> None:
        for typed in self._composer.feed(data):
            match typed.kind:
                case "text":
                    self._paint(typed.text)
                case "erase" if self._text and not self._text.endswith("\n"):
                    self._text = self._text[:-1]
                    self._write("\b \b")
                case "enter":
                    self._write("\n")
                    block, self._text, self._painted, self._sender = self._text, "", False, None
                    for line in block.split("\n"):
                        self._hear(line)
                    self._write(self.script.prompt)
                case "leave":
                    self._leaving = True

    def _paint(self, text: str) -> None:
        if not self._painted and not self.script.prompt:
            self._write("> ")
        self._painted = True
        self._text += text
        self._write(text.replace("\n", "\n  "))

    def _hear(self, line: str) -> None:
        header = parse_header(line)
        if header is not None:
            self._sender = header.name
        elif line.strip():
            self._record("heard", line, self._sender)
            begins = self.script.first and line.strip() == START_LINE
            self._say(self.conversation.start() if begins else self.conversation.hear(line))

    def _say(self, lines: Sequence[str]) -> None:
        for line in lines:
            self._record("said", line)
            self._write(f"{line}\n")
        self._leaving = self._leaving or (self.conversation.finished and not self.script.stay)

    def _record(self, kind: Literal["said", "heard"], text: str, sender: str | None = None) -> None:
        if self._log is not None:
            record = ParticipantRecord(round(time.monotonic() - self._began, 4), kind, text, sender)
            self._log.write(msgspec.json.encode(record) + b"\n")

    @staticmethod
    def _write(text: str) -> None:
        data = memoryview(text.encode(errors="replace"))
        while data:
            data = data[os.write(_STDOUT, data) :]


def _arguments() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="participant", description="A scripted participant of a conversation.")
    parser.add_argument("--name", required=True, help="who it is; its messages end with this")
    parser.add_argument("--input", choices=["cooked", "raw"], default="cooked", help="lines, or a composer")
    parser.add_argument("--rounds", type=int, default=0, help="how many messages it says (0: any number)")
    parser.add_argument("--stay", action="store_true", help="go on listening when everything is said")
    parser.add_argument("--first", action="store_true", help=f"say message 1 when `{START_LINE}` is typed")
    parser.add_argument("--paint-delay", type=float, default=0.0, help="seconds between input and what is done with it")
    parser.add_argument("--quote-every", type=int, default=0, help="every so many answers repeat what was heard")
    parser.add_argument("--prompt", default="", help="what it shows when it waits (in raw input instead of `> `)")
    parser.add_argument("--log", type=Path, help="write what was said and heard as JSON Lines")
    return parser


def main(words: Sequence[str] | None = None) -> int:
    """Run the program; 130 when it is interrupted."""
    arguments = _arguments().parse_args(words)
    composer = raw_terminal(begins=b"\x1b[?2004h", ends=b"\x1b[?2004l")
    try:
        with (
            readable_signals(signal.SIGUSR1) as hand,
            arguments.log.open("ab", buffering=0) if arguments.log else nullcontext() as log,
            composer if arguments.input == "raw" else nullcontext(),
        ):
            ScriptedParticipant(msgspec.convert(vars(arguments), ParticipantScript), log).run(hand)
    except KeyboardInterrupt:
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
