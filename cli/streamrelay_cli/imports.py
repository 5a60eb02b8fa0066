"""Imports without the garbage collector, which has nothing to free among modules: they live to the end.

Going through them again and again is a fifth of the processor time of a start.
"""

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def without_collection() -> Iterator[None]:
    """Keep the collector off for the imports inside, and out of what they made for good."""
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()
