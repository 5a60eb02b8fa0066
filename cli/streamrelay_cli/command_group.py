"""The command line's groups and commands: loaded lazily, with one help format and the common options in front.

A `CommandGroup` shows and completes its commands from a table (`commands.py`), and imports the module of a command when
that command runs or shows its help. Its help is plain text in sections, which wraps at any width and needs no `rich`.

The common options (`-L`, `-S`, `--tmux`, `--host`, `--ssh`, `--json`, `-q`, `-v`) are allowed before and after a
command. Every group parses them and passes the given ones to the command, which parses them before its own: so
`streamrelay -L x ls -L y` lists y, and `streamrelay -v ls -v` logs in detail. A command without such an option reports
an error.
"""

import copy
import difflib
import importlib
import os
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, MutableMapping
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup, TyperOption

from streamrelay.errors import UsageError
from streamrelay_cli.command_entry import CommandEntry
from streamrelay_cli.imports import without_collection
from streamrelay_cli.suggestions import SUGGESTIONS

Context = Any
"""A context of the command line: typer does not export the class that its base classes declare."""
CONTEXT = {"help_option_names": ["-h", "--help"], "max_content_width": 100}
ParseError: type[Exception] = typer.BadParameter.__mro__[2]
"""The base class of typer's errors about a command line, which typer does not export."""
TYPED = "streamrelay.typed"
"""The key under which a command's context keeps the names of its options in the typed order."""
_HANDED = "streamrelay_cli.handed"
"""The key under which a context keeps the common options given before its command."""
_COLUMN = 26
"""The width of the names; the help of a longer name begins on the next line."""


class _Formatted:
    """The help format that commands and groups share."""

    def format_options(self, ctx: Context, formatter: Any) -> None:
        """Write arguments and options, each heading once, in the order in which they are declared."""
        sections: dict[str, list[tuple[str, str]]] = {}
        for parameter in self.get_params(ctx):  # type: ignore[attr-defined]
            record = parameter.get_help_record(ctx)
            if record is not None:
                plain = "Arguments" if parameter.param_type_name == "argument" else "Options"
                sections.setdefault(parameter.rich_help_panel or plain, []).append(readable(*record))
        first = [name for name in ("Arguments", "Options") if name in sections]
        for name in [*first, *(name for name in sections if name not in first)]:
            _write_section(formatter, name, sections[name])


def readable(names: str, text: str) -> tuple[str, str]:
    """Write a number as N without its range, which the help or the error describes."""
    for kind in ("int", "float"):
        names = names.replace(f"<{kind} range>", "N").replace(f"<{kind}>", "N")
    head, bracket, facts = text.rpartition("  [")
    if not bracket:
        return names, text
    kept = [fact for fact in facts.removesuffix("]").split("; ") if "x>=" not in fact and "<=x" not in fact]
    return names, f"{head}  [{'; '.join(kept)}]" if kept else head


def _write_section(formatter: Any, heading: str, rows: list[tuple[str, str]]) -> None:
    with formatter.section(_bold(heading)):
        formatter.write_dl(rows, col_max=_COLUMN)


def _bold(text: str) -> str:
    return text if "NO_COLOR" in os.environ or not sys.stdout.isatty() else typer.style(text, bold=True)


class Command(_Formatted, TyperCommand):
    """A command that also accepts the common options before its name."""

    def parse_args(self, ctx: Context, args: list[str]) -> list[str]:
        """Parse the options before the command, then its own, so that the later one wins.

        click keeps the order of options for each option alone; its parser knows it across all of them.
        """
        words = [*_handed_words(self, ctx), *args]
        ctx.meta[TYPED] = [parameter.name for parameter in self.make_parser(ctx).parse_args(args=list(words))[2]]
        return super().parse_args(ctx, words)


