"""`streamrelay uninstall`: removes everything of streamrelay from tmux and, on request, from the user's folders."""

from pathlib import Path
from typing import Annotated

import typer

from streamrelay.config.files import user_folder
from streamrelay.delivery.state import state_home
from streamrelay.installation import find_installation
from streamrelay.leftovers import (
    Removal,
    clear_files,
    clear_folders,
    clear_server,
    find_files,
    find_leftovers,
    own_folders,
    planned,
    summarised,
)
from streamrelay_cli.command_entry import SETUP, command
from streamrelay_cli.hooks import stop_hooks
from streamrelay_cli.options import AsJson, PrintingOptions, ServerOptions, takes_options
from streamrelay_cli.runner import run_to_end


@command("uninstall", panel=SETUP, place=80)
@takes_options
def uninstall(
    options: ServerOptions,
    printing: PrintingOptions,
    data: Annotated[
        bool, typer.Option("--data", help="Also delete outbox, journal, configuration and profiles.")
    ] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only print what would be removed.")] = False,
    as_json: AsJson = False,
) -> None:
    """Remove what streamrelay left in tmux and in your folders.

    It touches only the tmux server that you name, and refuses while streamrelay is at work there. It prints the number
    of removed things of each kind, and lists them with -v or --json.
    """
    output = printing.output(as_json=as_json)

    async def main() -> int:
        tmux = options.server()
        found = await find_leftovers(tmux)
        folders = own_folders(tmux, data=data)
        files = await find_files(tmux)
        if dry_run:
            done = planned(found, _take_hooks(dry_run=True), files, folders)
        else:
            # First the steps that may refuse; the folders last, because reading the hooks creates one of them.
            done = [*await clear_server(tmux, found), *_take_hooks(), *clear_files(files), *clear_folders(folders)]
        if as_json:
            for one in done:
                output.json({"removed": str(one), "kind": one.kind, "dry_run": dry_run})
        else:
            output.lines(map(str, done) if printing.verbose else summarised(done))
        if not done:
            output.note("nothing to remove")
        for kept in _kept(data=data):
            output.note(kept)
        if remove := find_installation().remove():
            output.note(f"remove the program itself with: {remove}")
        return 0

    run_to_end(output, main)


def _take_hooks(*, dry_run: bool = False) -> list[Removal]:
    """Remove our hooks from agents' configurations; return the removed ones, or those to remove."""
    hooks = stop_hooks()
    installed = [hooks.show(agent) for agent in hooks.agents]
    found = [hook for hook in installed if hook.command is not None]
    if not dry_run:
        for hook in found:
            hooks.remove(hook.agent)
    return [Removal("hook", f"of {hook.agent} in {hook.file}") for hook in found]


def _kept(*, data: bool) -> list[str]:
    """Return what stays, and how to remove it."""
    kept = [] if data else [folder for folder in (state_home(), user_folder()) if folder.is_dir()]
    notes = [f"kept: {folder} (--data deletes it)" for folder in kept]
    files = (Path.home() / ".tmux.conf", user_folder().parent / "tmux" / "tmux.conf")
    notes += [f"{file} mentions streamrelay: remove those lines yourself" for file in files if _mentions(file)]
    return notes


def _mentions(file: Path) -> bool:
    try:
        return "streamrelay" in file.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return False
