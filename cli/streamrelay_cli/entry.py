"""Where the `streamrelay` command begins: agents' hooks do not wait for what every other command imports."""

import sys

from streamrelay_cli.descriptors import open_closed


def run() -> None:
    """Run the command line."""
    open_closed()
    words = sys.argv[1:]
    if words[:1] == ["hook"] and len(words) > 1 and not words[1].startswith("-"):
        from streamrelay_cli.telling import tell

        sys.exit(tell(words[1:]))
    from streamrelay_cli.main import run as run_any

    run_any()
