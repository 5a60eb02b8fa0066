"""Opens the standard descriptors that the parent process has closed (`>&-`).

Python sets a stream without a descriptor to None, and the next opened file would get its number. So every command opens
all three first: reading standard input finds its end, printing data fails with `Bad file descriptor` as in any other
program, and messages on standard error are lost.
"""

import os
import sys

_STREAMS = (
    ("stdin", os.O_RDONLY, "r"),
    # Opened for reading, so that writing fails: a consumer must not take missing data for success.
    ("stdout", os.O_RDONLY, "w"),
    ("stderr", os.O_WRONLY, "w"),
)


def open_closed() -> None:
    """Open the closed standard descriptors, for this process and its children."""
    for descriptor, (name, flags, mode) in enumerate(_STREAMS):
        if getattr(sys, name) is not None:
            continue
        opened = os.open(os.devnull, flags)
        if opened == descriptor:
            os.set_inheritable(descriptor, True)
        else:
            os.dup2(opened, descriptor)
            os.close(opened)
        setattr(sys, name, os.fdopen(descriptor, mode, encoding="utf-8", closefd=False))
