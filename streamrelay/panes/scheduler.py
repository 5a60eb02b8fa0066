"""Schedules rendering among panes: reading never waits for rendering, and no pane waits for another one's flood.

Reading only puts bytes into a pane's backlog. Rendering works through the backlogs in slices of milliseconds, between
which the event loop reads, answers and runs subscribers. The rules:

* A pane without a backlog is served before the others (the sparse flows of RFC 8290), so that a line of an idle pane
  does not wait behind a flood. Panes with more bytes than one turn takes are served in rotation.
* When more than `LIMIT` bytes wait, reading stops until there are fewer. The pipe fills, tmux no longer reads the pane,
  and the program waits in its write, as it would for any slow terminal: nothing is lost, and no memory grows. Where
  tmux cannot make it wait, because another client reads along, tmux itself pauses the pane (`control.client`).
* A turn costs as much as some hundred bytes. When many panes print at once, each read has few bytes of each pane. So
  the bytes of such a pane are collected until they fill a turn (64 panes: 0.26 to 0.11 s of CPU a megabyte). This
  applies to panes that printed at least an eighth of the average in the last `WINDOW`; panes that print less are not
  delayed.
* While there are many reads, the output of a pane that loses nothing by it is collected (`Renderable.patience`): of
  several snapshots of its screen, one is looked at. It waits for `DEFERRED` if only its whole turns count, and for
  `DEFERRED_LIVE` if people follow its live text.
* A turn lasts about a millisecond: several times as many bytes of plain lines as of a repainted screen.
* The division of bytes into turns does not affect the events (`delta.stream`).
"""

import asyncio
import functools
import time
from collections import deque
from collections.abc import Callable
from typing import Generic, Protocol, TypeVar

from streamrelay.control.transport import MIN_READ
from streamrelay.panes.reading_pace import ReadingPace

MAX_PENDING_BYTES = 1 << 19
"""The most bytes of all panes that wait: some tens of milliseconds of rendering."""
_CUT_LINE = 1 << 14
"""The least bytes reserved for a line that one read cuts and the next one completes."""
LIMIT = MAX_PENDING_BYTES - MIN_READ - _CUT_LINE
"""Waiting bytes of all panes above which reading stops."""
TURN = 1 << 13
"""The least bytes of one pane to render in a turn."""
MAX_TURN_BYTES = 1 << 15
"""The most bytes of a turn: the next ones may take ten times as long to render."""
SLICE = 0.002
"""Seconds of rendering after which the event loop runs other tasks."""
PATIENCE = 0.01
"""The most seconds for which the bytes of a pane are collected."""
DEFERRED = 0.12
"""The most seconds for which the bytes of a patient pane are collected that is not followed live."""
DEFERRED_LIVE = 0.1
"""The same if it is followed: its live text changes ten times a second while many panes are read."""
WINDOW = 0.05
"""Seconds over which the output of each pane is counted."""
LULL = 0.5
"""Seconds of silence after which the counts are dropped; tmux pauses for 0.1 s while many panes print."""
FEW, LITTLE = 8, 1 << 15
"""Panes and bytes in a window up to which nothing is collected."""


class Backlog:
    """The unrendered bytes of one pane, with the time of each read (loop time).

    A mark without bytes means that the pane was idle until its time.
    """

    def __init__(self) -> None:
        self._pieces: deque[tuple[bytes, float]] = deque()
        self.size = 0
        """Bytes."""
        self.last_read = 0.0

    def __bool__(self) -> bool:
        return bool(self._pieces)

    def put(self, data: bytes, read_at: float) -> None:
        """Append bytes that were read."""
        self._pieces.append((data, read_at))
        self.size += len(data)
        self.last_read = read_at

    def mark(self, at: float) -> None:
        """Note that no more bytes had come until that time."""
        self._pieces.append((b"", at))

    def take(self, most: int) -> tuple[bytes, float]:
        """Take up to `most` bytes before the next mark, with the time of their last read; for a mark, no bytes."""
        data, read_at = self._pieces.popleft()
        if len(data) > most:
            self._pieces.appendleft((data[most:], read_at))
            data = data[:most]
        elif data:
            pieces, size = [data], len(data)
            while self._pieces and 0 < len(self._pieces[0][0]) <= most - size:
                data, read_at = self._pieces.popleft()
                pieces.append(data)
                size += len(data)
            data = b"".join(pieces)
        self.size -= len(data)
        return data, read_at

    def clear(self) -> int:
        """Drop everything; return the number of bytes."""
        size, self.size = self.size, 0
        self._pieces.clear()
        return size