class CommandGroup(_Formatted, TyperGroup):
    """A group of commands, each of which loads when it runs."""

    table: Mapping[str, CommandEntry] = {}
    is_root = False

    def __init__(self, **attributes: Any) -> None:
        super().__init__(**attributes)
        self.commands = _Loaded(self)
        self._inherited: frozenset[str] = frozenset()

    @property
    def common_options(self) -> list[TyperOption]:
        """The options that this group passes to its commands."""
        return [one for one in self.params if isinstance(one, TyperOption) and one.name in COMMON]

    def inherit(self, parent: "CommandGroup") -> None:
        """Take the common options of the group above, beside those of its own."""
        own = {parameter.name for parameter in self.params}
        for option in parent.common_options:
            if option.name not in own:
                inherited = copy.copy(option)
                inherited.hidden = True
                self.params.append(inherited)
                self._inherited |= {str(option.name)}

    def list_commands(self, ctx: Context) -> list[str]:
        """Return the names of the commands; loads none of them."""
        return list(self.table)

    def get_command(self, ctx: Context, cmd_name: str) -> TyperCommand | None:
        """Return a command that loads when it is run."""
        return _LazyCommand(self, cmd_name, self.table[cmd_name]) if cmd_name in self.table else None

    def parse_args(self, ctx: Context, args: list[str]) -> list[str]:
        """Show the help without a command; otherwise keep the common options for the command."""
        if not args and self.no_args_is_help and not ctx.resilient_parsing:
            typer.echo(ctx.get_help())
            ctx.exit()
        rest = super().parse_args(ctx, [*_handed_words(self, ctx), *args])
        ctx.meta[_HANDED] = [*self._given(ctx)]
        for name in COMMON if self.is_root else self._inherited:
            ctx.params.pop(name, None)
        return rest

    def _given(self, ctx: Context) -> Iterator[tuple[TyperOption, object]]:
        """Yield the common options that the command line has here or earlier."""
        for option in self.common_options:
            source = ctx.get_parameter_source(str(option.name))
            if source is not None and source.name == "COMMANDLINE":
                yield option, ctx.params.get(str(option.name))

    def resolve_command(self, ctx: Context, args: list[str]) -> Any:
        """Find the command; an unknown one is an error that names the likely ones."""
        if args[0] not in self.table and not args[0].startswith("-") and not ctx.resilient_parsing:
            likely = self._likely(args[0])
            hint = (
                _did_you_mean(f"`{ctx.command_path} {name}`" for name in likely)
                if likely
                else f"`{ctx.command_path} --help` lists the commands"
            )
            raise UsageError(f"no such command: {args[0]}", hint=hint)
        return super().resolve_command(ctx, args)

    def _likely(self, word: str) -> list[str]:
        """Return the command that a user probably meant by an unknown word."""
        if self.is_root and word.lower() in SUGGESTIONS:
            return [SUGGESTIONS[word.lower()]]
        return difflib.get_close_matches(word.lower(), [name for name, one in self.table.items() if not one.hidden])

    def format_options(self, ctx: Context, formatter: Any) -> None:
        """Write the commands by their groups, then the options."""
        panels: dict[str, list[tuple[str, str]]] = {}
        for name, entry in self.table.items():
            if not entry.hidden:
                panels.setdefault(entry.panel or "Commands", []).append((name, entry.help))
        width = max((len(name) for rows in panels.values() for name, _ in rows), default=0)
        for heading, rows in panels.items():
            _write_section(formatter, heading, [(name.ljust(width), text) for name, text in rows])
        super().format_options(ctx, formatter)


_PARSED = re.compile(r", unable to (?:parse|interpret) .*$")
"""What pydantic adds to "a valid number", "integer" or "boolean": the same in other words."""


def as_usage_error(error: Exception) -> UsageError:
    """Convert a `ParseError` of typer into a UsageError: lower case, no period, with a hint."""
    context = getattr(error, "ctx", None)
    message = str(getattr(error, "message", error))
    if format_message := getattr(error, "format_message", None):
        message = format_message()
    hint = _see_help(context) if context is not None else "`streamrelay help COMMAND` shows what a command takes"
    if possibilities := getattr(error, "possibilities", None):
        message = f"no such option: {getattr(error, 'option_name', '')}"
        hint = _did_you_mean(sorted(possibilities))
    message = message.removesuffix(".").replace(": Value error, ", ": ").replace(": Input should", ": it should")
    message = _PARSED.sub("", message)
    return UsageError(message[:1].lower() + message[1:], hint=hint)


