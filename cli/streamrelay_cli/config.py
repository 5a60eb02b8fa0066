"""The command `streamrelay config`, and the defaults that the configuration gives the options of all commands.

An option has the key of its name: `link --budget` has `link.budget`, and the shared option `--tmux` has `tmux`. So the
configuration can set each option permanently, and `--help` shows the current defaults.
"""

import re
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Annotated, Any

import msgspec
import typer

from streamrelay.config.files import PROJECT_FILE, load, project_file, user_file
from streamrelay.config.layers import Layer
from streamrelay.config.resolution import Setting
from streamrelay.config.settings import Key, Settings, all_keys, value_of
from streamrelay.errors import ConfigError, UsageError
from streamrelay_cli.command_entry import SETUP, command, group
from streamrelay_cli.files import write_private
from streamrelay_cli.options import AsJson, ConnectionAnywhere, PrintingOptions, takes_options
from streamrelay_cli.output import CommandOutput

group("config", "Show the configuration, and where each value comes from.", panel=SETUP, place=60)

TABLES = {"send": "delivery", "gather": "gathering"}
"""The tables of the commands whose table has another name."""
WITHOUT = frozenset({"config", "doctor", "tmux", "uninstall"})
"""Commands that run in spite of an invalid configuration."""
HELP = ("-h", "--help")
WIDTH = 48
"""The column at which `config show` aligns its sources."""

_PASSWORD = re.compile(r"(?<=//)(?P<user>[^:/]*):[^?#]*@|(?<=[?&_]password=)[^&#]*", re.IGNORECASE)
"""Matches a password: between user and host, also unquoted, and the one that redis-py reads from the query."""


def configure(context: typer.Context) -> None:
    """Load the configuration for the command to run: as the defaults of its options, and as `settings`."""
    if context.resilient_parsing or context.invoked_subcommand in {None, "config"}:
        return
    try:
        settings = load().settings
    except ConfigError:
        if context.invoked_subcommand not in WITHOUT and not any(word in HELP for word in sys.argv):
            raise
        return
    context.obj = settings
    name = str(context.invoked_subcommand)
    command = getattr(context.command, "commands", {}).get(name)
    context.default_map = {name: _defaults(command, TABLES.get(name, name), settings)} if command else {}


def settings(context: typer.Context) -> Settings:
    """Return the configuration of the running command."""
    return context.obj if isinstance(context.obj, Settings) else Settings()


def _defaults(command: Any, table: str, settings: Settings) -> dict[str, Any]:  # typer has no public name for commands
    """Return the configured defaults of a command's options, and of its subcommands'."""
    keys = all_keys()
    found: dict[str, Any] = {}
    for parameter in command.params:
        key = keys.get(f"{table}.{parameter.name}") or keys.get(parameter.name)
        if key is not None and parameter.param_type_name == "option":
            found[parameter.name] = value_of(settings, key)
    for name, inner in getattr(command, "commands", {}).items():
        found[name] = _defaults(inner, table, settings)
    return found


@command("config show", place=10)
@takes_options
def show(
    context: typer.Context,
    connection: ConnectionAnywhere,
    key: Annotated[str, typer.Argument(help="Only this key or table: link, link.budget.", show_default=False)] = "",
    as_json: AsJson = False,
) -> None:
    """Print every key with its value and its source.

    The lines form a valid configuration file. The source is a default, a file with its line, a variable or an option.
    """
    output = CommandOutput(as_json=as_json)
    found = (_without_secrets(one) for one in load(flags=_flags(context, connection)))
    shown = [one for one in found if _is_within(one.key, key)]
    if not shown:
        raise UsageError(f"unknown key: {key!r}", hint="list all keys with: streamrelay config show")
    if as_json:
        for one in shown:
            output.json({"key": one.key, "value": one.value, "from": one.source.kind, "where": one.source.where})
        return
    output.lines(_as_toml(shown))


