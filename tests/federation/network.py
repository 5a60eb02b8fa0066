"""Machines on a network of their own: a namespace for the broker, one for each machine, and a cable to each.

Linux and root are needed. A cut takes a cable's end down: packets are lost both ways, and nobody is told. Connections
stay open until a side gives them up. A slow line delays and loses packets both ways: by netem where the kernel has it,
and otherwise by a token bucket, which queues what exceeds 64 kbit/s for 0.3 s and drops the rest.

    with Network("alpha", "beta") as network:
        with PrivateRedis(None, *network.options, within=network.at_broker):
            subprocess.run([*network.at("alpha"), "redis-cli", ...])
            with network.cut("beta"):
                ...
"""

import contextlib
import itertools
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from types import TracebackType
from typing import Self

PORT = 6379
SLOW_LINES = (
    ("netem", "delay", "150ms", "50ms", "loss", "3%"),
    ("tbf", "rate", "64kbit", "burst", "4kb", "latency", "300ms"),
)
"""What makes a line slow, for `tc qdisc`; the first that the kernel knows is used."""
_COUNT = itertools.count()


def is_possible() -> bool:
    """Return whether this process may make network namespaces."""
    if sys.platform != "linux" or os.geteuid() != 0 or shutil.which("ip") is None:
        return False
    name = f"sr{os.getpid()}-try"
    made = subprocess.run(["ip", "netns", "add", name], capture_output=True, check=False).returncode == 0
    subprocess.run(["ip", "netns", "del", name], capture_output=True, check=False)
    return made


def can_be_slow() -> bool:
    """Return whether this machine can also slow a line down."""
    if not is_possible() or shutil.which("tc") is None:
        return False
    with Network("one") as network, contextlib.suppress(AssertionError), network.slow("one"):
        return True
    return False


class Network:
    """The namespaces of a broker and of some machines; a context manager."""

    def __init__(self, *machines: str) -> None:
        prefix = f"sr{os.getpid()}-{next(_COUNT)}"
        self._broker = f"{prefix}-broker"
        self._names = {machine: f"{prefix}-{machine}" for machine in machines}
        self._numbers = {machine: number for number, machine in enumerate(machines, 1)}
        self.at_broker = ("ip", "netns", "exec", self._broker)
        """The command that runs another one beside the broker."""
        addresses = [self._address(machine, 1) for machine in machines]
        self.options = ("--port", str(PORT), "--bind", *addresses, "--protected-mode", "no")
        """What makes a Redis server listen on the network."""

    def __enter__(self) -> Self:
        try:
            self._run("ip", "netns", "add", self._broker)
            for machine, name in self._names.items():
                here, there = self._cable(machine), "broker"
                self._run("ip", "netns", "add", name)
                self._run(
                    "ip",
                    "link",
                    "add",
                    here,
                    "netns",
                    self._broker,
                    "type",
                    "veth",
                    "peer",
                    "name",
                    there,
                    "netns",
                    name,
                )
                for space, device, host in ((self._broker, here, 1), (name, there, 2)):
                    self._run("ip", "-n", space, "addr", "add", f"{self._address(machine, host)}/30", "dev", device)
                    self._run("ip", "-n", space, "link", "set", device, "up")
        except BaseException:
            self._end()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._end()

    def at(self, machine: str) -> Sequence[str]:
        """Return the command that runs another one on a machine."""
        return ("ip", "netns", "exec", self._names[machine])

    def url(self, machine: str) -> str:
        """Return the broker's URL as that machine reaches it."""
        return f"redis://{self._address(machine, 1)}:{PORT}/0"

    @contextlib.contextmanager
    def cut(self, machine: str) -> Iterator[None]:
        """Let nothing pass between a machine and the broker for the length of the block."""
        self._run("ip", "-n", self._broker, "link", "set", self._cable(machine), "down")
        try:
            yield
        finally:
            self._run("ip", "-n", self._broker, "link", "set", self._cable(machine), "up")

    @contextlib.contextmanager
    def slow(self, machine: str) -> Iterator[None]:
        """Delay and lose packets between a machine and the broker for the length of the block."""
        ends = ((self._broker, self._cable(machine)), (self._names[machine], "broker"))
        try:
            for space, device in ends:
                self._slow_down(space, device)
            yield
        finally:
            for space, device in ends:
                subprocess.run(
                    ["tc", "-n", space, "qdisc", "del", "dev", device, "root"], capture_output=True, check=False
                )

    def _slow_down(self, space: str, device: str) -> None:
        for line in SLOW_LINES:
            words = ["tc", "-n", space, "qdisc", "add", "dev", device, "root", *line]
            if subprocess.run(words, capture_output=True, check=False).returncode == 0:
                return
        raise AssertionError(f"this kernel knows none of {[line[0] for line in SLOW_LINES]}")

    def _cable(self, machine: str) -> str:
        return f"to{self._numbers[machine]}"

    def _address(self, machine: str, host: int) -> str:
        return f"10.77.{self._numbers[machine]}.{host}"

    def _end(self) -> None:
        for name in (self._broker, *self._names.values()):
            subprocess.run(["ip", "netns", "del", name], capture_output=True, check=False)

    @staticmethod
    def _run(*words: str) -> None:
        subprocess.run(words, check=True, capture_output=True)
