"""`streamrelay hooks`: installs the hooks by which agents report the end of a turn. `hook` is what those hooks run."""

import dataclasses
import shutil
import sys
from pathlib import Path
from typing import Annotated

import typer

from streamrelay.agents import load_profiles
from streamrelay.agents.hooks import InstalledHook, StopHooks
from streamrelay.delivery.state import state_folder
from streamrelay_cli.command_entry import AGENTS, command, group
from streamrelay_cli.hook_client import report_hook
from streamrelay_cli.options import AsJson, PrintingOptions, takes_options
from streamrelay_cli.output import CommandOutput

group("hooks", "Install the hooks by which agents report the end of a turn.", panel=AGENTS, place=60)

Agent = Annotated[str, typer.Argument(help="claude, codex, gemini, or another agent whose profile describes a hook.")]


@command("hooks install", place=10)
@takes_options
def install(printing: PrintingOptions, agent: Agent, as_json: AsJson = False) -> None:
    """Add the stop hook to an agent's configuration.

    `remove` restores the file byte for byte.
    """
    output = printing.output(as_json=as_json)
    _print(output, [stop_hooks().install(agent, [_program()])])
    output.note("restart agents that are already running")


@command("hooks show", place=20)
@takes_options
def show(
    printing: PrintingOptions,
    agent: Annotated[str, typer.Argument(help="One agent; all by default.")] = "",
    as_json: AsJson = False,
) -> None:
    """Show which agents have the stop hook, and in which file."""
    output = printing.output(as_json=as_json)
    hooks = stop_hooks()
    _print(output, [hooks.show(name) for name in ([agent] if agent else hooks.agents)])


@command("hooks remove", place=30)
@takes_options
def remove(printing: PrintingOptions, agent: Agent) -> None:
    """Remove the stop hook from an agent's configuration.

    Everything else in that file stays as it is.
    """
    printing.output().note("the stop hook was removed" if stop_hooks().remove(agent) else "there was no stop hook")


@command("hook", panel=AGENTS, place=70, hidden=True)
def hook(
    agent: Annotated[str, typer.Argument(help="The agent that runs the hook.")],
    payload: Annotated[str, typer.Argument(help="The report as JSON; standard input by default.")] = "",
) -> None:
    """Report an agent's hook to the daemon; agents run it.

    It prints nothing and always succeeds.
    """
    raise typer.Exit(report_hook([agent, *([payload] if payload else [])]))


def stop_hooks() -> StopHooks:
    """Return the stop hooks of all known agents."""
    return StopHooks(load_profiles(), state_folder())


def _program() -> str:
    """Return the absolute path of `streamrelay`, which the installed hooks run."""
    started = Path(sys.argv[0])
    if started.name == "streamrelay" and started.exists():
        return str(started.absolute())
    return shutil.which("streamrelay") or str(Path(sys.executable).with_name("streamrelay"))


def _print(output: CommandOutput, hooks: list[InstalledHook]) -> None:
    for installed in hooks:
        if output.as_json:
            output.json({**dataclasses.asdict(installed), "file": str(installed.file)})
        else:
            output.line(f"{installed.agent}: {installed.command or 'no hook'} ({installed.event} in {installed.file})")
