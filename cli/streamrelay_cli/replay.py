"""`streamrelay replay`: runs a recording through the pipeline."""

from pathlib import Path
from typing import Annotated

import typer

from streamrelay.agents import load_profiles
from streamrelay.events import Event, Text
from streamrelay.recordings import open_recording
from streamrelay.recordings import replay as replayed
from streamrelay_cli.command_entry import EXPLORE, command
from streamrelay_cli.options import AsEvents, Profiles
from streamrelay_cli.output import CommandOutput

EVENTS_AT_ONCE = 512


@command("replay", panel=EXPLORE, place=20)
def replay(
    recording: Annotated[
        Path,
        typer.Argument(
            help="A folder of a recorded session, a control-mode recording (.jsonl, .jsonl.gz) or an asciicast."
        ),
    ],
    profiles: Profiles = True,
    as_json: AsEvents = False,
) -> None:
    """Print what the programs of a recording said.

    The lines are those that the live stream would have had.
    """
    output = CommandOutput()
    batch: list[Event] = []
    is_silent = True

    def flush() -> None:
        nonlocal is_silent
        events = batch.copy()
        batch.clear()
        said = [event.text for event in events if isinstance(event, Text) and event.origin == "program"]
        is_silent = is_silent and not said
        if as_json:
            output.events(events)
        else:
            output.lines(said)

    known = [profile.reading for profile in load_profiles()] if profiles else []
    try:
        for event in replayed(open_recording(recording), known):
            batch.append(event)
            if len(batch) >= EVENTS_AT_ONCE:
                flush()
    finally:
        # For a damaged recording, prints the lines before the damage.
        flush()
    if is_silent:
        output.note(f"no program said anything in {recording}; why: streamrelay explain {recording}")
