import pytest

from streamrelay.testing.calibration import calibrated
from streamrelay.testing.oracle import Oracle
from streamrelay.testing.tmux import PrivateTmux
from streamrelay.vt.widths import Widths


@pytest.fixture(scope="session")
def widths() -> Widths:
    """What the tmux of these tests says of widths, asked once."""
    with PrivateTmux() as server:
        return calibrated(server)


@pytest.fixture
def oracle(private_tmux: PrivateTmux, widths: Widths) -> Oracle:
    return Oracle(private_tmux, widths)
