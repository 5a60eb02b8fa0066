"""A scripted agent UI: a program that paints a transcript and a composer on its screen. Calls in, bytes out.

    program = TranscriptProgram(UiStyle(alternate=True))
    pane = ScriptedPane(program.style.columns, program.style.lines)
    pane.prints(program.starts())
    message_id = pane.pastes("hello")
    pane.prints(program.drafts("hello"))
    ...
    pane.prints(program.submits() + program.says("Hi!") + program.rests())

It writes real escape sequences and is independent of the stream that reads them. It paints in either of the two common
ways. On the main screen, rows that scroll off become history, and the program reaches the rows on the screen by moving
the cursor up from the composer. On the alternate screen, it addresses each row by its number, and rows that leave at
the top are lost.
"""

import itertools
from dataclasses import dataclass, field, replace
from typing import Literal

import regex

from streamrelay.vt.widths import unicode14

SignalKind = Literal["title", "agent_state", "furniture"]
Frame = Literal["rules", "box", "bar", "bare"]

_SCRIPTS_WITHOUT_BLANKS = r"\p{Han}\p{Hiragana}\p{Katakana}，。、？！："
_PIECES = regex.compile(rf"\s+|[{_SCRIPTS_WITHOUT_BLANKS}]|[^\s{_SCRIPTS_WITHOUT_BLANKS}]+")


@dataclass(frozen=True, slots=True)
class UiStyle:
    """How a program paints: on which screen, how much at once, and how it signals its state to the terminal."""

    columns: int = 60
    lines: int = 16
    alternate: bool = False
    synchronized: bool = False
    repaints_all: bool = False
    witness: SignalKind | None = None
    """What signals busy and idle: a title, an OSC, or a spinner that names the interrupt key; None: a plain spinner."""
    header: tuple[str, ...] = ()
    """Rows pinned to the top; on the alternate screen only."""
    erases_below: bool = False
    """Erase with one `CSI J` instead of row by row; on the main screen only. At row 0, tmux takes it for a clear."""
    folds_from: int | None = None
    """A paste of at least that many lines is shown as a placeholder; None for never."""
    mark: str = "> "
    """The mark before a message in the transcript; further rows are indented by its width."""
    bullet: str = "● "
    """The mark before each part of an answer."""
    composer_mark: str = "> "
    placeholder: str = ""
    """The text in an empty composer."""
    frame: Frame = "rules"
    glyphs: str = "─│╭╮╰╯"
    """The characters of the composer's frame: horizontal, vertical, four corners."""
    status: tuple[str, ...] = ("  ? for shortcuts",)
    """Rows below the composer."""
    spinner: str = "✶✻✽✢"
    """The glyphs of the spinner, in order."""
    label: str = "Thinking… (3s · esc to interrupt)"
    """The default text after the spinner."""
    footer: str = ""
    """A summary row after each answer; empty for none."""


