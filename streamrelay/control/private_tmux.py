"""A private tmux server: its own socket, an empty configuration, a clean environment; it ends with the block.

`streamrelay doctor` tries control mode and measures character widths on one, tests run their programs in one:

    with PrivateTmux() as server:
        pane = server.new_session("trial", ["cat"])

* The socket lives in a short directory. The path of a unix socket may have about 100 bytes (104 on macOS, 108 on
  Linux). Where TMPDIR is too deep for that, the directory is made in /tmp.
* Entering the block starts no server. tmux starts one with the first session and ends it with the last one, and some
  tests need a server in just that state.
* The process id of the server comes from the kernel (the peer of the socket). A server that is stopped or hangs can
  therefore still be killed.
"""

import os
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Self

from streamrelay.errors import CommandFailed, CommandTimeout, NoServer, TmuxMissing
from streamrelay.waiting import wait_until

if TYPE_CHECKING:
    import libtmux

DIRECTORY_PREFIX = "streamrelay-"
_MAX_SOCKET_PATH = 90
_COMMAND_SECONDS = 20.0
_END_SECONDS = 1.0
_NO_SERVER = ("no server running on", "error connecting to")
_LEAVING = "server exited unexpectedly"
# Variables that make a shell or tmux behave differently from one user to the next.
_NOT_INHERITED = ("TMUX", "TMUX_PANE", "ENV", "BASH_ENV", "PROMPT_COMMAND", "SHLVL", "LC_ALL", "LC_CTYPE", "LANGUAGE")


