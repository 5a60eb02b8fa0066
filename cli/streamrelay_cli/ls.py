"""`streamrelay ls`: lists panes and sessions."""

import dataclasses

import msgspec

from streamrelay import Server
from streamrelay.sessions.model import Session
from streamrelay.sessions.sessions import Sessions
from streamrelay_cli.attention import attention_lines, state_cell
from streamrelay_cli.command_entry import AGENTS, command
from streamrelay_cli.daemon_client import service_if_any
from streamrelay_cli.options import AsJson, PrintingOptions, ServerAnywhere, takes_options
from streamrelay_cli.output import aligned
from streamrelay_cli.runner import run_to_end

HEADINGS = ("PANE", "ADDRESS", "SIZE", "COMMAND", "TITLE")
_MORE = ("SESSION", "NAME", "AGENT", "STATE")


@command("ls", panel=AGENTS, place=30)
@takes_options
def ls(options: ServerAnywhere, printing: PrintingOptions, as_json: AsJson = False) -> None:
    """List the panes of the tmux server, and the sessions in them.

    Sessions that `start` started, or all of them if a daemon runs, also show their id, name, agent and state. The state
    is idle, busy, needs_human, ended or unknown (docs/agents.md). TITLE is the title that the program itself set.
    """
    output = printing.output(as_json=as_json)

    async def main() -> int:
        async with Server(options.server()) as server, service_if_any(options.server()) as service:
            panes = await server.panes()
            known = await (service.sessions() if service is not None else Sessions(server).all())
            sessions = {one.pane: one for one in known if service is not None or one.started_here}
        if as_json:
            for pane in panes:
                more = {"known": msgspec.to_builtins(sessions[pane.pane])} if pane.pane in sessions else {}
                output.json({**dataclasses.asdict(pane), "address": pane.address, **more})
            return 0
        rows: list[tuple[str, ...]] = [
            HEADINGS,
            *((p.pane, p.address, f"{p.columns}x{p.lines}", p.command, p.title) for p in panes),
        ]
        if sessions:
            told = [_MORE, *(_more(sessions.get(pane.pane)) for pane in panes)]
            rows = [(*row[:-1], *cells, row[-1]) for row, cells in zip(rows, told, strict=True)]
        output.lines(aligned(rows))
        for line in attention_lines(sessions.values()):
            output.note(line)
        return 0

    run_to_end(output, main)


def _more(session: Session | None) -> tuple[str, ...]:
    if session is None:
        return ("",) * len(_MORE)
    return session.session, session.title, session.agent, state_cell(session)
