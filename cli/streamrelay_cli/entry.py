"""Where the `streamrelay` command begins: agents' hooks do not wait for what every other command imports."""

import signal
import sys

from streamrelay_cli.descriptors import open_closed


def run() -> None:
    """Run the command line.

    Until a command handles signals itself (`running.run_to_end`), Ctrl-C ends the process as it ends any program.
    Python's own handler raises KeyboardInterrupt wherever the interpreter is: during imports that may be a `__del__`,
    where it is printed and dropped, and a traceback anywhere else. A shell's background job keeps ignoring SIGINT.
    """
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    open_closed()
    words = sys.argv[1:]
    if words[:1] == ["hook"] and len(words) > 1 and not words[1].startswith("-"):
        from streamrelay_cli.hook_client import tell

        sys.exit(tell(words[1:]))
    from streamrelay_cli.main import run as run_any

    run_any()
