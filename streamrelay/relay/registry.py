"""The assignment of sessions to relays and gatherings: each session is in at most one. Pure."""

from collections.abc import Iterable, Mapping

from streamrelay.errors import SessionTaken


class SessionAssignments:
    """Maps each session to the relay or gathering that receives all of its output."""

    def __init__(self, taken: Mapping[str, str] | None = None) -> None:
        """Begin with no session, or with the assignments `taken` of before a restart."""
        self._relay_of = dict(taken or {})

    def take(self, relay: str, sessions: Iterable[str]) -> None:
        """Assign all sessions to a relay or gathering, or none; raises SessionTaken if one is in another."""
        sessions = tuple(sessions)
        for session in sessions:
            taken = self._relay_of.get(session, relay)
            if taken != relay:
                raise SessionTaken(
                    f"session {session} is already in {taken}", data={"session": session, "relay": taken}
                )
        self._relay_of |= dict.fromkeys(sessions, relay)

    def leave(self, session: str) -> str | None:
        """Remove one session; return the relay or gathering it was in."""
        return self._relay_of.pop(session, None)

    def free(self, relay: str) -> list[str]:
        """Remove all sessions of a relay or gathering that has ended; return them."""
        sessions = self.sessions_of(relay)
        for session in sessions:
            del self._relay_of[session]
        return sessions

    def relay_of(self, session: str) -> str | None:
        """Return the relay or gathering of a session; None if it has none."""
        return self._relay_of.get(session)

    def sessions_of(self, relay: str) -> list[str]:
        """Return the sessions in a relay or gathering."""
        return [session for session, taken in self._relay_of.items() if taken == relay]

    def stored(self) -> dict[str, str]:
        """Return the assignments, for the constructor after a restart."""
        return dict(self._relay_of)
