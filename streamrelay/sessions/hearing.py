"""What an agent's stop hook tells is given to the pipeline of its pane, where it votes."""

import asyncio
from pathlib import Path

from streamrelay.agents.stop_report import HookReport, read_stop
from streamrelay.agents.transcripts import is_transcript_of, last_answer
from streamrelay.errors import UsageError
from streamrelay.panes.server import Server


async def hear_hook(server: Server, report: HookReport) -> bool:
    """Take the word of an agent's hook; return whether it was of use: of a stop, in a pane that is watched.

    Where the agent does not say what it has answered, its transcript is asked, if it names one. Raises UsageError for
    an agent whose profile knows of no hook.
    """
    profile = server.profile(report.agent)
    if profile is None or profile.stop_hook is None:
        raise UsageError(f"nothing is known of hooks of {report.agent!r}", hint="`streamrelay hooks show` lists them")
    stop = read_stop(report.payload, profile.stop_hook.event)
    if stop is None or not server.is_watched(report.pane):
        return False
    answer, file = stop.answer, Path(stop.transcript)
    if not answer and stop.transcript:
        answer = await asyncio.to_thread(lambda: last_answer(file) if is_transcript_of(profile, file) else "")
    # It may have gone while its transcript was read.
    if not server.is_watched(report.pane):
        return False
    server.pipeline(report.pane).stopped(report.agent, answer)
    return True