class PrivateTmux:
    """A context manager for one private tmux server.

    `binary` is the tmux program, `socket_path` its socket, `argv` the words that start every command, and
    `environment` the variables of every command. Pass `argv` and `environment` on to start a client of your own.
    """

    def __init__(self, binary: str | None = None) -> None:
        self.binary = binary or os.environ.get("STREAMRELAY_TMUX") or "tmux"
        self._temporary = _short_directory()
        self.directory = Path(self._temporary.name)
        self.socket_path = str(self.directory / "tmux")
        self.argv = [self.binary, "-S", self.socket_path, "-f", "/dev/null"]
        self.environment = {name: value for name, value in os.environ.items() if name not in _NOT_INHERITED}
        self.environment |= {"LANG": "C.UTF-8", "TERM": "xterm-256color", "SHELL": "/bin/sh", "PS1": "$ "}
        self._pid: int | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        try:
            self.kill()
        finally:
            self._temporary.cleanup()

    def run(self, *args: str, input: str | bytes | None = None, timeout: float = _COMMAND_SECONDS) -> str:  # noqa: A002
        """Run one tmux command and return its output without the last newline.

        `input` is its standard input (for `load-buffer -`), `timeout` is in seconds. Bytes that are not valid UTF-8
        become surrogates.
        Raises `NoServer`, `CommandFailed` with tmux's own message, `CommandTimeout` or `TmuxMissing`.
        """
        data = input.encode() if isinstance(input, str) else (input or b"")
        try:
            done = subprocess.run(
                [*self.argv, *args], input=data, capture_output=True, env=self.environment, timeout=timeout, check=False
            )
        except FileNotFoundError as error:
            raise TmuxMissing(f"{self.binary} cannot be run: {error.strerror}") from error
        except subprocess.TimeoutExpired as error:
            raise CommandTimeout(f"tmux {args[0] if args else ''} did not answer in {timeout:g} s") from error
        if done.returncode != 0:
            words = done.stderr.decode(errors="replace").strip() or f"tmux ended with status {done.returncode}"
            raise (NoServer if words.startswith(_NO_SERVER) else CommandFailed)(words, data={"command": args})
        return done.stdout.decode(errors="surrogateescape").removesuffix("\n")

    def new_session(
        self,
        name: str,
        command: Sequence[str] | None = None,
        *,
        columns: int = 80,
        lines: int = 24,
        environment: Mapping[str, str] | None = None,
    ) -> str:
        """Start a detached session and return the id of its pane (`%0`).

        tmux runs `command` by argument list, not through a shell. Without one the pane runs a plain `/bin/sh` that
        reads no configuration and prompts with `$ `.
        """
        words = list(command) if command is not None else ["/bin/sh"]
        if len(words) == 1:
            # tmux hands a single word to a shell, and only two and more to exec.
            words = ["env", *words]
        variables = [word for key, value in (environment or {}).items() for word in ("-e", f"{key}={value}")]
        size = ["-x", str(columns), "-y", str(lines)]
        start = ("new-session", "-d", "-P", "-F", "#{pane_id}", "-s", name, *size, *variables, "--", *words)
        try:
            pane = self.run(*start)
        except CommandFailed as error:
            if _LEAVING not in str(error):
                raise
            # The server is exiting because its last session ended; it refuses new clients until it is gone.
            wait_until(lambda: self._pid is None or not is_alive(self._pid), _END_SECONDS)
            pane = self.run(*start)
        with suppress(NoServer):  # a command that ends at once takes the server with it
            self._pid = self.server_pid
        return pane

    @property
    def server_pid(self) -> int:
        """The process id of the running server; raises `NoServer` when there is none."""
        try:
            with socket.socket(socket.AF_UNIX) as peer:
                peer.settimeout(_END_SECONDS)
                peer.connect(self.socket_path)
                return _peer_pid(peer)
        except OSError as error:
            raise NoServer(f"no server running on {self.socket_path}") from error

    def libtmux(self) -> "libtmux.Server":
        """The same server as a `libtmux.Server`."""
        import libtmux

        return libtmux.Server(socket_path=self.socket_path, config_file="/dev/null", tmux_bin=shutil.which(self.binary))

    def kill(self) -> None:
        """End the server with `kill-server`, then by its process id. Does nothing when no server runs."""
        try:
            pid = self.server_pid
        except NoServer:
            # The socket may be gone while the server still runs.
            if self._pid is None or not is_alive(self._pid):
                return
            pid = self._pid
        try:
            self.run("kill-server", timeout=_END_SECONDS)
            wait_until(lambda: not is_alive(pid), _END_SECONDS)
        except (NoServer, CommandFailed, CommandTimeout, TmuxMissing, TimeoutError):
            _kill_hard(pid)
        self._pid = None


def is_alive(pid: int) -> bool:
    """Return whether the process runs. A zombie, which has ended and waits to be reaped, does not.

    The first thread of a killed process may end before the others, which hold its files and their locks until then.
    """
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    try:
        state = Path(f"/proc/{pid}/stat").read_text(errors="replace").rpartition(") ")[2][:1]
        threads = list(Path(f"/proc/{pid}/task").iterdir())
    except OSError:
        return not sys.platform.startswith("linux")
    return state != "Z" or len(threads) > 1


def _kill_hard(pid: int) -> None:
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        return
    wait_until(lambda: not is_alive(pid), _END_SECONDS, f"tmux server {pid} survives SIGKILL")


def _peer_pid(peer: socket.socket) -> int:
    if sys.platform == "darwin":
        level, option = 0, 2  # SOL_LOCAL, LOCAL_PEERPID of <sys/un.h>
        return int(peer.getsockopt(level, option))
    pid, _uid, _gid = struct.unpack("3i", peer.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))
    return int(pid)


def _short_directory() -> tempfile.TemporaryDirectory[str]:
    for parent in (None, "/tmp"):  # noqa: S108  # a directory of our own is made in it
        directory = tempfile.TemporaryDirectory(prefix=DIRECTORY_PREFIX, dir=parent, ignore_cleanup_errors=True)
        if len(os.fsencode(directory.name)) + len("/tmux") <= _MAX_SOCKET_PATH:
            break
        directory.cleanup()
    return directory
