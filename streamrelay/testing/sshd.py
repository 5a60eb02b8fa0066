"""A private ssh server on the loopback, for tests of what runs over ssh: own keys, own configuration, own log.

    with PrivateSshd(tmp_path) as sshd:
        server = streamrelay.connect(host=sshd.host, ssh=sshd.command, tmux=..., socket_path=...)

It serves only the user who runs the test, with a key that is made for it; nothing of the user's ~/.ssh is read.
The daemon is a child of the test, and is ended by its own id with every connection it serves. On Linux the kernel ends
it too when the test process dies without leaving the context: a run that is killed leaves no sshd behind.
"""

import getpass
import os
import shlex
import shutil
import signal
import socket
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Final, Self

from streamrelay.errors import StreamrelayError
from streamrelay.testing.tmux import is_alive
from streamrelay.testing.waiting import wait_until

PLACES: Final = ("/usr/sbin", "/usr/local/sbin", "/sbin")
"""Where the daemon is, which is seldom in the PATH of a user."""
_SECONDS: Final = 20.0
_ATTEMPTS: Final = 5
_SERVER: Final = """\
ListenAddress 127.0.0.1:{port}
HostKey {folder}/host_key
AuthorizedKeysFile {folder}/authorized_keys
AuthenticationMethods publickey
StrictModes no
UsePAM no
UseDNS no
PidFile none
MaxStartups 100
MaxSessions 100
LogLevel VERBOSE
{more}
"""
_CLIENT: Final = """\
Host {host}
    HostName 127.0.0.1
    Port {port}
    User {user}
    IdentityFile {folder}/user_key
    IdentitiesOnly yes
    IdentityAgent none
    UserKnownHostsFile {folder}/known_hosts
    GlobalKnownHostsFile /dev/null
    StrictHostKeyChecking yes
    ControlPath none
"""


# PR_SET_PDEATHSIG (1) of prctl(2); it outlasts exec. The parent may have died before it was set.
_TIE: Final = """\
import ctypes, os, signal, sys
ctypes.CDLL(None).prctl(1, int(signal.SIGTERM))
if os.getppid() == int(sys.argv[1]):
    os.execv(sys.argv[2], sys.argv[2:])
"""


def missing_program() -> str:
    """Return the name of the first program that is needed and not here; empty where all are."""
    return next((name for name in ("ssh", "ssh-keygen", "sshd") if not _found(name)), "")


class PrivateSshd:
    """An ssh server in `folder`, which has to be empty; a context manager.

    `host` is the name by which `command`, an ssh command line with a configuration of its own, reaches it, as
    `configuration` says. `more` are further lines of the server's configuration. Entering raises StreamrelayError where
    a program is missing.
    """

    host = "private-sshd"

    def __init__(self, folder: Path, *, more: str = "") -> None:
        self.folder = folder
        self.configuration = folder / "ssh_config"
        self.command = shlex.join((_found("ssh"), "-F", str(self.configuration)))
        self.port = 0
        self._more = more
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        if absent := missing_program():
            raise StreamrelayError(f"there is no {absent} here", hint="apt-get install openssh-server")
        for name in ("host_key", "user_key"):
            words = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(self.folder / name)]
            subprocess.run(words, check=True, stdin=subprocess.DEVNULL, timeout=_SECONDS)
        shutil.copy(self.folder / "user_key.pub", self.folder / "authorized_keys")
        for _ in range(_ATTEMPTS):
            self.port = _free_port()
            self._configure()
            if self._start():
                return self
        raise StreamrelayError(f"sshd does not start: {self.log.strip()}")

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.stop()

    @property
    def log(self) -> str:
        """What the server said."""
        try:
            return (self.folder / "log").read_text(errors="replace")
        except FileNotFoundError:
            return ""

    @property
    def connections(self) -> list[int]:
        """The processes of the connections it serves, each the child of the daemon; Linux only."""
        if self._process is None:
            return []
        return _children(self._process.pid)

    def break_connections(self) -> None:
        """Kill the process of every connection, as if the machine had dropped them."""
        for pid in (one for of in self.connections for one in (of, *_children(of))):
            # The second one, with the rights of the user, holds what the connection runs.
            if _is_sshd(pid):
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)

    def stop(self) -> None:
        """End it, and what it serves."""
        if self._process is None:
            return
        self.break_connections()
        self._process.terminate()
        self._process.wait(_SECONDS)
        self._process = None

    def start(self) -> None:
        """Start it again on the same port, with the same keys."""
        if not self._start():
            raise StreamrelayError(f"sshd does not start: {self.log.strip()}")

    def _configure(self) -> None:
        known = {"folder": self.folder, "port": self.port, "user": getpass.getuser(), "host": self.host}
        (self.folder / "sshd_config").write_text(_SERVER.format(**known, more=self._more))
        self.configuration.write_text(_CLIENT.format(**known))
        key = " ".join((self.folder / "host_key.pub").read_text().split()[:2])
        (self.folder / "known_hosts").write_text(f"[127.0.0.1]:{self.port} {key}\n")

    def _start(self) -> bool:
        log, configuration = self.folder / "log", self.folder / "sshd_config"
        if os.getuid() == 0:
            # Where it puts who has not logged in yet; Debian makes it when the system's own is started.
            Path("/run/sshd").mkdir(mode=0o755, exist_ok=True)
        command = [_found("sshd"), "-D", "-f", str(configuration), "-E", str(log)]
        process = subprocess.Popen([*_tied(), *command], stdin=subprocess.DEVNULL)
        wait_until(lambda: self._answers() or process.poll() is not None, _SECONDS, "sshd does not answer")
        if process.poll() is not None:
            return False
        self._process = process
        return True

    def _answers(self) -> bool:
        with suppress(OSError), socket.create_connection(("127.0.0.1", self.port), 1.0) as peer:
            return peer.recv(4) == b"SSH-"
        return False


def _tied() -> list[str]:
    """Return the words in front of a command by which it gets SIGTERM when this process dies; none but on Linux."""
    if sys.platform != "linux":
        return []
    return [sys.executable, "-ISc", _TIE, str(os.getpid())]


def _found(program: str) -> str:
    return shutil.which(program) or shutil.which(program, path=os.pathsep.join(PLACES)) or ""


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _children(pid: int) -> list[int]:
    try:
        found = Path(f"/proc/{pid}/task/{pid}/children").read_text()
    except OSError:
        return []
    return [int(one) for one in found.split() if is_alive(int(one))]


def _is_sshd(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/comm").read_text().startswith("sshd")
    except OSError:
        return False
