"""The `streamrelay` command."""

import sys
from typing import Annotated

import typer

from streamrelay.errors import StreamrelayError
from streamrelay.version import VERSION
from streamrelay_cli import (
    benching,
    configuring,
    controlling,
    daemonising,
    decorating,
    delivery,
    demo,
    doctoring,
    explaining,
    gathering,
    hooking,
    learning,
    linking,
    listing,
    paging,
    profiling,
    pulsing,
    recording,
    relaying,
    remembering,
    rendering,
    replaying,
    sending,
    starting,
    tooling,
    uninstalling,
    watching,
)
from streamrelay_cli.output import READER_GONE, Output, ReaderGoneError, own_standard_output

app = typer.Typer(
    name="streamrelay",
    help="What programs in tmux say, as a clean stream: watch it, relay it, replay it.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command("watch")(watching.watch)
app.command("relay")(relaying.relay)
app.command("link")(linking.link)
app.command("send")(sending.send_command)
app.command("web")(paging.web)
app.command("start")(starting.start)
app.command("end")(starting.end)
app.command("ls")(listing.ls)
app.command("doctor")(doctoring.doctor)
app.command("tmux")(decorating.tmux_command)
app.command("uninstall")(uninstalling.uninstall)
app.command("demo")(demo.demo)
app.command("record")(recording.record)
app.command("bench")(benching.bench)
app.command("render")(rendering.render)
app.command("replay")(replaying.replay)
app.command("explain")(explaining.explain)
app.command("learn")(learning.learn)
app.command("hook")(hooking.hook)
app.add_typer(hooking.app, name="hooks")
app.command("status")(controlling.status)
app.command("pause")(controlling.pause)
app.command("mute")(controlling.mute)
app.command("extend")(controlling.extend)
app.command("stop")(controlling.stop)
gathering.app.command("pulse")(pulsing.pulse)
app.add_typer(gathering.app, name="gather")
app.add_typer(delivery.app, name="delivery")
app.add_typer(daemonising.app, name="daemon")
app.add_typer(tooling.app, name="mcp")
app.add_typer(profiling.app, name="profiles")
app.add_typer(configuring.app, name="config")
app.add_typer(remembering.app, name="history")


_GROUPS = frozenset(str(group.name) for group in app.registered_groups)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"streamrelay {VERSION}")
        raise typer.Exit


@app.callback()
def streamrelay_command(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", help="Print the version.", callback=_print_version, is_eager=True)
    ] = False,
) -> None:
    """What programs in tmux say, as a clean stream: watch it, relay it, replay it."""
    configuring.configure(context)


def run() -> None:
    """Run the command line; tmux's own options are taken in front of the command as well, as tmux takes them.

    An error that no command has dealt with is said, and a reader that went away ends any command, both here.
    """
    words = sys.argv[1:]
    if len(words) > 2 and words[0] in {"-L", "-S"}:
        # A group's options are those of its commands.
        behind = 4 if words[2] in _GROUPS and len(words) > 3 and not words[3].startswith("-") else 3
        words = [*words[2:behind], *words[:2], *words[behind:]]
    with own_standard_output():
        try:
            app(words)
        except StreamrelayError as error:
            Output().fail(error)
        except ReaderGoneError:
            sys.exit(READER_GONE)
