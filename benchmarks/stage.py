"""Where the measuring of live panes takes place: a private tmux server, a producer in a pane, one reader at a time.

Readers alternate on the same server within one run, never two at once: tmux writes to every control client, so a
second one would be measured with the first.
"""

import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from types import TracebackType
from typing import Literal, Self

import msgspec

from benchmarks.inputs import COLUMNS, LINES
from benchmarks.measuring import ROOT
from benchmarks.reading import Reading
from streamrelay.errors import CommandFailed
from streamrelay.testing.tmux import PrivateTmux

ReaderName = Literal["discard", "delta", "polling"]
_PRODUCER = ROOT / "benchmarks" / "producer.py"
_ATTACH_SECONDS = 20.0


@dataclass(frozen=True, slots=True)
class Run:
    """One order carried out by the producer under the eyes of one reader."""

    seconds: float
    """From before the first byte to the moment the reader saw the marker."""
    reading: Reading


class Stage:
    """A context manager for the server, the folder of inputs and the sockets of producers."""

    def __init__(self, *, limit: float = 120.0) -> None:
        self._limit = limit
        self._owned = ExitStack()
        self._numbers = count(1)

    def __enter__(self) -> Self:
        with ExitStack() as owned:
            self.tmux = owned.enter_context(PrivateTmux())
            # With the last producer the server would end, and the next session find it in mid-exit.
            self.tmux.new_session("anchor", ["cat", "-"])
            self.binary = shutil.which(self.tmux.binary) or self.tmux.binary
            self._folder = Path(owned.enter_context(tempfile.TemporaryDirectory(prefix="streamrelay-")))
            self._owned = owned.pop_all()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._owned.close()

    @contextmanager
    def producer(self, panes: int = 1) -> Iterator["Producer"]:
        """Open panes of one session with a producer in each; they end with the block."""
        address = self._folder / f"producer-{next(self._numbers)}"
        with ExitStack() as opened:
            listener = opened.enter_context(socket.socket(socket.AF_UNIX))
            listener.settimeout(_ATTACH_SECONDS)
            listener.bind(str(address))
            listener.listen(panes)
            command = [sys.executable, "-S", str(_PRODUCER), str(address)]
            ids = opened.enter_context(self._session(command, panes))
            peers: dict[str, socket.socket] = {}
            for _ in ids:
                peer, _ = listener.accept()
                opened.enter_context(peer).settimeout(self._limit)
                peers[peer.makefile().readline().strip()] = peer
            yield Producer(self, ids, [peers[pane] for pane in ids])

    @contextmanager
    def silent(self, number: int) -> Iterator[list[str]]:
        """Open panes of one session in which nothing happens but what is written into their terminals."""
        with self._session(["sh", "-c", "stty raw -echo; exec sleep 3600"], number) as panes:
            yield panes

    @contextmanager
    def _session(self, command: Sequence[str], panes: int) -> Iterator[list[str]]:
        name = f"work-{next(self._numbers)}"
        more = ("new-window", "-d", "-P", "-F", "#{pane_id}", "-t", f"={name}:", "--", *command)
        first = self.tmux.new_session(name, command, columns=COLUMNS, lines=LINES)
        try:
            yield [first, *(self.tmux.run(*more) for _ in range(panes - 1))]
        finally:
            with suppress(CommandFailed):  # with the last of its programs it is gone by itself
                self.tmux.run("kill-session", "-t", f"={name}")

    def keep(self, data: bytes) -> Path:
        """Write an input where a producer can read it."""
        path = self._folder / f"input-{next(self._numbers)}"
        path.write_bytes(data)
        return path

    def marker(self) -> str:
        """Return a text that nothing else prints."""
        return f"END-OF-RUN-{next(self._numbers):06d}"

    @contextmanager
    def reader(self, name: ReaderName, panes: Sequence[str], marker: str, *options: str) -> Iterator["Reader"]:
        """Attach a reader; ready when this is entered."""
        argv = [sys.executable, "-m", f"benchmarks.{name}_reader", marker, *panes, "--socket", self.tmux.socket_path]
        argv += ["--tmux", self.binary, *options]
        with subprocess.Popen(argv, stdout=subprocess.PIPE, cwd=ROOT, env=self.tmux.environment) as process:
            try:
                assert process.stdout is not None
                if process.stdout.readline() != b"ready\n":
                    raise RuntimeError(f"the {name} reader could not attach")
                yield Reader(process, self._limit)
            finally:
                process.kill()


class Reader:
    """A reader that is attached."""

    def __init__(self, process: subprocess.Popen[bytes], limit: float) -> None:
        self._process = process
        self._limit = limit

    def reading(self) -> Reading:
        """Wait for the marker; raises TimeoutExpired when it does not come."""
        output, _ = self._process.communicate(timeout=self._limit)
        if self._process.returncode != 0:
            raise RuntimeError(f"a reader ended with status {self._process.returncode}")
        return msgspec.json.decode(output, type=Reading)


class Producer:
    """The programs in the panes, and the orders they take."""

    def __init__(self, stage: Stage, panes: Sequence[str], peers: Sequence[socket.socket]) -> None:
        self._stage = stage
        self._panes = panes
        self._peers = peers

    def flood(self, path: Path, reader: ReaderName, *options: str) -> Run:
        """Have a file printed as fast as it goes, in every pane."""
        return self._order([f"flood {path}"] * len(self._peers), reader, *options)

    def tick(self, number: int, interval: float, reader: ReaderName, *options: str, beside: Path | None = None) -> Run:
        """Have `number` lines printed, one every `interval` seconds; the other panes print `beside` all the while."""
        orders = [f"tick {number} {interval}", *(f"repeat {beside}" for _ in self._peers[1:])]
        return self._order(orders, reader, *options, "--until", "1")

    def _order(self, orders: Sequence[str], name: ReaderName, *options: str) -> Run:
        marker = self._stage.marker()
        with self._stage.reader(name, self._panes, marker, *options) as reader:
            for number, (peer, order) in enumerate(zip(self._peers, orders, strict=True)):
                peer.sendall(f"{order} {marker}-{number}\n".encode())
            reading = reader.reading()
            for peer, order in zip(self._peers, orders, strict=True):
                if order.startswith("repeat"):
                    peer.sendall(b"enough\n")
            began = min(float(peer.makefile().readline()) for peer in self._peers)
        return Run(reading.ended - began, reading)
