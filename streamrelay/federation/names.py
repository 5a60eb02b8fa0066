"""How sessions and panes of other nodes are written: `NAME@NODE`. Pure.

`NAME@HOST` is remote only where HOST is a peer that the configuration names; anything else is a title that has an @ in
it. A pane of tmux never has one (`%3`), so a pane with one is somewhere else.
"""

import re
from collections.abc import Collection
from typing import NamedTuple

from streamrelay.errors import UsageError

_NODE = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,62}")


class RemoteName(NamedTuple):
    """A session somewhere else, by whatever it is called there."""

    name: str
    node: str

    def __str__(self) -> str:
        return f"{self.name}@{self.node}"


def check_node(name: str) -> None:
    """Raise UsageError for what is no name of a node."""
    if not _NODE.fullmatch(name):
        raise UsageError(f"{name!r} is no name of a node", hint="letters, digits and _.- make one, 63 at most")


def is_far(pane: str) -> bool:
    """Tell whether a pane or its session's id is of another node."""
    return "@" in pane


def far(name: str, peers: Collection[str]) -> RemoteName | None:
    """Return what is meant where a name is one of another node; None for one of here."""
    rest, _, node = name.rpartition("@")
    return RemoteName(rest, node) if rest and node in peers else None


def seen_from(name: str, there: str, here: str) -> str:
    """Return an id as `here` writes it, given as `there` does: `%3@here` is `%3`, and `%0` is `%0@there`."""
    return name.removesuffix(f"@{here}") if name.endswith(f"@{here}") else f"{name}@{there}"