class Renderable(Protocol):
    """The part of a pane that the scheduler needs."""

    turn: int
    """The number of bytes to render in one turn; begins with `TURN`."""

    urgency: float
    """For how many seconds reading may not pause after its next output (`panes.reading_pace`)."""

    patience: float
    """For how many seconds its next output may wait while many panes are read."""

    @property
    def waits(self) -> bool:
        """Whether bytes wait."""

    @property
    def waiting(self) -> int:
        """The number of waiting bytes."""

    def render(self, most: int) -> None:
        """Render up to about `most` waiting bytes."""


Pane = TypeVar("Pane", bound=Renderable)
_Result = TypeVar("_Result")


class RenderScheduler(Generic[Pane]):
    """Schedules the panes of one event loop.

    It calls `hold` with True when reading must stop, again for each read that arrives nevertheless, and with False when
    reading may go on. It calls `failed` with a pane whose step raised (`guarded`), inside the exception handler.
    `clock` is the loop's clock, but not rounded to milliseconds as uvloop's is.
    """

    def __init__(
        self,
        *,
        hold: Callable[[bool], None],
        failed: Callable[[Pane], None],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._hold = hold
        self._clock = clock
        self._failed = failed
        self._sparse: deque[Pane] = deque()
        self._flooding: deque[Pane] = deque()
        self._collecting: dict[Pane, float] = {}
        """The loop times at which panes get a turn although their bytes do not fill it, in order."""
        self._deferred: dict[Pane, None] = {}
        """The patient panes, which all get their turns at the same time: one wake serves several panes."""
        self._deferred_until = 0.0
        self._streaming: frozenset[Pane] = frozenset()
        self._printed: dict[Pane, int] = {}
        self._window_ends = 0.0
        self._turn: asyncio.Handle | None = None
        self._collected: asyncio.TimerHandle | None = None
        self._ends_deferring: asyncio.TimerHandle | None = None
        self._held = False
        self._just_read = False
        self._read_at = 0.0
        self._pace = ReadingPace()
        self.next_read = 0.0
        """When the next read is (loop time) if it waits; until then nothing is known of what the panes print."""
        self.read_until = 0.0
        """When the last read was that is over (loop time). Until then everything was read, but for what a read left in
        the pipe for want of room: of floods, as a rule."""
        self.waiting = 0
        """Bytes of all panes that wait."""

    @functools.cached_property
    def _loop(self) -> asyncio.AbstractEventLoop:
        """The loop it runs in; a blocking caller makes a server before there is a loop."""
        return asyncio.get_running_loop()

    def add(self, pane: Pane, size: int, read_at: float, *, first: bool) -> None:
        """Note that `size` more bytes of a pane wait, read at that time (loop time); `first` if none waited before."""
        self._printed[pane] = self._printed.get(pane, 0) + size
        self._pace.note(size, read_at, urgency=pane.urgency)
        if first and pane.patience and self._pace.is_often:
            due = read_at + pane.patience
            self._deferred_until = min(due, self._deferred_until) if self._deferred else due
            self._deferred[pane] = None
        elif first and pane in self._streaming:
            self._collecting.pop(pane, None)
            self._collecting[pane] = read_at + PATIENCE
        elif first:
            self._sparse.append(pane)
        elif pane.waiting >= pane.turn and (pane in self._collecting or pane in self._deferred):
            self._collecting.pop(pane, None)
            self._deferred.pop(pane, None)
            self._flooding.append(pane)
        self._read_at = read_at
        self.waiting += size
        if self.waiting >= LIMIT:
            self._held = True
            self._hold(True)

    @property
    def room(self) -> int:
        """How many bytes may be read at once."""
        return MAX_PENDING_BYTES - self.waiting - _CUT_LINE

    @property
    def pause(self) -> float:
        """For how many seconds the next read may wait."""
        return self._pace.pause

    def taken(self, size: int) -> None:
        """Record that `size` bytes wait no longer."""
        self.waiting -= size
        if self._held and self.waiting < LIMIT:
            self._held = False
            self._hold(False)

    def known_until(self) -> float:
        """Return the time (loop time) until which everything has been read: a little ago, if there is more to read.

        For the callback of a timer. The loop calls it after those that read, so if none of these read just before,
        there was nothing.
        """
        now = self._clock()
        return self._read_at if self._held or self._just_read or now < self.next_read else now

    def guarded(self, pane: Pane, step: Callable[[], _Result]) -> _Result | None:
        """Let one pane take a step; returns what it does, None where it raised, which is that pane's failure alone."""
        try:
            return step()
        except Exception:  # noqa: BLE001  # `failed` logs it
            self._failed(pane)
            return None

    def close(self) -> None:
        """Render no more."""
        for handle in (self._turn, self._collected, self._ends_deferring):
            if handle is not None:
                handle.cancel()
        self._deferred.clear()
        self._sparse.clear()
        self._flooding.clear()
        self._collecting.clear()

    def take_turns(self) -> None:
        """Render for a while: after every read, and then for as long as anything waits.

        In the callback that read, not in the next one: the loop would read again before that, the reads would be
        small, and tmux would be kept busy with writing (64 panes: 0.17 against 0.14 s of CPU a megabyte).
        """
        pause = self._pace.pause
        self.next_read = self._read_at + pause
        if pause:
            self.read_until = self._read_at
        elif not self._just_read:
            self._just_read = True
            self._loop.call_soon(self._poll_again)
        if self._turn is None:
            self._render()

    def _poll_again(self) -> None:
        self._just_read = False
        self.read_until = self._read_at

    def _render(self) -> None:
        now = self._clock()
        until = now + SLICE
        if now >= self._window_ends:
            self._count(now)
        self._end_collecting(now)
        self._end_deferring(now)
        while self._sparse or self._flooding:
            pane = (self._sparse or self._flooding).popleft()
            waited, began = pane.waiting, now
            self.guarded(pane, functools.partial(pane.render, pane.turn))
            now = self._clock()
            _fit_turn(pane, waited - pane.waiting, now - began)
            if pane.waits:
                self._flooding.append(pane)
            if now >= until:
                break
        more = bool(self._sparse or self._flooding)
        self._turn = self._loop.call_soon(self._render) if more else None
        if self._collecting and not more and self._collected is None:
            self._collected = self._loop.call_at(next(iter(self._collecting.values())), self._render_collected)
        if self._deferred and not more and self._ends_deferring is None:
            self._ends_deferring = self._loop.call_at(self._deferred_until, self._render_deferred)

    def _count(self, now: float) -> None:
        """A window ends: who printed their share in it streams, where many did."""
        printed, self._printed = self._printed, {}
        recent = now < self._window_ends + LULL
        self._window_ends = now + WINDOW
        total = sum(printed.values())
        if recent and len(printed) > FEW and total > LITTLE:
            share = total / len(printed) / 8
            self._streaming = frozenset(pane for pane, size in printed.items() if size >= share)
        else:
            self._streaming = frozenset()

    def _end_collecting(self, now: float) -> None:
        """Give their turn to those of whom enough was collected, or long enough."""
        while self._collecting:
            pane, due = next(iter(self._collecting.items()))
            if due > now and not self._held:
                break
            del self._collecting[pane]
            self._flooding.append(pane)

    def _end_deferring(self, now: float) -> None:
        """Give their turns to the patient panes if it is time, or if the next read would be too late."""
        if self._deferred and (self._held or now + self._pace.pause / 2 >= self._deferred_until):
            self._sparse.extend(self._deferred)
            self._deferred.clear()
            if self._ends_deferring is not None:
                self._ends_deferring.cancel()
                self._ends_deferring = None

    def _render_deferred(self) -> None:
        self._ends_deferring = None
        if self._turn is None:
            self._render()

    def _render_collected(self) -> None:
        self._collected = None
        if self._turn is None:
            self._render()


def _fit_turn(pane: Renderable, size: int, took: float) -> None:
    """Have the next turn of a pane last as long as one should, if this one, of so many bytes, was long enough to tell.

    The longest a turn can get is bounded by bytes, so time that did not pass says no more than a microsecond would.
    """
    if size >= TURN // 2:
        fitting = int(size * SLICE / 2 / max(took, 1e-6))
        pane.turn = min(max(fitting, TURN), MAX_TURN_BYTES)
