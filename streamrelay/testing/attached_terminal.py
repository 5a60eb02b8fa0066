"""A terminal attached to a session, like a person's, that reads all output.

While such a terminal is attached, tmux does not stop a program for a slow control client; it buffers the output
instead.
"""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from ptyprocess import PtyProcess

from streamrelay.testing.tmux import PrivateTmux


@contextmanager
def onlooker(tmux: PrivateTmux, session: str, *, columns: int = 80, lines: int = 25) -> Iterator[None]:
    """Attach a terminal to a session for as long as the block runs; needs a running event loop, which reads it."""
    loop = asyncio.get_running_loop()
    argv = [*tmux.argv, "attach-session", "-t", session]
    person = PtyProcess.spawn(argv, env=tmux.environment, dimensions=(lines, columns))

    def look() -> None:
        try:
            person.read(1 << 16)
        except EOFError:
            loop.remove_reader(person.fd)

    loop.add_reader(person.fd, look)
    try:
        yield
    finally:
        loop.remove_reader(person.fd)
        with suppress(OSError):
            person.close(force=True)
