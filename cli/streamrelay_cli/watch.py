"""`streamrelay watch`: the clean stream of panes, as it happens."""

import os
import sys
from collections.abc import Collection, Iterator, Sequence
from contextlib import AsyncExitStack
from typing import Annotated

import typer

from streamrelay import Server
from streamrelay.batch import Batch, Lines
from streamrelay.counts import counted
from streamrelay.errors import PaneGone, UsageError
from streamrelay.events import Gap, NeedsHuman, PaneClosed, Text
from streamrelay_cli.command_entry import WATCH, command
from streamrelay_cli.options import AsEvents, ConnectionAnywhere, PrintingOptions, takes_options
from streamrelay_cli.output import CommandOutput, as_events, as_lines
from streamrelay_cli.runner import run_to_end
from streamrelay_cli.targets import HERE, found, named_here


@command("watch", panel=WATCH, place=10)
@takes_options
def watch(
    connection: ConnectionAnywhere,
    printing: PrintingOptions,
    targets: Annotated[
        list[str] | None,
        typer.Argument(
            help="Panes as tmux writes them: %3, name, name:0.1. A session or window stands for its active pane. "
            "Default: this pane (as . is); print elsewhere then.",
            show_default=False,
        ),
    ] = None,
    all_panes: Annotated[
        bool,
        typer.Option("--all-panes", help="Watch every pane that the sessions of the targets have now."),
    ] = False,
    as_json: AsEvents = False,
    self_check: Annotated[
        float | None,
        typer.Option(
            "--self-check",
            help="Compare idle panes with tmux every so many seconds; a difference is reported as a gap.",
            metavar="SECONDS",
            min=0.1,
            show_default=False,
        ),
    ] = None,
) -> None:
    """Print what the programs in panes say, each line once.

    Lines come as they are printed, until the panes close or Ctrl-C. A session's name watches the pane that is active in
    it now; --all-panes watches all panes of the session, except those that open later.
    """
    output = printing.output(as_json=as_json)

    async def main() -> int:
        closed: list[PaneClosed] = []
        async with AsyncExitStack() as stack:
            server = await stack.enter_async_context(connection.connect(self_check=self_check))
            named = await _all_panes(server, targets) if all_panes else targets or []
            watched = server.watch(*[await named_here(server, target) for target in named], live=as_json)
            stream = await stack.enter_async_context(watched)
            panes = [server.pipeline(pane).info for pane in stream.panes]
            _refuse_to_watch_itself([server.terminal(pane) for pane in panes])
            names = ", ".join(f"{pane.address} ({pane.pane}, {pane.command})" for pane in panes)
            if not all_panes:
                await _note_unwatched(server, targets or [], stream.panes, output)
            output.note(f"watching {names}; Ctrl-C ends")
            async for events in stream.batches():
                closed += [part for part in events.parts if isinstance(part, PaneClosed)]
                if as_json:
                    await output.write(as_events(events))
                else:
                    await output.write(as_lines(_texts(output, events, several=len(stream.panes) > 1)))
        raise server.closing_error(closed[-1])

    run_to_end(output, main)


async def _all_panes(server: Server, targets: Sequence[str] | None) -> list[str]:
    """Return the living panes of the targets' sessions; raises PaneGone if there is none."""
    sessions = {(await found(server, target)).session for target in targets or [HERE]}
    panes = [info.pane for info in await server.panes_in(sessions) if not info.dead]
    if not panes:
        raise PaneGone("all programs in the panes of the session have ended")
    return panes


async def _note_unwatched(
    server: Server, targets: Sequence[str], watched: Collection[str], output: CommandOutput
) -> None:
    """Tell the user which targets have panes that are not watched."""
    for target in filter(_has_panes, targets):
        active = await server.find(target)
        panes = [info for info in await server.panes_in([active.session]) if not info.dead]
        if ":" in target or target.startswith("@"):
            panes = [info for info in panes if info.window == active.window]
        if others := sum(info.pane not in watched for info in panes):
            output.note(
                f"{target} has {counted(others, 'other pane')}, not watched; "
                "--all-panes watches every pane of the session"
            )


def _has_panes(target: str) -> bool:
    """Tell whether a target names a session or window, not a pane."""
    return not any(mark in target for mark in "%.{")


def _refuse_to_watch_itself(terminals: list[str]) -> None:
    """Refuse to print into a watched pane: the command would read and repeat its own output for ever."""
    if not sys.stdout.isatty():
        return
    if os.ttyname(sys.stdout.fileno()) in terminals:
        raise UsageError(
            "cannot watch the pane that this command prints to",
            hint="watch it from another pane, or send the output elsewhere: streamrelay watch >FILE",
        )


def _texts(output: CommandOutput, events: Batch, *, several: bool) -> Iterator[str]:
    """Yield the lines to print; everything but data goes to standard error."""
    for part in events.parts:
        label = f"{part.session} {part.pane} | " if several else ""
        match part:
            case Lines():
                yield from (label + text for text in part.texts)
            case Text(origin="program"):
                yield label + part.text
            case NeedsHuman():
                output.note(f"{label}waits for a person ({part.kind}): {part.text}")
            case Gap():
                output.note(f"{label}something may be missing here ({part.reason})")
