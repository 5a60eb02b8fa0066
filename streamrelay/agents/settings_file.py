"""A stop hook in an agent's settings, a JSON file in the format of Claude Code, Gemini CLI and Qwen Code:

    {"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "streamrelay hook claude"}]}]}}

`install` inserts the hook as the first item, and `remove` deletes it by its position, so every other byte of the file
stays. Removing an installed hook restores the text exactly, and keeps all changes that the user or the agent made
elsewhere meanwhile. Pure.
"""

import json
from collections.abc import Sequence
from typing import Literal, NamedTuple

import regex

from streamrelay.agents.jsonc import Item, JsonError, JsonNode, parse, string, trivia_end

Made = Literal["file", "settings", "hooks", "event"]
"""A part that `install` had to create: the file, its object, the object of the hooks, the list of the event."""
_BLANKS = regex.compile(r"[ \t\r\n]*")


def install(text: str, event: str, command: str, ours: regex.Pattern[str]) -> tuple[str, tuple[Made, ...]]:
    """Return the text with the hook, and the parts created for it.

    An existing hook of `ours` gets this command. Raises JsonError for invalid JSON, or if another value is in the place
    of the hooks.
    """
    group = {"hooks": [{"type": "command", "command": command}]}
    if trivia_end(text, 0) == len(text):
        whole = json.dumps({"hooks": {event: [group]}}, ensure_ascii=False)
        head = len(text) - len(text.lstrip("\ufeff"))
        return text[:head] + whole + text[head:], ("settings", "hooks", "event")
    root = _container(parse(text), "object", "the file")
    if (known := _find(text, root, event, ours)) is not None:
        was = known.command
        return text[: was.start] + json.dumps(command, ensure_ascii=False) + text[was.end :], ()
    hooks = root.last("hooks")
    if hooks is None:
        return _put_first(text, root, _member("hooks", {event: [group]})), ("hooks", "event")
    within = _container(hooks.value, "object", "hooks")
    groups = within.last(event)
    if groups is None:
        return _put_first(text, within, _member(event, [group])), ("event",)
    listed = _container(groups.value, "array", f"hooks.{event}")
    return _put_first(text, listed, json.dumps(group, ensure_ascii=False)), ()


def remove(text: str, event: str, ours: regex.Pattern[str], made: Sequence[Made]) -> str:
    """Return the text without the hook, and without the parts `made` for it that are empty now, also of comments."""
    if trivia_end(text, 0) == len(text):
        return text
    while (found := _find(text, root := _container(parse(text), "object", "the file"), event, ours)) is not None:
        alone = len(found.handlers.items) == 1
        text = _take_out(text, found.groups, found.group) if alone else _take_out(text, found.handlers, found.handler)
    hooks = root.last("hooks")
    groups = hooks.value.last(event) if hooks is not None else None
    if hooks is not None and groups is not None and "event" in made and _is_empty(text, groups.value, "array"):
        text = _take_out(text, hooks.value, groups)
        root = parse(text)
        hooks = root.last("hooks")
    if hooks is not None and "hooks" in made and _is_empty(text, hooks.value, "object"):
        text = _take_out(text, root, hooks)
        root = parse(text)
    if "settings" in made and _is_empty(text, root, "object"):
        text = text[: root.start] + text[root.end :]
    return text


def installed(text: str, event: str, ours: regex.Pattern[str]) -> str | None:
    """Return the command of our hook in a text; None if it is not installed."""
    if trivia_end(text, 0) == len(text):
        return None
    found = _find(text, _container(parse(text), "object", "the file"), event, ours)
    return None if found is None else string(text, found.command)


def _container(node: JsonNode, kind: Literal["object", "array"], name: str) -> JsonNode:
    if node.kind != kind:
        raise JsonError(f"{name} is no {kind}")
    return node


def _is_empty(text: str, node: JsonNode, kind: Literal["object", "array"]) -> bool:
    # A comment belongs to the user, who may have no other copy of it.
    return node.kind == kind and not text[node.start + 1 : node.end - 1].strip("\ufeff \t\r\n")


def _member(key: str, value: object) -> str:
    return f"{json.dumps(key)}: {json.dumps(value, ensure_ascii=False)}"


def _put_first(text: str, node: JsonNode, item: str) -> str:
    """Insert an item before the others, on its own line if the others have theirs."""
    if not node.items:
        return text[: node.start + 1] + item + text[node.start + 1 :]
    at = node.items[0].start
    before = text[node.start + 1 : at]
    gap = before[len(before.rstrip(" \t\r\n")) :]
    line = gap.rfind("\n")
    if line > 0 and gap[line - 1] == "\r":
        line -= 1
    return text[:at] + item + "," + gap[max(0, line) :] + text[at:]


def _take_out(text: str, node: JsonNode, item: Item) -> str:
    """Remove an item with its comma; the exact inverse of `_put_first`."""
    place = node.items.index(item)
    start, end = item.start, item.end
    comma = trivia_end(text, end)
    if text[comma : comma + 1] == ",":
        blanks = _BLANKS.match(text, comma + 1)
        # The blanks after it were inserted with it, unless it is the last item.
        end = blanks.end() if blanks is not None and place + 1 < len(node.items) else comma + 1
    elif place:
        comma = trivia_end(text, node.items[place - 1].end)
        between = text[comma + 1 : start]
        # A comment in between belongs to the user.
        return text[:comma] + (between if between.strip() else "") + text[end:]
    before, behind = text[node.start + 1 : start], text[end : node.end - 1]
    if len(node.items) == 1 and before and not (before + behind).strip():
        # Another program rewrote the file, so the recorded lines no longer apply.
        start, end = node.start + 1, node.end - 1
    return text[:start] + text[end:]


class _Found(NamedTuple):
    """A handler that streamrelay installed: its position and its command."""

    groups: JsonNode
    group: Item
    handlers: JsonNode
    handler: Item
    command: JsonNode


def _find(text: str, root: JsonNode, event: str, ours: regex.Pattern[str]) -> _Found | None:
    """Return the first handler that streamrelay installed; None if there is none, or no list of handlers."""
    hooks = root.last("hooks")
    groups = hooks.value.last(event) if hooks is not None else None
    for group in groups.value.items if groups is not None else ():
        handlers = group.value.last("hooks")
        for handler in handlers.value.items if handlers is not None else ():
            command = handler.value.last("command")
            words = string(text, command.value) if command is not None else None
            if groups and handlers and command and words is not None and ours.search(words) is not None:
                return _Found(groups.value, group, handlers.value, handler, command.value)
    return None
