"""When a program that was just started takes messages, by its screen; pure.

A program that is not ready loses what it is sent. A profile that recognises it by its title or its rows knows it only
when it has set or painted them. The code that starts it knows its profile from the beginning.
"""

from streamrelay.agents.profile import AgentProfile
from streamrelay.delivery.machine import PICTURE_REST
from streamrelay.delivery.readiness import obstacle
from streamrelay.delta.pane_state import PaneState

RESTED = 1.0
"""Seconds without output after which a program of which nothing is known counts as ready."""


def is_ready(pane_state: PaneState, profile: AgentProfile | None, *, rested: float) -> bool:
    """Tell whether there is nothing to wait for: the program is ready, or a person is needed before it can be.

    `profile` is that of the program it was started as; `rested` the seconds without output. The composer of an agent
    whose screen is still being painted says nothing: a question may replace it.
    """
    if pane_state.needs_human is not None:
        return True
    knows = (
        profile is not None and profile.kind == "agent" and bool(profile.delivery.ready or profile.delivery.composer)
    )
    if knows:
        return rested >= PICTURE_REST and obstacle(pane_state, profile, answering=False) is None
    return rested >= RESTED