@dataclass
class TranscriptProgram:
    """One run of the program. Each public method is something that the program does, and returns the bytes for it."""

    style: UiStyle = field(default_factory=UiStyle)

    def __post_init__(self) -> None:
        self.transcript: list[str] = []
        self._draft = ""
        self._label = ""
        self._answer: list[str] | None = None
        self._answer_from = 0
        self._question: tuple[str, ...] = ()
        self._spinner_glyphs = itertools.cycle(self.style.spinner)
        self._glyph = next(self._spinner_glyphs)
        self._painted: list[str] = []
        self._top = 0
        self._cursor = 0

    # Behaviour

    def starts(self, *splash: str) -> bytes:
        """Start: show an empty composer, or the rows of a splash in its place until `asks()` removes them."""
        self._question = splash
        screen = b"\x1b[?1049h\x1b[2J\x1b[H" if self.style.alternate else b""
        return screen + b"\x1b[?2004h" + self._paint()

    def leaves(self) -> bytes:
        """Exit: restore the terminal."""
        if self.style.alternate:
            return b"\x1b[?2004l\x1b[?1049l"
        return b"\x1b[?2004l\r\n"

    def drafts(self, text: str) -> bytes:
        """Show the text pasted or typed so far in the composer, or its placeholder."""
        lines = text.count("\n") + 1
        folds = self.style.folds_from is not None and lines >= self.style.folds_from
        self._draft = f"[Pasted text #1 +{lines - 1} lines]" if folds else text
        return self._paint()

    def submits(self, shown: str | None = None) -> bytes:
        """Move the draft, or `shown` in its place, into the transcript and start to work."""
        self._move_draft(shown)
        return self.works()

    def shows(self, queued: str | None = None) -> bytes:
        """Move the draft into the transcript without starting to work; a `queued` text is moved in its place."""
        draft = "" if queued is None else self._draft
        self._move_draft(queued)
        self._draft = draft
        return self._paint()

    def queues(self) -> str:
        """Remove the draft from the composer without showing it in the transcript; return it."""
        draft, self._draft = self._draft, ""
        return draft

    def works(self, label: str | None = None) -> bytes:
        """Work: show the next glyph of the spinner."""
        began = not self._label
        self._label = label or self.style.label
        self._glyph = next(self._spinner_glyphs)
        return (self._signal("busy") if began else b"") + self._paint()

    def says(self, text: str) -> bytes:
        """Append `text`, of one or more lines, to the answer."""
        if self._answer is None:
            self._answer, self._answer_from = [""], len(self.transcript)
        first, *others = text.split("\n")
        self._answer[-1] += first
        self._answer += others
        del self.transcript[self._answer_from :]
        self._say_block(self.style.bullet, "\n".join(self._answer))
        return self._paint()

    def aborts(self) -> bytes:
        """Abort the answer and erase its text."""
        if self._answer is not None:
            del self.transcript[self._answer_from :]
        self._close_answer()
        return self._paint()

    def calls_tool(self, tool_call: str, output: str) -> bytes:
        """Show a tool call and its output."""
        self._close_answer()
        self._say_block(self.style.bullet, tool_call)
        self.transcript.pop()
        self.transcript += [f"  ⎿  {output}", ""]
        return self._paint()

    def asks(self, *rows: str) -> bytes:
        """Show a question in the place of composer and status rows; without rows, remove it."""
        self._question = rows
        return (b"\x1b[?25l" if rows else b"\x1b[?25h") + self._paint()

    def rests(self) -> bytes:
        """Become idle: remove the spinner."""
        self._close_answer()
        if self.style.footer and self._label:
            self.transcript += [self.style.footer, ""]
        self._label = ""
        return self._paint() + self._signal("idle")

    def resizes(self, columns: int, lines: int, *, wipes_history: bool = False) -> bytes:
        """Follow the size of the terminal; the rows of the transcript keep their width."""
        self.style = replace(self.style, columns=columns, lines=lines)
        return self.repaints(wipes_history=wipes_history)

    def repaints(self, *, wipes_history: bool = False) -> bytes:
        """Clear the screen, optionally with its history, and print the whole transcript again."""
        self._painted, self._top, self._cursor = [], 0, 0
        wipe = b"\x1b[2J\x1b[3J\x1b[H" if wipes_history else b"\x1b[2J\x1b[H"
        return wipe + self._paint()

    # Painting

    def _close_answer(self) -> None:
        self._answer = None

    def _say_block(self, mark: str, text: str) -> None:
        indent = " " * len(unicode14().cells(mark))
        rows = [row for line in text.split("\n") for row in _wrapped(line, self.style.columns - len(indent))]
        self.transcript += [mark + rows[0], *(indent + row if row else "" for row in rows[1:]), ""]

    def _rows_below(self) -> tuple[list[str], int]:
        """Return the spinner, composer and status rows, and the index of the row with the cursor."""
        style = self.style
        if self._question:
            return list(self._question), len(self._question) - 1
        inner = style.columns - (4 if style.frame == "box" else 2 if style.frame == "bar" else 0)
        mark = style.composer_mark
        indent = " " * len(unicode14().cells(mark))
        wrapped = [row for line in self._draft.split("\n") for row in _wrapped(line, inner - len(indent))]
        draft = [mark + (wrapped[0] or style.placeholder), *(indent + row for row in wrapped[1:])]
        framed, above = self._framed(draft, inner)
        spinner = [f"{self._glyph} {self._label}", ""] if self._label and style.witness == "furniture" else []
        spinner = spinner or ([f"{self._glyph} {self._label.split('(')[0].strip()}", ""] if self._label else [])
        return [*spinner, *framed, *style.status], len(spinner) + above + len(draft) - 1

    def _framed(self, draft: list[str], inner: int) -> tuple[list[str], int]:
        """Return the draft in its frame, and the number of frame rows above it."""
        line, side, *corners = [*self.style.glyphs]
        match self.style.frame:
            case "rules":
                return [line * self.style.columns, *draft, line * self.style.columns], 1
            case "box":
                padded = [f"{side} {row}{' ' * (inner - len(unicode14().cells(row)))} {side}" for row in draft]
                top, bottom = (corners[n] + line * (inner + 2) + corners[n + 1] for n in (0, 2))
                return [top, *padded, bottom], 1
            case "bar":
                return [side, *(f"{side} {row}" for row in draft), side], 1
            case "bare":
                return draft, 0

    def _cursor_column(self, row: str) -> int:
        """Return the column of the cursor in the last row of the draft, counted from 1."""
        side = self.style.glyphs[1]
        text = row.removesuffix(side).rstrip() if self.style.frame == "box" else row
        if not self._draft and self.style.placeholder:
            text = text.removesuffix(self.style.placeholder)
        return min(len(unicode14().cells(text)) + 1, self.style.columns)

    def _paint(self) -> bytes:
        below, cursor = self._rows_below()
        painted = self._paint_alternate(below, cursor) if self.style.alternate else self._paint_main(below, cursor)
        return b"\x1b[?2026h" + painted + b"\x1b[?2026l" if self.style.synchronized else painted

    def _paint_alternate(self, below: list[str], cursor: int) -> bytes:
        header = list(self.style.header)
        height = self.style.lines - len(below) - len(header)
        shown = self.transcript[-height:]
        rows = [*header, *shown, *[""] * (height - len(shown)), *below]
        out = []
        for y, row in enumerate(rows):
            if self.style.repaints_all or y >= len(self._painted) or self._painted[y] != row:
                out.append(f"\x1b[{y + 1};1H{row}\x1b[K")
        self._painted = rows
        column = self._cursor_column(below[cursor])
        return ("".join(out) + f"\x1b[{len(header) + height + cursor + 1};{column}H").encode()

    def _paint_main(self, below: list[str], cursor: int) -> bytes:
        rows = [*self.transcript, *below]
        first = self._top
        if not self.style.repaints_all:
            common = itertools.takewhile(lambda pair: pair[0] == pair[1], zip(rows, self._painted, strict=False))
            first = min(max(first, sum(1 for _ in common)), len(rows) - 1)
        up = max(0, self._cursor - first)
        down = max(0, first - self._cursor)
        out = "\r" + (f"\x1b[{up}A" if up else "") + "\r\n" * down
        out += "\x1b[J" if self.style.erases_below else self._erase_rows(len(self._painted) - first)
        out += "\r\n".join(rows[first:])
        self._top = max(self._top, len(rows) - self.style.lines)
        self._painted = rows
        self._cursor = len(self.transcript) + cursor
        below_cursor = len(rows) - 1 - self._cursor
        out += f"\x1b[{below_cursor}A" if below_cursor else ""
        return (out + f"\x1b[{self._cursor_column(below[cursor])}G").encode()

    def _move_draft(self, shown: str | None = None) -> None:
        self._close_answer()
        self._say_block(self.style.mark, self._draft if shown is None else shown)
        self._draft = ""

    @staticmethod
    def _erase_rows(count: int) -> str:
        if count <= 0:
            return ""
        return "\r\n".join(["\x1b[2K"] * count) + (f"\x1b[{count - 1}A" if count > 1 else "") + "\r"

    def _signal(self, state: Literal["busy", "idle"]) -> bytes:
        match self.style.witness:
            case "title":
                return f"\x1b]0;{'⠋' if state == 'busy' else '*'} program\x07".encode()
            case "agent_state":
                return f"\x1b]7501;state={'working' if state == 'busy' else 'done'}\x07".encode()
            case _:
                return b""


def _wrapped(line: str, width: int) -> list[str]:
    """Wrap between words, and between characters of scripts without blanks; at least one row."""
    rows, used = [""], 0
    for piece in _PIECES.findall(line):
        cells = len(unicode14().cells(piece))
        if used + cells > width and not piece.isspace() and rows[-1].strip():
            rows[-1] = rows[-1].rstrip()
            rows.append("")
            used = 0
        if piece.isspace() and used == 0 and len(rows) > 1:
            continue
        rows[-1] += piece
        used += cells
    return [row.rstrip() for row in rows]
