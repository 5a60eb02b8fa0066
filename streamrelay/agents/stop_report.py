"""Parses the report of an agent's stop hook, in each agent's format. Pure.

Claude Code, Gemini CLI, Qwen Code and Codex pass a JSON object to their hooks. Each uses different names for the event,
the answer and the path of the transcript.
"""

from typing import Any

import msgspec

MAX_ANSWER = 1_000_000
"""The most characters to keep of an answer."""
_EVENT = ("hook_event_name", "type")
_ANSWER = ("last_assistant_message", "prompt_response", "last-assistant-message")


class HookReport(msgspec.Struct, frozen=True, kw_only=True):
    """The report of a hook."""

    agent: str
    """The name of the agent's profile."""
    pane: str
    """tmux's id of the agent's pane (`$TMUX_PANE`)."""
    payload: dict[str, Any] = {}
    """The JSON object that the agent passed to its hook."""
    environment: dict[str, str] = {}
    """The agent's variables that locate its files, as far as they are set."""


class Stop(msgspec.Struct, frozen=True, kw_only=True):
    """The end of a turn: the answer, the conversation and its transcript, as far as the hook reports them."""

    answer: str = ""
    transcript: str = ""
    thread: str = ""
    """The conversation's id, if the agent holds others beside the one on its screen (Codex, for titles)."""


def read_stop(payload: dict[str, Any], event: str) -> Stop | None:
    """Return the end of a turn from a payload; None if it names an event other than `event`.

    A payload without an event's name counts, because agents call this hook only at the end of a turn.
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
