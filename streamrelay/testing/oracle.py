"""The oracle: compares a `TmuxScreen` with a real tmux that gets the same bytes.

    with PrivateTmux() as server:
        assert Oracle(server).differences([data], columns=80, lines=24) == [[]]

Panes of a private server print files (`stty raw -echo; cat`), many at a time, and the oracle reads them with all forms
of `capture-pane`. tmux does not report the current attributes, charsets, tab stops and the saved cursor; they show only
in later output.
"""

import itertools
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from streamrelay.testing.tmux import PrivateTmux
from streamrelay.testing.waiting import wait_until
from streamrelay.vt import TmuxScreen
from streamrelay.vt.clusters import width_of
from streamrelay.vt.comparison import divergences
from streamrelay.vt.engine import Cursor, Modes, Snapshot
from streamrelay.vt.state import TAB_WIDTH
from streamrelay.vt.widths import Widths, unicode14

HISTORY = 2000
"""Rows of history the oracle's panes keep."""
CUT_OFF = b"\x1b\\\x18"
"""Ends unfinished sequences: ST ends strings that nothing else ends, CAN all others."""
_BATCH = 20
_FORMATS = (
    "cursor_x", "cursor_y", "alternate_on", "history_size", "scroll_region_upper", "scroll_region_lower",
    "cursor_flag", "insert_flag", "wrap_flag", "origin_flag", "keypad_cursor_flag", "keypad_flag",
)  # fmt: skip


Resized = Sequence[tuple[bytes, tuple[int, int]]]
"""Parts of a stream, each with the columns and lines that its window gets afterwards."""


@dataclass(frozen=True)
class OracleAnswer:
    """tmux's state: `rows` are history and screen together, with all blanks in use.

    `values` are tmux's formats as numbers, `joined` is the output of `capture-pane -J`, `styled` that of `-e`.
    """

    columns: int
    lines: int
    rows: list[str]
    styled: list[str]
    styled_history: list[str]
    joined: str
    pending: str
    values: dict[str, int]

    @property
    def cursor(self) -> tuple[int, int]:
        """Column, the number of columns while a wrap is pending, and line."""
        return self.values["cursor_x"], self.values["cursor_y"]

    @property
    def wrapped(self) -> list[bool]:
        """Which rows continue in the next one, found by comparing the rows with the joined text."""
        wrapped, at = [], 0
        for row in self.rows:
            at += len(row)
            ends = self.joined[at : at + 1] in {"\n", ""}
            wrapped.append(not ends)
            at += ends
        return wrapped

    @property
    def snapshot(self) -> Snapshot:
        """The state as a snapshot to seed an engine with."""
        size = self.values["history_size"]
        flag = {name: bool(value) for name, value in self.values.items()}
        return Snapshot(
            columns=self.columns,
            lines=self.lines,
            rows=tuple(row.encode() for row in self.styled),
            wrapped=tuple(self.wrapped[size:]),
            cursor=Cursor(*self.cursor),
            history=tuple(row.encode() for row in self.styled_history[:size]),
            history_total=size,
            alternate=flag["alternate_on"],
            scroll_region=(self.values["scroll_region_upper"], self.values["scroll_region_lower"]),
            modes=Modes(
                cursor_visible=flag["cursor_flag"],
                insert=flag["insert_flag"],
                wrap=flag["wrap_flag"],
                origin=flag["origin_flag"],
                application_cursor=flag["keypad_cursor_flag"],
                application_keypad=flag["keypad_flag"],
            ),
            pending=re.sub(rb"\\(\d{3})", lambda octal: bytes([int(octal[1], 8)]), self.pending.encode()),
        )


