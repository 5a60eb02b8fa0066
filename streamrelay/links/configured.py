"""What the configuration says of links and relays, as those rooms have it."""

from typing import TypeVar

import msgspec

from streamrelay.config.settings import LinkTable, RelayTable, Table
from streamrelay.links.link import Policy, Texts
from streamrelay.relay.rules import Rules

Kind = TypeVar("Kind", bound=msgspec.Struct)


def link_policy(table: LinkTable) -> Policy:
    """Return the policy of a link for which nothing else is said."""
    return _taken(Policy, table)


def link_texts(table: LinkTable) -> Texts:
    """Return what streamrelay says to the sides of links; without `notices`, only to listeners."""
    texts = _taken(Texts, table.texts)
    return texts if table.notices else msgspec.structs.replace(texts, spent="", extended="", closed="", ended="")


def relay_rules(table: RelayTable) -> Rules:
    """Return the rules of a relay for which nothing else is said."""
    return _taken(Rules, table)


def _taken(kind: type[Kind], table: Table) -> Kind:
    """Return a value that has what a table says of its fields; tests/config compares the names."""
    said = msgspec.structs.asdict(table)
    return kind(**{name: said[name] for name in kind.__struct_fields__ if name in said})
