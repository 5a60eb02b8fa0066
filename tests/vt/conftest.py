import pytest

from streamrelay.panes.calibration import calibrate
from streamrelay.testing.oracle import Oracle
from streamrelay.testing.tmux import PrivateTmux
from streamrelay.vt.widths import Widths
from tests.vt.engines import ENGINES, KNOWN_FAILURES, Make


@pytest.fixture(scope="session")
def widths() -> Widths:
    """What the tmux of these tests says of widths, asked once."""
    with PrivateTmux() as server:
        return calibrate(server)


@pytest.fixture
def oracle(private_tmux: PrivateTmux, widths: Widths) -> Oracle:
    return Oracle(private_tmux, widths)


@pytest.fixture(params=ENGINES)
def make(request: pytest.FixtureRequest) -> Make:
    failures = KNOWN_FAILURES.get(request.param, {})
    known = failures.get(request.node.originalname) or failures.get(request.node.name)
    if known:
        request.applymarker(pytest.mark.xfail(reason=known, strict=True))
    return ENGINES[request.param]
