"""An animation: the screens that the pane of a recording showed, and the time of each.

    animation = animate(open_recording(Path("talk.cast")))
    animation.screens[-1].rows[0]       # the pieces of the first row of the final screen

A screen is a value: rows of pieces, each a stretch of text in one style at a column. `streamrelay.recordings.svg` draws
it; nothing here knows how. Output that arrives within `FRAME_SECONDS` makes one screen, so a program that repaints in
many small writes does not flicker.
"""

from collections.abc import Iterable, Iterator
from itertools import groupby, pairwise
from typing import Final, NamedTuple

from streamrelay.delta.inputs import Began, Input, Output, Reseeded, Resized
from streamrelay.errors import RecordingError
from streamrelay.recordings.model import Recording
from streamrelay.recordings.replay import screen_of
from streamrelay.vt import TmuxScreen
from streamrelay.vt.pyte_view import LineView
from streamrelay.vt.styles import OVERLINE, REVERSE, STRIKE, Style

FRAME_SECONDS: Final = 1 / 15
MAX_SCREENS: Final = 5000
"""Screens of one animation: a recording of many hours must not fill memory."""


class Piece(NamedTuple):
    """Neighbouring cells of one style and width: the first is at `column`, each covers `width` columns."""

    column: int
    width: int
    cells: tuple[str, ...]
    style: Style

    @property
    def text(self) -> str:
        """What the cells spell."""
        return "".join(self.cells)


Row = tuple[Piece, ...]


class Screen(NamedTuple):
    """The screen from `t` (seconds) on; `cursor` is its column and row, None while hidden."""

    t: float
    columns: int
    rows: tuple[Row, ...]
    cursor: tuple[int, int] | None


class Animation(NamedTuple):
    """Screens in the order of their times, and the size that holds the largest of them."""

    columns: int
    lines: int
    screens: tuple[Screen, ...]


def still(data: bytes, columns: int, lines: int) -> Animation:
    """Return the one screen that terminal output makes."""
    screen = TmuxScreen(columns, lines)
    screen.feed(data)
    return Animation(columns, lines, (_Camera(screen).shoot(0.0),))


def animate(
    recording: Recording,
    *,
    pane: str | None = None,
    start: float = 0.0,
    stop: float | None = None,
    speed: float = 1.0,
    max_pause: float | None = None,
) -> Animation:
    """Return the animation of one pane; without `pane`, of the only one that the recording shows.

    `start` and `stop` are seconds from the recording's first entry. A screen stands for `max_pause` seconds at most,
    and all times are divided by `speed`. Raises RecordingError where the recording shows several panes and none was
    named, where it shows nothing, or more than `MAX_SCREENS` screens.
    """
    screens: list[Screen] = []
    for screen in _screens(_of_pane(recording.entries(), pane), (recording.columns, recording.lines), start, stop):
        if screens and screens[-1][1:] == screen[1:]:
            continue
        if len(screens) == MAX_SCREENS:
            raise RecordingError(
                f"the recording shows more than {MAX_SCREENS} screens",
                hint="choose a part of it with --from SECONDS and --until SECONDS",
            )
        screens.append(screen)
    if not screens:
        raise RecordingError(
            "the recording shows no output in that pane and time", hint="choose another pane or a longer time"
        )
    columns, lines = max(screen.columns for screen in screens), max(len(screen.rows) for screen in screens)
    return Animation(columns, lines, _retimed(screens, speed, max_pause))


def final_screen(recording: Recording, *, pane: str | None = None) -> TmuxScreen:
    """Return the screen that a recording ends with; raises RecordingError as `animate` does."""
    camera: _Camera | None = None
    for entry in _of_pane(recording.entries(), pane):
        if camera is None:
            size = recording.columns, recording.lines
            camera = _Camera(screen_of(entry) if isinstance(entry, Began) else TmuxScreen(*size))
        camera.take(entry)
    if camera is None:
        raise RecordingError("the recording shows no output in that pane", hint="choose another pane")
    return camera.screen


