"""`streamrelay doctor`: checks the installation."""

import dataclasses

from streamrelay_cli.command_entry import SETUP, command
from streamrelay_cli.options import AsJson, PrintingOptions, ServerAnywhere, takes_options
from streamrelay_cli.runner import run_to_end

SIGNS = {"ok": "ok     ", "warning": "warning", "failed": "FAILED "}
FAILED = 1


@command("doctor", panel=SETUP, place=70)
@takes_options
def doctor(options: ServerAnywhere, printing: PrintingOptions, as_json: AsJson = False) -> None:
    """Check tmux and this installation, and print the fixes.

    It checks tmux, the locale, both transports and the server, and exits with 1 if a check fails.
    """
    # Imported late: the checks would slow down the start of every other command.
    from streamrelay.doctor import examine

    output = printing.output(as_json=as_json)

    async def main() -> int:
        failed = False
        async for check in examine(options.server()):
            failed = failed or check.status == "failed"
            if as_json:
                output.json(dataclasses.asdict(check))
                continue
            output.line(f"{SIGNS[check.status]}  {check.name}: {check.found}")
            if check.fix:
                output.line(f"         hint: {check.fix}")
        return FAILED if failed else 0

    run_to_end(output, main)
