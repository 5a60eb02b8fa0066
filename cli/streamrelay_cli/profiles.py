"""`streamrelay profiles`: lists the profiles of programs, with their files."""

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import msgspec
import regex
import typer

import streamrelay.agents
from streamrelay.agents import AgentProfile, load_profiles
from streamrelay.errors import UsageError
from streamrelay_cli.command_entry import AGENTS, command
from streamrelay_cli.command_group import is_group
from streamrelay_cli.options import AsJson
from streamrelay_cli.output import CommandOutput

HEADINGS = ("NAME", "KIND", "TITLE", "RECOGNISED BY", "DESCRIBED", "FROM")


@command("profiles", panel=AGENTS, place=40)
def profiles(context: typer.Context, as_json: AsJson = False) -> None:
    """List the programs that streamrelay knows, your own profiles first."""
    if is_group(context):
        return
    output = CommandOutput(as_json=as_json)
    known = load_profiles()
    if as_json:
        for profile in known:
            output.json(msgspec.to_builtins(profile, enc_hook=_plain))
        return
    rows = [HEADINGS, *(_row(profile) for profile in known)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    output.lines("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows)


@command("profiles show", place=10)
def show(name: Annotated[str, typer.Argument(help="Name of a profile, as listed.")]) -> None:
    """Print the file of a profile, to read or to start your own from."""
    output = CommandOutput()
    known = {profile.name: profile for profile in load_profiles()}
    if name not in known:
        raise UsageError(f"unknown profile: {name!r}", hint=f"the profiles are {', '.join(sorted(known))}")
    output.note(known[name].source)
    output.lines(known[name].text.splitlines())


def _row(profile: AgentProfile) -> tuple[str, ...]:
    recognised_by = [*sorted(profile.reading.commands), *(["signs"] if profile.reading.signs else [])]
    described = ", ".join(_described_parts(profile)) or "only the kind"
    return (profile.name, profile.kind, profile.title, ", ".join(recognised_by), described, _origin(profile))


def _origin(profile: AgentProfile) -> str:
    """Return the file of a user's own profile; a profile of this package needs no path."""
    shipped = Path(streamrelay.agents.__file__).parent
    return "built in" if Path(profile.source).is_relative_to(shipped) else profile.source


def _described_parts(profile: AgentProfile) -> Iterator[str]:
    """Yield the names of the parts that a profile has."""
    parts = {pattern.key.partition(".")[0].partition("[")[0] for pattern in profile.patterns} - {"recognise"}
    yield from sorted(parts)
    if profile.stop_hook is not None:
        yield "stop_hook"
    if profile.transcript is not None:
        yield "transcript"


def _plain(value: object) -> object:
    """Return the source text of a compiled pattern."""
    if isinstance(value, regex.Pattern):
        return value.pattern
    raise NotImplementedError(f"{type(value).__name__} has no form in JSON")
