"""The scene of the README's moving picture, played for real and recorded as an asciicast.

    python -m streamrelay.demo.scene FILE.cast

A private tmux server shows one window of three panes: two scripted agents (`streamrelay.testing.agent`), and a shell in
which `streamrelay link` runs. A client of that server runs in a pseudo-terminal, and everything it draws goes into the
recording. The agents answer from a list and wait before they answer, so that a reader can follow; what is read, passed
on, typed and counted is the product's own work. `--pace 0` leaves the waiting out, for tests.
"""

import argparse
import contextlib
import json
import os
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import ptyprocess

from streamrelay.testing.agent import read_got
from streamrelay.testing.tmux import PrivateTmux
from streamrelay.testing.waiting import wait_until
from streamrelay.vt import TmuxScreen

TITLE: Final = "two agents talk through tmux"
COLUMNS: Final = 112
LINES: Final = 26
LEFT: Final = 53
"""Columns of the agents' panes."""
OPENING: Final = "Agree with Bob on who fixes what."
LAST: Final = "Understood."
ANSWERS: Final = {
    "Ann": [
        "Bob, two bugs are open: login and search. If I take the login, do you take the search?",
        "You review mine then, and I'll review yours. I start now.",
        "Good.",
        LAST,
    ],
    "Bob": [
        "Yes, I wrote that query. Who does the review?",
        "Agreed. I'll tell you when the search is fast.",
        LAST,
    ],
}
"""What they say, in the order of the messages that reach them; the last answers the notice that the budget is spent."""
COMMAND: Final = "streamrelay link Ann=talk:0.0 Bob=talk:0.1 --budget 4"
_LIMIT: Final = 60.0
_BORDER: Final = (
    " #[fg=colour255,bold]#{?@name,#{@name},you}#[default]#{?@streamrelay,  #[fg=green]heard by #{@streamrelay},} "
)
_OPTIONS: Final = {
    "status-interval": "1",
    "status-style": "bg=colour235,fg=colour245",
    "status-left": " tmux ",
    "status-right": "",
    "window-status-current-format": "",
    "window-status-format": "",
    "pane-border-status": "top",
    "pane-border-format": _BORDER,
    "pane-border-style": "fg=colour240",
    "pane-active-border-style": "fg=colour240",
    "message-style": "bg=colour220,fg=colour16",
}


class Recorder:
    """A terminal of its own size in which a command runs, and the asciicast of what the command draws."""

    def __init__(self, command: list[str], environment: dict[str, str], path: Path) -> None:
        self._began = time.monotonic()
        self._file = path.open("w", encoding="utf-8")
        header = {"version": 2, "width": COLUMNS, "height": LINES, "title": TITLE}
        self._file.write(json.dumps(header) + "\n")
        self._is_recording = True
        self._screen, self._lock = TmuxScreen(COLUMNS, LINES), threading.Lock()
        self._process = ptyprocess.PtyProcessUnicode.spawn(command, env=environment, dimensions=(LINES, COLUMNS))
        self._thread = threading.Thread(target=self._read, name="recorder")
        self._thread.start()

    def _read(self) -> None:
        with contextlib.suppress(EOFError):
            while True:
                drawn = self._process.read(1 << 16)
                if not self._is_recording:
                    continue
                with self._lock:
                    self._screen.feed(drawn.encode())
                event = [round(time.monotonic() - self._began, 3), "o", drawn]
                self._file.write(json.dumps(event, ensure_ascii=False) + "\n")

    def rows(self) -> list[str]:
        """Return what the terminal shows."""
        with self._lock:
            return self._screen.text()

    def stop(self) -> None:
        """Record nothing more: the command is about to leave."""
        self._is_recording = False

    def close(self) -> None:
        """Wait for the command to end, and close the file."""
        self._thread.join()
        self._process.close()
        self._file.close()


