"""Recovery: output that a pane printed while it was not watched, as far as tmux's history still holds it.

Up to 3.7 tmux says nowhere how many rows went by: its history loses a tenth at a time, and no format counts. So what is
known of the pane, the rows above its cursor, is looked for in what tmux shows now:

* found at one place: whatever stands below it was missed, and nothing is lost;
* found at the place where it has to be, in a history that has not begun to lose rows: the same, however often the rows
  repeat;
* not one of its rows is there: all of what tmux holds is new, and something before it is lost;
* anything else (a screen that was painted again, rows that repeat) tells nothing: what was missed is lost.

Since 3.8 the rows are counted (`history_added`), and the place where the known ones have to be is always known: however
often they repeat, and where history lost them it is known how many more it lost.

The queries share one command line with a pause and its end, so that nothing is printed between them, what tmux still
kept for us is skipped, and what comes behind their reply comes after what they show (40 of 40 times, tmux 3.3a).

What a pane prints while its window is not linked is not missed: tmux keeps it, and sends it in front of what the pane
prints next (3.3a and 3.8, control.c, control_write_output). So a pane that moved is first looked at without skipping.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from streamrelay.control.quoting import command_line
from streamrelay.panes.snapshot import laid_out, read_generation, read_snapshot, snapshot_commands
from streamrelay.vt.engine import Snapshot

MAX_DEPTH = 10_000
"""Rows of history that are asked for at most: as many as are known here."""
_KNOWN = 200
"""Rows above the cursor that are looked for."""
_BLOCKS = 7


@dataclass(frozen=True, slots=True)
class KnownRows:
    """What is known of a pane: the rows above its cursor's, oldest first and without trailing blanks, and their number.

    `passed` counts the rows that ever stood above the cursor's row, those that history lost included. Where tmux counts
    them too, `generation` is of which history (see `read_generation`).
    """

    rows: Sequence[str]
    passed: int
    generation: int | None = None


@dataclass(frozen=True, slots=True)
class TmuxRows:
    """What tmux holds of a pane: rows of history and screen, and which of them go on in the next."""

    snapshot: Snapshot
    rows: Sequence[bytes]
    wrapped: Sequence[bool]
    history: int
    """How many of the rows are history."""
    history_limit: int
    cursor: int
    """The row up to which the program has printed."""
    title: str = ""
    generation: int | None = None
    """Of which history its rows are counted, where they are."""


@dataclass(frozen=True, slots=True)
class Recovered:
    """Bytes that print what was missed, from the row of the cursor on; and how many rows before them are lost.

    None if an unknown number is.
    """

    data: bytes
    lost: int | None

    @property
    def whole(self) -> bool:
        """Whether nothing is lost."""
        return self.lost == 0


def recovery_line(pane: str, depth: int) -> str:
    """Return the command line that ends a pane's pause, skips what waits, and asks for all that `read_held` needs."""
    return " ; ".join((skip_line(pane), held_line(pane, depth)))


def skip_line(pane: str) -> str:
    """Return the command line after which a pane is sent from here on, paused or kept before or not."""
    return command_line(*(("refresh-client", "-A", f"{pane}:{what}") for what in ("pause", "continue")))


def held_line(pane: str, depth: int) -> str:
    """Return the command line that asks for all that `read_held` needs."""
    capture = ("capture-pane", "-p", "-t", pane, "-S", str(-depth))
    return command_line(
        *snapshot_commands(pane),
        (*capture, "-N"),
        (*capture, "-J"),
        ("display-message", "-p", "-t", pane, "#{history_limit} #{history_size} #{pane_title}"),
    )


def place_line(pane: str) -> str:
    """Return the command line that asks in which window a pane is, and for all `read_held` needs but history."""
    return " ; ".join((command_line(("display-message", "-p", "-t", pane, "#{window_id}")), held_line(pane, 0)))


def read_held(blocks: Sequence[Sequence[bytes]], depth: int) -> TmuxRows | None:
    """Return what the replies to these lines say; None if they don't (the pane went away meanwhile)."""
    if len(blocks) < _BLOCKS:
        return None
    *current, rows, joined, told = blocks[-_BLOCKS:]
    snapshot = read_snapshot(current)
    *numbers, title = (told[0] if told else b"").split(b" ", 2)
    if snapshot is None or len(numbers) != 2 or not all(map(bytes.isdigit, numbers)):
        return None
    limit, size = map(int, numbers)
    history = min(size, depth)
    rows = [*rows, *[b""] * (history + snapshot.lines - len(rows))]
    cursor = history + snapshot.cursor.y
    wrapped = tuple(wrapped for wrapped, _ in laid_out(rows, joined))
    return TmuxRows(
        snapshot, rows, wrapped, history, limit, cursor, title.decode("utf-8", "replace"), read_generation(current)
    )


