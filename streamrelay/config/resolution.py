"""Merges layers into one value for every key, with its source. Pure.

The later layer wins, in this order: defaults, the user's file, the project's, the environment, the flags of a command.
If one layer names the server by socket name and a later one by path, only the later one counts. A socket or binary from
an earlier layer than the host belongs to this machine, and so does the server of $TMUX; both are dropped.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import msgspec

from streamrelay.config.layers import AROUND, Kind, Layer
from streamrelay.config.settings import Settings, all_keys, value_of

_INSTEAD: Mapping[str, Sequence[str]] = {
    "socket_name": ("socket_path",),
    "socket_path": ("socket_name",),
    "host": ("socket_name", "socket_path", "tmux"),
}


class Source(NamedTuple):
    """The source of a value: its layer, and its file and line, variable or option."""

    kind: Kind
    where: str = ""


class Setting(NamedTuple):
    """A key with its value and source."""

    key: str
    value: object
    source: Source


@dataclass(frozen=True, slots=True)
class Resolved:
    """The effective configuration."""

    settings: Settings
    sources: Mapping[str, Source]
    """The source of every key that is not at its default."""

    def __iter__(self) -> Iterator[Setting]:
        """Yield every key with its value and source."""
        for key in all_keys().values():
            yield Setting(key.name, value_of(self.settings, key), self.sources.get(key.name, Source("default")))


def resolve(layers: Sequence[Layer]) -> Resolved:
    """Return the configuration that layers make, the first one the farthest down."""
    values: dict[str, object] = {}
    sources: dict[str, Source] = {}
    for layer in layers:
        own = {key: value for key, value in layer.values.items() if layer.places.get(key) != AROUND}
        given = own if "host" in own or "host" in values else layer.values
        for instead in {one for key in given for one in _INSTEAD.get(key, ())}:
            values.pop(instead, None)
            sources.pop(instead, None)
        for key, value in given.items():
            values[key] = value
            sources[key] = Source(layer.kind, layer.places.get(key, ""))
    document: dict[str, Any] = {}
    for key, value in values.items():
        *tables, name = key.split(".")
        table = document
        for one in tables:
            table = table.setdefault(one, {})
        table[name] = value
    return Resolved(msgspec.convert(document, Settings), sources)
