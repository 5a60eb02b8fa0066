"""The options that several commands share, with one meaning each."""

from enum import StrEnum
from typing import Annotated

import typer


class Transport(StrEnum):
    """How the control client talks to tmux."""

    pipes = "pipes"
    cc = "cc"


SocketName = Annotated[
    str | None, typer.Option("-L", "--socket-name", help="Name of the tmux server's socket.", metavar="NAME")
]
SocketPath = Annotated[
    str | None, typer.Option("-S", "--socket-path", help="Path of the tmux server's socket.", metavar="PATH")
]
TmuxBinary = Annotated[
    str | None, typer.Option("--tmux", help="The tmux binary.", envvar="STREAMRELAY_TMUX", metavar="PATH")
]
TransportOption = Annotated[
    Transport,
    typer.Option("--transport", help="pipes: tmux -C over two pipes. cc: tmux -CC over a pseudo terminal."),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON, one object a line.")]
AsEvents = Annotated[bool, typer.Option("--json", help="Print every event as JSON, one a line (docs/events.md).")]
NoProfiles = Annotated[bool, typer.Option("--no-profiles", help="Treat every program as if nothing were known of it.")]
Quiet = Annotated[bool, typer.Option("-q", "--quiet", help="Print nothing but data and errors.")]