def _of_pane(entries: Iterable[Input], pane: str | None) -> Iterator[Output | Resized | Began | Reseeded]:
    """Yield what changed the screen of a pane."""
    only = pane
    for entry in entries:
        if not isinstance(entry, Output | Resized | Began | Reseeded):
            continue
        only = only or entry.pane
        if entry.pane == only:
            yield entry
        elif pane is None:
            raise RecordingError(
                f"the recording shows several panes, {only} and {entry.pane} among them",
                hint=f"name the pane: --pane {only}",
            )


def _screens(
    entries: Iterable[Output | Resized | Began | Reseeded], size: tuple[int, int], start: float, stop: float | None
) -> Iterator[Screen]:
    """Yield the screen after each burst of output."""
    camera: _Camera | None = None
    zero = due = last = 0.0
    is_waiting = False
    for entry in entries:
        if camera is None:
            zero = entry.t
            camera = _Camera(screen_of(entry) if isinstance(entry, Began) else TmuxScreen(*size))
        t = entry.t - zero
        if is_waiting and t > due:
            yield camera.shoot(last)
            is_waiting = False
        if stop is not None and t > stop:
            break
        if not is_waiting:
            due = max(t, start) + FRAME_SECONDS
        is_waiting, last = True, max(t, start)
        camera.take(entry)
    if camera is not None and is_waiting and (stop is None or last <= stop):
        yield camera.shoot(last)


def _retimed(screens: list[Screen], speed: float, max_pause: float | None) -> tuple[Screen, ...]:
    longest = float("inf") if max_pause is None else max_pause
    t = 0.0
    retimed = [screens[0]._replace(t=t)]
    for before, screen in pairwise(screens):
        t += min(screen.t - before.t, longest) / speed
        retimed.append(screen._replace(t=t))
    return tuple(retimed)


class _Camera:
    """A screen that entries paint on, and shots of it."""

    def __init__(self, screen: TmuxScreen) -> None:
        self.screen = screen
        self._rows: list[Row | None] = [None] * screen.lines

    def take(self, entry: Output | Resized | Began | Reseeded) -> None:
        match entry:
            case Output():
                self.screen.feed(entry.data)
            case Resized():
                self.screen.resize(entry.lines, entry.columns)
            case Began() | Reseeded():
                self.screen.seed(entry.screen)

    def shoot(self, t: float) -> Screen:
        """Return the screen as it is now; only rows that changed since the last shot are read."""
        screen = self.screen
        if len(self._rows) != screen.lines:
            self._rows = [None] * screen.lines
        for y in screen.dirty:
            if y < screen.lines:
                self._rows[y] = None
        screen.dirty.clear()
        rows = tuple(pieces_of(screen.buffer[y]) if row is None else row for y, row in enumerate(self._rows))
        self._rows = list(rows)
        cursor = None if screen.cursor.hidden else (min(screen.cursor.x, screen.columns - 1), screen.cursor.y)
        return Screen(t, screen.columns, rows, cursor)


def pieces_of(row: LineView) -> Row:
    """Return the cells of a row, grouped by style and width; blanks that show nothing are left out."""
    found: list[Piece] = []
    stretches = groupby(row.styled(), key=lambda cell: (cell[1], cell[3]))
    for (width, style), stretch in stretches:
        cells = [*stretch]
        texts = [text for _, _, text, _ in cells]
        if not shows_blanks(style):
            first = next((at for at, text in enumerate(texts) if text != " "), len(texts))
            cells, texts = cells[first:], texts[first:]
            while texts and texts[-1] == " ":
                texts.pop()
        if texts:
            found.append(Piece(cells[0][0], width, tuple(texts), style))
    return tuple(found)


def shows_blanks(style: Style) -> bool:
    """Return whether a blank in this style shows anything."""
    return bool(style.background or style.underline or style.flags & (REVERSE | STRIKE | OVERLINE))
