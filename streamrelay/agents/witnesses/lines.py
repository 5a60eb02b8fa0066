"""Parses one line of a transcript for the witness: a message, an answer, the end of a turn. Never raises.

It omits sub-agents and side chains, tools, thoughts, the summaries of a compaction, and texts that an agent inserts as
a person's (streamrelay/agents/transcripts.py).
"""

from collections.abc import Sequence
from typing import Any, Final

from streamrelay.agents.transcripts import TranscriptPassage, decoded, passages_of
from streamrelay.delta.inputs import WitnessPassage

MAX_PASSAGE: Final = 400_000
"""Characters of one passage; a longer one is not compared."""
MAX_SEEN: Final = 1_000
_ENDED: Final = frozenset({"end_turn", "stop_sequence", "max_tokens", "refusal"})
"""The stop reasons with which a message of Claude ends its turn; `tool_use` and `pause_turn` do not."""
_INTERRUPTED: Final = "[Request interrupted by user"
_CONTEXT: Final = "<session_context>"


class LineReader:
    """Reads the lines of one transcript in order; a message that is written twice counts once.

    Gemini CLI writes its history again when a request is cancelled: after the context of the session come copies of
    what was said before, with other ids, and then all of it in one line (seen with 0.61.0).
    """

    def __init__(self) -> None:
        self._seen: dict[tuple[str, str], None] = {}
        self._copies = False
        """Whether the history is being written again."""

    def read(self, line: bytes) -> list[WitnessPassage]:
        """Return the passages of a line."""
        value = decoded(line)
        if not isinstance(value, dict) or _is_beside(value):
            return []
        if "$set" in value:
            self._copies = self._copies and "messages" not in _payload(value, "$set")
            return []
        if _ends(value):
            return [WitnessPassage("end")]
        self._copies = self._copies or _begins_history(value)
        found = passages_of(value)
        if self._copies and found and self._was_said(found):
            return []
        if any(passage.speaker == "person" for passage in found):
            self._copies = False
        passages = [passage for passage in found if self._is_new(value, passage)]
        said = [WitnessPassage(passage.speaker, passage.text[:MAX_PASSAGE], passage.at) for passage in passages]
        if said and said[-1].text.startswith(_INTERRUPTED):
            return [*said[:-1], WitnessPassage("end")]
        if _calls_tools(value):
            # The turn that seemed to have ended continues.
            return [*said, WitnessPassage("agent")]
        if said and said[-1].speaker == "agent" and _is_last(value):
            said.append(WitnessPassage("end"))
        return said

    def _was_said(self, passages: Sequence[TranscriptPassage]) -> bool:
        """Return whether an earlier line said all of these."""
        said = {text for _, text in self._seen}
        return all(passage.text in said for passage in passages)

    def _is_new(self, value: dict[str, Any], passage: TranscriptPassage) -> bool:
        number = value.get("id")
        if not isinstance(number, str):
            return True
        key = (number, passage.text)
        if key in self._seen:
            return False
        self._seen[key] = None
        if len(self._seen) > MAX_SEEN:
            del self._seen[next(iter(self._seen))]
        return True


def _is_beside(value: dict[str, Any]) -> bool:
    """Return whether a line is not part of the conversation on the screen: a sub-agent's, or a summary."""
    return bool(value.get("isSidechain") or value.get("isMeta") or value.get("isCompactSummary"))


def _begins_history(value: dict[str, Any]) -> bool:
    """Return whether a line is the context of a session, as Gemini CLI writes it in front of the history."""
    content = value.get("content")
    first = content[0] if isinstance(content, list) and content else None
    text = first.get("text") if isinstance(first, dict) else None
    return value.get("type") == "user" and isinstance(text, str) and text.startswith(_CONTEXT)


def _payload(value: dict[str, Any], name: str) -> dict[str, Any]:
    payload = value.get(name)
    return payload if isinstance(payload, dict) else {}


def _ends(value: dict[str, Any]) -> bool:
    """Return whether a line only reports the end of the turn."""
    if value.get("type") == "system":
        return value.get("subtype") == "turn_duration"
    return value.get("type") == "event_msg" and _payload(value, "payload").get("type") in {
        "task_complete", "turn_aborted",
    }  # fmt: skip


def _calls_tools(value: dict[str, Any]) -> bool:
    if value.get("type") == "gemini":
        return bool(value.get("toolCalls"))
    parts = _payload(value, "message").get("parts")
    return isinstance(parts, list) and any(isinstance(part, dict) and "functionCall" in part for part in parts)


def _is_last(value: dict[str, Any]) -> bool:
    """Return whether an agent's message ends its turn, if no other follows."""
    message = _payload(value, "message")
    if value.get("type") == "assistant":
        return message.get("stop_reason") in _ENDED or "parts" in message
    return value.get("type") == "gemini"
