"""A process that has imported all that a daemon is made of, and forks one for each line it reads, one at a time.

    nursery.py LOG WORD...      of each it says the process id, and how it ended (as subprocess has it)

What is born is the command, `streamrelay WORD...`, in the state in which it would be after a second of importing. If
libfaketime moves its time of day, that of the programs it runs is not moved: the first of its processes that exits
removes what libfaketime shares among them, and another one then may not start.
"""

import os
import sys

from streamrelay_cli.main import run

from streamrelay.daemon import assembly, logs, process, tools

BORN_WITH = (assembly, logs, process, tools)


OF_CLOCK = ("LD_PRELOAD", "FAKETIME_SHARED")


def main(log: str, *words: str) -> None:
    for name in OF_CLOCK:
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
