"""A stop hook in a TOML file: the program that Codex runs at the end of a turn:

    notify = ["streamrelay", "hook", "codex"]

The last word is the name of the agent's profile. Codex runs only one such program, so a program of the user is never
replaced. Our entry is the first line of the file, because a key after a table's heading would belong to the table.
Removing that line restores the text exactly. Pure.
"""

import json
import tomllib
from collections.abc import Sequence

import regex

KEY = "notify"
_BEGINNING = regex.compile(rf"[ \t]*['\"]?{KEY}['\"]?[ \t]*=")


class TomlError(ValueError):
    """A text is invalid, or contains a program of the user."""


def install(text: str, program: Sequence[str], agent: str) -> str:
    """Return the text with streamrelay's program for an agent, replacing an earlier one of streamrelay.

    Raises TomlError if another program is configured.
    """
    text = remove(text, agent)
    if (other := _parse(text).get(KEY)) is not None:
        raise TomlError(f"{KEY} has a program already: {other}")
    mark, rest = _without_mark(text)
    end = "\r\n" if rest[: rest.find("\n") + 1].endswith("\r\n") else "\n"
    words = [*program, "hook", agent]
    # A JSON string is a basic string of TOML.
    return f"{mark}{KEY} = {json.dumps(words, ensure_ascii=False)}{end}{rest}"


def remove(text: str, agent: str) -> str:
    """Return the text without streamrelay's program for an agent, however it is written."""
    if not _is_ours(_parse(text).get(KEY), agent):
        return text
    mark, rest = _without_mark(text)
    lines = rest.splitlines(keepends=True)
    for first, line in enumerate(lines):
        if not _BEGINNING.match(line):
            continue
        for last in range(first + 1, len(lines) + 1):
            if _alone("".join(lines[first:last]), agent):
                return "".join((mark, *lines[:first], *lines[last:]))
    raise TomlError(f"{KEY} is written in a way that is not understood")


def installed(text: str, agent: str) -> list[str] | None:
    """Return the command line of our program for an agent; None if it is not installed."""
    value = _parse(text).get(KEY)
    return [str(word) for word in value] if _is_ours(value, agent) and isinstance(value, list) else None


def _alone(text: str, agent: str) -> bool:
    """Return whether a text is our entry and nothing else."""
    try:
        table = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError):
        return False
    return table.keys() == {KEY} and _is_ours(table[KEY], agent)


def _is_ours(value: object, agent: str) -> bool:
    return isinstance(value, list) and value[-2:] == ["hook", agent] and "streamrelay" in str(value[0])


def _without_mark(text: str) -> tuple[str, str]:
    """Divide a text into its byte order mark, if any, and the rest."""
    return ("\ufeff", text[1:]) if text.startswith("\ufeff") else ("", text)


def _parse(text: str) -> dict[str, object]:
    try:
        return tomllib.loads(_without_mark(text)[1])
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise TomlError(f"invalid TOML: {error}") from error
