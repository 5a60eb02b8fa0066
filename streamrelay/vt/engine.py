"""The seam between bytes and screens: what every terminal engine gives, and nothing more.

    bytes -> Engine.feed ... Engine.take() -> Frame

Whatever stands right of this seam works on `Frame` and `Row` values and never learns which engine made them.
The rules every engine obeys:

* `feed` takes any bytes, cut anywhere, and never raises on them; any chunking of the same bytes gives the same result.
* A *committed* row is one that entered history. Rows of the alternate screen never commit.
* A caller that takes a frame after every feed gets every committed row, however many there were: these rows do not come
  from the bounded history. The bytes of one feed bound the memory for them. Rows that were not taken for more than one
  feed are kept as far as history would hold them, and `history_total` shows the gap. (An engine that was never asked
  for a frame keeps no more than its history.)
* `history_total` counts the rows that ever entered history and never falls, so `history_total + y` names the row
  at screen line `y` of the main screen for as long as nothing is inserted or deleted above it.
* A `Row` handed out is a value: it never changes after.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal, NamedTuple, Protocol

import msgspec

TerminalEventKind = Literal[
    "bell", "title", "notification", "clipboard", "prompt_mark", "agent_state",
    "synchronized_begin", "synchronized_end",
    "bracketed_paste_on", "bracketed_paste_off",
    "alternate_on", "alternate_off", "history_cleared", "reset",
]  # fmt: skip


_REVERSE = re.compile(r"(?:(?![345]8;)[0-9:]+;)*7(?:;|$)")
"""Matches the parameters of `Style.sgr` if reverse is among them: attributes come first, and `38;5;7` is a colour."""


@dataclass(frozen=True, slots=True)
class TerminalEvent:
    """Something a program told its terminal that is not text.

    `payload` is the text of the control string where it has one: the title, the OSC 9 message, the OSC 52, 133, 633 or
    7501 parameters; empty otherwise.
    """

    kind: TerminalEventKind
    payload: str = ""


@dataclass(frozen=True, slots=True)
class Run:
    """A stretch of cells of one style: columns `start` to `stop` (exclusive), `style` as SGR parameters ("1;31")."""

    start: int
    stop: int
    style: str

    @property
    def is_reverse(self) -> bool:
        """Whether foreground and background are exchanged."""
        return _REVERSE.match(self.style) is not None


class Row(Protocol):
    """One row of the grid as it was when it was taken."""

    @property
    def text(self) -> str:
        """The characters of the cells in use, trailing blanks that were written included."""

    @property
    def wrapped(self) -> bool:
        """Whether the next row continues this one (a soft wrap, no line feed)."""

    @property
    def runs(self) -> tuple[Run, ...]:
        """The styles, resolved when asked for; stretches in the default style are left out."""

    def columns(self, start: int, stop: int) -> str:
        """Return the characters whose first column is in `start` to `stop` (exclusive); unused cells give nothing."""


class Rows(Protocol):
    """Rows in order, oldest first; they may be made only when they are read."""

    def __len__(self) -> int:
        """The number of rows."""

    def __iter__(self) -> Iterator[Row]:
        """The rows."""

    def texts(self) -> list[str] | None:
        """Return the texts of all rows, without blanks at their ends, if none is soft-wrapped: the way of a flood."""


@dataclass(frozen=True, slots=True)
class Restart:
    """The program began the main screen anew: it cleared the screen, or moved up to its first row.

    What it prints next may be a second copy of rows that history holds already, and rows that clearing pushed into
    history were replaced, not printed.
    """

    total: int
    """`history_total` right after."""
    erased: int = 0
    """How many of the newest rows of history clearing pushed there (tmux 3.3a grid-view.c, grid_view_clear_history)."""
    cleared: bool = False
    """Whether the program cleared the screen; otherwise it only moved up."""


class Overlay(NamedTuple):
    """A row of the main screen that a program wrote over in an excursion (excursion.py)."""

    row: int
    """`history_total + y`."""
    under: str
    """What the row read before."""
    text: str
    """What it read after."""


class Return(NamedTuple):
    """A carriage return went to the beginning of a row that continued the row above it (a soft wrap).

    A program knows nothing of the terminal's width: it went back to the beginning of its line. Where it has written
    over the row since, its line begins there, and the rows above hold what it was to replace.
    """

    row: int
    """`history_total + y`."""
    text: str
    """What the row read then."""
    first: int
    """The number of the first row of that line, as far as it was on the screen."""
    is_written_over: bool = False
    """Whether the program was seen to write over the row, whatever the row reads now."""


# These two are made for every frame of every pane, and C makes them.
class Cursor(msgspec.Struct, frozen=True, gc=False):
    """Zero-based position; `x` equals the number of columns while a wrap is pending (tmux's own rule)."""

    x: int
    y: int


class Frame(msgspec.Struct):
    """What changed since the last take; O(committed + dirty rows)."""

    committed: Rows
    history_total: int
    history_cleared: bool
    dirty: int
    """Bitmask of screen lines that changed since the last take, bit y for line y; a scroll alone sets no bit."""
    scrolled: int
    """Rows the screen moved up since the last take by scrolling as a whole."""
    cursor: Cursor
    alternate: bool
    epoch: int
    """Raised by every resize and seed: row numbers of different epochs don't compare."""
    ground: bool
    """False while the parser is inside a sequence or a character."""
    events: tuple[TerminalEvent, ...] = ()
    passed: list[str] | None = None
    """The texts of the rows from where the cursor was at the last take to where it is now, without blanks at their
    ends, where all that happened was that these were printed and none is soft-wrapped; None where that is not known.
    All of them are among the committed rows or on the screen as well: this is the way of a flood."""
    restarts: tuple[Restart, ...] = ()
    """Where the program began the main screen anew, in order; at most one for each state of history."""
    overlays: tuple[Overlay, ...] = ()
    """What the program wrote over rows of the main screen in excursions, in order."""
    returns: tuple[Return, ...] = ()
    """Where carriage returns stopped short of the beginning of a line, for each row the first one."""
    order: tuple[int, ...] = ()
    """For each screen line how often lines of the main screen had been pushed down when it got its text: what stands
    above others with a lower number was inserted there. Empty if nothing ever was."""


@dataclass(frozen=True, slots=True)
class Modes:
    """The modes tmux tells of a pane."""

    cursor_visible: bool = True
    insert: bool = False
    wrap: bool = True
    origin: bool = False
    bracketed_paste: bool = False
    application_cursor: bool = False
    application_keypad: bool = False


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A screen as tmux itself holds it: what an engine is seeded with (tmux 3.3a cmd-capture-pane.c)."""

    columns: int
    lines: int
    rows: tuple[bytes, ...]
    """One per screen line, as `capture-pane -e -N` prints them: text with SGR sequences, without newlines."""
    wrapped: tuple[bool, ...]
    cursor: Cursor
    history: tuple[bytes, ...] = ()
    """Rows of history, oldest first, in the same form; may be left out and only counted."""
    history_total: int = 0
    alternate: bool = False
    scroll_region: tuple[int, int] | None = None
    """First and last line of the region, zero-based and inclusive; None for the whole screen."""
    modes: Modes = field(default_factory=Modes)
    pending: bytes = b""
    """The bytes of an unfinished escape sequence (`capture-pane -P`), fed after the rows."""


class Engine(Protocol):
    """The smallest interface everything else is derived from."""

    @property
    def columns(self) -> int:
        """Width in cells."""

    @property
    def lines(self) -> int:
        """Height in rows."""

    def feed(self, data: bytes) -> None:
        """Render bytes of the program."""

    def feed_lines(self, data: bytes) -> int:
        """Render the beginning of `data` as far as it is known to be printed lines with colours, and nothing else.

        Returns how many bytes that are, which may be none; the rest is to be fed after them.
        """

    def take(self) -> Frame:
        """Return what changed since the last take, and forget it."""

    def row(self, y: int) -> Row:
        """Return screen line `y` as it is now."""

    def rows(self, start: int, stop: int) -> Rows:
        """Return the screen lines `start` to `stop` (exclusive) as they are now."""

    def is_blank(self, start: int, stop: int) -> bool:
        """Return whether nothing is to be read in the screen lines `start` to `stop` (exclusive)."""

    def resize(self, lines: int, columns: int) -> None:
        """Change the size. A new epoch; rows that a lower screen gives to history commit."""

    def rest(self) -> None:
        """Hold the screen in as little memory as can be: nothing is expected to come soon. Nothing else changes."""

    def seed(self, snapshot: Snapshot) -> None:
        """Become the screen of `snapshot`. A new epoch; nothing of it counts as changed or committed."""
