"""Declares commands: `@command` on a function gives its words, its panel and its place in `--help`.

    @command("peers key", place=10)
    @takes_options
    def key(...) -> None:
        '''Print the public keys of this node.'''

`scripts/generate.py` collects the declarations in `commands.py`, so that `--help`, completion and suggestions load no
command module. The first paragraph of the docstring is the line of help. `group` declares a group without a function.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TypeVar

PANELS = WATCH, TALK, AGENTS, CONTROL, SETUP, EXPLORE = (
    "Watch and record",
    "Talk",
    "Agents",
    "Control",
    "Set up",
    "Explore",
)
"""The panels of `--help`, in their order."""
LAST = 1000
"""The place of a command that declares none: after all others."""

Run = TypeVar("Run", bound=Callable[..., None])


@dataclass(frozen=True, slots=True)
class CommandEntry:
    """One command, or one group of commands."""

    target: str
    """`module:function` in this package; empty for a group that runs only with a command."""
    help: str
    """One sentence in the imperative."""
    panel: str = ""
    """Its panel in `--help`."""
    hidden: bool = False
    commands: Mapping[str, "CommandEntry"] = field(default_factory=dict)
    """The commands of a group."""


def group(name: str, help_line: str, *, panel: str, place: int = LAST) -> None:
    """Declare a group that runs only with one of its commands."""
    del name, help_line, panel, place  # scripts/generate.py reads them


def command(words: str, *, panel: str = "", place: int = LAST, hidden: bool = False) -> Callable[[Run], Run]:
    """Declare the decorated function as the command with these words.

    A command of the root names its panel. Commands are shown by `place`, then by name.
    """
    del words, panel, place, hidden  # scripts/generate.py reads them

    def declare(run: Run) -> Run:
        return run

    return declare
