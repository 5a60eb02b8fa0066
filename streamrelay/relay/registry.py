"""Who is in which relay or circle: each session in one at most. Pure."""

from collections.abc import Iterable, Mapping

from streamrelay.errors import SessionTaken


class SessionAssignments:
    """The sessions that take part in something that all of their words go to."""

    def __init__(self, taken: Mapping[str, str] | None = None) -> None:
        """Begin with nobody, or with who was in what before a restart."""
        self._relay_of = dict(taken or {})

    def take(self, relay: str, sessions: Iterable[str]) -> None:
        """Give all sessions to a relay or circle, or none: raises SessionTaken for one that is in another."""
        sessions = tuple(sessions)
        for session in sessions:
            taken = self._relay_of.get(session, relay)
            if taken != relay:
                raise SessionTaken(
                    f"session {session} is in {taken} already", data={"session": session, "relay": taken}
                )
        self._relay_of |= dict.fromkeys(sessions, relay)

    def leave(self, session: str) -> str | None:
        """Let one session go; return what it was in."""
        return self._relay_of.pop(session, None)

    def free(self, relay: str) -> list[str]:
        """Let all sessions of what has ended go; return them."""
        sessions = self.sessions_of(relay)
        for session in sessions:
            del self._relay_of[session]
        return sessions

    def relay_of(self, session: str) -> str | None:
        """Return what a session is in."""
        return self._relay_of.get(session)

    def sessions_of(self, relay: str) -> list[str]:
        """Return who is in a relay or circle."""
        return [session for session, taken in self._relay_of.items() if taken == relay]

    def stored(self) -> dict[str, str]:
        """Return all that is needed to go on later."""
        return dict(self._relay_of)
