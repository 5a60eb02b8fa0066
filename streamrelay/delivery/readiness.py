"""Readiness: decide from a pane's screen whether a message may be typed now. Pure.

* Never type into a question for a person.
* Never add to a draft in the composer. If a profile knows the composer's row, its pattern tells a placeholder from a
  draft; otherwise only text left of the cursor counts as typed.
* Wait for a program that asked for bracketed paste and has withdrawn the request. It runs a command or is leaving, and
  its shell would read the message line by line.
* Wait for the end of an answer if the agent aborts it or loses a message that arrives meanwhile (the profile's
  `mid_turn`), or if no profile describes the program. Never wait for a program that only prints lines: it takes the
  message as type-ahead.
* An agent whose profile knows its ready screen has to show that screen.
"""

from streamrelay.agents.profile import AgentProfile
from streamrelay.delivery.message import Obstacle
from streamrelay.delta.pane_state import PaneState
from streamrelay.delta.profiles import matches


def obstacle(
    pane_state: PaneState, profile: AgentProfile | None, *, answering: bool, is_own_text: bool = False
) -> Obstacle | None:
    """Return why nothing may be typed now; None if it may.

    `answering` tells whether an answer to what was sent before is still to come, and `is_own_text` whether the text in
    the composer is a message, which is no draft of a person.
    """
    if pane_state.needs_human is not None:
        return "needs_human"
    if pane_state.withdrawn:
        return "at_work"
    if not is_own_text and draft(pane_state, profile):
        return "draft"
    if (answering or pane_state.answers) and lets_finish(pane_state, profile):
        return "at_work"
    if profile is not None and profile.kind == "agent" and not _looks_ready(pane_state, profile):
        return "not_ready"
    return None


def draft(pane_state: PaneState, profile: AgentProfile | None) -> str:
    """Return what was typed or pasted into the composer and stands there; empty where nothing is known to."""
    view = pane_state.composer
    pattern = profile.delivery.composer if profile is not None else None
    if profile is None or pattern is None:
        return view.typed
    for row in view.rows:
        found = pattern.search(row)
        if found is not None:
            shown = "" if matches(profile.delivery.ready, row) else (found["draft"] or "").strip()
            return view.typed or ("" if view.faint else shown)
    return view.typed


def lets_finish(pane_state: PaneState, profile: AgentProfile | None) -> bool:
    """Return whether an answer is waited for before the next message goes in."""
    if profile is not None and profile.kind == "agent":
        return profile.delivery.mid_turn == "hold"
    return pane_state.converses and not pane_state.prints


def _looks_ready(pane_state: PaneState, profile: AgentProfile) -> bool:
    """Return whether a row says so, or an empty composer does."""
    ready, composer = profile.delivery.ready, profile.delivery.composer
    if not ready or any(matches(ready, row) for row in pane_state.rows):
        return True
    return composer is not None and any(composer.search(row) for row in pane_state.composer.rows)
