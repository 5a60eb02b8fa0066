"""The command line of the recorder."""

import argparse
import asyncio
import traceback
from pathlib import Path

from benchmarks.lives.agents import AGENTS
from benchmarks.lives.life import begun
from benchmarks.lives.scenarios import SCENARIOS

_SIZES = {"": (120, 40), "_80": (80, 24)}
"""By the suffix of the recording's name."""


def options() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    parser = argparse.ArgumentParser(description="Record whole lives of real agents whose model is on loopback.")
    parser.add_argument("programs", type=Path, help="folder of the agents' npm installs, venv-aider beside it")
    parser.add_argument("output", type=Path, help="the recordings go to OUTPUT/AGENT/SCENARIO")
    parser.add_argument("agents", nargs="+", choices=[*AGENTS], metavar="AGENT", help=", ".join(AGENTS))
    parser.add_argument("--scenarios", nargs="+", default=[*SCENARIOS], metavar="NAME", help=", ".join(SCENARIOS))
    parser.add_argument("--anew", action="store_true", help="record also what is there already")
    return parser


async def record(name: str, scenario: str, programs: Path, output: Path) -> list[str]:
    """Record one life and return the notes on it."""
    bare = scenario.removesuffix("_80")
    how = SCENARIOS[bare]
    size = _SIZES[scenario.removeprefix(bare)]
    folder = output / name / scenario
    async with begun(
        name, scenario, programs, folder, size=size, wanted=how.wanted, before=how.before, late=how.late
    ) as life:
        if how.late is None and how.waits:
            await life.shows(life.agent.ready)
            await life.pause(life.agent.boots)
            await life.quiet()
            await life.snapshot("ready")
        await how.act(life)
    return life.notes


def main() -> None:
    """Record what the command line asks for, one after the other."""
    arguments = options().parse_args()
    for scenario in arguments.scenarios:
        for name in arguments.agents:
            fits = SCENARIOS[scenario.removesuffix("_80")].fits(AGENTS[name])
            if not fits or (not arguments.anew and (arguments.output / name / scenario / "meta.json").exists()):
                continue
            try:
                notes = asyncio.run(record(name, scenario, arguments.programs, arguments.output))
            except Exception:  # noqa: BLE001  # the others are recorded all the same
                notes = [traceback.format_exc()]
            print(f"{name}/{scenario}: {'; '.join(notes) or 'recorded'}", flush=True)
