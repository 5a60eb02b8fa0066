"""Standard input, output and error where whoever started the command has closed them (`>&-`).

Python has None for a stream without a descriptor, and the next file that is opened would get its number. So every
command begins with all three: what reads finds nothing, what is printed as data fails with `Bad file descriptor` as it
would of any other program, and what is told on standard error is told to nobody.
"""

import os
import sys

_STREAMS = (
    ("stdin", os.O_RDONLY, "r"),
    # Whoever expects data is not to take its absence for success: writing to what is open for reading is an error.
    ("stdout", os.O_RDONLY, "w"),
    ("stderr", os.O_WRONLY, "w"),
)


def open_closed() -> None:
    """Open what is closed of the three standard descriptors, for this process and those it starts."""
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
