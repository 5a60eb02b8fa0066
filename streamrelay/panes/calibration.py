"""Measure how wide characters are to the tmux that runs here. tmux asks the C library, so no table is right everywhere.

A program in a pane of a private server prints each character and asks the terminal for the cursor position (DSR 6).
It writes thousands of characters at once, so that the whole plane of emoji takes less than a second. What moves the
cursor differently from one tmux version to the next (`Quirks`) is measured in the same way.
"""

import re
import sys
from collections.abc import Iterable

from streamrelay.control.private_tmux import PrivateTmux
from streamrelay.vt.widths import CLUSTERS, VARIATION_SELECTOR, Quirks, Widths, unicode14
from streamrelay.waiting import wait_until

_PROBE = """
import os, re, sys, tty
tty.setraw(0)
characters, answers = open(sys.argv[1], "rb").read().split(b"\\n"), []
for start in range(0, len(characters), 500):
    batch = characters[start : start + 500]
    os.write(1, b"".join(b"\\rxx%b\\x1b[6n" % one for one in batch))
    reply = b""
    while reply.count(b"R") < len(batch):
        reply += os.read(0, 65536)
    answers += re.findall(rb";(\\d+)R", reply)
open(sys.argv[2] + ".part", "wb").write(b" ".join(answers))
os.rename(sys.argv[2] + ".part", sys.argv[2])
os.read(0, 1)
"""
_SECONDS = 60.0


def distinguishing_characters(table: Widths) -> str:
    """Return the characters that distinguish tables: all up to the last emoji, then both ends of every run.

    The variation selector is left out: it has no width itself, though it may widen the character it follows.
    """
    codes = {*range(0xA0, 0x20000), *(code for code in table.run_ends() if code >= 0xA0)} - {ord(VARIATION_SELECTOR)}
    return "".join(chr(code) for code in sorted(codes) if not 0xD800 <= code < 0xE000 and code not in CLUSTERS)


def measure_widths(server: PrivateTmux, texts: Iterable[str]) -> dict[str, int]:
    """Return by how many columns each text moves the cursor of a pane: 0 for characters that join or are dropped.

    Surrogates (U+DC80 to U+DCFF) stand for bytes that are not valid UTF-8.
    """
    asked = [*texts]
    question, answer = server.directory / "characters", server.directory / "columns"
    question.write_bytes("\n".join(asked).encode("utf-8", "surrogateescape"))
    answer.unlink(missing_ok=True)
    server.new_session("widths", [sys.executable, "-c", _PROBE, str(question), str(answer)], columns=20, lines=2)
    try:
        wait_until(answer.exists, _SECONDS, "tmux did not report the widths")
    finally:
        server.run("kill-session", "-t", "widths")
    columns = [int(column) - 3 for column in re.findall(rb"\d+", answer.read_bytes())]
    return dict(zip(asked, columns, strict=True))


def find_differing_widths(server: PrivateTmux, table: Widths | None = None) -> dict[str, int]:
    """Return the characters that the running tmux gives another width than `table` (by default the built-in one)."""
    table = unicode14() if table is None else table
    measured = measure_widths(server, distinguishing_characters(table))
    return {character: columns for character, columns in measured.items() if columns != max(table.width(character), 0)}


def measure_quirks(server: PrivateTmux) -> Quirks:
    """Return where the running tmux differs from tmux 3.3a."""
    repeated, widened, unprintable, bad = measure_widths(server, ["世\x1b[b", "❤\ufe0f", "\ufdd1", "\udcff"]).values()
    shown = r"printf '世\033[Dx\r\n\tx\r\n\033[44ma世\033[m\033[Dx\033]2;shown\033\\'; exec sleep 600"
    pane = server.new_session("quirks", ["sh", "-c", shown], columns=20, lines=3)
    try:
        wait_until(
            lambda: server.run("display-message", "-p", "-t", pane, "#{pane_title}") == "shown", message="the title"
        )
        half, tab, *_ = server.run("capture-pane", "-p", "-t", pane).split("\n")
        *_, coloured = server.run("capture-pane", "-p", "-e", "-t", pane).split("\n")
    finally:
        server.run("kill-session", "-t", "quirks")
    return Quirks(
        widens=widened == 2,
        repeats_any=repeated == 4,
        blanks_halves=half == " x",
        fills_tabs="\t" in tab,
        shows_unprintable=unprintable == 1,
        replaces_bad_bytes=bad == 1,
        keeps_backgrounds=coloured.partition("a")[2].startswith(" "),
    )


def calibrate(server: PrivateTmux, table: Widths | None = None) -> Widths:
    """Return `table` with the widths and quirks of the running tmux, for `TmuxScreen(widths=...)`."""
    table = unicode14() if table is None else table
    found = measure_quirks(server)
    if found != table.quirks:
        table = table.replaced({}, found)
    differing = find_differing_widths(server, table)
    return table.replaced(differing) if differing else table
