import pytest

from streamrelay.testing.oracle import Oracle
from streamrelay.testing.tmux import PrivateTmux


@pytest.fixture
def oracle(private_tmux: PrivateTmux) -> Oracle:
    return Oracle(private_tmux)
