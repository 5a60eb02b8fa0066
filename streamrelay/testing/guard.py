"""The strict guard: no test may touch a tmux server that is not the tests' own.

Switched on by the ini option `streamrelay_guard`, off for everybody else. Three nets, each for what the others miss:

* The environment. `TMUX_TMPDIR` is an empty private directory for the whole run, `TMUX` and `TMUX_PANE` are gone:
  a bare `tmux` typed by any child, however it was started, finds no user's server.
* An audit hook. A tmux argv whose socket (found as tmux 3.3a tmux.c and client.c find it) lies outside the private
  places is refused before it runs. It sees `subprocess` (so asyncio's too), `posix_spawn` and `os.exec*`; the last
  fires in the forked child, hence an `OSError`, which ptyprocess carries back to the parent. It does not see
  uvloop's own spawning, nor tmux behind another program (`sh -c`, `env`): the environment covers those.
* A look afterwards. A socket left in the private directory, or a tmux server left that was started under it, fails
  the test. Servers are told by their environment in /proc, so that those of other runs on the machine don't
  count; where there is no /proc only sockets are looked at.
"""

import errno
import os
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from streamrelay.testing.tmux import DIRECTORY_PREFIX, is_alive
from streamrelay.testing.waiting import wait_until

_LEFTOVER_SECONDS = 1.0
# Options of tmux itself that take a value (tmux.c: getopt "2c:CDdf:lL:NqS:T:uUvV").
_WITH_VALUE = frozenset("cfLST")


class ForeignServer(PermissionError):
    """A test was about to talk to a tmux server that is not its own."""


class TmuxServerGuard:
    """The guard of one pytest run; a plugin object whose hook is dead once the run is over."""

    def __init__(self) -> None:
        self._directory = tempfile.TemporaryDirectory(prefix=DIRECTORY_PREFIX)
        self.roots = [Path(self._directory.name).resolve()]
        self._environment = pytest.MonkeyPatch()
        self._spawned = False
        self._active = True

    def pytest_configure(self) -> None:
        """Cover the whole run, fixtures of wider scope and collection included."""
        self._environment.setenv("TMUX_TMPDIR", str(self.directory))
        self._environment.delenv("TMUX", raising=False)
        self._environment.delenv("TMUX_PANE", raising=False)
        sys.addaudithook(self._audit)

    def pytest_unconfigure(self) -> None:
        """Disable the audit hook, which cannot be removed."""
        self._active = False
        self._environment.undo()
        self._directory.cleanup()

    @property
    def directory(self) -> Path:
        """The directory every tmux server of this run is started under."""
        return self.roots[0]

    @pytest.fixture(autouse=True)
    def _only_private_servers(self, tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
        temporary = tmp_path_factory.getbasetemp().resolve()
        if temporary not in self.roots:
            self.roots.append(temporary)
        before = self._left()
        yield
        try:
            wait_until(lambda: self._left() <= before, _LEFTOVER_SECONDS)
        except TimeoutError:
            pytest.fail(f"this test left tmux behind: {', '.join(sorted(self._left() - before))}", pytrace=False)

    def _left(self) -> set[str]:
        if not self._spawned:
            return set()
        sockets = {str(path) for path in self.directory.rglob("*") if path.is_socket()}
        return sockets | {f"server process {pid}" for pid in servers_started_under(self.directory)}

    def _audit(self, event: str, args: tuple[Any, ...]) -> None:
        if event not in {"subprocess.Popen", "os.posix_spawn", "os.exec"} or not self._active:
            return
        self._spawned = True
        executable, argv = args[0], args[1]
        environment = args[3] if event == "subprocess.Popen" else args[2]
        words = [os.fsdecode(word) for word in ([argv] if isinstance(argv, str | bytes | os.PathLike) else argv)]
        names = {"tmux", Path(os.environ.get("STREAMRELAY_TMUX") or "tmux").name}
        if Path(os.fsdecode(executable)).name not in names and (not words or Path(words[0]).name not in names):
            return
        where = socket_of(words[1:], _decoded(os.environ if environment is None else environment))
        if where is not None and not self._is_private(where):
            raise ForeignServer(
                errno.EPERM,
                f"refused: {' '.join(words)} would use the tmux server at {where}; "
                "tests use private servers only (the fixture private_tmux)",
            )

    def _is_private(self, where: Path) -> bool:
        resolved = where.resolve()
        return any(resolved.is_relative_to(root) for root in self.roots) or any(
            parent.name.startswith(DIRECTORY_PREFIX) for parent in resolved.parents
        )


def socket_of(words: Sequence[str], environment: Mapping[str, str]) -> Path | None:
    """The socket tmux would use when called with `words`: -S, -L, $TMUX, the default; None for `tmux -V`."""
    name, rest = "default", list(words)
    inherited = environment.get("TMUX", "").partition(",")[0]
    while rest and rest[0].startswith("-") and rest[0] not in {"-", "--"}:
        letters = rest.pop(0)[1:]
        while letters:
            letter, letters = letters[0], letters[1:]
            if letter == "V":
                return None
            if letter in _WITH_VALUE:
                value, letters = letters or (rest.pop(0) if rest else ""), ""
                if letter == "S":
                    return Path(value)
                if letter == "L":
                    name, inherited = value, ""
    if inherited:
        return Path(inherited)
    return Path(environment.get("TMUX_TMPDIR") or "/tmp") / f"tmux-{os.getuid()}" / name  # noqa: S108  # tmux's own


def servers_started_under(directory: Path) -> set[int]:
    """Return the tmux servers with TMUX_TMPDIR=`directory` in their environment; empty without /proc."""
    wanted = f"TMUX_TMPDIR={directory}".encode()
    found = set()
    for name in os.listdir("/proc") if os.path.isdir("/proc") else ():  # noqa: PTH112, PTH208  # see _read
        if not name.isdecimal():
            continue
        try:
            # The name is cut short; a client is "tmux: client" there.
            if not _read(f"/proc/{name}/comm", 32).startswith(b"tmux: server"):
                continue
            environment = Path("/proc", name, "environ").read_bytes()
            if wanted in environment.split(b"\0") and is_alive(int(name)):
                found.add(int(name))
        except OSError:
            continue
    return found


def _read(path: str, size: int) -> bytes:
    # Twice in each test for each process of the machine: a Path and a file object take three times as long.
    descriptor = os.open(path, os.O_RDONLY)
    try:
        return os.read(descriptor, size)
    finally:
        os.close(descriptor)


def _decoded(environment: Mapping[Any, Any]) -> dict[str, str]:
    return {os.fsdecode(key): os.fsdecode(value) for key, value in environment.items()}
