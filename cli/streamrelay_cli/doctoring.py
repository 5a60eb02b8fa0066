"""`streamrelay doctor`: what is well here, and what is not."""

import dataclasses

from streamrelay.control import Tmux
from streamrelay_cli.options import AsJson, SocketName, SocketPath, TmuxBinary
from streamrelay_cli.output import Output
from streamrelay_cli.running import run_to_end

SIGNS = {"ok": "ok     ", "warning": "warning", "failed": "FAILED "}
FAILED = 1


def doctor(
    socket_name: SocketName = None, socket_path: SocketPath = None, tmux: TmuxBinary = None, as_json: AsJson = False
) -> None:
    """Check tmux, the locale, both transports and the server, and say how to mend what is wrong; exit 1 if it is."""
    # What only the examination needs would slow down the start of every other command.
    from streamrelay.doctor import examine

    output = Output()

    async def main() -> int:
        server = Tmux(socket_name=socket_name, socket_path=socket_path)
        chosen = server if tmux is None else dataclasses.replace(server, binary=tmux)
        failed = False
        async for check in examine(chosen):
            failed = failed or check.status == "failed"
            if as_json:
                output.json(dataclasses.asdict(check))
                continue
            output.line(f"{SIGNS[check.status]}  {check.name}: {check.found}")
            if check.fix:
                output.line(f"         hint: {check.fix}")
        return FAILED if failed else 0

    run_to_end(output, main)
