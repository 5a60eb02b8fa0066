"""Who may start sessions: a rule for all, one for each link, and a bound for those that run away. Pure."""

from collections.abc import Sequence
from typing import Literal

from streamrelay.counts import counted
from streamrelay.errors import NotAllowed
from streamrelay.sessions.model import Session

Starters = Literal["anyone", "people", "nobody"]
UNKNOWN = "unknown"
"""The caller, if it is an agent whose session is unknown."""


def check_start(
    sessions: Sequence[Session], asks: str, *, who: Starters, most: int, being_born: int = 0, forbidden_by: str = ""
) -> None:
    """Raise NotAllowed if a session may not be started for `asks`: a session's id, or nothing for a person.

    `asks` is `UNKNOWN` for an agent whose session is unknown. `sessions` are all sessions; at most `most` of those
    started here may run (0: any number), `being_born` of them just starting. `forbidden_by` is a link of `asks` whose
    members may start none.
    """
    data = {"session": asks}
    if who == "nobody":
        raise NotAllowed(
            "sessions are not started here", hint='the person can change it: sessions.start = "people"', data=data
        )
    if asks and who == "people":
        raise NotAllowed("only people start sessions here", hint="ask the person to: streamrelay start", data=data)
    if forbidden_by:
        raise NotAllowed(
            f"members of {forbidden_by} may not start sessions",
            hint="ask the person to: streamrelay start",
            data=data | {"link": forbidden_by},
        )
    running = being_born + sum(session.started_here and session.state != "ended" for session in sessions)
    if 0 < most <= running:
        raise NotAllowed(
            f"{counted(running, 'session was', 'sessions were')} started here earlier, and {most} may run",
            hint="end one: streamrelay end SESSION; or let there be more: sessions.most",
            data=data | {"running": running},
        )


def asking(sessions: Sequence[Session], caller: str, within: str) -> str:
    """Return the session that asks: the caller, or the one in whose pane a command was run; empty for a person."""
    return caller or next((one.session for one in sessions if within and one.pane == within), "")
