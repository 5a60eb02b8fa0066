"""The terminal without pyte's face: bytes in, frames out."""

import codecs

from streamrelay.vt.dispatch import compiled
from streamrelay.vt.engine import Cursor, Frame, Snapshot
from streamrelay.vt.fast_path import FastPath, worthwhile
from streamrelay.vt.grid import Grid
from streamrelay.vt.history import RowQueue, StoredRow
from streamrelay.vt.packed import Packed
from streamrelay.vt.printing import draw
from streamrelay.vt.reflow import resize
from streamrelay.vt.rows import Line
from streamrelay.vt.seeding import seed
from streamrelay.vt.state import TerminalState
from streamrelay.vt.tokens import DELETE, DROPPED, UNFINISHED, Tokenizer, split_controls
from streamrelay.vt.widths import REPLACEMENT, Widths, unicode14

_SLICE = 1 << 14
"""Bytes rendered at a time: what a slice can add to the symbol table has room there (see symbols.py)."""
_PIECE = 1 << 12
"""Characters rendered the general way at a time."""


class Terminal:
    """An `Engine` with tmux's meaning of every byte."""

    def __init__(self, columns: int, lines: int, history: int = 10_000, widths: Widths | None = None) -> None:
        widths = unicode14() if widths is None else widths
        self._state = TerminalState(columns, lines, history, widths)
        self._flow: FastPath | None = None
        """While it is there, the grid's lines are stale."""
        self._resting: Packed | None = None
        """The screen while it rests; the grid has no lines then."""
        self._detour = 0
        """Characters to be rendered the general way before the next look for lines that are just printed."""
        self._longest_detour = _PIECE
        self._tokens = _tokenizer(widths)
        self._operations = compiled()

    @property
    def columns(self) -> int:
        """Width in cells."""
        return self._state.columns

    @property
    def lines(self) -> int:
        """Height in rows."""
        return self._state.lines

    @property
    def state(self) -> TerminalState:
        """The state, its grid up to date."""
        self._settle()
        return self._state

    def feed(self, data: bytes) -> None:
        """Render bytes of the program."""
        self._wake()
        self._state.grid.history.forget_surplus()
        for start in range(0, len(data), _SLICE):
            self._render(data[start : start + _SLICE] if len(data) > _SLICE else data)

    def feed_lines(self, data: bytes) -> int:
        """Render the beginning of `data` as far as it is printed lines with colours; return how many bytes that are.

        What is left unfinished at the end, a colour or a character, counts as rendered if it is all that is left.
        """
        begun = self._tokens.begun
        if self._detour > 0 or begun is None or DELETE in data:
            return 0
        if self._flow is None:
            self._wake()
            if not FastPath.possible(self._state):
                return 0
        read = begun + data if begun else data
        try:
            text, decoded = codecs.utf_8_decode(read, "strict", False)
        except UnicodeDecodeError:
            return 0
        if self._flow is None:
            if not worthwhile(text, 0):
                return 0
            self._flow = FastPath(self._state)
        self._state.grid.history.forget_surplus()
        end = self._flow.feed(text, 0)
        if not end:
            return 0
        is_text = decoded == len(read)
        if end == len(text) or (is_text and UNFINISHED.match(text, end)):
            self._tokens.begin(text[end:], read[decoded:])
            return len(data)
        self._tokens.begin("", b"")
        return len(text[:end].encode()) - len(begun)

    def _render(self, data: bytes) -> None:
        tokens = self._tokens
        text, strays = tokens.text(data)
        start = 0
        while start < len(text):
            if self._detour <= 0 and not (strays or tokens.in_sequence):
                end = self._print_lines(text, start)
                if end > start:
                    start = end
                    continue
            stop = self._end_of_piece(text, start)
            self._settle()
            self._interpret(tokens.cut(text[start:stop], strays))
            self._detour -= stop - start
            start = stop

    def _print_lines(self, text: str, start: int) -> int:
        if self._flow is None:
            if not (worthwhile(text, start) and FastPath.possible(self._state)):
                return start
            self._flow = FastPath(self._state)
        end = self._flow.feed(text, start)
        if end < len(text) and UNFINISHED.match(text, end):
            self._tokens.cut(text[end:], False)  # which keeps it
            return len(text)
        return end

    def _end_of_piece(self, text: str, start: int) -> int:
        """Return where to look for lines again: behind the open line, if the next one could be the first of them."""
        state = self._state
        stop = 0
        if self._detour <= 0 and state.x and state.y == state.lines - 1 and worthwhile(text, start):
            stop = text.find("\n", start) + 1
        elif len(text) - start > _PIECE:
            stop = text.find("\n", start + _PIECE) + 1
        return stop or len(text)

    def rest(self) -> None:
        """Hold the screen in little memory until it is fed or changed again."""
        if self._resting is not None:
            return
        lines = self.state.grid.lines
        if all(line.symbols is lines[0].symbols for line in lines):
            self._resting = Packed(lines)
            self._resting.squeeze()
            self._state.grid.lines = []
            self._state.renditions.clear()

    def _wake(self) -> None:
        if self._resting is not None:
            self._state.grid.lines = self._resting.rows(0, self._state.lines)
            self._resting = None

    def _settle(self) -> None:
        self._wake()
        if self._flow is None:
            return
        flow, self._flow = self._flow, None
        # Coming back costs as much as drawing some 4,000 characters: a program that causes it often stays here longer.
        self._longest_detour = min(2 * self._longest_detour, _SLICE) if flow.printed < _SLICE else _PIECE
        self._detour = self._longest_detour if flow.printed < _SLICE else 0
        line, dirty = flow.settle()
        self._interpret(split_controls(line))
        self._state.grid.dirty = dirty

    def _interpret(self, tokens: list[str]) -> None:
        state = self._state
        if state.grid.symbols.crowded:
            self._renew_symbols()
        operations = self._operations
        pairs = iter(tokens)
        carried = "" if tokens[0] else state.last
        for text in pairs:
            if text:
                draw(state, text)
            control = next(pairs, None)
            if control is None:
                if text or len(tokens) > 1:
                    state.last = text
                break
            state.last = text or carried
            carried = ""
            operations[control](state)

    def _renew_symbols(self) -> None:
        """Forget what refers to the old numbers of styles."""
        self._state.grid.renew_symbols()
        self._state.renditions.clear()
        self._state.set_style(self._state.style)

    @property
    def ground(self) -> bool:
        """Whether the parser is outside of any sequence or character."""
        return self._tokens.ground

    def take(self) -> Frame:
        """Return what changed since the last take, and forget it."""
        self.report()
        state = self._state
        grid = state.grid
        frame = Frame(
            committed=grid.history.claim(),
            history_total=grid.history.total,
            history_cleared=grid.history.cleared,
            dirty=grid.dirty,
            scrolled=grid.scrolled,
            cursor=Cursor(state.x, state.y),
            alternate=grid.saved is not None,
            epoch=state.epoch,
            ground=self.ground,
            events=state.events.take(),
            passed=None if self._flow is None else self._flow.take(),
            restarts=tuple(grid.restarts),
            overlays=tuple(grid.overlays),
            returns=tuple(grid.returns.values()),
            order=grid.order(),
        )
        grid.forget()
        return frame

    def report(self) -> None:
        """Bring `dirty` and `scrolled` of the grid up to date."""
        if self._flow is not None:
            self._flow.report()

    @property
    def widths(self) -> Widths:
        """How wide characters are here."""
        return self._state.widths

    @property
    def title(self) -> str:
        """What OSC 0, OSC 2 or APC set last."""
        return self._state.title

    @property
    def grid(self) -> Grid:
        """The grid, all but its lines up to date."""
        return self._state.grid

    def row(self, y: int) -> StoredRow:
        """Return screen line `y` as it is now."""
        if self._flow is not None:
            return self._flow.row(y) if y < self._state.lines - 1 else self._flow.open_row
        if self._resting is not None:
            return self._resting.row(y).cropped(self._state.columns)
        return self.state.grid.lines[y].cropped(self._state.columns)

    def rows(self, start: int, stop: int) -> RowQueue:
        """Return the screen lines `start` to `stop` (exclusive) as they are now."""
        if self._flow is not None and stop < self._state.lines:
            return self._flow.rows(start, stop)
        columns = self._state.columns
        return RowQueue([line.cropped(columns) for line in self._lines(start, stop)])

    def is_blank(self, start: int, stop: int) -> bool:
        """Return whether nothing is to be read in the screen lines `start` to `stop` (exclusive)."""
        columns = self._state.columns
        written = [line for line in self._lines(start, stop) if line.cells]
        return not any(line.cropped(columns).text.strip() for line in written)

    def _lines(self, start: int, stop: int) -> list[Line]:
        return self._resting.rows(start, stop) if self._resting is not None else self.state.grid.lines[start:stop]

    def resize(self, lines: int, columns: int) -> None:
        """Change the size as tmux does, rows reflowed. A new epoch."""
        resize(self.state, lines, columns)

    def seed(self, snapshot: Snapshot) -> None:
        """Become the screen of `snapshot`. A new epoch; nothing of it counts as changed or committed."""
        old = self.state
        self._state = seed(snapshot, old.grid.history.limit, old.widths)
        self._state.epoch = old.epoch + 1
        self._state.title = old.title
        self._tokens = _tokenizer(old.widths)
        self.feed(snapshot.pending)
        self.state.grid.forget()
        self.state.events.take()


def _tokenizer(widths: Widths) -> Tokenizer:
    return Tokenizer(REPLACEMENT + DROPPED) if widths.quirks.replaces_bad_bytes else Tokenizer()
