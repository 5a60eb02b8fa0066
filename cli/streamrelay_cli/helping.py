"""`streamrelay help` and `version`: what people type before they know the options."""

from typing import Annotated

import typer

from streamrelay.version import VERSION
from streamrelay_cli.command_entry import EXPLORE, command


@command("help", panel=EXPLORE, place=60)
def help_command(
    context: typer.Context,
    command: Annotated[list[str] | None, typer.Argument(help="A command: send, or gather start.")] = None,
) -> None:
    """Show the help of a command."""
    root = context.find_root()
    root.command.main([*(command or []), "--help"], prog_name=str(root.info_name))


@command("version", panel=EXPLORE, place=70, hidden=True)
def version() -> None:
    """Print the version."""
    typer.echo(f"streamrelay {VERSION}")