def is_shown(rows: Sequence[str], cursor: tuple[int, int], held: TmuxRows, *, unknown: int = 0) -> bool:
    """Return whether the rows of a screen are those that tmux holds, so that nothing is missing.

    The cursor is (x, y). In a pane that became higher tmux shows rows of its history again, up to `unknown` of which
    are not known here.
    """
    shown = [row.decode("utf-8", "replace").rstrip() for row in held.rows[held.history :]]
    again = held.snapshot.cursor.y - cursor[1]
    if not 0 <= again <= (unknown if any(rows) else 0) or held.snapshot.cursor.x != cursor[0]:
        return False
    return shown[again:] == [row.rstrip() for row in rows[: len(shown) - again]] and not any(rows[len(shown) - again :])


def missed(known: KnownRows, held: TmuxRows) -> Recovered | None:
    """Return what was missed; None where that cannot be told."""
    if held.snapshot.alternate:
        return None
    rows = [row.decode("utf-8", "replace").rstrip() for row in held.rows]
    sought = [row.rstrip() for row in known.rows[-_KNOWN:]]
    expected = known.passed - (held.snapshot.history_total - held.history)
    is_counted = held.generation is not None and held.generation == known.generation
    is_complete = held.snapshot.history_total < held.history_limit - held.history_limit // 10
    # The cursor of a program that has ended is not known: it may be below the last row in use.
    below = min(held.cursor + 1, len(rows))
    if is_counted and expected < 0:
        return Recovered(_printed(held, 0), lost=-expected)
    left = sought[max(len(sought) - expected, 0) :] if is_counted else sought
    if (is_counted or is_complete) and len(left) <= expected <= below and rows[expected - len(left) : expected] == left:
        return Recovered(_printed(held, expected), lost=0)
    places = [place for place in range(len(sought), below + 1) if rows[place - len(sought) : place] == sought]
    if len(places) == 1 and any(sought):
        return Recovered(_printed(held, places[0]), lost=0)
    if not places and any(sought) and not {row for row in sought if row} & set(rows):
        return Recovered(_printed(held, 0), lost=None)
    return None


def scrolled(columns: int, lines: int, history_total: int, held: TmuxRows) -> bytes | None:
    """Return what paints the rows that left a screen of that size since, and the screen as it is now; None where tmux
    cannot tell them.

    For programs that paint: what they print is not known by its rows, but how many went into history is counted, until
    history begins to lose rows.
    """
    shown, left = held.snapshot, held.snapshot.history_total - history_total
    saturated = shown.history_total >= held.history_limit - held.history_limit // 10
    if shown.alternate or saturated or (shown.columns, shown.lines) != (columns, lines):
        return None
    if not 0 < left <= held.history:
        return None
    # In one snapshot: a half-painted row belongs to no message.
    pieces = [b"\x1b[?2026h\x1b[r\x1b[?6l\x1b[H"]
    last = held.history + lines - 1
    for number in range(held.history - left, last + 1):
        row, goes_on = held.rows[number], held.wrapped[number]
        pieces.append(row if goes_on else b"\x1b[K" + row.rstrip(b" ") + (b"\r\n" if number < last else b""))
    pieces.append(b"\x1b[%d;%dH\x1b[?2026l" % (shown.cursor.y + 1, shown.cursor.x + 1))
    return b"".join(pieces)


def _printed(held: TmuxRows, first: int) -> bytes:
    """Return what prints rows, beginning in the first column of one that may hold something already."""
    pieces = [b"\r"]
    for number in range(first, held.cursor + 1):
        row = held.rows[number]
        goes_on = held.wrapped[number]
        pieces.append(row if goes_on else row.rstrip(b" "))
        if number == first and not goes_on:
            pieces.append(b"\x1b[K")
        if number < held.cursor and not goes_on:
            pieces.append(b"\r\n")
    return b"".join(pieces)
