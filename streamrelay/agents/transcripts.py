"""What agents wrote down of their own conversations: Claude Code, Codex and Gemini CLI, each in JSON Lines of its own.

Read only, and read tolerantly: the formats are nobody's promise, so a line that says nothing to us is passed over, and
a file that another program writes at the same time is read as far as it goes. Nothing is read without a bound.
"""

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, BinaryIO, Literal

import regex

from streamrelay.agents.files import located
from streamrelay.agents.profile import AgentProfile

LONGEST_LINE = 16 * 2**20
"""Bytes; a longer one (a picture, a file that was read) is passed over."""
_TAIL = 4 * 2**20
_MOST_FILES = 5000
_MOST_BYTES = 512 * 2**20
"""Of all files that one search reads, the newest first."""

# What agents put into a person's mouth: the state of the world, the outcome of their own commands.
_NOT_SAID = regex.compile(
    r"\s*<(?:environment_context|user_instructions|session_context|system-reminder|command-\w+|local-command-\w+"
    r"|turn_aborted|INSTRUCTIONS|skills_instructions|permissions instructions)\b"
)
_WRAPPED = regex.compile(r'\A\s*<pasted_content id="[^"]*">\n(?P<inside>.*?)\n?</pasted_content[^>]*>', regex.DOTALL)

_AROUND = 60

Speaker = Literal["person", "agent"]


@dataclass(frozen=True, slots=True)
class Passage:
    """Something that was said, by whom and when (Unix time, 0 where the file does not say)."""

    speaker: Speaker
    text: str
    at: float


@dataclass(frozen=True, slots=True)
class FoundPassage:
    """A passage that was found, whose transcript it is in, and where that is."""

    agent: str
    file: Path
    speaker: Speaker
    text: str
    at: float

    def excerpt(self, words: str) -> str:
        """Return the text around the first of the words, as one line."""
        places = (self.text.casefold().find(word.casefold()) for word in words.split())
        begin = max(0, min((place for place in places if place >= 0), default=0) - _AROUND)
        shown = " ".join(self.text[begin : begin + 4 * _AROUND].split())
        return f"{'…' if begin else ''}{shown}{'…' if begin + 4 * _AROUND < len(self.text) else ''}"


def read_passages(line: bytes | str) -> list[Passage]:
    """Return what one line of a transcript says was said, whichever agent wrote it; never raises."""
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):  # also what is no UTF-8
        return []
    if not isinstance(value, dict):
        return []
    at = _time(value.get("timestamp"))
    if isinstance(changed := value.get("$set"), dict):
        messages = changed.get("messages")
        listed = messages if isinstance(messages, list) else []
        return [one for message in listed if isinstance(message, dict) for one in _of_gemini(message)]
    match value.get("type"):
        case "user" | "assistant" if isinstance(message := value.get("message"), dict):
            if value.get("isMeta") or value.get("isSidechain"):
                return []
            return _said("agent" if value["type"] == "assistant" else "person", message.get("content"), at)
        case "response_item" if isinstance(payload := value.get("payload"), dict):
            speaker = _SPEAKERS.get(str(payload.get("role")))
            return _said(speaker, payload.get("content"), at) if payload.get("type") == "message" else []
        case _:
            return _of_gemini(value)


def transcript_files(profile: AgentProfile, environment: Mapping[str, str] = os.environ) -> list[Path]:
    """Return an agent's transcripts, newest first; none of one that keeps them elsewhere or not as JSON Lines."""
    place = _place(profile, environment)
    if place is None:
        return []
    folder, pattern = place
    dated: list[tuple[float, Path]] = []
    for file in folder.glob(pattern):
        try:
            dated.append((file.stat().st_mtime, file))
        except OSError:
            continue
    return [file for _, file in sorted(dated, reverse=True)[:_MOST_FILES]]


def is_transcript_of(profile: AgentProfile, file: Path, environment: Mapping[str, str] = os.environ) -> bool:
    """Tell whether a file stands where an agent keeps its transcripts."""
    place = _place(profile, environment)
    return place is not None and file.resolve().is_relative_to(place[0].resolve())


