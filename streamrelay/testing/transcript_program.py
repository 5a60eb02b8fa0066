"""A program that keeps a transcript and a composer on a screen it paints itself, as agents do: script in, bytes out.

    program = TranscriptProgram(Look(alternate=True))
    pane = ScriptedPane(program.look.columns, program.look.lines)
    pane.prints(program.starts())
    message_id = pane.pastes("hello")
    pane.prints(program.drafts("hello"))
    ...
    pane.prints(program.submits() + program.says("Hi!") + program.rests())

It speaks in real escape sequences and knows nothing of the stream that reads them. Two ways of painting are common and
both are here. On the main screen what scrolls off is history, the rest is reached by moving up from the composer; on
the alternate screen every row has its place, and what left at the top is nowhere any more.
"""

import itertools
from dataclasses import dataclass, field
from typing import Literal

import regex

from streamrelay.vt.widths import unicode14

SignalKind = Literal["title", "agent_state", "furniture"]
Frame = Literal["rules", "box", "bar", "bare"]

_UNDIVIDED = r"\p{Han}\p{Hiragana}\p{Katakana}，。、？！："
_PIECES = regex.compile(rf"\s+|[{_UNDIVIDED}]|[^\s{_UNDIVIDED}]+")


@dataclass(frozen=True, slots=True)
class UiStyle:
    """How a program paints: where, how much of it at once, and what it lets its terminal know of its state."""

    columns: int = 60
    lines: int = 16
    alternate: bool = False
    synchronized: bool = False
    repaints_all: bool = False
    witness: SignalKind | None = None
    header: tuple[str, ...] = ()
    """Rows pinned to the top; on the alternate screen only."""
    erases_below: bool = False
    """Erase with one `CSI J` instead of row by row; on the main screen only. At home tmux takes that for a clear."""
    folds_from: int | None = None
    """Lines from which a paste is shown as a placeholder."""
    mark: str = "> "
    """What stands in front of a message in the transcript; what follows is indented under its text."""
    bullet: str = "● "
    """The same in front of each part of an answer."""
    composer_mark: str = "> "
    placeholder: str = ""
    """What stands in the empty composer."""
    frame: Frame = "rules"
    glyphs: str = "─│╭╮╰╯"
    """What the composer's frame is drawn with: lines, sides, corners."""
    status: tuple[str, ...] = ("  ? for shortcuts",)
    """Rows below the composer."""
    turning: str = "✶✻✽✢"
    """Frames of the spinner."""
    label: str = "Thinking… (3s · esc to interrupt)"
    """What stands behind the spinner, unless it is told otherwise."""
    footer: str = ""
    """A row that sums up each answer."""


