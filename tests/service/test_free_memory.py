"""A process gives back what its allocator keeps between long-lived objects."""

import subprocess
import sys

import pytest

from streamrelay.service.memory import release_free_memory

FRAGMENTING = """
from streamrelay.service.memory import release_free_memory
from streamrelay.testing.tmux import resident
blocks = [bytes(2000) for _ in range(40_000)]
blocks = blocks[::100]
before = resident()
assert release_free_memory()
print((before - resident()) / 1e6)
"""


@pytest.mark.skipif(not release_free_memory(), reason="only glibc can")
def test_free_memory_between_objects_that_stay_is_given_back() -> None:
    done = subprocess.run([sys.executable, "-c", FRAGMENTING], capture_output=True, text=True, timeout=120, check=True)
    assert float(done.stdout) > 40, "of 80 MB, one block in a hundred stays"
