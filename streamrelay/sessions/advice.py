"""Advice for a person for whom a program waits. streamrelay only prints it and never answers a dialog."""

import shlex

import regex

from streamrelay.events import NeedKind

_UPDATE = regex.compile(r"(?i)\bupdat(?:e|ing)\b|\bnew(?:er)? version\b|\bupgrade\b")
_ACTIONS: dict[NeedKind, str] = {
    "trust": "say there whether it may trust the folder; it asks once for each",
    "login": "log in there, or start it again with its key in the environment",
    "password": "type the password there",
    "permission": "allow or refuse there what it asks for",
    "confirmation": "answer its question there",
    "picker": "choose there",
}
_UPDATE_ACTION = "choose there whether it is to be updated; it does not start before"


def advice(kind: NeedKind, asked: str, attach: str) -> str:
    """Return one line that says what to do and how to get there; `asked` is the question on the screen."""
    # What asks about an update is not told apart by its looks, and none of the kinds that are is meant by its words.
    update = kind in {"picker", "confirmation"} and _UPDATE.search(asked) is not None
    return f"{_UPDATE_ACTION if update else _ACTIONS[kind]}: {attach}"


def attach_command(target: str, *, socket_path: str, host: str = "") -> str:
    """Return the command that shows a session, or one pane of it (`name:1.0`), on a terminal; by ssh on a `host`."""
    words = ["tmux", "-S", socket_path, "attach-session", "-t", f"={target}"]
    return shlex.join(["ssh", "-t", host, shlex.join(words)] if host else words)