@dataclass
class TranscriptProgram:
    """One run of the program. Every method returns the bytes that paint what it does."""

    look: UiStyle = field(default_factory=UiStyle)

    def __post_init__(self) -> None:
        self.transcript: list[str] = []
        self._draft = ""
        self._label = ""
        self._answer: list[str] | None = None
        self._answer_from = 0
        self._question: tuple[str, ...] = ()
        self._turning = itertools.cycle(self.look.turning)
        self._glyph = next(self._turning)
        self._painted: list[str] = []
        self._top = 0
        self._cursor = 0

    # What it does

    def starts(self, *splash: str) -> bytes:
        """Take the screen and show an empty composer, or a splash in its place until it is taken away (`asks`)."""
        self._question = splash
        screen = b"\x1b[?1049h\x1b[2J\x1b[H" if self.look.alternate else b""
        return screen + b"\x1b[?2004h" + self._paint()

    def leaves(self) -> bytes:
        """Give the screen back."""
        if self.look.alternate:
            return b"\x1b[?2004l\x1b[?1049l"
        return b"\x1b[?2004l\r\n"

    def drafts(self, text: str) -> bytes:
        """Show what was pasted or typed so far, or its placeholder."""
        lines = text.count("\n") + 1
        folds = self.look.folds_from is not None and lines >= self.look.folds_from
        self._draft = f"[Pasted text #1 +{lines - 1} lines]" if folds else text
        return self._paint()

    def submits(self, shown: str | None = None) -> bytes:
        """Move the draft into the transcript (`shown` in its place, if given) and begin to work."""
        self._move_draft(shown)
        return self.works()

    def shows(self, queued: str | None = None) -> bytes:
        """Move the draft into the transcript, or what was `queued` while the draft stays, and begin nothing yet."""
        draft = "" if queued is None else self._draft
        self._move_draft(queued)
        self._draft = draft
        return self._paint()

    def queues(self) -> str:
        """Take the draft out of the composer without showing it yet; return it."""
        draft, self._draft = self._draft, ""
        return draft

    def works(self, label: str | None = None) -> bytes:
        """Be at work: the spinner turns by one glyph."""
        began = not self._label
        self._label = label or self.look.label
        self._glyph = next(self._turning)
        return (self._tell("busy") if began else b"") + self._paint()

    def says(self, text: str) -> bytes:
        """Go on with the answer by `text`, which may hold several lines."""
        if self._answer is None:
            self._answer, self._answer_from = [""], len(self.transcript)
        first, *others = text.split("\n")
        self._answer[-1] += first
        self._answer += others
        del self.transcript[self._answer_from :]
        self._say_block(self.look.bullet, "\n".join(self._answer))
        return self._paint()

    def takes_back(self) -> bytes:
        """Abort the answer: what was said of it is erased."""
        if self._answer is not None:
            del self.transcript[self._answer_from :]
        self._close_answer()
        return self._paint()

    def does(self, tool_call: str, output: str) -> bytes:
        """Show a tool call and its output."""
        self._close_answer()
        self._say_block(self.look.bullet, tool_call)
        self.transcript.pop()
        self.transcript += [f"  ⎿  {output}", ""]
        return self._paint()

    def asks(self, *rows: str) -> bytes:
        """Put a question in the place of everything below the transcript, or take it away again (no rows)."""
        self._question = rows
        return (b"\x1b[?25l" if rows else b"\x1b[?25h") + self._paint()

    def rests(self) -> bytes:
        """Be done: the spinner is gone."""
        self._close_answer()
        if self.look.footer and self._label:
            self.transcript += [self.look.footer, ""]
        self._label = ""
        return self._paint() + self._tell("idle")

    def paints_anew(self, *, wipes_history: bool = False) -> bytes:
        """Clear the screen, and history if asked to, and print the whole transcript again."""
        self._painted, self._top, self._cursor = [], 0, 0
        wipe = b"\x1b[2J\x1b[3J\x1b[H" if wipes_history else b"\x1b[2J\x1b[H"
        return wipe + self._paint()

    # How it paints

    def _close_answer(self) -> None:
        self._answer = None

    def _say_block(self, mark: str, text: str) -> None:
        indent = " " * len(unicode14().cells(mark))
        rows = [row for line in text.split("\n") for row in _wrapped(line, self.look.columns - len(indent))]
        self.transcript += [mark + rows[0], *(indent + row if row else "" for row in rows[1:]), ""]

    def _rows_below(self) -> tuple[list[str], int]:
        """Return spinner, composer and status lines, and the row among them that holds the cursor."""
        look = self.look
        if self._question:
            return list(self._question), len(self._question) - 1
        inner = look.columns - (4 if look.frame == "box" else 2 if look.frame == "bar" else 0)
        mark = look.composer_mark
        indent = " " * len(unicode14().cells(mark))
        wrapped = [row for line in self._draft.split("\n") for row in _wrapped(line, inner - len(indent))]
        draft = [mark + (wrapped[0] or look.placeholder), *(indent + row for row in wrapped[1:])]
        framed, above = self._framed(draft, inner)
        spinner = [f"{self._glyph} {self._label}", ""] if self._label and look.witness == "furniture" else []
        spinner = spinner or ([f"{self._glyph} {self._label.split('(')[0].strip()}", ""] if self._label else [])
        return [*spinner, *framed, *look.status], len(spinner) + above + len(draft) - 1

    def _framed(self, draft: list[str], inner: int) -> tuple[list[str], int]:
        """Return the draft in its frame, and how many rows of that are above it."""
        line, side, *corners = [*self.look.glyphs]
        match self.look.frame:
            case "rules":
                return [line * self.look.columns, *draft, line * self.look.columns], 1
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
        side = self.look.glyphs[1]
        text = row.removesuffix(side).rstrip() if self.look.frame == "box" else row
        if not self._draft and self.look.placeholder:
            text = text.removesuffix(self.look.placeholder)
        return min(len(unicode14().cells(text)) + 1, self.look.columns)

    def _paint(self) -> bytes:
        below, cursor = self._rows_below()
        painted = self._paint_alternate(below, cursor) if self.look.alternate else self._paint_main(below, cursor)
        return b"\x1b[?2026h" + painted + b"\x1b[?2026l" if self.look.synchronized else painted

    def _paint_alternate(self, below: list[str], cursor: int) -> bytes:
        header = list(self.look.header)
        height = self.look.lines - len(below) - len(header)
        shown = self.transcript[-height:]
        rows = [*header, *shown, *[""] * (height - len(shown)), *below]
        out = []
        for y, row in enumerate(rows):
            if self.look.repaints_all or y >= len(self._painted) or self._painted[y] != row:
                out.append(f"\x1b[{y + 1};1H{row}\x1b[K")
        self._painted = rows
        column = self._cursor_column(below[cursor])
        return ("".join(out) + f"\x1b[{len(header) + height + cursor + 1};{column}H").encode()

    def _paint_main(self, below: list[str], cursor: int) -> bytes:
        rows = [*self.transcript, *below]
        first = self._top
        if not self.look.repaints_all:
            common = itertools.takewhile(lambda pair: pair[0] == pair[1], zip(rows, self._painted, strict=False))
            first = min(max(first, sum(1 for _ in common)), len(rows) - 1)
        up = max(0, self._cursor - first)
        down = max(0, first - self._cursor)
        out = "\r" + (f"\x1b[{up}A" if up else "") + "\r\n" * down
        out += "\x1b[J" if self.look.erases_below else self._erase_rows(len(self._painted) - first)
        out += "\r\n".join(rows[first:])
        self._top = max(self._top, len(rows) - self.look.lines)
        self._painted = rows
        self._cursor = len(self.transcript) + cursor
        below_cursor = len(rows) - 1 - self._cursor
        out += f"\x1b[{below_cursor}A" if below_cursor else ""
        return (out + f"\x1b[{self._cursor_column(below[cursor])}G").encode()

    def _move_draft(self, shown: str | None = None) -> None:
        self._close_answer()
        self._say_block(self.look.mark, self._draft if shown is None else shown)
        self._draft = ""

    @staticmethod
    def _erase_rows(count: int) -> str:
        if count <= 0:
            return ""
        return "\r\n".join(["\x1b[2K"] * count) + (f"\x1b[{count - 1}A" if count > 1 else "") + "\r"

    def _tell(self, state: Literal["busy", "idle"]) -> bytes:
        match self.look.witness:
            case "title":
                return f"\x1b]0;{'⠋' if state == 'busy' else '*'} program\x07".encode()
            case "agent_state":
                return f"\x1b]7501;state={'working' if state == 'busy' else 'done'}\x07".encode()
            case _:
                return b""


def _wrapped(line: str, width: int) -> list[str]:
    """Wrap between words, and between characters that are written without blanks; at least one row."""
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
