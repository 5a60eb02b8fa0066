"""The terminal without pyte's face: bytes in, frames out."""

from streamrelay.vt.controls import Operation, compile_control
from streamrelay.vt.drawing import draw
from streamrelay.vt.engine import Cursor, Frame, Snapshot
from streamrelay.vt.rows import Line
from streamrelay.vt.seeding import seed
from streamrelay.vt.state import State
from streamrelay.vt.tokens import Tokenizer
from streamrelay.vt.widths import Widths, unicode14

_SLICE = 1 << 16
"""Bytes rendered at a time: what a slice can add to the symbol table has room there (see symbols.py)."""
_CACHE_LIMIT = 4096
_CACHED_LENGTH = 64


class Terminal:
    """An `Engine` with tmux's meaning of every byte."""

    def __init__(self, columns: int, lines: int, history: int = 10_000, widths: Widths | None = None) -> None:
        self.state = State(columns, lines, history, unicode14() if widths is None else widths)
        self._tokens = Tokenizer()
        self._operations: dict[str, Operation] = {}
        self._epoch = 0

    @property
    def columns(self) -> int:
        """Width in cells."""
        return self.state.columns

    @property
    def lines(self) -> int:
        """Height in rows."""
        return self.state.lines

    def feed(self, data: bytes) -> None:
        """Render bytes of the program."""
        for start in range(0, len(data), _SLICE):
            self._render(data[start : start + _SLICE])

    def _render(self, data: bytes) -> None:
        state = self.state
        if state.grid.symbols.crowded:
            self._renew_symbols()
        operations = self._operations
        tokens = self._tokens.split(data)
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
            operation = operations.get(control)
            if operation is None:
                operation = compile_control(control)
                if len(control) <= _CACHED_LENGTH:
                    if len(operations) >= _CACHE_LIMIT:
                        operations.clear()
                    operations[control] = operation
            operation(state)

    def _renew_symbols(self) -> None:
        """Forget what refers to the old numbers of styles."""
        self.state.grid.renew_symbols()
        self.state.set_style(self.state.style)
        self._operations.clear()

    @property
    def ground(self) -> bool:
        """Whether the parser is outside of any sequence or character."""
        return self._tokens.ground

    def take(self) -> Frame:
        """Return what changed since the last take, and forget it."""
        state = self.state
        grid = state.grid
        frame = Frame(
            committed=grid.claim(),
            history_total=grid.total,
            history_cleared=grid.history_cleared,
            dirty=grid.dirty,
            scrolled=grid.scrolled,
            cursor=Cursor(state.x, state.y),
            alternate=grid.saved is not None,
            epoch=self._epoch,
            ground=self.ground,
            events=state.events.take(),
        )
        grid.forget()
        return frame

    def row(self, y: int) -> Line:
        """Return screen line `y` as it is now."""
        return self.state.grid.lines[y].copy()

    def resize(self, lines: int, columns: int) -> None:
        """Change the size without reflow. A new epoch."""
        state = self.state
        up = state.grid.resize(lines, columns, state.y)
        if columns != state.columns:
            state.columns = columns
            state.reset_tabs()
        state.lines = lines
        state.top, state.bottom = 0, lines - 1
        state.x, state.y = min(state.x, columns), state.y - up
        self._epoch += 1

    def seed(self, snapshot: Snapshot) -> None:
        """Become the screen of `snapshot`. A new epoch; nothing of it counts as changed or committed."""
        old = self.state
        self.state = seed(snapshot, old.grid.limit, old.widths)
        self.state.title = old.title
        self._operations.clear()
        self._tokens = Tokenizer()
        self._epoch += 1
        self.feed(snapshot.pending)
        self.state.grid.forget()
        self.state.events.take()
