"""Converts the configuration of links, relays and deliveries into their own types."""

from typing import TypeVar

import msgspec

from streamrelay.config.settings import DeliveryTable, LinkTable, RelayTable, Table
from streamrelay.delivery.message import DeliveryPolicy
from streamrelay.links.link import LinkPolicy, NoticeTexts
from streamrelay.relay.rules import Rules

Kind = TypeVar("Kind", bound=msgspec.Struct)


def link_policy(table: LinkTable) -> LinkPolicy:
    """Return the default policy of a link."""
    return _taken(LinkPolicy, table)


def link_texts(table: LinkTable) -> NoticeTexts:
    """Return the texts that streamrelay types into linked sessions; the policy says whether a link has notices."""
    return _taken(NoticeTexts, table.texts)


def relay_rules(table: RelayTable) -> Rules:
    """Return the default rules of a relay."""
    return _taken(Rules, table)


def delivery_policy(table: DeliveryTable) -> DeliveryPolicy:
    """Return the policy of messages whose sender gives none."""
    return DeliveryPolicy(needs_human=table.needs_human, commands=table.commands)


def _taken(kind: type[Kind], table: Table) -> Kind:
    """Return a value whose fields come from a table; tests/config compares the names."""
    said = msgspec.structs.asdict(table)
    return kind(**{name: said[name] for name in kind.__struct_fields__ if name in said})
