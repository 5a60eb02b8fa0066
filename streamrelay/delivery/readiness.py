"""Whether a program may be typed to now: judged by what stands on its screen, pure.

* A question for a person is never typed into.
* What stands in the composer was put there by somebody: it is never added to. Where a profile knows the row, its
  pattern tells a placeholder from a draft; elsewhere only what stands left of the cursor counts as typed.
* A program that asked for bracketed paste and has withdrawn the request runs something, or is leaving: what comes now
  would be read by its shell, line by line. It is waited for until it asks again.
* An agent that aborts its answer when a message comes in, or loses it, is let finish (the profile's `mid_turn`);
  so is one that nobody described. A program that only prints takes what comes as type-ahead, and is never waited for.
* An agent whose profile knows how it looks when it takes messages has to look like that.
"""

from streamrelay.agents.profile import AgentProfile
from streamrelay.delivery.message import Obstacle
from streamrelay.delta.pane_state import Standing
from streamrelay.delta.profiles import matches


def obstacle(standing: Standing, profile: AgentProfile | None, *, answering: bool) -> Obstacle | None:
    """Return why nothing may be typed now; None if it may.

    `answering` tells whether an answer to what was sent before is still to come.
    """
    if standing.needs_human is not None:
        return "needs_human"
    if standing.withdrawn:
        return "at_work"
    if draft(standing, profile):
        return "draft"
    if (answering or standing.answers) and lets_finish(standing, profile):
        return "at_work"
    if profile is not None and profile.kind == "agent" and not _looks_ready(standing, profile):
        return "not_ready"
    return None


def draft(standing: Standing, profile: AgentProfile | None) -> str:
    """Return what was typed or pasted into the composer and stands there; empty where nothing is known to."""
    view = standing.composer
    pattern = profile.delivery.composer if profile is not None else None
    if profile is None or pattern is None:
        return view.typed
    for row in view.rows:
        found = pattern.search(row)
        if found is not None:
            shown = "" if matches(profile.delivery.ready, row) else (found["draft"] or "").strip()
            return view.typed or ("" if view.faint else shown)
    return view.typed


def lets_finish(standing: Standing, profile: AgentProfile | None) -> bool:
    """Tell whether an answer is waited for before the next message goes in."""
    if profile is not None and profile.kind == "agent":
        return profile.delivery.mid_turn == "hold"
    return standing.converses and not standing.prints


def _looks_ready(standing: Standing, profile: AgentProfile) -> bool:
    """Tell whether a row says so, or an empty composer does."""
    ready, composer = profile.delivery.ready, profile.delivery.composer
    if not ready or any(matches(ready, row) for row in standing.rows):
        return True
    return composer is not None and any(composer.search(row) for row in standing.composer.rows)
