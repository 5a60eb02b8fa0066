"""The advice that commands print about sessions that wait for a person."""

import os
from collections.abc import Iterable, Iterator, Mapping

from streamrelay.sessions.model import Session

_ATTACH, _SWITCH = " attach-session -t ", " switch-client -t "


def state_cell(session: Session) -> str:
    """Return a session's state for a table: `needs_human (trust)`."""
    return f"{session.state} ({session.need})" if session.need else session.state


def attention_lines(sessions: Iterable[Session]) -> Iterator[str]:
    """Yield the question of each session that waits for a person, with the advice."""
    for session in sessions:
        if session.advice:
            question = f": {session.question}" if session.question else ""
            yield f"{session_label(session)} waits for a person ({session.need}){question}"
            yield f"  {reachable(session.advice)}"


def session_label(session: Session) -> str:
    """Return the title and the id of a session."""
    return session.title if session.title == session.session else f"{session.title} ({session.session})"


def reachable(text: str, environment: Mapping[str, str] = os.environ) -> str:
    """Return advice with a command that works here: inside the same tmux server, it switches the client.

    tmux refuses to attach a client inside another one.
    """
    server = environment.get("TMUX", "").partition(",")[0]
    inside = bool(server) and f"tmux -S {server} " in text
    return text.replace(f"tmux -S {server}{_ATTACH}", f"tmux{_SWITCH}") if inside else text