def _did_you_mean(names: Iterable[str]) -> str:
    return f"did you mean {' or '.join(names)}?"


def _see_help(context: Context) -> str:
    return f"`{context.command_path} --help` shows what it takes"


class _LazyCommand(TyperCommand):
    """A command that is not loaded yet, with the data for help and completion."""

    def __init__(self, group: CommandGroup, name: str, entry: CommandEntry) -> None:
        super().__init__(name, help=entry.help, hidden=entry.hidden, rich_markup_mode=None)
        self._group = group

    def make_context(self, info_name: str | None, args: list[str], parent: Context | None = None, **extra: Any) -> Any:
        """Load the command, and parse its arguments."""
        return self._group.commands[str(self.name)].make_context(info_name, args, parent, **extra)


class _Loaded(MutableMapping[str, Any]):
    """The commands of a group, each loaded when it is looked up."""

    def __init__(self, group: CommandGroup) -> None:
        self._group = group
        self._loaded: dict[str, Any] = {}

    def __getitem__(self, name: str) -> Any:
        if name not in self._loaded:
            self._loaded[name] = _load(name, self._group.table[name], self._group)
        return self._loaded[name]

    def __setitem__(self, name: str, command: Any) -> None:
        self._loaded[name] = command

    def __delitem__(self, name: str) -> None:
        del self._loaded[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._group.table)

    def __len__(self) -> int:
        return len(self._group.table)


COMMON = ("socket_name", "socket_path", "tmux", "host", "ssh", "as_json", "quiet", "verbose")
"""The parameters that are allowed before a command."""


def is_group(context: typer.Context) -> bool:
    """Tell a group's function whether it runs without a command; then a common option that it lacks is an error."""
    if context.invoked_subcommand is not None:
        return True
    group = context.command
    if isinstance(group, CommandGroup):
        own = {str(option.name) for option in group.params} - group._inherited  # noqa: SLF001
        _refuse(context, (option for option, _ in context.meta[_HANDED] if option.name not in own))
    return False


def _load(name: str, entry: CommandEntry, parent: CommandGroup) -> Any:
    """Import a command's module and build the command as typer does."""
    run = _function(entry.target) if entry.target else None
    if not entry.commands:
        app = typer.Typer(add_completion=False, rich_markup_mode=None)
        app.command(name, cls=Command, hidden=entry.hidden)(run or _nothing)
        return typer.main.get_command(app)
    app = typer.Typer(
        name=name, cls=CommandGroup, add_completion=False, rich_markup_mode=None, no_args_is_help=run is None
    )
    if run is None:
        app.callback(help=entry.help)(_nothing)
    else:
        app.callback(invoke_without_command=True)(run)
    group = typer.main.get_command(app)
    if isinstance(group, CommandGroup):
        group.table = entry.commands
        group.inherit(parent)
    return group


def _function(target: str) -> Any:
    module, _, function = target.partition(":")
    with without_collection():
        return getattr(importlib.import_module(f"streamrelay_cli.{module}"), function)


def _nothing() -> None:
    """Do nothing: the group has nothing to do before its command."""


def _handed_words(command: TyperCommand | TyperGroup, ctx: Context) -> list[str]:
    """Return the common options before a command, as words for its own parser."""
    handed = ctx.meta.get(_HANDED, ()) if ctx.parent is not None else ()
    taken = {parameter.name for parameter in command.params}
    _refuse(ctx, (option for option, _ in handed if option.name not in taken))
    return [word for option, value in handed for word in _words(option, value)]


def _refuse(ctx: Context, options: Iterable[TyperOption]) -> None:
    names = [option.opts[0] for option in options]
    if names and not ctx.resilient_parsing:
        raise UsageError(f"{ctx.command_path} does not take {' or '.join(names)}", hint=_see_help(ctx))


def _words(option: TyperOption, value: object) -> list[str]:
    """Return an option with its value as words of a command line."""
    name = option.opts[-1]
    if option.count:
        return [name] * int(str(value))
    return ([name] if value else []) if option.is_flag else [f"{name}={value}"]
