"""`streamrelay history search`: what was said, found again."""

import asyncio
import dataclasses
import time
from datetime import datetime
from typing import Annotated

import msgspec
import typer

from streamrelay.agents import load_profiles
from streamrelay.agents.transcripts import FoundPassage, search_transcripts
from streamrelay.daemon.address import address_of
from streamrelay.errors import UsageError
from streamrelay.history import Found, Journal
from streamrelay_cli.asking import service_if_any
from streamrelay_cli.options import AsJson, Printing, ServerOptions, takes_options
from streamrelay_cli.running import run_to_end

ALL = "all"
UNITS = {"s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}


@takes_options
def search(
    options: ServerOptions,
    printing: Printing,
    words: Annotated[list[str], typer.Argument(help="Words that all have to be there; in quotes, as they stand.")],
    agent: Annotated[str, typer.Option("--agent", help="The name of a program, or all.")] = ALL,
    session: Annotated[str, typer.Option("--session", help="One session, as `ls` shows it.")] = "",
    since: Annotated[str, typer.Option("--since", help="How far back: 30m, 2h, 7d, or a date as 2026-11-22.")] = "",
    limit: Annotated[int, typer.Option("--limit", min=1, help="How many at most.")] = 50,
    transcripts: Annotated[
        bool, typer.Option("--transcripts/--no-transcripts", help="Search what agents wrote down themselves as well.")
    ] = True,
    as_json: AsJson = False,
) -> None:
    """Find what was said by its words: through the daemon, or in its journal when it does not run.

    What agents wrote down themselves is searched as well, unless a session is named.
    """
    output = printing.output(as_json=as_json)
    text = " ".join(words)
    program = "" if agent == ALL else agent
    own = transcripts and not session

    async def main() -> int:
        began = _time(since, time.time())
        tmux = options.server()
        async with service_if_any(tmux) as service:
            if service is not None:
                found = await service.search_history(text, session, program, began, limit)
            else:
                path = address_of(tmux).state / "journal.db"
                if not path.exists() and not own:
                    raise UsageError("there is no journal", hint="the daemon keeps one: streamrelay daemon start")
                found = []
                if path.exists():
                    async with Journal(path) as journal:
                        found = await journal.search(
                            text, agent=program or None, pane=session or None, since=began or None, limit=limit
                        )
        for one in found:
            if as_json:
                output.json(msgspec.to_builtins(one))
            else:
                output.labelled(_label(one), one.snippet)
        passages = await asyncio.to_thread(_written, text, program, began, limit) if own else []
        for passage in passages:
            if as_json:
                output.json({**dataclasses.asdict(passage), "file": str(passage.file)})
            else:
                who = passage.agent if passage.speaker == "agent" else f"to {passage.agent}"
                output.labelled(f"{_shown(passage.at)}  {who}, its transcript", passage.excerpt(text))
        return 0

    run_to_end(output, main)


def _label(found: Found) -> str:
    who = found.agent if found.origin == "program" else found.origin
    return f"{_shown(found.at)}  {found.pane} {who}"


def _shown(at: float) -> str:
    return datetime.fromtimestamp(at).astimezone().strftime("%Y-%m-%d %H:%M:%S")


def _written(words: str, agent: str, since: float, limit: int) -> list[FoundPassage]:
    return search_transcripts(load_profiles(), words, agent=agent, since=since, limit=limit)


def _time(since: str, now: float) -> float:
    """Return the Unix time that is meant; 0 for none."""
    if not since:
        return 0.0
    amount, unit = since[:-1], since[-1]
    if unit in UNITS and amount.replace(".", "", 1).isdecimal():
        return now - float(amount) * UNITS[unit]
    try:
        return datetime.fromisoformat(since).astimezone().timestamp()
    except ValueError as error:
        raise UsageError(f"{since!r} is no time", hint="30m, 2h, 7d, 2026-11-22 or 2026-11-22T10:00") from error
