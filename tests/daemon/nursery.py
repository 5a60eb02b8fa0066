"""A process that has imported all that a daemon is made of, and forks one for each line it reads, one at a time.

    nursery.py LOG WORD...      of each it says the process id, and how it ended (as subprocess has it)

What is born is the command, `streamrelay WORD...`, in the state in which it would be after a second of importing.
libfaketime may move the time of day of the daemons, but not of the programs that they run. Programs
that load libfaketime share its state: the first one that exits removes that state, and another may then fail to start.
"""

import os
import sys

from streamrelay_cli.main import run

from streamrelay.daemon import assembly, logs, process, tools

BORN_WITH = (assembly, logs, process, tools)
FAKETIME_VARIABLES = ("LD_PRELOAD", "FAKETIME_SHARED")
"""The variables by which a program loads libfaketime, and shares its state with others."""


def main(log: str, *words: str) -> None:
    for name in FAKETIME_VARIABLES:
        os.environ.pop(name, None)
    for _ in iter(sys.stdin.readline, ""):
        pid = os.fork()
        if pid == 0:
            for path, descriptor in ((os.devnull, 0), (log, 1), (log, 2)):
                os.dup2(os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT), descriptor)
            sys.argv = ["streamrelay", *words]
            run()
        print(pid, flush=True)
        print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