@command("config path", place=20)
def path(as_json: AsJson = False) -> None:
    """Print the paths of the configuration files.

    These are your own file, and the project's if there is one.
    """
    output = CommandOutput(as_json=as_json)
    files: list[tuple[str, Path, bool]] = [("user", user_file(), user_file().is_file())]
    project = project_file()
    if project is not None:
        files.append(("project", project, True))
    if as_json:
        for kind, file, there in files:
            output.json({"kind": kind, "path": str(file), "exists": there})
        return
    output.lines(str(file) for _, file, _ in files)
    for _, file, there in files:
        if not there:
            output.note(f"{file} does not exist: the defaults apply")
    if project is None:
        output.note(f"no {PROJECT_FILE} in this folder or above")


@command("config init", place=30)
@takes_options
def init(
    printing: PrintingOptions,
    project: Annotated[bool, typer.Option("--project", help="Write .streamrelay.toml here, for this project.")] = False,
) -> None:
    """Write a configuration file with every key, commented out.

    Each key has its meaning and its default. An existing file is never changed.
    """
    file = Path.cwd() / PROJECT_FILE if project else user_file()
    if file.exists():
        raise UsageError(f"{file} already exists", hint="edit it; see the current values with: streamrelay config show")
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(
            f"cannot create {file.parent}: {error.strerror}", hint="check the permissions of the folder above it"
        ) from error
    keys = [key for key in all_keys().values() if not (project and key.yours_alone)]
    write_private(file, "\n".join(_commented(keys)), force=False)
    printing.output().line(str(file))


def _commented(keys: Iterable[Key]) -> Iterator[str]:
    """Yield the lines of a configuration file in which every key is a comment, with its default."""
    yield "# Configuration of streamrelay (docs/configuration.md). Remove the # in front of a key to set it."
    for key in keys:
        yield ""
        yield f"# {key.meaning}{' No default.' if key.default is None else ''}"
        yield f"#{key.name} ={'' if key.default is None else f' {_toml(key.default)}'}"
    yield ""


def _flags(context: typer.Context, connection: ConnectionAnywhere) -> Layer:
    """Return the options of the command line, as the last layer."""
    values: dict[str, object] = {}
    places: dict[str, str] = {}
    for parameter in context.command.params:
        name = parameter.name or ""
        source = context.get_parameter_source(name)
        if name in all_keys() and source is not None and source.name == "COMMANDLINE":
            values[name] = getattr(connection, name)
            places[name] = parameter.opts[-1]
    return Layer("flag", values, places)


def _without_secrets(setting: Setting) -> Setting:
    """Return a setting without the password in an address, so that it is safe to show."""
    if setting.key != "federation.redis_url":
        return setting
    return setting._replace(value=_PASSWORD.sub(_hidden, str(setting.value)))


def _hidden(password: re.Match[str]) -> str:
    return "***" if password["user"] is None else f"{password['user']}:***@"


def _is_within(key: str, table: str) -> bool:
    return not table or key == table or key.startswith(f"{table}.")


def _as_toml(shown: list[Setting]) -> Iterator[str]:
    """Yield the lines of a valid file, each with its source as a comment; a key without a value is commented out."""
    texts = [_assignment(one.key, one.value) for one in shown]
    width = min(max(map(len, texts)), WIDTH)
    for one, text in zip(shown, texts, strict=True):
        yield f"{text:{width}}  # {' '.join(filter(None, one.source))}"


def _assignment(key: str, value: object) -> str:
    # TOML writes these values as JSON does.
    return f"# {key}" if value is None else f"{key} = {_toml(value)}"


def _toml(value: object) -> str:
    if isinstance(value, dict):
        pairs = (f"{msgspec.json.encode(key).decode()} = {_toml(one)}" for key, one in value.items())
        return f"{{{', '.join(pairs)}}}"
    return msgspec.json.encode(value).decode()