class Oracle:
    """Prints bytes in panes of a private tmux and returns their state.

    `widths` is the table of the compared screens, by default the built-in one; `panes.calibration.calibrate` makes the
    table of the running tmux.

    The oracle ends unfinished sequences with ST and CAN, so that tmux can report when it has read everything.
    """

    def __init__(self, server: PrivateTmux, widths: Widths | None = None) -> None:
        self._server = server
        self.widths = unicode14() if widths is None else widths
        self._names = (f"oracle{number}" for number in itertools.count())
        server.new_session("idle", ["sleep", "600"])
        # Since 3.4, -N alone also prints cells that were never written; -T omits those.
        options = server.run("list-commands", "capture-pane").partition("]")[0]
        self._exact = ("-N", "-T") if "T" in options else ("-N",)
        server.run("set", "-g", "history-limit", str(HISTORY), ";", "set", "-g", "status", "off")

    def ask(self, data: Sequence[bytes], columns: int, lines: int) -> list[OracleAnswer]:
        """Return tmux's answers, one for each of `data`."""
        return [
            answer
            for start in range(0, len(data), _BATCH)
            for answer in self._ask(data[start : start + _BATCH], columns, lines)
        ]

    def differences(self, data: Sequence[bytes], columns: int, lines: int) -> list[list[str]]:
        """Feed each of `data` to a `TmuxScreen` as well, and return its differences from tmux as text."""
        answers = self.ask(data, columns, lines)
        return [compare(part, answer, self.widths) for part, answer in zip(data, answers, strict=True)]

    @property
    def draws_images(self) -> bool:
        """Whether sixel images move the cursor (3.5a); `TmuxScreen` drops them."""
        return self.ask([b"a\x1bPq\x07b\x1b\\c"], 10, 2)[0].cursor[1] == 1

    def screen(self, columns: int, lines: int, history: int = 10_000) -> TmuxScreen:
        """Return an empty screen that is calibrated like this oracle."""
        return TmuxScreen(columns, lines, history, widths=self.widths)

    def resized(self, streams: Sequence[Resized], columns: int, lines: int) -> list[OracleAnswer]:
        """Return tmux's answers to streams with resizes between their parts; all streams have as many parts."""
        names = list(itertools.islice(self._names, len(streams)))
        script = 'stty raw -echo; for part; do cat "$part"; head -c 1; done; exec sleep 600'
        command: list[str] = []
        for name, stream in zip(names, streams, strict=True):
            files = [self._server.directory / f"{name}.{number}" for number in range(len(stream))]
            for number, (file, (part, _)) in enumerate(zip(files, stream, strict=True)):
                file.write_bytes(part + CUT_OFF + b"\x1b]2;seen%d\x1b\\" % number)
            size = ("-x", str(columns), "-y", str(lines))
            command += ["new-session", "-d", "-s", name, *size, "--", "sh", "-c", script, "sh", *map(str, files), ";"]
        self._server.run(*command[:-1])
        for number in range(len(streams[0])):
            self._wait(names, f"seen{number}")
            steps: list[str] = []
            for name, stream in zip(names, streams, strict=True):
                width, height = stream[number][1]
                steps += ["resize-window", "-t", name, "-x", str(width), "-y", str(height), ";"]
                # A byte without a width releases the next part; it is not shown.
                steps += ["send-keys", "-t", name, "-H", "00", ";"] if number < len(stream) - 1 else []
            self._server.run(*steps[:-1])
        answers = [self.look(name, *stream[-1][1]) for name, stream in zip(names, streams, strict=True)]
        self._server.run(*itertools.chain.from_iterable(("kill-session", "-t", name, ";") for name in names))
        return answers

    def _ask(self, data: Sequence[bytes], columns: int, lines: int) -> list[OracleAnswer]:
        names = list(itertools.islice(self._names, len(data)))
        script = 'stty raw -echo; cat "$1"; exec sleep 600'
        command: list[str] = []
        for name, part in zip(names, data, strict=True):
            file = self._server.directory / name
            # The title appears when tmux has read everything.
            file.write_bytes(part + CUT_OFF + b"\x1b]2;seen\x1b\\")
            size = ("-x", str(columns), "-y", str(lines))
            command += ["new-session", "-d", "-s", name, *size, "--", "sh", "-c", script, "sh", str(file), ";"]
        self._server.run(*command[:-1])
        self._wait(names, "seen")
        answers = [self.look(name, columns, lines) for name in names]
        self._server.run(*itertools.chain.from_iterable(("kill-session", "-t", name, ";") for name in names))
        return answers

    def _wait(self, names: Sequence[str], title: str) -> None:
        def seen() -> bool:
            titles = self._server.run("list-panes", "-a", "-F", "#{session_name} #{pane_title}").splitlines()
            return all(f"{name} {title}" in titles for name in names)

        wait_until(seen, 20, "tmux did not read everything")

    def look(self, name: str, columns: int, lines: int) -> OracleAnswer:
        """Return the current state of the pane of the session `name`."""
        mark = ("display-message", "-p", "=====")
        capture = ("capture-pane", "-p", "-S", "-", "-t", name)
        formats = " ".join(f"#{{{value}}}" for value in _FORMATS)
        printed = self._server.run(
            "display-message", "-p", "-t", name, formats,
            ";", *mark, ";", *capture, *self._exact, ";", *mark, ";", *capture, "-J",
            ";", *mark, ";", "capture-pane", "-p", "-t", name, "-e", *self._exact,
            ";", *mark, ";", *capture, "-E", "-1", "-e", *self._exact, ";", *mark, ";", *capture, "-P", "-C",
        )  # fmt: skip
        values, rows, joined, styled, styled_history, pending = f"{printed}\n".split("=====\n")
        if "\t" in rows:
            rows, joined = self._without_tabs(rows, joined, columns)
        return OracleAnswer(
            columns=columns,
            lines=lines,
            rows=rows.split("\n")[:-1],
            styled=styled.split("\n")[:-1],
            styled_history=styled_history.split("\n")[:-1],
            joined=joined,
            pending=pending.strip("\n"),
            values=dict(zip(_FORMATS, map(int, values.split()), strict=True)),
        )

    def _without_tabs(self, rows: str, joined: str, columns: int) -> tuple[str, str]:
        """Replace the tabs that tmux 3.8 keeps and prints by blanks up to the next default stop, in both captures."""
        blanks: list[str] = []
        plain: list[str] = []
        for row in rows.split("\n"):
            text, *parts = row.split("\t")
            for part in parts:
                at = width_of(text, self.widths)
                blanks.append(" " * min(TAB_WIDTH - at % TAB_WIDTH, columns - 1 - at))
                text += blanks[-1] + part
            plain.append(text)
        kept = iter(blanks)
        return "\n".join(plain), re.sub("\t", lambda _: next(kept), joined)


def compare(data: bytes, answer: OracleAnswer, widths: Widths | None = None) -> list[str]:
    """Return how a `TmuxScreen` fed `data` differs from tmux: screen, history, soft wraps, styles, cursor, modes."""
    screen = TmuxScreen(answer.columns, answer.lines, HISTORY, widths=widths)
    screen.feed(data + CUT_OFF)
    # If one of two rows is empty, tmux does not reveal which one continues; the joined text is known.
    agrees = _joined(screen).rstrip("\n") == answer.joined.rstrip("\n")
    found = divergences(screen, answer.snapshot)
    said = [str(divergence) for divergence in found if divergence.aspect != "wrap" or not agrees]
    size = answer.values["history_size"]
    history = [row.rstrip(" ") for row in answer.rows[:size]]
    if screen.history_text() != history:
        said.append(f"history: {screen.history_text()!r} is {history!r} in tmux")
    return said


def _joined(screen: TmuxScreen) -> str:
    history: Any = screen.history.top  # pyte calls its rows dicts
    rows = [*(view.line for view in history), *(screen.row(y) for y in range(screen.lines))]
    return "".join(row.text + "\n" * (not row.wrapped) for row in rows)