def _place(profile: AgentProfile, environment: Mapping[str, str]) -> tuple[Path, str] | None:
    """Return the folder of an agent's transcripts, and the pattern of their names in it."""
    transcript = profile.transcript
    if transcript is None or transcript.format != "jsonl" or not transcript.path.startswith("~/"):
        return None
    parts = located(transcript.path, transcript.home, environment).parts
    # What stands before the first pattern is a name, whatever characters the user's home has.
    depth = next((number for number, part in enumerate(parts) if "*" in part), len(parts) - 1)
    return Path(*parts[:depth]), str(Path(*parts[depth:]))


def search_transcripts(
    profiles: Sequence[AgentProfile], words: str, *, agent: str = "", since: float = 0.0, limit: int = 50
) -> list[FoundPassage]:
    """Find passages that hold all `words` (in any case), newest first.

    `agent` names one profile, `since` is Unix time. Blocking: for a thread.
    """
    wanted = [word.casefold() for word in words.split()]
    found: list[FoundPassage] = []
    if not wanted or limit < 1:
        return found
    budget = _MOST_BYTES
    files = [
        (file, profile.name)
        for profile in profiles
        if agent in {"", "all", profile.name}
        for file in transcript_files(profile)
    ]
    for file, name in files:
        try:
            status = file.stat()
            if status.st_mtime < since or status.st_size > budget:
                continue
            budget -= status.st_size
            with file.open("rb") as lines:
                # Some write a passage again when they know more of it.
                passages = dict.fromkeys(passage for passage in _matching(lines, wanted) if passage.at >= since)
            found += [FoundPassage(name, file, one.speaker, one.text, one.at) for one in passages]
        except OSError:
            continue
        found = sorted(found, key=lambda one: one.at, reverse=True)[:limit]
    return found


def last_answer(file: Path) -> str:
    """Return what an agent said last according to its transcript; empty where that is not to be had."""
    try:
        with file.open("rb") as lines:
            lines.seek(max(0, os.fstat(lines.fileno()).st_size - _TAIL))
            tail = lines.read(_TAIL).split(b"\n")
    except OSError:
        return ""
    for line in reversed(tail):
        for passage in reversed(read_passages(line)):
            if passage.speaker == "agent":
                return passage.text
    return ""


def _matching(lines: BinaryIO, wanted: Sequence[str]) -> Iterator[Passage]:
    """Yield the passages that hold all words; a line that cannot hold them is not read as JSON."""
    plain = [word.encode() for word in wanted if word.isascii() and word.isalnum()]
    while line := lines.readline(LONGEST_LINE):
        if not line.endswith(b"\n") and len(line) == LONGEST_LINE:
            while (rest := lines.readline(LONGEST_LINE)) and not rest.endswith(b"\n"):
                pass
            continue
        low = line.lower()
        if all(word in low for word in plain):
            for passage in read_passages(line):
                text = passage.text.casefold()
                if all(word in text for word in wanted):
                    yield passage


_SPEAKERS: dict[str, Speaker] = {"user": "person", "assistant": "agent", "gemini": "agent"}


def _of_gemini(value: dict[str, Any]) -> list[Passage]:
    speaker = _SPEAKERS.get(str(value.get("type")))
    return _said(speaker, value.get("content"), _time(value.get("timestamp")))


def _said(speaker: Speaker | None, content: object, at: float) -> list[Passage]:
    if speaker is None:
        return []
    text = _text(content)
    if not text.strip() or (speaker == "person" and _NOT_SAID.match(text) is not None):
        return []
    wrapped = _WRAPPED.match(text) if speaker == "person" else None
    return [Passage(speaker, text if wrapped is None else wrapped["inside"] + text[wrapped.end() :], at)]


def _text(content: object) -> str:
    """Return the text of a content, which may be in parts; thoughts, tools and pictures are none."""
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    return "\n".join(
        part["text"]
        for part in parts
        if isinstance(part, dict)
        and part.get("type", "text") in {"text", "input_text", "output_text"}
        and isinstance(part.get("text"), str)
    )


def _time(value: object) -> float:
    try:
        return datetime.fromisoformat(value).timestamp() if isinstance(value, str) else 0.0
    except (ValueError, OverflowError, OSError):
        return 0.0
