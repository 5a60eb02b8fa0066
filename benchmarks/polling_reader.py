"""The usual way: capture panes at a steady pace, and whatever a baseline diff finds new was said.

A look takes the screen (with as much history as `--history` says), and the rows that a line diff against the look
before finds inserted are new, as relays built on `capture-pane` have it. `--over libtmux` starts one process a look;
`--over client` asks an attached control client, which starts none.
"""

import argparse
import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from difflib import SequenceMatcher

import libtmux

from benchmarks.reading import Reading, Watch, arguments, hand_over
from streamrelay.control import ControlClient, Tmux, command_line

Look = Callable[[str], Awaitable[list[str]]]


def inserted(before: Sequence[str], after: Sequence[str]) -> list[str]:
    """Return the rows of `after` that are new, by a line diff."""
    if before == after:
        return []
    steps = SequenceMatcher(None, before, after, autojunk=False).get_opcodes()
    return [row for kind, _, _, start, stop in steps if kind in {"insert", "replace"} for row in after[start:stop]]


async def poll(given: argparse.Namespace, look: Look) -> Reading:
    """Look at all panes, once an interval, until enough of them show the marker."""
    left = dict(enumerate(given.panes))
    until = len(left) - (given.until or len(left))
    before = {place: await look(pane) for place, pane in left.items()}
    seen: list[tuple[float, int, list[str]]] = []
    watch = Watch()
    due = time.monotonic()
    while len(left) > until:
        due += given.interval
        await asyncio.sleep(max(0.0, due - time.monotonic()))
        for place, pane in list(left.items()):
            rows = await look(pane)
            new = inserted(before[place], rows)
            before[place] = rows
            seen.append((time.monotonic(), place, [row for row in new if not row.startswith(f"{given.marker}-")]))
            if f"{given.marker}-{place}" in rows:
                del left[place]
    reading = watch.stop()
    reading.seen = seen
    return reading


def stripped(rows: Sequence[str]) -> list[str]:
    """Leave out blanks at the end of rows, and empty rows at the end."""
    rows = [row.rstrip() for row in rows]
    while rows and not rows[-1]:
        rows.pop()
    return [*rows]


async def over_libtmux(given: argparse.Namespace) -> Reading:
    """Start a process for every look."""
    server = libtmux.Server(socket_path=given.socket, tmux_bin=given.tmux)
    panes = {pane: server.panes.get(pane_id=pane) for pane in given.panes}

    async def look(pane: str) -> list[str]:
        found = panes[pane]
        assert found is not None
        return stripped(found.capture_pane(start=-given.history if given.history else None))

    return await poll(given, look)


async def over_client(given: argparse.Namespace) -> Reading:
    """Ask an attached control client."""
    history = ("-S", str(-given.history)) if given.history else ()

    def ignore(events: Sequence[object], at: float) -> None:
        """Output goes to every control client, wanted or not."""

    async with ControlClient(Tmux(given.tmux, socket_path=given.socket), given.panes[0], ignore) as client:

        async def look(pane: str) -> list[str]:
            result = await client.command(command_line(("capture-pane", "-p", *history, "-t", pane)))
            return stripped(result.text.split("\n"))

        return await poll(given, look)


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--interval", type=float, default=1.0, help="seconds between two looks (%(default)s)")
    parser.add_argument("--over", choices=["libtmux", "client"], default="libtmux")
    parser.add_argument("--history", type=int, default=0, help="rows of history to look at as well (%(default)s)")
    given = parser.parse_args()
    hand_over(asyncio.run(over_libtmux(given) if given.over == "libtmux" else over_client(given)))


if __name__ == "__main__":
    main()
