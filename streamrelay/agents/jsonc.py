"""Finds the positions of values in a JSON text, so that one place can change while all other bytes stay.

It accepts the JSON of agents' settings: with comments (`//`, `/* */`) and trailing commas. It only finds the ends of
strings and numbers; the reader of a value parses them.
"""

import json
from dataclasses import dataclass, field
from typing import Literal

import regex

MAX_DEPTH = 200
"""Nested arrays and objects."""
_TRIVIA = regex.compile(r"(?:[ \t\r\n\uFEFF]++|//[^\r\n]*+|/\*.*?\*/)*+", regex.DOTALL)
_STRING = regex.compile(r'"(?:[^"\\\x00-\x1f]++|\\.)*+"', regex.DOTALL)
_SCALAR = regex.compile(r"[-+.\w]++")


class JsonError(ValueError):
    """A text is invalid; the message names the fault and the line."""


@dataclass(slots=True)
class JsonNode:
    """A value, from `start` to `end` in the text."""

    kind: Literal["object", "array", "string", "other"]
    start: int
    end: int = 0
    items: list["Item"] = field(default_factory=list)

    def last(self, key: str) -> "Item | None":
        """Return the item of a key; the last one counts, as in all JSON readers."""
        return next((item for item in reversed(self.items) if item.key == key), None)


@dataclass(slots=True)
class Item:
    """An item of an array, or of an object with its key, from `start` to the end of its value."""

    start: int
    key: str | None
    value: JsonNode

    @property
    def end(self) -> int:
        """The position of its end."""
        return self.value.end


def trivia_end(text: str, at: int) -> int:
    """Return the end of the blanks and comments that begin at a position."""
    found = _TRIVIA.match(text, at)
    return at if found is None else found.end()


def parse(text: str) -> JsonNode:
    """Parse a text with a single value; raises JsonError."""
    node, at = _value(text, trivia_end(text, 0), 0)
    at = trivia_end(text, at)
    if at < len(text):
        raise _error(text, at, "text after the value")
    return node


def string(text: str, node: JsonNode) -> str | None:
    """Return the value of a string; None for anything else."""
    if node.kind != "string":
        return None
    try:
        value: str = json.loads(text[node.start : node.end])
    except ValueError as error:
        raise _error(text, node.start, "invalid string") from error
    return value


def _value(text: str, at: int, depth: int) -> tuple[JsonNode, int]:
    opening = text[at : at + 1]
    if opening in {"{", "["}:
        if depth >= MAX_DEPTH:
            raise _error(text, at, f"more than {MAX_DEPTH} levels")
        return _container(text, at, depth)
    if opening == '"':
        found = _STRING.match(text, at)
        if found is None:
            raise _error(text, at, "unterminated string")
        return JsonNode("string", at, found.end()), found.end()
    found = _SCALAR.match(text, at)
    if found is None:
        raise _error(text, at, "a value is missing")
    return JsonNode("other", at, found.end()), found.end()


def _container(text: str, start: int, depth: int) -> tuple[JsonNode, int]:
    node = JsonNode("object" if text[start] == "{" else "array", start)
    closing = "}" if text[start] == "{" else "]"
    at = trivia_end(text, start + 1)
    while text[at : at + 1] != closing:
        began, key = at, None
        if node.kind == "object":
            name, at = _value(text, at, depth + 1)
            key = string(text, name)
            at = trivia_end(text, at)
            if key is None or text[at : at + 1] != ":":
                raise _error(text, began, "a key and its colon are missing")
            at = trivia_end(text, at + 1)
        value, at = _value(text, at, depth + 1)
        node.items.append(Item(began, key, value))
        at = trivia_end(text, at)
        if text[at : at + 1] == ",":
            at = trivia_end(text, at + 1)
        elif text[at : at + 1] != closing:
            raise _error(text, at, f"a comma or {closing} is missing")
    node.end = at + 1
    return node, node.end


def _error(text: str, at: int, wrong: str) -> JsonError:
    return JsonError(f"line {text.count(chr(10), 0, at) + 1}: {wrong}")
