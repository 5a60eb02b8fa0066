"""Recovery: output that a pane printed while it was not watched, as far as tmux's history still holds it.

Up to 3.7 tmux does not count the rows that have passed: its history drops a tenth at a time. So the recovery searches
the known rows, those above the cursor, in tmux's current rows:

* They occur at one place: the rows below them were missing, and nothing is lost.
* They occur at the expected place, in a history that has not dropped rows yet: the same, even if the rows repeat.
* None of them occurs: all of tmux's rows are new, and some before them are lost.
* Anything else (a repainted screen, repeated rows) is ambiguous, so the missing output is lost.

Since 3.8 tmux counts the rows (`history_added`), so the expected place is always known, even if rows repeat. If the
history has dropped the known rows, the number of lost rows is known, too.

The queries share one command line with a pause and its end. So nothing is printed between them, tmux skips the output
queued for us, and output after the reply is newer than the reply (40 of 40 times, tmux 3.3a).

Output that a pane prints while its window is not linked is not missing: tmux keeps it, and sends it before the pane's
next output (3.3a and 3.8, control.c, control_write_output). So a moved pane is first queried without skipping.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from streamrelay.control.quoting import command_line
from streamrelay.panes.snapshot import laid_out, read_generation, read_snapshot, snapshot_commands
from streamrelay.vt.engine import Snapshot

MAX_DEPTH = 10_000
"""The most history rows to request: as many as this process keeps."""
_KNOWN = 200
"""The number of rows above the cursor to search for."""
_MIN_KNOWN = 3
"""The number of rows with text that are known again, of a program that paints."""
_BLOCKS = 7


@dataclass(frozen=True, slots=True)
class KnownRows:
    """The known rows of a pane: those above the cursor's row, oldest first and without trailing blanks.

    `passed` counts all rows that have ever been above the cursor's row, including those that history has dropped. If
    tmux counts them too, `generation` names its history (see `read_generation`).
    """

    rows: Sequence[str]
    passed: int
    generation: int | None = None


@dataclass(frozen=True, slots=True)
class TmuxRows:
    """tmux's rows of a pane: history and screen, and which rows continue in the next."""

    snapshot: Snapshot
    rows: Sequence[bytes]
    wrapped: Sequence[bool]
    history: int
    """The number of history rows among them."""
    history_limit: int
    cursor: int
    """The row up to which the program has printed."""
    title: str = ""
    generation: int | None = None
    """The generation of the history whose rows are counted, if tmux counts them."""


@dataclass(frozen=True, slots=True)
class Recovered:
    """Bytes that print the missing output, from the cursor's row on, and the number of lost rows before them.

    The number is None if it is unknown.
    """

    data: bytes
    lost: int | None

    @property
    def whole(self) -> bool:
        """Whether nothing is lost."""
        return self.lost == 0


def recovery_line(pane: str, depth: int) -> str:
    """Return the command line that ends a pane's pause, skips queued output, and queries all that `read_held` needs."""
    return " ; ".join((skip_line(pane), held_line(pane, depth)))


def skip_line(pane: str) -> str:
    """Return the command line that makes tmux skip a pane's queued output and send its new output."""
    return command_line(*(("refresh-client", "-A", f"{pane}:{what}") for what in ("pause", "continue")))


def held_line(pane: str, depth: int) -> str:
    """Return the command line that queries all that `read_held` needs."""
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


def scrolled(columns: int, lines: int, history: Sequence[str], history_total: int, held: TmuxRows) -> bytes | None:
    """Return what paints the rows that left a screen of that size since, and the screen as it is now.

    It is empty if none left, and None where tmux cannot tell them. `history` holds the rows above the screen, oldest
    first and without trailing blanks, as far as they are known; `history_total` counts all of them.

    For programs that paint: they may paint any row of the screen anew, but none of history. How many rows went there
    is counted, until history begins to lose rows; from then on the known ones are searched in it.
    """
    shown = held.snapshot
    if shown.alternate or (shown.columns, shown.lines) != (columns, lines):
        return None
    left = shown.history_total - history_total
    if shown.history_total >= held.history_limit - held.history_limit // 10:
        count = min(_KNOWN, held.history // 2)
        place = _place_in_history([row.rstrip() for row in history[-count:]], held)
        left = -1 if place is None else held.history - place
    if left == 0:
        return b""
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


def _place_in_history(known: Sequence[str], held: TmuxRows) -> int | None:
    """Return behind which row of tmux's history the known rows end; None unless they stand in one place."""
    if sum(map(bool, known)) < _MIN_KNOWN:
        return None
    rows = [row.decode("utf-8", "replace").rstrip() for row in held.rows[: held.history]]
    count = len(known)
    places = [stop for stop in range(count, len(rows) + 1) if rows[stop - count : stop] == known]
    return places[0] if len(places) == 1 else None


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
