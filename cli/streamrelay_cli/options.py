"""The options that several commands share, with one meaning each.

A command takes them as dataclasses, one for each group; `takes_options` shows typer their fields. The configuration
supplies options that are missing on the command line (config.py), as `--help` shows.
"""

import functools
import inspect
from collections.abc import Callable
from dataclasses import dataclass, fields, is_dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any, get_type_hints

import typer

import streamrelay

if TYPE_CHECKING:
    from streamrelay.control import Tmux
    from streamrelay_cli.output import CommandOutput

SERVER, PRINTING = "Server", "Printing"
"""The headings in `--help` for options that commands share."""


class TransportChoice(StrEnum):
    """How the control client talks to tmux."""

    pipes = "pipes"
    cc = "cc"


class NeedsHumanPolicy(StrEnum):
    """Whether a message waits or fails while the program waits for a person."""

    hold = "hold"
    fail = "fail"


class CommandsPolicy(StrEnum):
    """Whether to send a text that starts with `/ ! # @`."""

    send = "send"
    refuse = "refuse"


_INSTEAD = {"socket_name": ("socket_path", "host"), "socket_path": ("socket_name", "host"), "tmux": ("host",)}


def _unless_other_is_given(context: typer.Context, parameter: typer.CallbackParam, value: str | None) -> str | None:
    """Ignore the configured server if the command line names another one, or another host."""

    def comes_from(name: str, where: str) -> bool:
        source = context.get_parameter_source(name)
        return source is not None and source.name == where

    name = parameter.name or ""
    replaced = any(comes_from(other, "COMMANDLINE") for other in _INSTEAD[name])
    return None if replaced and comes_from(name, "DEFAULT_MAP") else value


