"""Gives memory that the C library keeps free back to the system.

A process that lives for weeks keeps long-lived objects between buffers that came and went, and glibc gives only the end
of its heap back by itself (docs/decisions/0053).
"""

import ctypes


def release_free_memory() -> bool:
    """Give the free pages of glibc's heap back; return False where the C library has no `malloc_trim`."""
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is None:
        return False
    trim(0)
    return True
