"""One control connection for synchronous callers: opened with the first command, opened again when it has ended.

A thread of its own opens, drains and closes the connection; a command is written and answered in the thread that calls
`run` (`control.blocking`), which may be any. No session counts as attached because of its client: that is suspended as
soon as it is attached, and tmux reads the commands of a suspended control client all the same (seen with 3.3a, 3.5a
and 3.8). `tmux list-clients` shows it, but for tmux 3.8.

A process takes some milliseconds, in which a shell echoes what it was sent, and scripts rely on that: `send_keys`, then
`capture_pane` (libtmux's own tests do). So a capture that follows input to the same pane waits until the pane has had
the time that a process takes here.
"""

import asyncio
import contextlib
import os
import threading
import time
from collections.abc import Sequence
from pathlib import Path

from streamrelay.control import BlockingCommands, CommandResult, ControlClient, ControlEvent, Tmux, command_line
from streamrelay.errors import BadCommand, ServerLost, StreamrelayError
from streamrelay.threads import LoopThread

_FLAGS = "ignore-size,no-output"
_INPUT = frozenset({"paste-buffer", "send-keys", "send-prefix"})
_MIN_ECHO_SECONDS = 0.005
_DRAIN_SECONDS = 5.0
"""Seconds between two looks at what tmux says on its own; without them it would keep that in its memory."""
_OWN_NAME = command_line(("display-message", "-p", "#{client_name}"))


class ControlConnection:
    """A control connection to one server; closed by `close`, and by the end of the process."""

    def __init__(self, tmux: Tmux) -> None:
        self._tmux = tmux
        self._lock = threading.RLock()
        self._loop: LoopThread | None = None
        self._client: ControlClient | None = None
        self._commands: BlockingCommands | None = None
        self._process = os.getpid()
        self._echo_seconds = _MIN_ECHO_SECONDS
        self._typed_at: dict[str, float] = {}
        """When each pane that was lately sent input got it, by the target as the caller writes it."""

    @property
    def is_open(self) -> bool:
        """Whether a client of ours is attached."""
        return self._client is not None

    def run(self, words: Sequence[str]) -> CommandResult | None:
        """Run one command and return its result; None if it could not run, because tmux could not be reached.

        A failure of the command itself is the result's `error`.
        """
        try:
            line = command_line(words)
        except BadCommand:
            return None
        self._wait_for_echo(words)
        for _ in range(2):  # the second time on a new connection
            try:
                commands = self._opened()
            except StreamrelayError:
                return None
            result = commands.run(line)
            if not isinstance(result.error, ServerLost):
                return result
            self.close()
        return None

    def close(self) -> None:
        """Close the connection; the next command opens another."""
        with self._lock:
            client, self._client = self._client, None
            commands, self._commands = self._commands, None
            loop, self._loop = self._loop, None
        if loop is None or self._process != os.getpid():
            return
        if commands is not None:
            commands.end()
        if loop.is_current:
            # A garbage collection may run this in the connection's own thread, which cannot wait for itself.
            loop.abandon()
            return
        if client is not None:
            with contextlib.suppress(StreamrelayError):
                loop.wait(client.aclose())
        loop.close()

    def _wait_for_echo(self, words: Sequence[str]) -> None:
        """Note input to a pane; before a capture, wait until the pane's program has had time to echo its input."""
        name, target, now = words[0], words[words.index("-t") + 1] if "-t" in words else "", time.monotonic()
        if name in _INPUT:
            with self._lock:
                recent = {pane: at for pane, at in self._typed_at.items() if at > now - self._echo_seconds}
                self._typed_at = {**recent, target: now}
        elif name == "capture-pane" and (typed := self._typed_at.get(target)) is not None:
            time.sleep(max(0.0, typed + self._echo_seconds - now))

    def _opened(self) -> BlockingCommands:
        with self._lock:
            if self._process != os.getpid():
                # A fork has no copy of the thread, and the client belongs to the parent.
                self._loop, self._client, self._commands, self._process = None, None, None, os.getpid()
            if self._loop is None:
                self._loop = LoopThread("streamrelay-libtmux")
            if self._commands is None:
                if not _may_be_there(self._tmux):
                    raise ServerLost("no server is running")
                self._client, self._commands = self._loop.wait(self._open())
            return self._commands

    async def _open(self) -> tuple[ControlClient, BlockingCommands]:
        client = ControlClient(self._tmux, "", _ignore, opening=("attach-session", "-E", "-f", _FLAGS))
        began = time.monotonic()
        server = await self._tmux.probe()
        self._echo_seconds = max(time.monotonic() - began, _MIN_ECHO_SECONDS)
        await client.open(server)
        # By a process: tmux counts who is attached again when that one leaves.
        with contextlib.suppress(StreamrelayError):
            await self._tmux.run("suspend-client", "-t", (await client.command(_OWN_NAME)).text)
        commands = client.lend()
        _drain_now_and_then(commands)
        return client, commands


def _drain_now_and_then(commands: BlockingCommands) -> None:
    commands.drain()
    asyncio.get_running_loop().call_later(_DRAIN_SECONDS, _drain_now_and_then, commands)


def _ignore(_events: Sequence[ControlEvent], _read_at: float) -> None:
    """Drop notifications; with `no-output` tmux sends no other events."""


def _may_be_there(tmux: Tmux) -> bool:
    """Whether the socket exists: without one, no process needs to ask."""
    path = tmux.socket_path
    if path is None:
        folder = Path(os.environ.get("TMUX_TMPDIR") or "/tmp") / f"tmux-{os.getuid()}"  # noqa: S108  # tmux's own place
        path = str(folder / (tmux.socket_name or "default"))
    return Path(path).exists()
