"""`streamrelay web`: where the page for browsers is."""

from typing import Annotated

import typer

from streamrelay.daemon.address import address_of
from streamrelay.daemon.instance import running_pid
from streamrelay_cli.command_entry import SETUP, command
from streamrelay_cli.daemon_client import no_daemon
from streamrelay_cli.options import AsJson, PrintingOptions, ServerOptions, takes_options
from streamrelay_cli.runner import run_to_end

Listen = Annotated[
    str,
    typer.Option(
        "--web", metavar="[HOST:]PORT", help="Serve the page for browsers there; on loopback if no host is named."
    ),
]


@command("web", panel=SETUP, place=20)
@takes_options
def web(
    options: ServerOptions,
    printing: PrintingOptions,
    listen: Annotated[
        str,
        typer.Option(
            "--listen", metavar="[HOST:]PORT", help="The address, if the page is not served yet; 0 for any port."
        ),
    ] = "",
    as_json: AsJson = False,
) -> None:
    """Print the address of the web page, and serve it from now on.

    Anybody who has the address can read and speak (docs/web.md).
    """
    output = printing.output(as_json=as_json)

    async def main() -> int:
        from streamrelay.daemon.client import DaemonClient

        chosen = options.server()
        address = address_of(chosen)
        if running_pid(address) is None:
            raise no_daemon(chosen)
        async with DaemonClient(address.socket) as client:
            access = await client.open_page(listen)
        if as_json:
            output.json({"address": access.address, "token": access.token})
        else:
            output.line(access.link)
        return 0

    run_to_end(output, main)
