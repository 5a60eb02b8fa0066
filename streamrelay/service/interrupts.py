"""Interrupting the program of a session by its own key.

Some agents put a message back into their composer when they are interrupted before their first word (Claude Code
2.1.197 does). There it would stand as a draft, and hold back every later message. So the text is cleared where it is
the interrupted message and the composer was empty before; anything else in the composer is a person's, and stays.
"""

import asyncio
import contextlib

import regex

from streamrelay.agents.profile import AgentProfile
from streamrelay.delivery.commands import Seen
from streamrelay.delivery.readiness import draft
from streamrelay.errors import DialogChanged, NotAllowed
from streamrelay.panes.pipeline import PanePipeline
from streamrelay.service.core import Core
from streamrelay.service.dialogs import press
from streamrelay.sessions.model import Session

KEY_PAUSE = 0.2
"""Seconds to wait after each key, because a program that reads an escape and the next key together sees another key."""
IDLE_TIMEOUT = 2.0
"""Seconds from the keys of an interrupt to the end of the answer, before they are pressed again."""
MAX_ATTEMPTS = 3
"""How often the keys are pressed: a program that is just taking a message up may miss them."""
RESTORE_TIMEOUT = 3.0
"""Seconds in which a program puts the message back."""
REPAINT = 0.3
"""Seconds in which a program shows what a key has done."""
_PLACEHOLDER = regex.compile(r"^\[Pasted text\b")


async def interrupt(core: Core, session: str, message: str = "") -> list[str]:
    """Press the keys that interrupt the program of a session; return them. See `Service.interrupt`."""
    found = await core.find(session)
    await core.admit(found, allow_shell=True)
    pipeline = core.server.pipeline(found.pane)
    profile = core.server.profile(pipeline.profile)
    if profile is None or not profile.delivery.interrupt:
        raise NotAllowed(
            f"no profile says how to interrupt {found.program} in pane {found.pane}",
            hint='name its keys in a profile: [delivery] interrupt = ["Escape"]',
            data={"session": found.session, "program": found.program},
        )
    pipeline.look()
    before = draft(pipeline.pane_state, profile)
    # A program that has just taken the message up may still show it.
    holds_draft = bool(before) and not is_restored(before, message)
    for _ in range(MAX_ATTEMPTS):
        for key in profile.delivery.interrupt:
            await press(core, found, (key,), Seen())
            await asyncio.sleep(KEY_PAUSE)
        if await _until_idle(pipeline):
            break
    if message and profile.delivery.clear and not holds_draft:
        await _clear_restored(core, found, pipeline, profile, message)
    return list(profile.delivery.interrupt)


def is_restored(shown: str, text: str) -> bool:
    """Return whether what a composer shows is an interrupted message: its beginning, or the placeholder of a paste."""
    words = " ".join(shown.split())
    return bool(words) and (" ".join(text.split()).startswith(words) or _PLACEHOLDER.match(words) is not None)


async def _until_idle(pipeline: PanePipeline) -> bool:
    """Wait until the program works no more; return False if it still does after `IDLE_TIMEOUT` seconds."""
    loop = asyncio.get_running_loop()
    until = loop.time() + IDLE_TIMEOUT
    while pipeline.answers and (left := until - loop.time()) > 0:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(left):
                await pipeline.changed()
    return not pipeline.answers


async def _clear_restored(
    core: Core, session: Session, pipeline: PanePipeline, profile: AgentProfile, text: str
) -> None:
    """Clear the composer while it shows the text; leave it alone if it does not in time, or a message is typed."""
    loop = asyncio.get_running_loop()
    until = loop.time() + RESTORE_TIMEOUT
    was_restored = False
    while (left := until - loop.time()) > 0:
        pipeline.look()
        participant = core.runner.participant(session.pane)
        if participant is None or not participant.writer.idle:
            return
        if is_restored(draft(pipeline.pane_state, profile), text):
            was_restored = True
            # The program may paint just then; and what it paints after the key decides whether it took it.
            with contextlib.suppress(DialogChanged):
                await press(core, session, profile.delivery.clear, Seen(cursor=pipeline.cursor))
            await asyncio.sleep(REPAINT)
            continue
        if was_restored:
            return
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(left):
                await pipeline.changed()