SocketName = Annotated[
    str | None,
    typer.Option(
        "-L",
        "--socket-name",
        help="Name of the tmux server's socket.",
        metavar="NAME",
        rich_help_panel=SERVER,
        callback=_unless_other_is_given,
    ),
]
SocketPath = Annotated[
    str | None,
    typer.Option(
        "-S",
        "--socket-path",
        help="Path of the tmux server's socket.",
        metavar="PATH",
        rich_help_panel=SERVER,
        callback=_unless_other_is_given,
    ),
]
TmuxBinary = Annotated[
    str | None,
    typer.Option(
        "--tmux",
        help="The tmux binary.",
        metavar="PATH",
        rich_help_panel=SERVER,
        callback=_unless_other_is_given,
    ),
]
Host = Annotated[
    str | None,
    typer.Option(
        "--host",
        help="The machine of the tmux server, reached by ssh: user@machine. Empty for this one.",
        metavar="HOST",
        rich_help_panel=SERVER,
    ),
]
SshCommand = Annotated[
    str,
    typer.Option(
        "--ssh",
        help="The ssh command, with options of your own: 'ssh -p 2222'.",
        metavar="COMMAND",
        rich_help_panel=SERVER,
    ),
]
TransportOption = Annotated[
    TransportChoice,
    typer.Option(
        "--transport",
        help="pipes: tmux -C over two pipes. cc: tmux -CC over a pseudo terminal.",
        rich_help_panel=SERVER,
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON, one object a line.", rich_help_panel=PRINTING)]
AsEvents = Annotated[
    bool,
    typer.Option("--json", help="Print every event as JSON, one a line (docs/events.md).", rich_help_panel=PRINTING),
]
Profiles = Annotated[
    bool,
    typer.Option(
        "--profiles/--no-profiles",
        help="Use the profiles of programs, or treat every program as unknown.",
        rich_help_panel=SERVER,
    ),
]
Quiet = Annotated[
    bool, typer.Option("-q", "--quiet", help="Print nothing but data and errors.", rich_help_panel=PRINTING)
]
Verbose = Annotated[
    int,
    typer.Option(
        "-v",
        "--verbose",
        count=True,
        help="Log to standard error; -vv for details.",
        show_default=False,
        rich_help_panel=PRINTING,
    ),
]
NoDaemon = Annotated[bool, typer.Option("--no-daemon", help="Do it in this process, even if a daemon runs.")]
AllowShell = Annotated[
    bool, typer.Option("--allow-shell", help="Type into a shell too, which runs the text as a command.")
]


@dataclass(frozen=True, slots=True)
class ServerOptions:
    """Which tmux server."""

    socket_name: SocketName = None
    socket_path: SocketPath = None
    tmux: TmuxBinary = None

    def server(self) -> "Tmux":
        """Return the server that is named; raises UsageError for one that is named twice."""
        return _server(self)


@dataclass(frozen=True, slots=True)
class ServerAnywhere(ServerOptions):
    """Names a tmux server on this machine or another."""

    host: Host = None
    ssh: SshCommand = "ssh"

    def server(self) -> "Tmux":
        """Return the server that is named; raises UsageError for one that is named twice, or no host."""
        return _server(self, self.host, self.ssh)


@dataclass(frozen=True, slots=True)
class Connection(ServerOptions):
    """Which tmux server, and how it is watched."""

    transport: TransportOption = TransportChoice.pipes
    profiles: Profiles = True

    @property
    def is_usual(self) -> bool:
        """Whether the settings are the same as a daemon's."""
        return self.transport is TransportChoice.pipes and self.profiles

    def connect(self, *, self_check: float | None = None) -> "streamrelay.Server":
        """Return the server, to be entered."""
        return self._connect(self_check)

    def _connect(self, self_check: float | None, host: str | None = None, ssh: str = "ssh") -> "streamrelay.Server":
        from streamrelay.config.files import load

        # A project's file can set neither the use of agents' records nor that of their own APIs.
        own = load(project=False).settings
        return streamrelay.connect(
            socket_name=self.socket_name,
            socket_path=self.socket_path,
            tmux=self.tmux,
            host=host,
            ssh=ssh,
            transport=self.transport.value,
            self_check=self_check,
            profiles=None if self.profiles else (),
            witness=own.stream.witness,
            lane=own.delivery.lane,
        )


@dataclass(frozen=True, slots=True)
class ConnectionAnywhere(Connection):
    """Which tmux server, of this machine or another, and how it is watched."""

    host: Host = None
    ssh: SshCommand = "ssh"

    def server(self) -> "Tmux":
        """Return the server that is named; raises UsageError for one that is named twice, or no host."""
        return _server(self, self.host, self.ssh)

    def connect(self, *, self_check: float | None = None) -> "streamrelay.Server":
        """Return the server, to be entered."""
        return self._connect(self_check, self.host, self.ssh)


def _server(options: ServerOptions, host: str | None = None, ssh: str = "ssh") -> "Tmux":
    from streamrelay.control import Ssh, Tmux

    reached = Ssh(host, ssh) if host else None
    return Tmux(options.tmux or "", options.socket_name, options.socket_path, reached)


@dataclass(frozen=True, slots=True)
class PrintingOptions:
    """The options for output beside the data."""

    quiet: Quiet = False
    verbose: Verbose = 0

    def output(self, *, as_json: bool = False) -> "CommandOutput":
        """Return the command's output."""
        from streamrelay_cli.output import CommandOutput

        return CommandOutput(quiet=self.quiet, verbose=self.verbose, as_json=as_json)


@dataclass(frozen=True, slots=True)
class CommonOptions:
    """The options that are allowed before and after a command (command_group.py)."""

    socket_name: SocketName = None
    socket_path: SocketPath = None
    tmux: TmuxBinary = None
    host: Host = None
    ssh: SshCommand = "ssh"
    as_json: AsJson = False
    quiet: Quiet = False
    verbose: Verbose = 0


def given(context: typer.Context) -> set[str]:
    """Return the names of the parameters that the command line sets, and not a default or the configuration."""
    sources = {name: context.get_parameter_source(name) for name in context.params}
    return {name for name, source in sources.items() if source is not None and source.name == "COMMANDLINE"}


def takes_options(command: Callable[..., None]) -> Callable[..., None]:
    """Return a command whose parameters of dataclass type are the options that the fields declare."""
    signature = inspect.signature(command)
    hints = get_type_hints(command, include_extras=True)
    groups = {name: hint for name, hint in hints.items() if is_dataclass(hint) and isinstance(hint, type)}

    @functools.wraps(command)
    def run(**given: Any) -> None:
        for name, group in groups.items():
            given[name] = group(**{one.name: given.pop(one.name) for one in fields(group)})
        command(**given)

    parameters = []
    for parameter in signature.parameters.values():
        if parameter.name not in groups:
            parameters.append(parameter.replace(annotation=hints[parameter.name]))
            continue
        group = groups[parameter.name]
        types, unset = get_type_hints(group, include_extras=True), group()
        parameters += [
            inspect.Parameter(one.name, parameter.kind, default=getattr(unset, one.name), annotation=types[one.name])
            for one in fields(group)
        ]
    keywords = [parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY) for parameter in parameters]
    run.__signature__ = signature.replace(parameters=keywords)  # type: ignore[attr-defined]
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in keywords}
    return run
