"""Bounds the memory that the C library holds although nothing uses it (docs/decisions/0053); only glibc is affected.

* After a large block was freed, glibc takes blocks of that size from its heaps, and then keeps up to twice as much free
  at the end of the heap of each thread. `bound_free_memory` fixes both limits.
* Long-lived objects between buffers that came and went keep the rest of a heap. `release_free_memory` gives its free
  pages back.
"""

import ctypes

_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3
"""The parameters of `mallopt` (glibc, malloc.h)."""
MAX_FREE_END = 4 * 2**20
"""Bytes that may stay free at the end of a heap."""
MIN_LARGE = 2**20
"""Bytes of a block that is not part of a heap, so that its memory is given back when it is freed."""


def bound_free_memory() -> bool:
    """Bound what glibc keeps free at the end of its heaps; return False where the C library has no `mallopt`."""
    setting = getattr(ctypes.CDLL(None), "mallopt", None)
    if setting is None:
        return False
    return bool(setting(_MMAP_THRESHOLD, MIN_LARGE)) and bool(setting(_TRIM_THRESHOLD, MAX_FREE_END))


def release_free_memory() -> bool:
    """Give the free pages of glibc's heaps back; return False where the C library has no `malloc_trim`."""
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is None:
        return False
    trim(0)
    return True
