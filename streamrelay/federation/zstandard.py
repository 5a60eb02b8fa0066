"""Python's module for Zstandard, or its backport before 3.14 (PEP 784).

It comes with the extra `redis`, so it is imported where it is used. ModuleNotFoundError: it is not installed.
"""

import sys

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

__all__ = ["zstd"]
