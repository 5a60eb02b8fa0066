"""The `streamrelay` command."""

import sys
from collections.abc import Sequence
from typing import Annotated, Any

import typer

from streamrelay.errors import StreamrelayError
from streamrelay_cli.command_group import CONTEXT, CommandGroup, ParseError, as_usage_error
from streamrelay_cli.commands import COMMANDS
from streamrelay_cli.imports import without_collection
from streamrelay_cli.options import CommonOptions, takes_options
from streamrelay_cli.standard_output import READER_GONE, ReaderGoneError, own_standard_output

SUMMARY = "Stream what the programs in tmux panes say: watch it, relay it, replay it."
EPILOG = "`streamrelay help COMMAND` shows the help of one command; `streamrelay demo` shows all of it at work."


class Streamrelay(CommandGroup):
    """The command itself: the group of all commands."""

    table = COMMANDS
    is_root = True

    def __init__(self, **attributes: Any) -> None:
        super().__init__(**attributes)
        for option in self.common_options:
            option.rich_help_panel = "Common options, before or after a command"

    def main(
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        standalone_mode: bool = True,
        windows_expand_args: bool = True,
        **extra: Any,
    ) -> Any:
        """Run the command line and end the process; unless `standalone_mode` is off, print each error in one form."""
        given = args, prog_name, complete_var, False, windows_expand_args
        if not standalone_mode:
            return super().main(*given, **extra)
        try:
            code = super().main(*given, **extra)
        except (StreamrelayError, ParseError) as error:
            from streamrelay_cli.output import CommandOutput

            CommandOutput().fail(error if isinstance(error, StreamrelayError) else as_usage_error(error))
        sys.exit(code)


app = typer.Typer(
    name="streamrelay",
    cls=Streamrelay,
    help=SUMMARY,
    epilog=EPILOG,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings=CONTEXT,
)


def _print_version(wanted: bool) -> None:
    if wanted:
        from streamrelay.version import VERSION

        typer.echo(f"streamrelay {VERSION}")
        raise typer.Exit


@app.callback()
@takes_options
def streamrelay_command(
    context: typer.Context,
    common: CommonOptions,
    version: Annotated[
        bool, typer.Option("--version", "-V", help="Print the version.", callback=_print_version, is_eager=True)
    ] = False,
) -> None:
    """Load the configuration for the command that runs."""
    if context.invoked_subcommand not in {None, "help", "version"}:
        with without_collection():
            from streamrelay_cli.config import configure

        configure(context)


def run() -> None:
    """Run the command line; print unhandled errors, and end silently if the reader of the output has gone."""
    with own_standard_output():
        try:
            app()
        except StreamrelayError as error:
            from streamrelay_cli.output import CommandOutput

            CommandOutput().fail(error)
        except ReaderGoneError:
            sys.exit(READER_GONE)
