"""A pane's screen exactly as tmux holds it, and at an exact place in the stream.

The queries share one command line, so that nothing is printed between them, and their replies stand in the stream
behind everything that the snapshot already shows (60 of 60 times, tmux 3.3a). tmux has no format for soft wraps: they
are found by laying the rows against the same rows as `capture-pane -J` joins them. That also tells which blanks at the
end of a row are in use: since 3.4 `-N` prints more of them, and `-J` alone stays exact.

What a version has no format for is empty: the mode of bracketed paste is told since 3.7, and since 3.8 how many rows
ever entered history, with a number that changes whenever rows in it are joined, split or cleared. There the count of
rows goes on from a snapshot as tmux's own; elsewhere it begins with the rows that history holds.
"""

from collections.abc import Sequence

import regex

from streamrelay.control.quoting import command_line
from streamrelay.vt.engine import Cursor, Modes, Snapshot

_FORMATS = (
    "cursor_x", "cursor_y", "pane_width", "pane_height", "history_size", "alternate_on", "cursor_flag", "insert_flag",
    "wrap_flag", "origin_flag", "scroll_region_upper", "scroll_region_lower", "keypad_cursor_flag", "keypad_flag",
    "bracket_paste_flag", "history_added", "history_generation",
)  # fmt: skip
SNAPSHOT_BLOCKS = 4
"""Replies to `snapshot_line`."""
_STYLING = regex.compile(rb"\x1b(?:\[[0-9;:]*m|\][^\x07\x1b]*(?:\x07|\x1b\\))|[\x0e\x0f]")


def snapshot_line(pane: str) -> str:
    """Return the command line that asks for everything `read_snapshot` needs."""
    return command_line(*snapshot_commands(pane))


def snapshot_commands(pane: str) -> tuple[tuple[str, ...], ...]:
    """Return the commands of that line, to go with others."""
    capture = ("capture-pane", "-p", "-t", pane)
    formats = " ".join(f"#{{{name}}}" for name in _FORMATS)
    return (
        (*capture, "-e", "-N"),
        (*capture, "-J"),
        (*capture, "-P", "-C"),
        ("display-message", "-p", "-t", pane, formats),
    )


def read_snapshot(blocks: Sequence[Sequence[bytes]]) -> Snapshot | None:
    """Return the snapshot that the four replies make; None if they don't (the pane went away meanwhile)."""
    if len(blocks) != SNAPSHOT_BLOCKS:
        return None
    rows, joined, pending, state = blocks
    fields = (state[0] if state else b"").split(b" ")
    values = [int(field) if field.isdigit() else 0 for field in fields]
    if len(values) != len(_FORMATS):
        return None
    *values, added, _ = values
    x, y, columns, lines, history_size, alternate, visible, insert, wrap, origin, upper, lower, *keys = values
    rows = [*rows, *[b""] * (lines - len(rows))][:lines]
    laid = laid_out([_STYLING.sub(b"", row) for row in rows], joined)
    return Snapshot(
        columns=columns,
        lines=lines,
        rows=tuple(_without_blanks(row, surplus) for row, (_, surplus) in zip(rows, laid, strict=True)),
        wrapped=tuple(wrapped for wrapped, _ in laid),
        cursor=Cursor(x, y),
        history_total=added if fields[-1] else history_size,
        alternate=bool(alternate),
        scroll_region=(upper, lower) if (upper, lower) != (0, lines - 1) else None,
        modes=Modes(
            cursor_visible=bool(visible),
            insert=bool(insert),
            wrap=bool(wrap),
            origin=bool(origin),
            application_cursor=bool(keys[0]),
            application_keypad=bool(keys[1]),
            bracketed_paste=bool(keys[2]),
        ),
        pending=_unescaped(b"\n".join(pending)),
    )


def read_generation(blocks: Sequence[Sequence[bytes]]) -> int | None:
    """Return the number of the history that the four replies count the rows of; None where they don't (up to 3.7)."""
    state = blocks[3] if len(blocks) == 4 else ()
    generation = state[0].rpartition(b" ")[2] if state else b""
    return int(generation) if generation.isdigit() else None


def laid_out(rows: Sequence[bytes], joined: Sequence[bytes]) -> list[tuple[bool, int]]:
    """Tell for each row whether the next one continues it, and how many blanks at its end are not in use.

    `joined` are the same rows with continued ones in one piece, and with no blank that is not in use.
    """
    laid = [(False, 0)] * len(rows)
    y = 0
    for line in joined:
        rest = line
        while y < len(rows):
            used = _in_common(rows[y], rest)
            rest = rest[used:]
            laid[y] = (bool(rest.rstrip()), len(rows[y]) - used)
            y += 1
            if not laid[y - 1][0]:
                break
    return laid


def _in_common(row: bytes, rest: bytes) -> int:
    """Return how much of `row` the joined line begins with; blanks at its end may be missing there."""
    if rest.startswith(row):
        return len(row)
    used = len(row.rstrip(b" "))
    while used < len(row) and rest[used : used + 1] == b" ":
        used += 1
    return used


def _without_blanks(row: bytes, surplus: int) -> bytes:
    """Take `surplus` blanks from the end of a styled row; those with a look of their own stay."""
    blanks = len(row) - len(row.rstrip(b" "))
    return row[: len(row) - min(surplus, blanks)]


def _unescaped(pending: bytes) -> bytes:
    """Undo `capture-pane -C`, which writes what cannot be printed as backslash and three octal digits."""
    return regex.sub(rb"\\([0-7]{3})", lambda octal: bytes([int(octal[1], 8) & 0xFF]), pending)
