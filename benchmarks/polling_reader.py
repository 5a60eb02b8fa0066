"""The usual way: `capture-pane` with libtmux at a steady pace, and whatever was not there at the last look is new."""

import time

import libtmux

from benchmarks.reading import Watch, arguments, hand_over


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--interval", type=float, default=1.0, help="seconds between two looks (%(default)s)")
    given = parser.parse_args()
    pane = libtmux.Server(socket_path=given.socket, tmux_bin=given.tmux).panes.get(pane_id=given.target)
    assert pane is not None
    before = set(pane.capture_pane())
    seen: list[tuple[float, list[str]]] = []
    watch = Watch()
    due = time.monotonic()
    while given.marker not in before:
        due += given.interval
        time.sleep(max(0.0, due - time.monotonic()))
        rows = pane.capture_pane()
        seen.append((time.monotonic(), [row for row in rows if row not in before]))
        before = set(rows)
    reading = watch.stop()
    reading.seen = [(at, [row for row in rows if row != given.marker]) for at, rows in seen]
    hand_over(reading)


if __name__ == "__main__":
    main()
