"""`streamrelay ls`: the panes that can be watched."""

import dataclasses

from streamrelay import Server
from streamrelay_cli.options import AsJson, Printing, ServerOptions, takes_options
from streamrelay_cli.running import run_to_end

HEADINGS = ("PANE", "ADDRESS", "SIZE", "COMMAND", "TITLE")


@takes_options
def ls(options: ServerOptions, printing: Printing, as_json: AsJson = False) -> None:
    """List the panes of the tmux server: what `watch` and `relay` take as targets."""
    output = printing.output(as_json=as_json)

    async def main() -> int:
        async with Server(options.server()) as server:
            panes = await server.panes()
        if as_json:
            for pane in panes:
                output.json({**dataclasses.asdict(pane), "address": pane.address})
            return 0
        rows = [HEADINGS, *((p.pane, p.address, f"{p.columns}x{p.lines}", p.command, p.title) for p in panes)]
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        output.lines(
            "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows
        )
        return 0

    run_to_end(output, main)
