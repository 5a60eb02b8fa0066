"""What an agent's stop hook tells, as its agent words it; pure.

Claude Code, Gemini CLI, Qwen Code and Codex hand a JSON object to their hooks, each with names of its own for the same
things: which event it is, what was answered, where the transcript is.
"""

from typing import Any

import msgspec

MAX_ANSWER = 1_000_000
"""Characters of an answer that are kept."""
_EVENT = ("hook_event_name", "type")
_ANSWER = ("last_assistant_message", "prompt_response", "last-assistant-message")


class HookReport(msgspec.Struct, frozen=True, kw_only=True):
    """A hook's word, as it reaches us."""

    agent: str
    """The name of its profile."""
    pane: str
    """Where it runs: tmux's own id (`$TMUX_PANE`)."""
    payload: dict[str, Any] = {}
    """What the agent told its hook."""
    environment: dict[str, str] = {}
    """Of the agent: what says where its files are, as far as that is set."""


class Stop(msgspec.Struct, frozen=True, kw_only=True):
    """A turn is over: what was answered, in which conversation, and where that is written down, where it says so."""

    answer: str = ""
    transcript: str = ""
    thread: str = ""
    """Of an agent that may hold conversations of its own beside the one on its screen (Codex, for titles)."""


def read_stop(payload: dict[str, Any], event: str) -> Stop | None:
    """Return what a payload says of the end of a turn; None where it tells of something other than `event`.

    One that names no event is taken at its word: only what is meant for the end of a turn is ever called.
    """
    told = _first(payload, _EVENT)
    if told not in {"", event}:
        return None
    return Stop(
        answer=_first(payload, _ANSWER)[:MAX_ANSWER],
        transcript=_first(payload, ("transcript_path",)),
        thread=_first(payload, ("thread-id",)),
    )


def _first(payload: dict[str, Any], names: tuple[str, ...]) -> str:
    return next((value for name in names if isinstance(value := payload.get(name), str)), "")
