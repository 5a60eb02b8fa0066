"""`streamrelay ls`: the panes that can be watched."""

import dataclasses

import msgspec

from streamrelay import Server
from streamrelay.sessions.model import Session
from streamrelay_cli.asking import service_if_any
from streamrelay_cli.options import AsJson, Printing, ServerOptions, takes_options
from streamrelay_cli.running import run_to_end

HEADINGS = ("PANE", "ADDRESS", "SIZE", "COMMAND", "TITLE")
_MORE = ("SESSION", "AGENT", "STATE")


@takes_options
def ls(options: ServerOptions, printing: Printing, as_json: AsJson = False) -> None:
    """List the panes of the tmux server: what `watch`, `send` and `relay` take as targets.

    If a daemon runs for it, also what the daemon knows of them: session id, agent and state.
    """
    output = printing.output(as_json=as_json)

    async def main() -> int:
        async with Server(options.server()) as server, service_if_any(options.server()) as service:
            panes = await server.panes()
            sessions = {} if service is None else {one.pane: one for one in await service.sessions()}
        if as_json:
            for pane in panes:
                known = {"daemon": msgspec.to_builtins(sessions[pane.pane])} if pane.pane in sessions else {}
                output.json({**dataclasses.asdict(pane), "address": pane.address, **known})
            return 0
        rows: list[tuple[str, ...]] = [
            HEADINGS,
            *((p.pane, p.address, f"{p.columns}x{p.lines}", p.command, p.title) for p in panes),
        ]
        if sessions:
            more = [_MORE, *(_more(sessions.get(pane.pane)) for pane in panes)]
            rows = [(*row[:-1], *told, row[-1]) for row, told in zip(rows, more, strict=True)]
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        output.lines(
            "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows
        )
        return 0

    run_to_end(output, main)


def _more(session: Session | None) -> tuple[str, str, str]:
    return ("", "", "") if session is None else (session.session, session.agent, session.state)
