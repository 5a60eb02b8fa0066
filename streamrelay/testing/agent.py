"""A scripted agent for tests: a real program that handles typed text as coding agents do.

    python -m streamrelay.testing.agent --log FILE --digest 0.06 --works 0.3 --mid-turn queue

It paints as `transcript_program` does, and has their ways with input, each of them seen with a real agent:

* `--boot`: what comes before it is ready is lost;
* `--digest`: an Enter that comes so soon after a paste is a new line;
* `--paint-delay`: its composer shows a paste late; `--folds-from`: as a placeholder;
* `--deaf N`: it overhears the first N Enters;
* `--loads S`: its composer keeps the first message until S seconds after the Enter, and ignores each Enter meanwhile;
* `--api PORT`: it also takes messages by an HTTP API (agent_api.py), which leave the composer alone; 0 is any port;
  `--sessions N`: the API has so many sessions of its title;
* `--mid-turn queue`: a message that comes while it works is taken up afterwards; `abort`: it throws its answer away;
* `--answers-to ': Bob'`: it answers only messages that end so, and takes up the others without a word;
* Escape while it works: it breaks off its answer, and says so;
* another size of its terminal: it clears the screen and paints its transcript again, with `--wipes-history` all of it;
* `--draft`: a person's half-written message stands in its composer; `--dialog`: a question does, until it is answered;
  which one, `--asks` says (`QUESTIONS`), or one after the other (`any`); `--asks-during-work`: only while it answers.

What it answers is `answer 1`, `answer 2` and so on, or the texts of `--answers` (a JSON list, over and over), in which
`{number}` stands for how many it has given.

A signal moves a person's hand: SIGUSR1 clears the draft or puts up the dialog, SIGUSR2 answers it. SIGTERM ends it at
once, as a crash does.

`--log` gets a line of JSON for everything it really got (`LogEntry`), written before it does anything about it, and for
everything it said.
"""

import argparse
import itertools
import os
import select
import signal
import sys
import time
from collections import deque
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, BinaryIO, Literal

import msgspec

from streamrelay.raw_terminal import raw_terminal
from streamrelay.testing.conversation import RawComposer
from streamrelay.testing.signals import readable_signals
from streamrelay.testing.transcript_program import SignalKind, TranscriptProgram, UiStyle

if TYPE_CHECKING:
    from streamrelay.testing.agent_api import AgentApi

_STDIN, _STDOUT = 0, 1
_TURN = 0.08
"""Seconds between two frames of the spinner."""
_MAX_SHOWN = 400
_ESCAPE = b"\x1b"
INTERRUPTED = "Interrupted."
"""The notice in place of an interrupted answer."""
QUESTIONS: Mapping[str, tuple[str, ...]] = MappingProxyType({
    "permission": ("Do you want to proceed?", "", "❯ 1. Yes", "  2. No", "", "Enter to confirm"),
    "trust": ("Do you trust the files in this folder?", "", "❯ Yes, I trust this folder", "  No, exit"),
    "login": ("Select login method:", "", "❯ 1. Account with subscription", "  2. API key", "", "Enter to confirm"),
    "picker": ("Which model?", "", "  small", "❯ medium", "  large", "", "↑/↓ to select · Enter to choose"),
    "confirmation": ("A new version is there.", "", "Press Enter to continue"),
    "yes or no": ("The file is there already. Overwrite it? [y/N]",),
})  # fmt: skip
"""The dialogs that may replace the composer until a person answers."""
PROFILE = """
title = "Sprite"
[recognise]
commands = ["sprite"]
signs = ['^sprite$']
interpreters = ["python", "python3", "python3.11", "python3.12", "python3.13"]
[delivery]
ready = ['^>$']
composer = '^> ?(?P<draft>.*)$'
interrupt = ["Escape"]
mid_turn = "queue"
"""
"""What a user's profile of it would say; it is recognised by the title `sprite`."""


Kind = Literal["message", "key", "lost", "ready", "dialog", "aborted", "said"]


class LogEntry(msgspec.Struct, frozen=True):
    """One line of the log: `message` was submitted, `key` went into a dialog, `lost` came before it was ready."""

    kind: Kind
    text: str = ""
    at: float = 0.0
    """Seconds of `time.monotonic`."""


class Script(msgspec.Struct, frozen=True):
    """What the command line asks of an agent; seconds throughout."""

    boot: float = 0.0
    digest: float = 0.0
    paint_delay: float = 0.0
    works: float = 0.1
    deaf: int = 0
    loads: float = 0.0
    api: int = -1
    sessions: int = 1
    folds_from: int = 5
    mid_turn: Literal["queue", "abort"] = "queue"
    witness: SignalKind | None = "title"
    alternate: bool = False
    wipes_history: bool = False
    """Whether it wipes tmux's history when its terminal is resized, and then prints its whole transcript again."""
    draft: str = ""
    dialog: bool = False
    asks: str = "permission"
    asks_during_work: bool = False
    title: str = "sprite"
    """What it calls itself while it starts."""
    answer: str = ""
    answers: str = ""
    """The file that holds them."""
    answers_to: str = ""
    """The end of the messages that it answers."""


