"""Parses the transcripts of Claude Code, Codex, Gemini CLI and Qwen Code, all in JSON Lines.

Parsing is tolerant, because no vendor documents these formats: it skips unknown lines, and reads a file that is still
being written as far as it goes. transcript_files.py finds and reads the files safely.
"""

import json
import re
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Literal

import msgspec
import regex

from streamrelay.agents.transcript_files import MAX_LINE, lines_from_the_end

# Texts that agents insert as a person's: the state of the environment, the results of their own commands.
_NOT_SAID = regex.compile(
    r"\s*<(?:environment_context|user_instructions|session_context|system-reminder|command-\w+|local-command-\w+"
    r"|turn_aborted|INSTRUCTIONS|skills_instructions|permissions instructions)\b"
)
_WRAPPED = regex.compile(r'\A\s*<pasted_content id="[^"]*">\n(?P<inside>.*?)\n?</pasted_content[^>]*>', regex.DOTALL)

Speaker = Literal["person", "agent"]


@dataclass(frozen=True, slots=True)
class TranscriptPassage:
    """A passage of a transcript, with its speaker and time (Unix time, 0 if the file has none)."""

    speaker: Speaker
    text: str
    at: float


_CONVERSATION = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\Z|[0-9a-f]{8}\Z")


def conversation_of(file: Path) -> str:
    """Return the agent's id of a conversation from the file's name: the whole id or its beginning."""
    named = _CONVERSATION.search(file.stem)
    return named[0] if named else file.stem


def read_passages(line: bytes | str) -> list[TranscriptPassage]:
    """Return the passages of one line of a transcript, of any agent; never raises."""
    value = decoded(line)
    return passages_of(value) if isinstance(value, dict) else []


def passages_of(value: dict[str, Any]) -> list[TranscriptPassage]:
    """Return the passages of a decoded line of a transcript; never raises."""
    at = _time(value.get("timestamp"))
    if isinstance(changed := value.get("$set"), dict):
        messages = changed.get("messages")
        listed = messages if isinstance(messages, list) else []
        return [one for message in listed if isinstance(message, dict) for one in _of_gemini(message)]
    match value.get("type"):
        case "user" | "assistant" if isinstance(message := value.get("message"), dict):
            if value.get("isMeta") or value.get("isSidechain"):
                return []
            content = message.get("content", message.get("parts"))
            return _said("agent" if value["type"] == "assistant" else "person", content, at)
        case "response_item" if isinstance(payload := value.get("payload"), dict):
            speaker = _SPEAKERS.get(str(payload.get("role")))
            return _said(speaker, payload.get("content"), at) if payload.get("type") == "message" else []
        case _:
            return _of_gemini(value)


def last_answer(file: Path) -> str:
    """Return an agent's last answer from its transcript; empty if there is none."""
    for line in lines_from_the_end(file, most=MAX_LINE):
        for passage in reversed(read_passages(line)):
            if passage.speaker == "agent":
                return passage.text
    return ""


def decoded(line: bytes | str) -> object:
    """Return the value of a line of JSON; None for anything else."""
    try:
        return msgspec.json.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        pass
    try:
        # Only this decoder accepts a text that was cut in the middle of an emoji.
        return json.loads(line)
    except (ValueError, RecursionError):
        return None


_SPEAKERS: dict[str, Speaker] = {"user": "person", "assistant": "agent", "gemini": "agent"}


def _of_gemini(value: dict[str, Any]) -> list[TranscriptPassage]:
    speaker = _SPEAKERS.get(str(value.get("type")))
    return _said(speaker, value.get("content"), _time(value.get("timestamp")))


def _said(speaker: Speaker | None, content: object, at: float) -> list[TranscriptPassage]:
    if speaker is None:
        return []
    text = _text(content).encode("utf-8", "replace").decode()
    if not text.strip() or (speaker == "person" and _NOT_SAID.match(text) is not None):
        return []
    wrapped = _WRAPPED.match(text) if speaker == "person" else None
    return [TranscriptPassage(speaker, text if wrapped is None else wrapped["inside"] + text[wrapped.end() :], at)]


def _text(content: object) -> str:
    """Return the text of a content, which may be in parts; thoughts, tools and pictures have no text."""
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    return "\n".join(
        part["text"]
        for part in parts
        if isinstance(part, dict)
        and part.get("type", "text") in {"text", "input_text", "output_text"}
        and isinstance(part.get("text"), str)
        and not part.get("thought")
    )


def _time(value: object) -> float:
    try:
        return datetime.fromisoformat(value).timestamp() if isinstance(value, str) else 0.0
    except (ValueError, OverflowError, OSError):
        return 0.0
