"""How wide characters are to the tmux that runs here: asked, not assumed (tmux asks the C library of its machine).

A program in a pane of a private server prints each character and asks the terminal where its cursor is (DSR 6).
Thousands go in one write, so that the whole plane of emoji takes less than a second. The manners of a version
(`Manners`) are told in the same way, by what moves the cursor differently.
"""

import re
import sys
from collections.abc import Iterable

from streamrelay.testing.tmux import PrivateTmux
from streamrelay.testing.waiting import wait_until
from streamrelay.vt.widths import CLUSTERS, VARIATION_SELECTOR, Manners, Widths, unicode14

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


def telling(table: Widths) -> str:
    """Return the characters that tell tables apart: all up to the last emoji, then both ends of every run.

    A variation selector is left out: it has no width, though it may widen what it joins.
    """
    codes = {*range(0xA0, 0x20000), *(code for code in table.run_ends() if code >= 0xA0)} - {ord(VARIATION_SELECTOR)}
    return "".join(chr(code) for code in sorted(codes) if not 0xD800 <= code < 0xE000 and code not in CLUSTERS)


def measure(server: PrivateTmux, texts: Iterable[str]) -> dict[str, int]:
    """Return the columns each text moves the cursor of a pane of `server`: 0 for joining and dropped characters.

    Surrogates (U+DC80 to U+DCFF) stand for bytes that are no UTF-8.
    """
    asked = [*texts]
    question, answer = server.directory / "characters", server.directory / "columns"
    question.write_bytes("\n".join(asked).encode("utf-8", "surrogateescape"))
    answer.unlink(missing_ok=True)
    server.new_session("widths", [sys.executable, "-c", _PROBE, str(question), str(answer)], columns=20, lines=2)
    try:
        wait_until(answer.exists, _SECONDS, "tmux did not tell the widths")
    finally:
        server.run("kill-session", "-t", "widths")
    columns = [int(column) - 3 for column in re.findall(rb"\d+", answer.read_bytes())]
    return dict(zip(asked, columns, strict=True))


def disagreements(server: PrivateTmux, table: Widths | None = None) -> dict[str, int]:
    """Return the characters whose width in `table` (by default the built-in one) is not that of the running tmux."""
    table = unicode14() if table is None else table
    measured = measure(server, telling(table))
    return {one: columns for one, columns in measured.items() if columns != max(table.width(one), 0)}


def manners(server: PrivateTmux) -> Manners:
    """Return what the running tmux does otherwise than 3.3a."""
    repeated, widened, unprintable, bad = measure(server, ["世\x1b[b", "❤\ufe0f", "\ufdd1", "\udcff"]).values()
    shown = r"printf '世\033[Dx\r\n\tx\r\n\033[44ma世\033[m\033[Dx\033]2;shown\033\\'; exec sleep 600"
    pane = server.new_session("manners", ["sh", "-c", shown], columns=20, lines=3)
    try:
        wait_until(
            lambda: server.run("display-message", "-p", "-t", pane, "#{pane_title}") == "shown", message="the title"
        )
        half, tab, *_ = server.run("capture-pane", "-p", "-t", pane).split("\n")
        *_, coloured = server.run("capture-pane", "-p", "-e", "-t", pane).split("\n")
    finally:
        server.run("kill-session", "-t", "manners")
    return Manners(
        widens=widened == 2,
        repeats_any=repeated == 4,
        blanks_halves=half == " x",
        fills_tabs="\t" in tab,
        shows_unprintable=unprintable == 1,
        replaces_bad_bytes=bad == 1,
        keeps_backgrounds=coloured.partition("a")[2].startswith(" "),
    )


def calibrated(server: PrivateTmux, table: Widths | None = None) -> Widths:
    """Return `table` with the widths and manners of the running tmux: what to give to `TmuxScreen(widths=...)`."""
    table = unicode14() if table is None else table
    found = manners(server)
    if found != table.manners:
        table = table.replaced({}, found)
    differing = disagreements(server, table)
    return table.replaced(differing) if differing else table