def read_got(path: Path) -> list[LogEntry]:
    """Read the complete lines of a log; the file may still be written."""
    lines = path.read_bytes().split(b"\n")[:-1] if path.exists() else []
    return [msgspec.json.decode(line, type=LogEntry) for line in lines]


class Agent:
    """The program: reads from and writes to its terminal until it is ended."""

    def __init__(self, script: Script, log: BinaryIO) -> None:
        size = os.get_terminal_size(_STDOUT)
        look = UiStyle(
            columns=size.columns, lines=size.lines, alternate=script.alternate, witness=script.witness, bullet="● "
        )
        self._script = script
        self._log = log
        self._program = TranscriptProgram(look)
        self._composer = RawComposer()
        self._draft = script.draft
        self._deaf = script.deaf
        self._loaded_at: float | None = None if script.loads > 0 else 0.0
        self._pasted_at = float("-inf")
        self._paint_at: float | None = None
        self._queue: deque[tuple[str, str]] = deque()
        self._pastes = 1
        self._answering: str | None = None
        self._until = 0.0
        self._broken_off = False
        self._dialog = self._to_ask = False
        self._answered = 0
        self._api: AgentApi | None = None
        asked = QUESTIONS.values() if script.asks == "any" else [QUESTIONS[script.asks]]
        self._questions = itertools.cycle(asked)
        texts = Path(script.answers).read_bytes() if script.answers else b"[]"
        self._texts = msgspec.json.decode(texts, type=list[str]) or [script.answer or "answer {number}"]

    def run(self, hand: int) -> None:
        """Go on until the input ends; numbers of signals are read from the descriptor `hand`."""
        handed = self._serve() if self._script.api >= 0 else hand
        self._boot()
        # In one piece: an agent that asks at its start does not show an empty composer before.
        question = self._script.dialog
        self._write(self._program.starts() + self._paint_draft() + (self._paint_question() if question else b""))
        self._record("ready")
        if self._script.dialog:
            self._record("dialog")
        while True:
            readable, _, _ = select.select([_STDIN, hand, handed], [], [], self._patience())
            if self._api is not None and handed in readable:
                os.read(handed, 1)
                self._take_handed(self._api.taken.popleft())
            elif hand in readable:
                self._signalled(os.read(hand, 1)[0])
            elif readable:
                data = os.read(_STDIN, 1 << 20)
                if not data:
                    return
                self._take(data)
            self._go_on(time.monotonic())

    def ask(self) -> None:
        """Put up a question."""
        self._write(self._paint_question())
        self._record("dialog")

    def _paint_question(self) -> bytes:
        self._dialog = True
        return self._program.asks(*next(self._questions))

    def _signalled(self, number: int) -> None:
        """Follow the terminal's size, or do what a person does: clear the draft or cause the question; or answer it."""
        if number == signal.SIGWINCH:
            size = os.get_terminal_size(_STDOUT)
            self._write(self._program.resizes(*size, wipes_history=self._script.wipes_history))
        elif number == signal.SIGUSR2:
            self._answer_question()
        elif self._draft and self._draft == self._script.draft:
            self._draft = ""
            self._show_draft()
        elif self._answering is None and self._script.asks_during_work:
            self._to_ask = True
        else:
            self.ask()

    def _answer_question(self) -> None:
        self._to_ask = False
        if self._dialog:
            self._dialog = False
            self._write(self._program.asks())

    def _boot(self) -> None:
        until = time.monotonic() + self._script.boot
        self._write(f"\x1b]0;{self._script.title}\x07".encode() + (b"loading\r\n" if self._script.boot else b""))
        while (left := until - time.monotonic()) > 0:
            if select.select([_STDIN], [], [], left)[0]:
                self._record("lost", os.read(_STDIN, 1 << 20).decode(errors="replace"))

    def _patience(self) -> float | None:
        now = time.monotonic()
        due = [] if self._paint_at is None else [self._paint_at]
        if self._answering is not None:
            due.append(now + _TURN)
        if self._loaded_at:
            due.append(self._loaded_at)
        return max(0.0, min(due) - now) if due else None

    def _take(self, data: bytes) -> None:
        if self._dialog:
            self._record("key", data.decode(errors="replace"))
            self._answer_question()
            return
        now = time.monotonic()
        if data == _ESCAPE and self._answering is not None:
            self._record("aborted", self._answering)
            self._broken_off, self._until = True, now
            return
        for kind, group in itertools.groupby(self._composer.feed(data), lambda typed: typed.kind):
            match kind:
                case "text":
                    self._draft += "".join(typed.text for typed in group)
                    self._pasted_at = now
                    self._paint_at = now + self._script.paint_delay
                case "enter" if now < self._pasted_at + self._script.digest:
                    self._draft += "\n"
                    self._paint_at = now
                case "enter":
                    self._submit()
                case "erase":
                    self._draft = self._draft[:-1]
                    self._paint_at = now
                case "leave":
                    sys.exit(0)

    def _submit(self) -> None:
        if self._deaf > 0 or not self._draft:
            self._deaf -= 1
            return
        if self._loaded_at is None:
            self._loaded_at = time.monotonic() + self._script.loads
        if self._loaded_at:
            return
        self._show_draft()
        message, shown, self._draft = self._draft, self._shown(self._draft), ""
        self._pastes += 1
        self._record("message", message)
        if self._api is not None:
            self._api.note_typed()
        if self._answering is None:
            self._begin(message, shown)
            return
        if self._script.mid_turn == "queue":
            self._program.queues()
            self._queue.append((message, shown))
            return
        self._record("aborted", self._answering)
        self._write(self._program.aborts())
        self._begin(message, shown)

    def _serve(self) -> int:
        """Start the API; return the descriptor from which a byte is read for each message that it takes."""
        # Most agents of tests need no server, and start faster without its import.
        from streamrelay.testing.agent_api import AgentApi

        handed, notify = os.pipe()
        self._api = AgentApi(self._script.api, self._script.title.removeprefix("OC | "), notify, self._script.sessions)
        return handed

    def _take_handed(self, message: str) -> None:
        """Take a message that the API has: the draft stays."""
        self._record("message", message)
        if self._answering is not None:
            self._program.queues()
            self._queue.append((message, message))
            return
        self._begin(message, message)
        self._show_draft()

    def _begin(self, message: str, shown: str) -> None:
        if self._api is not None:
            self._api.begin()
        self._answering, self._until = message, time.monotonic() + self._script.works
        self._write(self._program.submits(shown))
        if self._to_ask:
            self._to_ask = False
            self.ask()

    def _go_on(self, now: float) -> None:
        if self._dialog:
            return
        if self._paint_at is not None and now >= self._paint_at:
            self._show_draft()
        if self._loaded_at and now >= self._loaded_at:
            self._loaded_at = 0.0
            self._submit()
        if self._answering is None:
            return
        if now < self._until:
            self._write(self._program.works())
            return
        if self._answering.rstrip().endswith(self._script.answers_to):
            self._answer()
        self._answering = None
        if self._api is not None:
            self._api.finish()
        if self._queue:
            self._begin(*self._queue.popleft())
            if self._draft:
                self._show_draft()
        else:
            self._write(self._program.rests())

    def _answer(self) -> None:
        self._answered += 1
        text = self._texts[(self._answered - 1) % len(self._texts)].replace("{number}", str(self._answered))
        if self._broken_off:
            self._broken_off, text = False, INTERRUPTED
        self._record("said", text)
        self._write(self._program.says(text))

    def _show_draft(self) -> None:
        self._write(self._paint_draft())

    def _paint_draft(self) -> bytes:
        self._paint_at = None
        return self._program.drafts(self._shown(self._draft))

    def _shown(self, text: str) -> str:
        lines = text.count("\n") + 1
        if text and (lines >= self._script.folds_from or len(text) > _MAX_SHOWN):
            return f"[Pasted text #{self._pastes} +{lines} lines]"
        return text

    def _record(self, kind: Kind, text: str = "") -> None:
        self._log.write(msgspec.json.encode(LogEntry(kind, text, time.monotonic())) + b"\n")

    @staticmethod
    def _write(data: bytes) -> None:
        view = memoryview(data)
        while view:
            view = view[os.write(_STDOUT, view) :]


def _arguments() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="agent", description="A scripted agent in a terminal.")
    parser.add_argument("--log", type=Path, required=True, help="where to write what it got, as JSON Lines")
    for field in msgspec.structs.fields(Script):
        name = "--" + field.name.replace("_", "-")
        if field.type is bool:
            parser.add_argument(name, action="store_true")
        else:
            parser.add_argument(name, type=str, default=None if field.default is None else str(field.default))
    return parser


def main() -> None:
    """Run the agent that the command line describes."""
    arguments = vars(_arguments().parse_args())
    with (
        readable_signals(signal.SIGUSR1, signal.SIGUSR2, signal.SIGWINCH) as hand,
        arguments.pop("log").open("ab", buffering=0) as log,
        raw_terminal(ends=b"\x1b[?2004l\x1b[?25h"),
    ):
        given = {name: None if value == "none" else value for name, value in arguments.items()}
        agent = Agent(msgspec.convert(given, Script, strict=False), log)
        agent.run(hand)


if __name__ == "__main__":
    main()
