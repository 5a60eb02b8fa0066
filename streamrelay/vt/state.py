"""What a terminal remembers: the grid, the cursor and all that decides what the next byte does to them."""

from dataclasses import dataclass, replace
from functools import cache, lru_cache
from typing import Final

from streamrelay.vt.engine import Modes
from streamrelay.vt.events import TerminalEvents
from streamrelay.vt.excursion import Excursion
from streamrelay.vt.grid import Grid
from streamrelay.vt.styles import DEFAULT, Style
from streamrelay.vt.widths import Widths

TAB_WIDTH: Final = 8


@dataclass(frozen=True, slots=True)
class Charsets:
    """Whether G0 and G1 are the line-drawing charset, and which of them is in use."""

    g0: bool = False
    g1: bool = False
    shifted: bool = False

    @property
    def acs(self) -> bool:
        """Whether letters are written as line drawing."""
        return self.g1 if self.shifted else self.g0


@dataclass(frozen=True, slots=True)
class Saved:
    """What DECSC keeps and DECRC brings back (tmux keeps the origin mode, but not the wrap mode)."""

    x: int = 0
    y: int = 0
    style: Style = DEFAULT
    charsets: Charsets = Charsets()
    origin: bool = False


@cache
def _switched(modes: Modes, name: str, on: bool) -> Modes:
    """Programs hide and show the cursor in every frame; there are only so many combinations."""
    return replace(modes, **{name: on})


@lru_cache(maxsize=64)
def _tab_stops(columns: int) -> frozenset[int]:
    """Few programs set their own: screens of one width share theirs."""
    return frozenset(range(TAB_WIDTH, columns, TAB_WIDTH))


class TerminalState:
    """The state of one terminal, with the few steps that everything else is made of.

    `x` equals `columns` while a wrap is pending. `top` and `bottom` are the scroll region, inclusive.
    """

    def __init__(self, columns: int, lines: int, history: int, widths: Widths) -> None:
        self.columns = columns
        self.lines = lines
        self.grid = Grid(columns, lines, history)
        self.widths = widths
        self.events = TerminalEvents()
        self.title = ""
        self.epoch = 0
        """Raised by every new size or seed."""
        self.last = ""
        """The text right before the control being carried out, its last character at least; for REP."""
        self.joining = False
        """Whether a ZERO WIDTH JOINER waits for its other half."""
        self.x = 0
        self.y = 0
        self.main_cursor: tuple[int, int] | None = None
        """Where mode 1049 left the main screen last; kept after it is back."""
        self.main_style = DEFAULT
        self.tabs: frozenset[int] = frozenset()
        self.renditions: dict[tuple[str, int], int] = {}
        """Which pen an SGR made of a pen."""
        self.reset()

    def reset(self) -> None:
        """Take back everything but the grid, the title and what the alternate screen saved."""
        self.top = 0
        self.bottom = self.lines - 1
        self.saved = Saved()
        self.excursion: Excursion | None = None
        """What the program writes before it restores the cursor that it has saved."""
        self.charsets = Charsets()
        self.reset_tabs()
        self.set_modes(Modes())
        self.set_style(DEFAULT)

    def reset_tabs(self) -> None:
        """Put a tab stop into every eighth column."""
        self.tabs = _tab_stops(self.columns)

    def set_modes(self, modes: Modes) -> None:
        """Become `modes`."""
        self.modes = modes
        self.flows = modes.wrap and not modes.insert
        """Whether text just replaces cells and wraps: the way almost all text is written."""

    def change_mode(self, name: str, on: bool) -> None:
        """Switch one mode, by its name in `Modes`."""
        self.set_modes(_switched(self.modes, name, on))

    def set_style(self, style: Style) -> None:
        """Write and erase in `style` from here on."""
        symbols = self.grid.symbols
        self.pen = symbols.style(style)
        self.style = symbols.styles[self.pen]
        self.eraser = symbols.erasers[self.pen]
        self.acs_pen = symbols.style(style.with_acs(True)) if self.charsets.acs else None
        """The pen for letters while they are line drawing, else None."""

    def set_charsets(self, charsets: Charsets) -> None:
        """Switch charsets."""
        self.charsets = charsets
        self.set_style(self.style)

    def set_title(self, title: str) -> None:
        """Take a new title."""
        self.title = title
        self.events.add("title", title)

    def move_to(self, x: int, y: int) -> None:
        """Put the cursor there, kept on the screen; this ends a pending wrap."""
        self.x = min(max(x, 0), self.columns - 1)
        self.y = min(max(y, 0), self.lines - 1)

    def index(self, eraser: int) -> None:
        """Move down one line, scrolling at the bottom of the region; the column stays, pending wrap included."""
        if self.y == self.bottom:
            if self.top == 0 and self.bottom == self.lines - 1:
                self.grid.scroll(eraser)
            else:
                self.grid.scroll_up(self.top, self.bottom, eraser)
        elif self.y < self.lines - 1:
            self.y += 1

    def wrap(self) -> None:
        """Go on at the beginning of the next line, and remember that it continues this one."""
        grid = self.grid
        line = grid.lines[self.y]
        if not line.wrapped:
            line.wrapped = True
            grid.dirty |= 1 << self.y
        self.index(0)
        self.x = 0
