"""Takes a service's pulse from its sessions, its journal and the user's settings."""

import time
from collections.abc import Collection, Sequence

from streamrelay.pulse import ALL_PARTS, Part, Pulse, SessionNow, Sources, take_pulse
from streamrelay.service.core import Core

RECENT = 3600.0
"""Seconds for which a session's output counts as its current work."""
_FOLDERS = ("list-panes", "-a", "-F", "#{pane_id}\t#{pane_current_path}")
_MAX_TEXT_LENGTH = 1_000


async def pulse(
    core: Core, *, scope: Sequence[str] = (), parts: Collection[Part] = ALL_PARTS, among: Collection[str] = ()
) -> Pulse:
    """Take the pulse of the given sessions, or of all; `scope` holds a rhythm's search words for history."""
    settings = core.pulse

    async def sessions() -> Sequence[SessionNow]:
        return await _sessions(core, among)

    sources = Sources(
        sessions=sessions,
        search=core.history.search,
        pipelines=settings.pipelines,
        summary=settings.summary,
        history_days=settings.history_days,
    )
    return await take_pulse(sources, scope=scope, parts=parts, seconds=settings.seconds)


async def _sessions(core: Core, among: Collection[str]) -> Sequence[SessionNow]:
    listed = (line.partition("\t") for line in await core.server.query(_FOLDERS))
    folders = {pane: folder for pane, _, folder in listed}
    now = time.time()
    # Keeps the newest output of each pane: the list begins with the newest.
    recent = {one.pane: one for one in reversed(await core.journal.recent(now - RECENT)) if one.origin == "program"}
    told = []
    for session in await core.sessions.all():
        if among and session.session not in among:
            continue
        said = recent.get(session.pane)
        told.append(
            SessionNow(
                title=session.title,
                program=session.agent or session.program,
                state=session.state,
                folder=folders.get(session.pane, ""),
                quiet=None if said is None else max(0.0, now - said.at),
                said="" if said is None else said.text[-_MAX_TEXT_LENGTH:],
            )
        )
    return told