class Scene:
    """The stage, and the hand that types."""

    def __init__(self, tmux: PrivateTmux, folder: Path, pace: float) -> None:
        self._tmux = tmux
        self._folder = folder
        self._pace = pace
        commands = Path(sys.executable).parent
        tmux.environment |= {
            "HOME": str(folder),
            "PATH": f"{commands}{os.pathsep}{os.environ['PATH']}",
            **{f"XDG_{kind}_HOME": str(folder / kind.lower()) for kind in ("CONFIG", "STATE", "CACHE", "DATA")},
            "XDG_RUNTIME_DIR": str(folder),
        }
        self._shell = tmux.new_session("talk", ["sh", "-i"], columns=COLUMNS, lines=LINES, environment={"PS1": "$ "})
        self._panes: dict[str, str] = {}

    def set(self) -> None:
        """Put up the panes; the shell stands right of the two agents."""
        for name, value in _OPTIONS.items():
            self._tmux.run("set-option", "-g", name, value)
        self._panes["Ann"] = self._agent("Ann", self._shell, "-h", "-b", "-l", str(LEFT))
        self._panes["Bob"] = self._agent("Bob", self._panes["Ann"], "-v")
        for name in self._panes:
            self._await(name, "ready", 1)
        self._tmux.run("select-pane", "-t", self._shell)

    def play(self, recorder: Recorder) -> None:
        """Link the two, let a person speak first, and wait until the budget is spent."""
        self._rest(1.0)
        self._type(self._shell, COMMAND)
        wait_until(lambda: any("are linked" in row for row in recorder.rows()), _LIMIT)
        self._rest(1.0)
        self._type(self._panes["Ann"], OPENING)
        for name in self._panes:
            self._await(name, "said", len(ANSWERS[name]))
        wait_until(lambda: sum(LAST in row for row in recorder.rows()) == len(self._panes), _LIMIT)
        self._rest(1.5)
        self._tmux.run("send-keys", "-t", self._shell, "q")
        wait_until(lambda: not any(map(self._has_status, self._panes.values())), _LIMIT)
        # A busy tmux may leave the old text in a pane's border although the option is gone.
        self._tmux.run("refresh-client", "-t", self._tmux.run("list-clients", "-F", "#{client_name}"))
        wait_until(lambda: _is_over(recorder.rows()), _LIMIT)

    def _has_status(self, pane: str) -> bool:
        """Tell whether streamrelay still shows the state of the link for a pane."""
        return bool(self._tmux.run("show-options", "-p", "-q", "-v", "-t", pane, "@streamrelay"))

    def _agent(self, name: str, beside: str, *split: str) -> str:
        answers = self._folder / f"{name}.json"
        answers.write_text(json.dumps(ANSWERS[name]), encoding="utf-8")
        command = [
            sys.executable, "-m", "streamrelay.testing.agent", "--log", str(self._log(name)),
            "--answers", str(answers), "--works", f"{0.1 + 1.2 * self._pace:g}",
        ]  # fmt: skip
        pane = self._tmux.run("split-window", "-P", "-F", "#{pane_id}", "-t", beside, *split, "--", *command)
        self._tmux.run("set-option", "-p", "-t", pane, "@name", name)
        return pane

    def _type(self, pane: str, text: str) -> None:
        for character in text:
            self._tmux.run("send-keys", "-l", "-t", pane, "--", character)
            self._rest(0.03)
        self._rest(0.5)
        self._tmux.run("send-keys", "-t", pane, "Enter")

    def _rest(self, seconds: float) -> None:
        time.sleep(seconds * self._pace)

    def _await(self, name: str, kind: str, count: int) -> None:
        wait_until(lambda: sum(got.kind == kind for got in read_got(self._log(name))) == count, _LIMIT)

    def _log(self, name: str) -> Path:
        return self._folder / f"{name}.log"


def _is_over(rows: list[str]) -> bool:
    """Tell whether the shell prompts again, and the link is gone from the panes' borders."""
    return any(row[LEFT + 1 :].strip() == "$" for row in rows) and not any("heard by" in row for row in rows)


@contextlib.contextmanager
def _filmed(tmux: PrivateTmux, path: Path) -> Iterator[Recorder]:
    recorder = Recorder([*tmux.argv, "-u", "attach-session", "-t", "talk"], tmux.environment, path)
    try:
        wait_until(lambda: bool(tmux.run("list-clients")), _LIMIT)
        yield recorder
    finally:
        recorder.stop()
        tmux.run("detach-client", "-s", "talk")
        recorder.close()


def record(path: Path, *, pace: float = 1.0) -> None:
    """Play the scene and write its recording; every server and file besides is private, and gone afterwards."""
    with tempfile.TemporaryDirectory(prefix="streamrelay-scene-") as folder, PrivateTmux() as tmux:
        scene = Scene(tmux, Path(folder), pace)
        scene.set()
        with _filmed(tmux, path) as recorder:
            scene.play(recorder)


def main() -> None:
    """Record the scene to the file that the command line names."""
    parser = argparse.ArgumentParser(prog="scene", description="Record the scene of the README's moving picture.")
    parser.add_argument("file", type=Path, help="the asciicast to write")
    parser.add_argument("--pace", type=float, default=1.0, help="how long people and agents take; 0 for not at all")
    arguments = parser.parse_args()
    record(arguments.file, pace=arguments.pace)


if __name__ == "__main__":
    main()
