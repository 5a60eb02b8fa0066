"""From layers to one value for every key, and where each is from. Pure.

The later layer holds: defaults, the user's file, the project's, the environment, the flags of a command. Where one
layer names the server by its socket's name and a later one by its path, the later one holds alone. A socket or binary
that was named farther down than a host is this machine's, and so is the server that $TMUX says is around.
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
    """Where a value is from: which layer, and its file and line, variable or option."""

    kind: Kind
    where: str = ""


class Setting(NamedTuple):
    """A key as it is set."""

    key: str
    value: object
    source: Source


@dataclass(frozen=True, slots=True)
class Resolved:
    """The configuration that holds."""

    settings: Settings
    sources: Mapping[str, Source]
    """Of every key that is not at its default."""

    def __iter__(self) -> Iterator[Setting]:
        """Yield every key as it is set."""
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
