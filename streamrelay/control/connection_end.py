"""Why a control connection ended.

tmux sends a bare `%exit` in three cases: the client was detached, its session was destroyed, or the server ended
(measured, tmux 3.3a). If the words of `%exit` do not tell, `explain` asks the server once whether the session exists.
"""

from dataclasses import dataclass
from typing import Final, Literal

from streamrelay import errors
from streamrelay.control.requests import SERVER_ENDED
from streamrelay.control.tmux import IDENTIFICATION_FIXED, ServerInfo, Tmux, Version

EndReason = Literal["left", "detached", "session_gone", "moved", "too_far_behind", "server_lost", "failed"]

# The beginnings of `%exit`'s words (tmux 3.3a client.c, client_exit_message; control.c).
_WORDS: Final[tuple[tuple[str, EndReason], ...]] = (
    ("too far behind", "too_far_behind"),
    ("detached", "detached"),
    *((words, "server_lost") for words in SERVER_ENDED),
)

_TIMEOUT: Final = 2.0
_ABRUPT: Final = ("lost server", "server exited unexpectedly")


@dataclass(frozen=True, slots=True)
class ConnectionEnd:
    """How a connection ended.

    `left`: by ourselves. `detached`: by another client. `session_gone`: the session was destroyed. `moved`: this client
    was switched to another session. `too_far_behind`: tmux gave up on a reader that did not read for 300 s.
    `server_lost`: the server ended or died. `failed`: a handler or callback raised. `words` are those of `%exit`, or
    what was raised.
    """

    reason: EndReason
    words: str = ""
    abrupt: bool = False
    """Whether tmux, or its client, died without taking its leave."""


async def explain(tmux: Tmux, session: str, words: str | None, guess: EndReason) -> ConnectionEnd:
    """Return how a connection to `session` ended.

    `words` are those of `%exit`, None where the stream ended without one; `guess` is the reason if nothing else tells.
    """
    abrupt = words is None or words.startswith(_ABRUPT)
    said = words or ""
    for beginning, reason in _WORDS:
        if said.startswith(beginning):
            return ConnectionEnd(reason, said, abrupt)
    try:
        await tmux.run("-N", "has-session", "-t", session, timeout=_TIMEOUT)
    except (errors.NoServer, errors.ServerLost):
        return ConnectionEnd("server_lost", said, abrupt)
    except errors.TargetNotFound:
        return ConnectionEnd("session_gone", said, abrupt)
    except errors.TmuxError:
        return ConnectionEnd(guess, said, abrupt)
    return ConnectionEnd(guess, said, abrupt)


def server_died(server: ServerInfo, words: str) -> errors.ServerLost:
    """Return the error for a server that ended while a client of ours attached to it; `words` say how the client ended.

    Its hint names the defect that the server's version has, if it has one.
    """
    data = {"version": server.version.text, "socket": server.address, "reason": words}
    message = f"tmux {server.version.text} at {server.address} ended while streamrelay attached to it: {words}"
    return errors.ServerLost(message, data=data, hint=upgrade_hint(server.version))


def upgrade_hint(version: Version) -> str | None:
    """Return what to do about a tmux that can die while a control client attaches; None where it cannot."""
    if version.at_least(*IDENTIFICATION_FIXED):
        return None
    fixed = ".".join(map(str, IDENTIFICATION_FIXED))
    return f"install tmux {fixed} or newer: {version.text} can crash while a program attaches in control mode"
