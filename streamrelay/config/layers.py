"""Parses the values that one file or the environment sets, with the place of each value. Pure.

An unknown key would be a setting without effect, so it is an error with file, line and key, like a value of a wrong
type. Unknown environment variables are ignored, because other programs have theirs.
"""

import difflib
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal

import msgspec

from streamrelay.config.settings import Key, all_keys
from streamrelay.errors import ConfigError

AROUND = "TMUX"
"""The variable that names the surrounding tmux server."""
Kind = Literal["default", "user", "project", "environment", "flag"]


@dataclass(frozen=True, slots=True)
class Layer:
    """Values by key, with the place of each: a file and its line, a variable, an option."""

    kind: Kind
    values: Mapping[str, object] = field(default_factory=dict)
    places: Mapping[str, str] = field(default_factory=dict)


def read_toml(text: str, *, file: str, kind: Literal["user", "project"]) -> Layer:
    """Return what a file sets; raises ConfigError for invalid TOML, an unknown key or an invalid value."""
    try:
        document = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise ConfigError(file, "", f"invalid TOML: {error}", hint=_HINT) from error
    keys = all_keys()
    lines = lines_of(text)
    values: dict[str, object] = {}
    places: dict[str, str] = {}
    for path, value in _leaves(document, keys):
        name = ".".join(path)
        line = lines.get(path)
        key = keys.get(name)
        if key is None:
            if any(known.startswith(f"{name}.") for known in keys):
                raise ConfigError(file, name, "it is a table, not a value", line=line, hint=_HINT)
            raise ConfigError(file, name, "there is no such key", line=line, hint=_nearest(name, keys))
        if kind == "project" and key.yours_alone:
            raise ConfigError(file, name, "a project cannot set this for you", line=line, hint=_OWN_HINT)
        try:
            values[name] = msgspec.convert(value, key.type)
        except msgspec.ValidationError as error:
            raise ConfigError(file, name, _words(error), line=line, hint=_hint(key)) from error
        places[name] = f"{file}:{line}"
    if values.keys() >= _SOCKETS:
        raise ConfigError(file, "socket_path", _BOTH, line=lines.get(("socket_path",)), hint=_HINT)
    return Layer(kind, values, places)


def read_environment(environment: Mapping[str, str]) -> Layer:
    """Return the values of STREAMRELAY_*, and of $TMUX: the surrounding server, unless another one is named.

    Strings are taken literally, other values as TOML. Raises ConfigError for an invalid value.
    """
    values: dict[str, object] = {}
    places: dict[str, str] = {}
    for key in all_keys().values():
        written = environment.get(key.variable)
        if not written:
            continue
        try:
            values[key.name] = msgspec.convert(written, key.type)
        except msgspec.ValidationError:
            try:
                values[key.name] = msgspec.convert(_parsed(written), key.type)
            except msgspec.ValidationError as error:
                raise ConfigError("environment", key.variable, _words(error), hint=_hint(key)) from error
        places[key.name] = key.variable
    if values.keys() >= _SOCKETS:
        raise ConfigError("environment", places["socket_path"], _BOTH, hint="unset one of the two")
    around = environment.get("TMUX", "").rsplit(",", 2)[0]
    if around and not values.keys() & _SOCKETS:
        values["socket_path"] = around
        places["socket_path"] = AROUND
    return Layer("environment", values, places)


def lines_of(text: str) -> dict[tuple[str, ...], int]:
    """Return the lines in which the keys and tables of a TOML document begin.

    It parses longer and longer beginnings of the document: a key begins after the last beginning without it.
    """
    lines = text.replace("\r\n", "\n").split("\n")
    found: dict[tuple[str, ...], int] = {}
    read = 0
    for count in range(1, len(lines) + 1):
        try:
            document = tomllib.loads("\n".join(lines[:count]))
        except (tomllib.TOMLDecodeError, RecursionError):
            continue
        began = next(
            (at for at in range(read, count) if lines[at].strip() and not lines[at].lstrip().startswith("#")), 0
        )
        for path in _paths(document):
            found.setdefault(path, began + 1)
        read = count
    return found


def _paths(table: Mapping[str, object], before: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    for name, value in table.items():
        yield (*before, name)
        if isinstance(value, dict):
            yield from _paths(value, (*before, name))


def _leaves(
    table: Mapping[str, object], keys: Mapping[str, Key], before: tuple[str, ...] = ()
) -> Iterator[tuple[tuple[str, ...], object]]:
    """Yield the values of a document, down to the level of the known tables."""
    for name, value in table.items():
        path = (*before, name)
        if isinstance(value, dict) and any(key.path[: len(path)] == path for key in keys.values() if key.path != path):
            yield from _leaves(value, keys, path)
        else:
            yield path, value


def _parsed(written: str) -> object:
    try:
        return tomllib.loads(f"value = {written}")["value"]
    except (tomllib.TOMLDecodeError, RecursionError):
        return written


_SOCKETS = {"socket_name", "socket_path"}
_BOTH = "name a server by socket_name or by socket_path, not by both"
_HINT = "see docs/configuration.md for the keys; without the file the defaults apply"
_OWN_HINT = "set it in your own file; print its path with: streamrelay config path"


def _words(error: msgspec.ValidationError) -> str:
    return str(error).partition(" - at `")[0]


def _hint(key: Key) -> str:
    return f"{key.meaning} By default {msgspec.json.encode(key.default).decode()}; docs/configuration.md has all keys"


def _nearest(name: str, keys: Mapping[str, Key]) -> str:
    close = difflib.get_close_matches(name, keys, 1)
    return f"is {close[0]} meant? `streamrelay config show` lists all keys" if close else _HINT
