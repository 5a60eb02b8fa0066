"""`streamrelay history search`: searches the journal and the agents' transcripts."""

import time
from datetime import datetime
from typing import Annotated

import msgspec
import typer

from streamrelay.agents import load_profiles
from streamrelay.daemon.address import address_of
from streamrelay.errors import UsageError
from streamrelay.history import FoundText, History, HistorySearch, Journal, SearchHistory
from streamrelay.history.places import Place
from streamrelay_cli.command_entry import command
from streamrelay_cli.daemon_client import service_if_any
from streamrelay_cli.options import AsJson, PrintingOptions, ServerOptions, takes_options
from streamrelay_cli.runner import run_to_end

ALL = "all"
UNITS = {"s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}


@command("history search", place=10)
@takes_options
def search(
    options: ServerOptions,
    printing: PrintingOptions,
    words: Annotated[list[str], typer.Argument(help="Words that must all occur; in quotes, an exact phrase.")],
    agent: Annotated[str, typer.Option("--agent", help="The name of a program, or all.")] = ALL,
    session: Annotated[
        str, typer.Option("--session", help="One session, ended or not, or an agent's own id of a conversation.")
    ] = "",
    since: Annotated[str, typer.Option("--since", help="Only since then: 30m, 2h, 7d, or a date as 2026-11-22.")] = "",
    until: Annotated[str, typer.Option("--until", help="Only until then, written in the same way.")] = "",
    limit: Annotated[int, typer.Option("--limit", min=1, help="Maximum number of results.")] = 50,
    any_word: Annotated[bool, typer.Option("--any", help="Find any of the words instead of all.")] = False,
    transcripts: Annotated[
        bool, typer.Option("--transcripts/--no-transcripts", help="Also search the agents' own transcripts.")
    ] = True,
    seconds: Annotated[
        float, typer.Option("--seconds", min=0.1, help="Maximum time to read transcripts, in seconds.")
    ] = 10.0,
    as_json: AsJson = False,
) -> None:
    """Search the journal and agents' transcripts; best match first.

    The daemon searches, or its journal is read if no daemon runs. The transcripts that agents keep are searched as
    well; parts that could not be read in time are named on standard error.
    """
    output = printing.output(as_json=as_json)

    async def main() -> int:
        now = time.time()
        asked = SearchHistory(
            words=" ".join(words),
            session=session,
            agent=agent,
            since=_time(since, now),
            until=_time(until, now),
            limit=limit,
            transcripts=transcripts,
            any_word=any_word,
            seconds=seconds,
        )
        history = await _searched(options, asked)
        for one in history.found:
            if as_json:
                output.json(msgspec.to_builtins(one))
            else:
                output.labelled(_label(one), one.snippet)
        if not history.found:
            output.note("nothing found")
        for unread in history.left_out:
            output.note(unread)
        return 0

    run_to_end(output, main)


async def _searched(options: ServerOptions, asked: SearchHistory) -> History:
    tmux = options.server()
    async with service_if_any(tmux) as service:
        if service is not None:
            return await service.search_history(asked)
    path = address_of(tmux).state / "journal.db"
    if not path.exists():
        if not asked.transcripts:
            raise UsageError("there is no journal", hint="the daemon keeps one: streamrelay daemon start")
        return await HistorySearch(None, load_profiles).search(asked)
    async with Journal(path) as journal:
        place = await journal.find_session(asked.session) if asked.session else None
        if place is None and asked.session.startswith("%"):
            place = Place(asked.session)
        return await HistorySearch(journal, load_profiles).search(asked, place)


def _label(found: FoundText) -> str:
    at = datetime.fromtimestamp(found.at).astimezone().strftime("%Y-%m-%d %H:%M:%S")
    if found.file:
        who = found.agent if found.origin == "program" else f"to {found.agent}"
        return f"{at}  {who}, its transcript"
    return f"{at}  {found.pane} {found.agent if found.origin == 'program' else found.origin}"


def _time(said: str, now: float) -> float:
    """Parse a time or an age; return Unix time, 0 for none."""
    if not said:
        return 0.0
    amount, unit = said[:-1], said[-1]
    if unit in UNITS and amount.replace(".", "", 1).isdecimal():
        return now - float(amount) * UNITS[unit]
    try:
        return datetime.fromisoformat(said).astimezone().timestamp()
    except ValueError as error:
        raise UsageError(f"invalid time: {said!r}", hint="use 30m, 2h, 7d, 2026-11-22 or 2026-11-22T10:00") from error
