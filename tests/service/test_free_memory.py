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


LARGE = """
import sys, threading
from streamrelay.service.memory import bound_free_memory, release_free_memory
from streamrelay.testing.tmux import resident
if sys.argv[1] == "bounded":
    assert bound_free_memory()
del (large := [b"x" * 30_000_000])[:]
def work():
    blocks = [b"x" * 2_000_000 for _ in range(14)]
    del blocks[:]
    done.set()
    ends.wait()
done, ends = threading.Event(), threading.Event()
before = resident()
thread = threading.Thread(target=work)
thread.start()
done.wait()
release_free_memory()
print((resident() - before) / 1e6)
ends.set()
"""


@pytest.mark.skipif(not release_free_memory(), reason="only glibc can")
@pytest.mark.parametrize(("kind", "is_kept"), [("bounded", False), ("unbounded", True)])
def test_a_thread_keeps_no_large_blocks_that_it_has_freed(kind: str, *, is_kept: bool) -> None:
    done = subprocess.run([sys.executable, "-c", LARGE, kind], capture_output=True, text=True, timeout=60, check=True)
    assert (float(done.stdout) > 15) == is_kept, "of 28 MB"
