"""Python's module for Zstandard, or its backport before 3.14 (PEP 784).

It comes with the extra `redis`, so it is imported where it is used. ModuleNotFoundError: it is not installed.
"""

import sys

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    # `from backports` would raise another error where another package has made that folder.
    import backports.zstd as zstd  # noqa: PLR0402

__all__ = ["zstd"]
