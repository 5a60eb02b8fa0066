"""Reports of agents' stop hooks, handed to the pipeline of the agent's pane as one witness of the turn's end."""

import asyncio
import os
from collections.abc import Mapping
from pathlib import Path

from streamrelay.agents.profile import AgentProfile
from streamrelay.agents.stop_report import HookReport, Stop, read_stop
from streamrelay.agents.transcript_files import is_transcript_of, transcript_files
from streamrelay.agents.transcripts import last_answer
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
    answer = await asyncio.to_thread(_answer, profile, stop, os.environ | report.environment)
    # The pane may have gone while files were looked at.
    if answer is None or not server.is_watched(report.pane):
        return False
    server.pipeline(report.pane).stopped(report.agent, answer)
    return True


def _answer(profile: AgentProfile, stop: Stop, environment: Mapping[str, str]) -> str | None:
    """Return what was answered; None where that was in a conversation which is not on the screen.

    Codex 0.169.0 tells of the turns in which it makes up titles too, and in the midst of an answer. What tells them
    apart is that those are written down nowhere.
    """
    if stop.thread and not any(stop.thread in file.path.name for file in transcript_files(profile, environment)):
        return None
    file = Path(stop.transcript)
    if stop.answer or not stop.transcript or not is_transcript_of(profile, file, environment):
        return stop.answer
    return last_answer(file)
