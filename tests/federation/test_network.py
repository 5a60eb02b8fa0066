"""The lines between machines: a cut passes nothing, a slow line passes everything later."""

import subprocess
import sys
from collections.abc import Iterator

import pytest

from streamrelay.testing.redis import PrivateRedis
from tests.federation import network
from tests.federation.network import Network

SIZE = 16_000
"""Bytes that a slow line carries in a second or two."""


@pytest.fixture
def lines(private_redis: PrivateRedis) -> Iterator[Network]:
    if not network.is_possible():
        pytest.skip("needs Linux, root and network namespaces")
    with (
        Network("alpha", "beta") as between,
        PrivateRedis(private_redis.binary, *between.options, within=between.at_broker),
    ):
        yield between


PROGRAM = """\
import socket, sys, time
with socket.create_connection((sys.argv[1], int(sys.argv[2]))) as broker:
    begun = time.monotonic()
    broker.sendall(b"ECHO " + b"x" * int(sys.argv[3]) + b"\\r\\n")
    broker.recv(1)
    print(time.monotonic() - begun)
"""


def carried(between: Network, machine: str, *, patience: float = 30.0) -> float:
    """Return the seconds until the broker has answered a machine; raises TimeoutExpired if it does not in time."""
    host = between.url(machine).removeprefix("redis://").partition(":")[0]
    words = [*between.at(machine), sys.executable, "-S", "-c", PROGRAM, host, str(network.PORT), str(SIZE)]
    return float(subprocess.run(words, check=True, timeout=patience, capture_output=True, text=True).stdout)


@pytest.mark.requirement("NET-03")
def test_a_cut_line_passes_nothing_and_the_other_one_all(lines: Network) -> None:
    with lines.cut("alpha"):
        carried(lines, "beta")
        with pytest.raises((subprocess.TimeoutExpired, subprocess.CalledProcessError)):
            carried(lines, "alpha", patience=2.0)
    carried(lines, "alpha")


@pytest.mark.requirement("NET-03")
def test_a_slow_line_delays_what_it_passes(lines: Network) -> None:
    if not network.can_be_slow():
        pytest.skip("needs tc with netem or tbf")
    usual = min(carried(lines, "alpha") for _ in range(3))
    with lines.slow("alpha"):
        delayed = carried(lines, "alpha")
    assert delayed > 0.25
    assert delayed > 3 * usual
