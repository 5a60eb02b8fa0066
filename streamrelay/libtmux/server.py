"""A `libtmux.Server` whose commands travel over one control connection instead of a process each.

    server = ControlServer(socket_name="work")
    for pane in server.panes:
        print(pane.pane_id, pane.capture_pane()[-1:])

It is a `libtmux.Server` in every other way: the same constructor, objects, results and errors. Commands that a control
connection cannot carry with the same result are processes as before (`streamrelay.libtmux.commands`).

libtmux reads lists of objects with `libtmux.neo.tmux_cmd`, past the server object. Importing this module replaces that
one name by a function that recognises the servers here and calls libtmux's own class for all others.
"""

import logging
import shlex
import shutil
import weakref
from collections.abc import Sequence
from typing import Any

import libtmux
from libtmux import common, neo

from streamrelay.control import CommandResult, Tmux
from streamrelay.libtmux.commands import literal, route
from streamrelay.libtmux.connection import ControlConnection

_logger = logging.getLogger("libtmux.common")
"""libtmux's own: what listens there hears of these commands too."""
_PARSE_ERROR = "parse error: "
_LOGGED_LINES = 100


class _Binary(str):
    """The path of tmux, with the connection of the server that it belongs to."""

    __slots__ = ("connection",)
    connection: ControlConnection


class ControlServer(libtmux.Server):
    """A `libtmux.Server` over one control connection; its arguments are those of `libtmux.Server`.

    Any thread may use it. `close` ends the connection; leaving it as a context manager kills the tmux server, as
    libtmux does.
    """

    _connection: ControlConnection | None = None

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        binary = self.tmux_bin or shutil.which("tmux") or "tmux"
        path = None if self.socket_path is None else str(self.socket_path)
        connection = ControlConnection(
            Tmux(binary, socket_name=None if path else self.socket_name or None, socket_path=path)
        )
        self._connection = connection
        self.tmux_bin = _Binary(binary)
        self.tmux_bin.connection = connection
        self._finalizer = weakref.finalize(self, connection.close)

    def cmd(self, cmd: str, *args: Any, target: str | int | None = None) -> common.tmux_cmd:
        """Run one tmux command; arguments and result are those of `libtmux.Server.cmd`.

        server.cmd("display-message", "-p", "#{pane_title}", target="%3").stdout
        """
        words = [cmd, *(("-t", str(target)) if target is not None else ()), *map(str, args)]
        if (connection := self._connection) is None:
            return super().cmd(cmd, *args, target=target)
        carried = _run(connection, words, [*self._server_words(), *words])
        return super().cmd(cmd, *args, target=target) if carried is None else carried

    def close(self) -> None:
        """Close the control connection; the tmux server stays, and the next command opens the connection again.

        server.close()
        """
        if self._connection is not None:
            self._connection.close()

    def _server_words(self) -> list[str]:
        """Return what a process would be given before the command, for logs."""
        words = [str(self.tmux_bin)]
        if self.config_file:
            words.append(f"-f{self.config_file}")
        if self.socket_path:
            words.append(f"-S{self.socket_path}")
        if self.socket_name:
            words.append(f"-L{self.socket_name}")
        return words


def _run(connection: ControlConnection, words: Sequence[str], argv: list[str]) -> common.tmux_cmd | None:
    """Run a command over the connection; None if it has to be a process."""
    if not words:
        return None
    way = route(words).way
    if way != "connection":
        if way == "process alone" and connection.is_open:
            connection.close()
        return None
    if _logger.isEnabledFor(logging.DEBUG):
        _logger.debug("tmux command dispatched", extra={"tmux_cmd": shlex.join(argv)})
    result = connection.run([words[0], *literal(words[1:])])
    if result is None:
        return None
    done = _as_command(result, argv)
    if _logger.isEnabledFor(logging.DEBUG):
        _logger.debug(
            "tmux command completed",
            extra={
                "tmux_cmd": shlex.join(argv),
                "tmux_exit_code": done.returncode,
                "tmux_stdout": done.stdout[:_LOGGED_LINES],
                "tmux_stderr": done.stderr[:_LOGGED_LINES],
                "tmux_stdout_len": len(done.stdout),
                "tmux_stderr_len": len(done.stderr),
            },
        )
    return done


def _as_command(result: CommandResult, argv: list[str]) -> common.tmux_cmd:
    """Return a result as libtmux makes it of a process that printed the same."""
    printed: list[str] = []
    refused: list[str] = []
    for block in result.blocks:
        lines = [line.decode(errors="backslashreplace").replace("\r", "\n") for line in block.lines]
        (printed if block.ok else refused).extend(lines)
    stdout = "\n".join(printed).split("\n")
    while stdout and not stdout[-1]:
        stdout.pop()
    stderr = [line.removeprefix(_PARSE_ERROR) for line in "\n".join(refused).split("\n") if line]
    done = common.tmux_cmd.__new__(common.tmux_cmd)
    done.cmd, done.returncode, done.stderr = argv, int(result.error is not None), stderr
    done.stdout = [stderr[0]] if "has-session" in argv and stderr and not stdout else stdout
    return done


def _listed(*args: Any, tmux_bin: str | None = None) -> common.tmux_cmd:
    """Run a command as `libtmux.common.tmux_cmd` does, over the connection if `tmux_bin` has one."""
    if isinstance(tmux_bin, _Binary):
        given = [str(word) for word in args]
        first = next((at for at, word in enumerate(given) if not word.startswith(("-L", "-S"))), len(given))
        carried = _run(tmux_bin.connection, given[first:], [tmux_bin, *given])
        if carried is not None:
            return carried
    return common.tmux_cmd(*args, tmux_bin=tmux_bin)


setattr(neo, "tmux_cmd", _listed)  # noqa: B010  # a type checker refuses a function for a class
