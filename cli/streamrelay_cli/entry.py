"""The entry point of `streamrelay`: runs agents' hooks without the imports of the other commands."""

import signal
import sys

from streamrelay_cli.descriptors import open_closed
from streamrelay_cli.imports import without_collection


def run() -> None:
    """Run the command line.

    Until a command handles signals itself (`runner.run_to_end`), Ctrl-C kills the process. Python's own handler would
    raise KeyboardInterrupt anywhere: in a `__del__` during imports it is printed and dropped, elsewhere it prints a
    traceback. A background job of a shell keeps ignoring SIGINT.
    """
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    open_closed()
    words = sys.argv[1:]
    if words[:1] == ["hook"] and len(words) > 1 and not words[1].startswith("-"):
        from streamrelay_cli.hook_client import report_hook

        sys.exit(report_hook(words[1:]))
    with without_collection():
        from streamrelay_cli.main import run as run_any

    run_any()
