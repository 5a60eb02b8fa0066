"""Control mode: bytes of the stream to events, as one busy pane and as many panes write them."""

import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from benchmarks import inputs
from benchmarks.screen import as_fed, chunks
from streamrelay.control import ControlProtocol, PaneOutput
from streamrelay.control.escape import escape

_SIZE = 1_000_000
_READ = 65_536
_WHOLE, _SHORT = 2_730, 40
"""Bytes of one `%output`: what tmux 3.3a writes for one busy pane, and about what it writes for many."""


def control_stream(data: bytes, panes: int, payload: int) -> list[bytes]:
    """Return reads of the stream that tells of `data`, printed in turn by `panes` panes."""
    printed = enumerate(chunks(data, payload))
    lines = (b"%%output %%%d %s\n" % (number % panes, escape(piece)) for number, piece in printed)
    return chunks(b"".join(lines), _READ)


@pytest.mark.parametrize(("panes", "payload"), [(1, _WHOLE), (64, _SHORT)])
@pytest.mark.parametrize("name", ["plain", "tui"])
def bench_protocol(benchmark: BenchmarkFixture, name: str, panes: int, payload: int) -> None:
    data = as_fed(inputs.make(name, _SIZE).data)
    reads = control_stream(data, panes, payload)

    def parse() -> int:
        protocol = ControlProtocol()
        events = [event for read in reads for event in protocol.receive(read)]
        return sum(len(event.data) for event in events if isinstance(event, PaneOutput))

    benchmark.extra_info["bytes"] = len(data)
    assert benchmark(parse) == len(data)
