"""Readers that are not ours: any command that reads a recording and prints what its programs said as JSON Lines."""

import shlex
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import msgspec

from streamrelay.events import Event, Gap, Text, TurnEnded

FOLDER = "{dir}"
"""What is replaced by the recording's folder in the words of a command."""
DEFAULT_SECONDS = 120.0


class ReaderFailed(Exception):
    """The command ended with an error, took too long, or printed something else."""


class _Line(msgspec.Struct):
    """The fields that count in an object; all others are ignored."""

    event: str = ""
    text: str = ""
    origin: str = "program"
    t: float = 0.0


@dataclass(frozen=True)
class CommandReader:
    """A command that is started for each recording, without a shell."""

    name: str
    words: tuple[str, ...]
    seconds: float = DEFAULT_SECONDS
    """Its time for one recording."""

    @classmethod
    def parse(cls, option: str, seconds: float = DEFAULT_SECONDS) -> Self:
        """Read NAME=COMMAND, where a word of the command is or contains {dir}; raises ValueError."""
        name, found, command = option.partition("=")
        if not found or not name.strip():
            raise ValueError(f"{option!r} is not NAME=COMMAND")
        words = shlex.split(command)
        if not any(FOLDER in word for word in words):
            raise ValueError(f"the command of {name} does not contain {FOLDER}, the folder of the recording")
        return cls(name.strip(), tuple(words), seconds)

    def events(self, folder: Path) -> list[Event]:
        """Return the events that count of what the command prints; raises ReaderFailed."""
        words = [word.replace(FOLDER, str(folder)) for word in self.words]
        try:
            done = subprocess.run(
                words, stdin=subprocess.DEVNULL, capture_output=True, timeout=self.seconds, check=False
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            raise ReaderFailed(str(error)) from error
        if done.returncode != 0:
            words_of_it = done.stderr.decode(errors="replace").strip().splitlines()
            raise ReaderFailed(f"exit status {done.returncode}: {words_of_it[-1] if words_of_it else 'no message'}")
        return parse_events(done.stdout.splitlines())


def parse_events(lines: Sequence[bytes]) -> list[Event]:
    """Return the texts of programs, the ends of turns and the gaps among JSON Lines; raises ReaderFailed."""
    found: list[Event] = []
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            fields: dict[str, Any] = msgspec.json.decode(line, type=dict[str, Any])
            said = msgspec.convert(fields, _Line, strict=False)
        except msgspec.MsgspecError as error:
            raise ReaderFailed(f"line {number} of its output: {error}") from error
        match said.event:
            case "text" if said.origin == "program":
                found.append(Text(t=said.t, text=said.text, origin="program", line=number))
            case "turn_ended":
                found.append(TurnEnded(t=said.t, reason="quiet", certain=False))
            case "gap":
                found.append(Gap(t=said.t, reason=said.text or "told by the reader"))
            case _:
                pass
    return found
